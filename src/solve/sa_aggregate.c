// Strength of connection and aggregates (section 5): which nodes belong together.
//
// Repairs to the printed algorithms: strength relative to a row's largest is not symmetric, so a connection is strong
// when it is strong from either side; a root must be free itself; leftovers join round by round until none is left.
#include <string.h>

#include "solve/sa.h"

// A row whose connections sum up to less than this is solved by relaxation alone.
static const double DOMINANT = 0.1;

#ifdef WEFT_X86_KERNELS
extern const sa_strength_kernels sa_strength_kernels_avx2, sa_strength_kernels_avx512;
#endif
extern const sa_strength_kernels sa_strength_kernels_base;

const sa_strength_kernels* sa_strength_kernels_for(cpu_kind cpu)
{
#ifdef WEFT_X86_KERNELS
    static const sa_strength_kernels* const table[CPU_KIND_COUNT] = {
        &sa_strength_kernels_base, &sa_strength_kernels_avx2, &sa_strength_kernels_avx512};
    return table[cpu];
#else
    (void)cpu;
    return &sa_strength_kernels_base;
#endif
}

// Slots left of the diagonal from those right of it.
static void mirror_rho(void* context, int begin, int end)
{
    sa_strength_pass* c = context;
    const bsr_pattern* p = &c->level->pattern;
    for (int i = begin; i < end; i++)
    {
        c->rho[p->diagonal[i]] = 0.0f;
        for (int slot = p->row_start[i]; slot < p->diagonal[i]; slot++)
        {
            int image = bsr_pattern_find(p, p->column[slot], i);
            c->rho[slot] = image >= 0 ? c->rho[image] : 0.0f;
        }
    }
}

weft_status sa_strength(const sa_hierarchy* h, const sa_level* level, float* rho)
{
    const sa_strength_kernels* kernels = sa_strength_kernels_for(h->cpu);
    size_t size = (size_t)level->block * (size_t)level->block;
    sa_strength_pass pass = {level, h->precision, MEM_NEW(size * (size_t)level->rows, double), rho};
    if (!pass.root)
    {
        return WEFT_NO_MEMORY;
    }
    parallel_for(h->pool, level->rows, ROW_GRAIN, kernels->roots, &pass);
    parallel_for(h->pool, level->rows, ROW_GRAIN, kernels->pairs, &pass);
    parallel_for(h->pool, level->rows, ROW_GRAIN, mirror_rho, &pass);
    mem_free(pass.root);
    return WEFT_OK;
}

void sa_graph_finish(sa_graph* graph)
{
    mem_free(graph->row_start);
    mem_free(graph->column);
    mem_free(graph->weight);
    *graph = (sa_graph){0};
}

weft_status sa_strong_graph(const sa_level* level, const float* rho, double theta, sa_graph* out,
                            unsigned char* special)
{
    const bsr_pattern* p = &level->pattern;
    int rows = level->rows, count = 0;
    *out = (sa_graph){MEM_NEW((size_t)rows + 1, int), MEM_NEW(p->block_count, int), MEM_NEW(p->block_count, float)};
    float* limit = MEM_NEW(rows, float);
    if (!out->row_start || !out->column || !out->weight || !limit)
    {
        sa_graph_finish(out);
        mem_free(limit);
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < rows; i++)
    {
        float most = 0.0f;
        double sum = 0.0;
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            most = rho[slot] > most ? rho[slot] : most;
            sum += (double)rho[slot];
        }
        limit[i] = (float)(theta * (double)most);
        special[i] = sum < DOMINANT;
    }
    for (int i = 0; i < rows; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1] && !special[i]; slot++)
        {
            int j = p->column[slot];
            float least = limit[i] < limit[j] ? limit[i] : limit[j];
            if (j != i && rho[slot] > least && !special[j])
            {
                out->column[count] = j;
                out->weight[count++] = rho[slot];
            }
        }
        out->row_start[i + 1] = count;
        special[i] = out->row_start[i + 1] == out->row_start[i];
    }
    mem_free(limit);
    return WEFT_OK;
}

// Whether node i and all that it reaches in `distance` steps are free.
static bool ball_is_free(const sa_graph* g, const int* aggregate, int i, int distance)
{
    for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
    {
        int j = g->column[k];
        if (aggregate[j] >= 0 || (distance > 1 && !ball_is_free(g, aggregate, j, distance - 1)))
        {
            return false;
        }
    }
    return aggregate[i] < 0;
}

// Gives the free nodes of the ball to an aggregate.
static void ball_take(const sa_graph* g, int* aggregate, int i, int distance, int to)
{
    aggregate[i] = aggregate[i] < 0 ? to : aggregate[i];
    for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
    {
        int j = g->column[k];
        aggregate[j] = aggregate[j] < 0 ? to : aggregate[j];
        if (distance > 1 && aggregate[j] == to)
        {
            ball_take(g, aggregate, j, distance - 1, to);
        }
    }
}

// The aggregate that a free node is most strongly connected to, among those of the last round; -1: none.
static int nearest_aggregate(const sa_graph* g, const int* aggregate, int i)
{
    int best = -1;
    float most = -1.0f;
    for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
    {
        if (aggregate[g->column[k]] >= 0 && g->weight[k] > most)
        {
            most = g->weight[k];
            best = aggregate[g->column[k]];
        }
    }
    return best;
}

enum
{
    JOINED = -2 // first code of a node that joins an aggregate at the end of a round: JOINED - aggregate
};

int sa_aggregate(const sa_graph* g, int rows, const unsigned char* special, int distance, int* aggregate)
{
    int count = 0;
    for (int i = 0; i < rows; i++)
    {
        aggregate[i] = -1;
    }
    // Algorithm 1: whole balls of free nodes. Special nodes have no connections and are stepped over.
    for (int i = 0; i < rows; i++)
    {
        if (!special[i] && ball_is_free(g, aggregate, i, distance))
        {
            ball_take(g, aggregate, i, distance, count++);
        }
    }
    // Algorithm 2, in its second form: each node that is left joins the aggregate it is most strongly connected to.
    // Rounds look at the round before, so that the order of nodes does not matter. Nothing is left over: the first node
    // of each connected part has a free ball around it, and rounds reach the rest of the part.
    for (bool moved = true; moved;)
    {
        moved = false;
        for (int i = 0; i < rows; i++)
        {
            if (aggregate[i] == -1 && !special[i])
            {
                int best = nearest_aggregate(g, aggregate, i);
                aggregate[i] = best >= 0 ? JOINED - best : -1;
                moved = moved || best >= 0;
            }
        }
        for (int i = 0; i < rows; i++)
        {
            aggregate[i] = aggregate[i] <= JOINED ? JOINED - aggregate[i] : aggregate[i];
        }
    }
    return count;
}

// Strength of connection (section 5) and the graph of strong connections.
//
// A repair to what is printed: strength relative to a row's largest is not symmetric, so a connection is strong when it
// is strong from either side.
#include "solve/sa/sa.h"

// A row whose connections sum up to less than this is solved by relaxation alone.
static const double DOMINANT = 0.1;

KERNELS_CHOICE(sa_strength_kernels)

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
    sa_strength_pass pass = {level, h->precision, mem_raw(size * (size_t)level->rows, sizeof(double)), rho};
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

// What the passes over a level's connections share.
typedef struct graph_pass
{
    const sa_level* level;
    const float* rho;
    double share;
    float* limit;
    unsigned char* special;
    sa_graph* graph;
} graph_pass;

static void limit_rows(void* context, int begin, int end)
{
    graph_pass* c = context;
    const bsr_pattern* p = &c->level->pattern;
    for (int i = begin; i < end; i++)
    {
        float most = 0.0f;
        double sum = 0.0;
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            most = c->rho[slot] > most ? c->rho[slot] : most;
            sum += (double)c->rho[slot];
        }
        c->limit[i] = (float)(c->share * (double)most);
        c->special[i] = sum < DOMINANT;
    }
}

void sa_limits(const sa_hierarchy* h, const sa_level* level, const float* rho, double share, float* limit,
               unsigned char* special)
{
    graph_pass c = {level, rho, share, limit, special, NULL};
    parallel_for(h->pool, level->rows, ROW_GRAIN, limit_rows, &c);
}

// The strong connections of row i, counted, and with `out` written.
static int strong_row(const graph_pass* c, int i, int* column, float* weight)
{
    const bsr_pattern* p = &c->level->pattern;
    int count = 0;
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1] && !c->special[i]; slot++)
    {
        int j = p->column[slot];
        float least = c->limit[i] < c->limit[j] ? c->limit[i] : c->limit[j];
        if (j != i && c->rho[slot] > least && !c->special[j])
        {
            if (column)
            {
                column[count] = j;
                weight[count] = c->rho[slot];
            }
            count++;
        }
    }
    return count;
}

static void count_rows(void* context, int begin, int end)
{
    graph_pass* c = context;
    for (int i = begin; i < end; i++)
    {
        c->graph->row_start[i + 1] = strong_row(c, i, NULL, NULL);
    }
}

static void fill_rows(void* context, int begin, int end)
{
    graph_pass* c = context;
    for (int i = begin; i < end; i++)
    {
        int start = c->graph->row_start[i];
        strong_row(c, i, c->graph->column + start, c->graph->weight + start);
    }
}

static void mark_lonely(void* context, int begin, int end)
{
    graph_pass* c = context;
    for (int i = begin; i < end; i++)
    {
        c->special[i] = c->graph->row_start[i + 1] == c->graph->row_start[i];
    }
}

weft_status sa_strong_graph(const sa_hierarchy* h, const sa_level* level, const float* rho, double theta, sa_graph* out,
                            unsigned char* special)
{
    int rows = level->rows;
    *out = (sa_graph){.row_start = MEM_NEW((size_t)rows + 1, int)};
    float* limit = MEM_NEW(rows, float);
    bool done = out->row_start && limit;
    if (done)
    {
        graph_pass c = {level, rho, theta, limit, special, out};
        parallel_for(h->pool, rows, ROW_GRAIN, limit_rows, &c);
        parallel_for(h->pool, rows, ROW_GRAIN, count_rows, &c);
        for (int i = 0; i < rows; i++)
        {
            out->row_start[i + 1] += out->row_start[i];
        }
        out->column = mem_raw((size_t)out->row_start[rows], sizeof(int));
        out->weight = mem_raw((size_t)out->row_start[rows], sizeof(float));
        done = out->column && out->weight;
        if (done)
        {
            parallel_for(h->pool, rows, ROW_GRAIN, fill_rows, &c);
            parallel_for(h->pool, rows, ROW_GRAIN, mark_lonely, &c);
        }
    }
    mem_free(limit);
    if (!done)
    {
        sa_graph_finish(out);
    }
    return done ? WEFT_OK : WEFT_NO_MEMORY;
}

// Which blocks outside of the pattern of A the incomplete factor gets. Of the fill that a factor without any leaves
// out, the block of rows k and j is the sum over m of L_km D_m L_jm^T; its size is judged by those of the factors,
//
//     sqrt(sum over m of (|L_km| d_m |L_jm|)^2),   d_m = trace(D_m) / 3,
//
// in the scaled matrix, where diagonal blocks are one. The largest of a row are taken, so that what is left out is
// small everywhere: a shift of a sixth is then enough, and what a shift costs is iterations (docs/multigrid.md). They
// are kept as pairs of vertices, since the order of elimination may change with contacts.
#include <math.h>
#include <string.h>

#include "math/half.h"
#include "solve/sa/sa.h"

enum
{
    FILL_ROW = 4, // blocks a row at most
    CANDIDATES = 512,
    SLOTS = 1024 // of the table of candidates: a power of two, twice as many
};

static const float FILL_LEAST = 0.05F; // of the diagonal; some 0.7 to 1.2 blocks a row on folded cloth

typedef struct fill_pass
{
    const sa_incomplete* f;
    const int *start, *row, *item; // L by columns: rows and places of its blocks
    float *size, *mean;            // |L| of each block, d of each rank
    int* chosen;                   // [FILL_ROW a rank] ranks, -1: none
} fill_pass;

// Candidates of one row, found again by their rank.
typedef struct fill_row
{
    int rank[CANDIDATES], count;
    float square[CANDIDATES];
    int place[CANDIDATES]; // in slot
    int slot[SLOTS];       // candidate + 1, 0: empty
} fill_row;

static void measure_blocks(void* context, int begin, int end)
{
    fill_pass* c = context;
    for (int k = begin; k < end; k++)
    {
        const float* p = c->f->pivot + 9 * (size_t)k; // D^-1
        float x = p[4] * p[8] - p[5] * p[7], y = p[0] * p[8] - p[2] * p[6], z = p[0] * p[4] - p[1] * p[3];
        float determinant = p[0] * x - p[1] * (p[3] * p[8] - p[5] * p[6]) + p[2] * (p[3] * p[7] - p[4] * p[6]);
        c->mean[k] = (x + y + z) / (3.0F * determinant);
        for (int s = c->f->lower_start[k]; s < c->f->lower_start[k + 1]; s++)
        {
            const uint16_t* L = c->f->lower + SA_HALF_BLOCK * (size_t)s;
            float sum = 0.0F;
            for (int e = 0; e < SA_HALF_BLOCK; e++)
            {
                float entry = half_to_float(L[e]);
                sum += entry * entry;
            }
            c->size[s] = sqrtf(sum);
        }
    }
}

// The candidate of a rank, a new one where there is none; -1 when there is no room.
static int candidate(fill_row* r, int rank)
{
    unsigned at = (unsigned)rank * 2654435761U % SLOTS;
    while (r->slot[at] > 0 && r->rank[r->slot[at] - 1] != rank)
    {
        at = (at + 1) % SLOTS;
    }
    if (r->slot[at] == 0 && r->count < CANDIDATES)
    {
        r->rank[r->count] = rank;
        r->place[r->count] = (int)at;
        r->square[r->count++] = 0.0F;
        r->slot[at] = r->count;
    }
    return r->slot[at] - 1;
}

// Blocks of the pattern are candidates that nothing makes large enough.
static void collect_row(const fill_pass* c, int k, fill_row* r)
{
    const sa_incomplete* f = c->f;
    for (; r->count > 0; r->count--) // of the row before
    {
        r->slot[r->place[r->count - 1]] = 0;
    }
    for (int s = f->lower_start[k]; s < f->lower_start[k + 1]; s++)
    {
        int at = candidate(r, f->lower_column[s]);
        at >= 0 ? (void)(r->square[at] = -INFINITY) : (void)0;
    }
    for (int s = f->lower_start[k]; s < f->lower_start[k + 1]; s++)
    {
        int m = f->lower_column[s];
        float own = c->size[s] * c->mean[m];
        for (int e = c->start[m]; e < c->start[m + 1] && c->row[e] < k; e++)
        {
            float size = own * c->size[c->item[e]];
            int at = size > 0.1F * FILL_LEAST ? candidate(r, c->row[e]) : -1;
            at >= 0 ? (void)(r->square[at] += size * size) : (void)0;
        }
    }
}

// The largest of a row, larger ones first; of equal ones the lower rank.
static void choose_row(const fill_pass* c, int k, const fill_row* r)
{
    const sa_incomplete* f = c->f;
    int *best = c->chosen + FILL_ROW * (size_t)k, count = 0;
    float square[FILL_ROW];
    for (int a = 0; a < r->count; a++)
    {
        float value = r->square[a];
        if (!(value > FILL_LEAST * FILL_LEAST) || sa_apart(f, f->order[k], f->order[r->rank[a]]))
        {
            continue;
        }
        int at = count < FILL_ROW ? count++ : FILL_ROW;
        for (; at > 0 && (value > square[at - 1] || (value == square[at - 1] && r->rank[a] < best[at - 1])); at--)
        {
            at < FILL_ROW ? (void)(best[at] = best[at - 1], square[at] = square[at - 1]) : (void)0;
        }
        at < FILL_ROW ? (void)(best[at] = r->rank[a], square[at] = value) : (void)0;
    }
    for (; count < FILL_ROW; count++)
    {
        best[count] = -1;
    }
}

static void choose_rows(void* context, int begin, int end)
{
    const fill_pass* c = context;
    fill_row r = {.count = 0};
    for (int k = begin; k < end; k++)
    {
        collect_row(c, k, &r);
        choose_row(c, k, &r);
    }
}

// Pairs of vertices, each at both of its ends.
static weft_status list_pairs(sa_hierarchy* h, sa_incomplete* f, int rows, const int* chosen)
{
    mem_free(f->fill);
    f->fill = NULL;
    for (int i = 0; i <= rows; i++)
    {
        f->fill_start[i] = 0;
    }
    for (int k = 0; k < FILL_ROW * rows; k++)
    {
        if (chosen[k] >= 0)
        {
            f->fill_start[f->order[k / FILL_ROW] + 1]++;
            f->fill_start[f->order[chosen[k]] + 1]++;
        }
    }
    for (int i = 0; i < rows; i++)
    {
        f->fill_start[i + 1] += f->fill_start[i];
    }
    int total = f->fill_start[rows];
    f->fill = sa_ints_new(h, (size_t)total + 1);
    if (!f->fill)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = FILL_ROW * rows - 1; k >= 0; k--) // from the back: starts end up one vertex ahead
    {
        if (chosen[k] >= 0)
        {
            int i = f->order[k / FILL_ROW], j = f->order[chosen[k]];
            f->fill[--f->fill_start[i + 1]] = j;
            f->fill[--f->fill_start[j + 1]] = i;
        }
    }
    memmove(f->fill_start, f->fill_start + 1, (size_t)rows * sizeof(int));
    f->fill_start[rows] = total;
    return WEFT_OK;
}

static weft_status choose(sa_hierarchy* h, const sa_level* l, fill_pass* c)
{
    sa_incomplete* f = l->incomplete;
    if (!c->start || !c->row || !c->item || !c->size || !c->mean || !c->chosen)
    {
        return WEFT_NO_MEMORY;
    }
    parallel_for(h->pool, l->rows, ROW_GRAIN, measure_blocks, c);
    parallel_for(h->pool, l->rows, ROW_GRAIN, choose_rows, c);
    return list_pairs(h, f, l->rows, c->chosen);
}

weft_status sa_fill_choose(sa_hierarchy* h, const sa_level* l)
{
    sa_incomplete* f = l->incomplete;
    size_t blocks = (size_t)f->lower_start[l->rows], rows = (size_t)l->rows, before = h->bytes;
    int *start = NULL, *row = NULL, *item = NULL;
    sa_lists lists = {l->rows, f->lower_start, f->lower_column, 1};
    weft_status status = sa_invert_lists(h, &lists, l->rows, &start, &row, &item);
    fill_pass c = {.f = f, .start = start, .row = row, .item = item};
    c.size = mem_raw(blocks + 1, sizeof(float));
    c.mean = mem_raw(rows + 1, sizeof(float));
    c.chosen = mem_raw(FILL_ROW * rows + 1, sizeof(int));
    h->bytes = before; // scratch
    status = status == WEFT_OK ? choose(h, l, &c) : status;
    mem_free(start);
    mem_free(row);
    mem_free(item);
    mem_free(c.size);
    mem_free(c.mean);
    mem_free(c.chosen);
    return status;
}

// Incomplete Cholesky as the smoother of the finest level, for folded cloth. There the modes that are slow for a block
// Jacobi smoother bend many edges together without stretching any: soft for the matrix, stiff for every block on the
// diagonal, and too short for rigid aggregates. A factorisation sees them, since it eliminates vertex after vertex:
//
//     M = E (I + L) D (I + L)^T E^T,   x += omega M^-1 (b - A x).
//
// L is in the pattern of A and has the largest of its fill besides (sa_fill.c). Without the rest pivots may lose their
// definiteness, so A_ii is taken as (1 + shift) A_ii = E_i E_i^T: relative to the block, so that soft directions get as
// little more as they have. A pivot that ends up weak beside its A_ii raises the shift around it, and the factorisation
// is made again; shifts are kept for the next one.
//
// In parallel: vertices come in clusters of neighbours, clusters in colours, such that two clusters of one colour are
// not connected. The order is colour after colour; what is computed depends on the pattern alone, not on threads.
#include <math.h>
#include <string.h>

#include "solve/sa/sa.h"

enum
{
    CLUSTER = 256, // vertices; 64 cost up to a quarter more iterations, 512 leave fewer to run at once
    COLOURS_MAX = 64,
    ROUNDS = 4,         // factorisations of a setup
    ROUNDS_CONTACTS = 2 // and after other contacts; other values alone start from shifts that served
};

// Scene after scene 0.003 to 0.01 is best: less breaks down, more slows down (docs/multigrid.md).
static const float SHIFT = 0.005F, SHIFT_GROWTH = 3.0F, SHIFT_MAX = 1.0F;

// ---- clusters, colours, order

// cluster[i] of each row: breadth first from the first row that is left, until it is full.
static int make_clusters(const bsr_pattern* p, int* cluster, int* queue)
{
    int count = 0;
    memset(cluster, -1, (size_t)p->row_count * sizeof(int));
    for (int seed = 0; seed < p->row_count; seed++)
    {
        if (cluster[seed] >= 0)
        {
            continue;
        }
        int head = 0, tail = 0;
        queue[tail++] = seed;
        cluster[seed] = count;
        for (; head < tail && tail < CLUSTER; head++)
        {
            for (int k = p->row_start[queue[head]]; k < p->row_start[queue[head] + 1] && tail < CLUSTER; k++)
            {
                int j = p->column[k];
                if (cluster[j] < 0)
                {
                    cluster[j] = count;
                    queue[tail++] = j;
                }
            }
        }
        count++;
    }
    return count;
}

// member: rows by cluster, increasing within one.
static void list_members(const int* cluster, int rows, int count, int* start, int* member)
{
    memset(start, 0, ((size_t)count + 1) * sizeof(int));
    for (int i = 0; i < rows; i++)
    {
        start[cluster[i] + 1]++;
    }
    for (int c = 0; c < count; c++)
    {
        start[c + 1] += start[c];
    }
    for (int i = rows - 1; i >= 0; i--) // from the back: start ends up one cluster ahead
    {
        member[--start[cluster[i] + 1]] = i;
    }
    memmove(start, start + 1, (size_t)count * sizeof(int));
    start[count] = rows;
}

// The first colour that no neighbour has. Beyond the last one colours repeat: such neighbours are not coupled in L.
static int free_colour(const bsr_pattern* p, const sa_incomplete* f, const int* member, const int* start, int c)
{
    uint64_t used = 0;
    for (int m = start[c]; m < start[c + 1]; m++)
    {
        for (int k = p->row_start[member[m]]; k < p->row_start[member[m] + 1]; k++)
        {
            int colour = f->colour[f->cluster[p->column[k]]];
            used |= colour >= 0 && f->cluster[p->column[k]] != c ? 1ULL << colour : 0;
        }
    }
    int colour = 0;
    while (colour < COLOURS_MAX - 1 && (used >> colour & 1))
    {
        colour++;
    }
    return colour;
}

// Colours of the clusters, the order of all rows, and where clusters and colours begin in it. start, member: scratch.
static void make_order(const bsr_pattern* p, sa_incomplete* f, int* start, int* member)
{
    list_members(f->cluster, p->row_count, f->cluster_count, start, member);
    for (int c = 0; c < f->cluster_count; c++)
    {
        f->colour[c] = -1;
    }
    f->colour_count = 0;
    for (int c = 0; c < f->cluster_count; c++)
    {
        f->colour[c] = free_colour(p, f, member, start, c);
        f->colour_count = int_max(f->colour_count, f->colour[c] + 1);
    }
    int rank = 0, at = 0;
    for (int colour = 0; colour < f->colour_count; colour++)
    {
        f->colour_start[colour] = at;
        for (int c = 0; c < f->cluster_count; c++)
        {
            if (f->colour[c] == colour)
            {
                f->cluster_start[at++] = rank;
                for (int m = start[c]; m < start[c + 1]; m++)
                {
                    f->rank[member[m]] = rank;
                    f->order[rank++] = member[m];
                }
            }
        }
    }
    f->colour_start[f->colour_count] = f->cluster_count;
    f->cluster_start[f->cluster_count] = p->row_count;
}

// ---- structure of L

// Columns before a rank, increasing, with their slots; the last SA_LOWER_MAX of them.
typedef struct lower_row
{
    int column[SA_LOWER_MAX], slot[SA_LOWER_MAX], count;
} lower_row;

static void insert_lower(lower_row* r, int rank, int slot)
{
    int at = r->count, full = r->count == SA_LOWER_MAX;
    while (at > 0 && r->column[at - 1] > rank)
    {
        at--;
    }
    bool there = at > 0 && r->column[at - 1] == rank; // a contact where there was fill
    if (there || (full && at == 0))
    {
        return;
    }
    for (int k = 0; full && k + 1 < at; k++) // the first one goes
    {
        r->column[k] = r->column[k + 1];
        r->slot[k] = r->slot[k + 1];
    }
    for (int k = r->count; !full && k > at; k--)
    {
        r->column[k] = r->column[k - 1];
        r->slot[k] = r->slot[k - 1];
    }
    r->column[at - full] = rank;
    r->slot[at - full] = slot;
    r->count += 1 - full;
}

static void list_lower(const bsr_pattern* p, const sa_incomplete* f, int k, lower_row* r)
{
    int i = f->order[k];
    r->count = 0;
    for (int s = p->row_start[i]; s < p->row_start[i + 1]; s++)
    {
        int j = p->column[s];
        f->rank[j] < k && !sa_apart(f, i, j) ? insert_lower(r, f->rank[j], s) : (void)0;
    }
    for (int s = f->fill_start[i]; s < f->fill_start[i + 1]; s++)
    {
        int j = f->fill[s];
        f->rank[j] < k && !sa_apart(f, i, j) ? insert_lower(r, f->rank[j], -1) : (void)0;
    }
}

typedef struct structure_pass
{
    const bsr_pattern* pattern;
    sa_incomplete* f;
} structure_pass;

static void count_lower(void* context, int begin, int end)
{
    const structure_pass* s = context;
    lower_row r;
    for (int k = begin; k < end; k++)
    {
        list_lower(s->pattern, s->f, k, &r);
        s->f->lower_start[k + 1] = r.count;
    }
}

static void fill_lower(void* context, int begin, int end)
{
    const structure_pass* s = context;
    sa_incomplete* f = s->f;
    lower_row r;
    for (int k = begin; k < end; k++)
    {
        list_lower(s->pattern, f, k, &r);
        memcpy(f->lower_column + f->lower_start[k], r.column, (size_t)r.count * sizeof(int));
        memcpy(f->lower_slot + f->lower_start[k], r.slot, (size_t)r.count * sizeof(int));
    }
}

// Entries of a row's own cluster come last in it; those of others go the way back by their transpose.
static void count_upper(sa_incomplete* f, int rows)
{
    memset(f->upper_start, 0, ((size_t)rows + 1) * sizeof(int));
    for (int c = 0; c < f->cluster_count; c++)
    {
        for (int k = f->lower_start[f->cluster_start[c]]; k < f->lower_start[f->cluster_start[c + 1]]; k++)
        {
            f->upper_start[f->lower_column[k] + 1] += f->lower_column[k] < f->cluster_start[c];
        }
    }
    for (int k = 0; k < rows; k++)
    {
        f->upper_start[k + 1] += f->upper_start[k];
    }
}

// For each rank those of other clusters behind it, increasing, and where their blocks stand in L.
static void list_upper(sa_incomplete* f, int rows)
{
    int count = f->upper_start[rows];
    for (int c = f->cluster_count - 1; c >= 0; c--) // from the back, as list_members does
    {
        for (int row = f->cluster_start[c + 1] - 1; row >= f->cluster_start[c]; row--)
        {
            for (int k = f->lower_start[row]; k < f->lower_start[row + 1] && f->lower_column[k] < f->cluster_start[c];
                 k++)
            {
                int at = --f->upper_start[f->lower_column[k] + 1];
                f->upper_column[at] = row;
                f->upper_place[at] = k;
            }
        }
    }
    memmove(f->upper_start, f->upper_start + 1, (size_t)rows * sizeof(int));
    f->upper_start[rows] = count;
}

// Room for two lists of so many blocks and their values; contacts come and go, so there is some to spare.
static weft_status reserve(sa_hierarchy* h, int count, int* capacity, int** lists[2], uint16_t** values)
{
    if (count <= *capacity)
    {
        return WEFT_OK;
    }
    *capacity = count + count / 8;
    mem_free(*lists[0]);
    mem_free(*lists[1]);
    mem_free(*values);
    *lists[0] = sa_ints_new(h, (size_t)*capacity);
    *lists[1] = sa_ints_new(h, (size_t)*capacity);
    size_t numbers = SA_HALF_BLOCK * (size_t)*capacity;
    *values = sa_places_new(h, numbers + SA_PAD);
    *values ? (void)memset(*values + numbers, 0, SA_PAD * sizeof(uint16_t)) : (void)0; // kernels may read it
    if (!*lists[0] || !*lists[1] || !*values)
    {
        *capacity = 0;
        return WEFT_NO_MEMORY;
    }
    return WEFT_OK;
}

// At most as many as the shorter of both rows has, so that rows know their place before anything is compared.
static void bound_shared(void* context, int begin, int end)
{
    const sa_incomplete* f = ((const structure_pass*)context)->f;
    for (int k = begin; k < end; k++)
    {
        int bound = 0, first = f->lower_start[k];
        for (int at = first; at < f->lower_start[k + 1]; at++)
        {
            int j = f->lower_column[at];
            bound += 1 + int_min(at - first, f->lower_start[j + 1] - f->lower_start[j]);
        }
        f->shared_start[k + 1] = bound;
    }
}

// A merge of two increasing lists, without branches: which are equal cannot be foretold. Returns the end of the output.
static uint16_t* list_shared(const int* left, int left_count, const int* right, int right_count, uint16_t* out)
{
    uint16_t* to = out + 1;
    for (int a = 0, b = 0; a < left_count && b < right_count;)
    {
        int x = left[a], y = right[b];
        *to = (uint16_t)(a << 8 | b);
        to += x == y;
        a += x <= y;
        b += y <= x;
    }
    *out = (uint16_t)(to - out - 1);
    return to;
}

static void fill_shared(void* context, int begin, int end)
{
    sa_incomplete* f = ((const structure_pass*)context)->f;
    for (int k = begin; k < end; k++)
    {
        int first = f->lower_start[k];
        uint16_t* out = f->shared + f->shared_start[k];
        for (int at = first; at < f->lower_start[k + 1]; at++)
        {
            int j = f->lower_column[at], start = f->lower_start[j], count = f->lower_start[j + 1] - start;
            out = list_shared(f->lower_column + first, at - first, f->lower_column + start, count, out);
        }
    }
}

static weft_status make_shared(sa_hierarchy* h, sa_level* l, structure_pass* pass)
{
    sa_incomplete* f = l->incomplete;
    f->shared_start[0] = 0;
    parallel_for(h->pool, l->rows, ROW_GRAIN, bound_shared, pass);
    for (int k = 0; k < l->rows; k++)
    {
        f->shared_start[k + 1] += f->shared_start[k];
    }
    int count = int_max(1, f->shared_start[l->rows]);
    if (count > f->shared_capacity)
    {
        f->shared_capacity = count + count / 8;
        mem_free(f->shared);
        f->shared = sa_places_new(h, (size_t)f->shared_capacity);
    }
    if (!f->shared)
    {
        f->shared_capacity = 0;
        return WEFT_NO_MEMORY;
    }
    parallel_for(h->pool, l->rows, ROW_GRAIN, fill_shared, pass);
    return WEFT_OK;
}

static weft_status make_structure(sa_hierarchy* h, sa_level* l)
{
    sa_incomplete* f = l->incomplete;
    structure_pass pass = {&l->pattern, f};
    f->lower_start[0] = 0;
    parallel_for(h->pool, l->rows, ROW_GRAIN, count_lower, &pass);
    for (int k = 0; k < l->rows; k++)
    {
        f->lower_start[k + 1] += f->lower_start[k];
    }
    int** lower[2] = {&f->lower_column, &f->lower_slot};
    TRY(reserve(h, f->lower_start[l->rows], &f->capacity, lower, &f->lower));
    parallel_for(h->pool, l->rows, ROW_GRAIN, fill_lower, &pass);
    count_upper(f, l->rows);
    int** upper[2] = {&f->upper_column, &f->upper_place};
    TRY(reserve(h, f->upper_start[l->rows] + 1, &f->upper_capacity, upper, &f->upper));
    list_upper(f, l->rows);
    return make_shared(h, l, &pass);
}

// ---- memory

void sa_incomplete_finish(sa_incomplete* f)
{
    if (!f)
    {
        return;
    }
    void* owned[] = {f->cluster,      f->colour,      f->rank,         f->order,      f->cluster_start,
                     f->colour_start, f->lower_start, f->lower_column, f->lower_slot, f->upper_start,
                     f->upper_column, f->upper_place, f->lower,        f->upper,      f->scale,
                     f->pivot,        f->y,           f->shift,        f->weak,       f->basis,
                     f->fill_start,   f->fill,        f->shared_start, f->shared};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    mem_free(f);
}

static weft_status allocate_clusters(sa_hierarchy* h, sa_incomplete* f)
{
    f->colour = sa_ints_new(h, (size_t)f->cluster_count);
    f->cluster_start = sa_ints_new(h, (size_t)f->cluster_count + 1);
    return f->colour && f->cluster_start ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status allocate(sa_hierarchy* h, sa_level* l)
{
    sa_incomplete* f = l->incomplete = MEM_NEW(1, sa_incomplete);
    if (!f)
    {
        return WEFT_NO_MEMORY;
    }
    size_t rows = (size_t)l->rows;
    f->cluster = sa_ints_new(h, rows);
    f->rank = sa_ints_new(h, rows);
    f->order = sa_ints_new(h, rows);
    f->lower_start = sa_ints_new(h, rows + 1);
    f->upper_start = sa_ints_new(h, rows + 1);
    f->fill_start = sa_ints_new(h, rows + 1);
    f->shared_start = sa_ints_new(h, rows + 1);
    f->colour_start = MEM_NEW(COLOURS_MAX + 1, int);
    size_t triangles = rows * sa_incomplete_kernels_for(h->cpu)->triangle_size;
    f->scale = mem_raw(triangles, 1);
    f->pivot = sa_real_new(h, 9 * rows);
    f->y = sa_real_new(h, 4 * rows);
    f->shift = mem_raw(rows, sizeof(float));
    f->weak = mem_raw(rows, 1);
    f->basis = sa_real_new(h, 3 * SA_BASIS * rows);
    h->bytes += triangles + rows * (sizeof(float) + 1);
    return f->cluster && f->rank && f->order && f->lower_start && f->upper_start && f->fill_start && f->shared_start &&
                   f->colour_start && f->scale && f->pivot && f->y && f->shift && f->weak && f->basis
               ? WEFT_OK
               : WEFT_NO_MEMORY;
}

// ---- factor

// Returns the number of weak pivots.
static weft_status factor_once(sa_hierarchy* h, sa_level* l, double* weak)
{
    const sa_incomplete* f = l->incomplete;
    const sa_incomplete_kernels* kernels = sa_incomplete_kernels_for(h->cpu);
    if (parallel_sum(h->pool, l->rows, ROW_GRAIN, kernels->scale, l) > 0.0)
    {
        return WEFT_NOT_DEFINITE;
    }
    *weak = 0.0;
    for (int c = 0; c < f->colour_count; c++)
    {
        sa_sweep sweep = {.level = l, .cluster = f->colour_start[c]};
        *weak += parallel_sum(h->pool, f->colour_start[c + 1] - f->colour_start[c], 1, kernels->factor, &sweep);
    }
    return WEFT_OK;
}

// More shift for the weak and their neighbours, once for each of them.
static void raise_shifts(const sa_level* l)
{
    enum
    {
        WEAK = 1,
        RAISED = 2
    };
    sa_incomplete* f = l->incomplete;
    const bsr_pattern* p = &l->pattern;
    for (int i = 0; i < l->rows; i++)
    {
        for (int k = p->row_start[i]; k < p->row_start[i + 1] && (f->weak[i] & WEAK); k++)
        {
            int j = p->column[k];
            if (!(f->weak[j] & RAISED))
            {
                f->weak[j] |= RAISED;
                f->shift[j] = fminf(SHIFT_MAX, SHIFT_GROWTH * f->shift[j]);
            }
        }
    }
}

// A pivot that stays weak takes A_ii instead, so that there is always a factor; the radius tells how good it is.
static weft_status factor(sa_hierarchy* h, sa_level* l, int rounds)
{
    double clock = sa_clock(h), weak = 0.0;
    TRY(factor_once(h, l, &weak));
    for (int round = 1; weak > 0.0 && round < rounds; round++)
    {
        raise_shifts(l);
        TRY(factor_once(h, l, &weak));
    }
    weak > 0.0 ? raise_shifts(l) : (void)0; // for the next one
    parallel_for(h->pool, l->rows, ROW_GRAIN, sa_incomplete_kernels_for(h->cpu)->mirror, l->incomplete);
    sa_lap(h, l, SA_INCOMPLETE, &clock);
    return WEFT_OK;
}

// The fill that a factor without any would leave out most of.
static weft_status choose_fill(sa_hierarchy* h, sa_level* l)
{
    double weak;
    memset(l->incomplete->fill_start, 0, ((size_t)l->rows + 1) * sizeof(int));
    TRY(make_structure(h, l));
    TRY(factor_once(h, l, &weak));
    return sa_fill_choose(h, l);
}

static weft_status find_order(sa_level* l)
{
    sa_incomplete* f = l->incomplete;
    int* scratch = mem_raw((size_t)l->rows + (size_t)f->cluster_count + 1, sizeof(int));
    if (!scratch)
    {
        return WEFT_NO_MEMORY;
    }
    make_order(&l->pattern, f, scratch + l->rows, scratch);
    mem_free(scratch);
    return WEFT_OK;
}

weft_status sa_incomplete_structure(sa_hierarchy* h, sa_level* l)
{
    TRY(find_order(l));
    return make_structure(h, l);
}

static weft_status make_factor(sa_hierarchy* h, sa_level* l, bool first, int rounds)
{
    double clock = sa_clock(h);
    TRY(find_order(l));
    TRY(first ? choose_fill(h, l) : WEFT_OK);
    TRY(make_structure(h, l));
    sa_lap(h, l, SA_INCOMPLETE, &clock);
    return factor(h, l, rounds);
}

// The size of what the last look at the radius found at row i, in units of A_ii.
static double share_of(const sa_level* l, int i)
{
    const float *p = (const float*)l->top + 3 * (size_t)i, *m = (const float*)l->inverse + 9 * (size_t)i;
    double x = p[0], y = p[1], z = p[2], xx = m[0], xy = m[1], xz = m[2], yy = m[4], yz = m[5], zz = m[8];
    return x * (xx * x + 2.0 * (xy * y + xz * z)) + y * (yy * y + 2.0 * yz * z) + zz * z * z;
}

void sa_incomplete_stiffen(sa_level* l, bool everywhere)
{
    // The larger the radius, the more places share in it.
    double damping = fmin(1.0, SA_DAMPED / l->incomplete_radius), peak = 0.05 * damping * damping, most = 0.0;
    for (int i = 0; i < l->rows; i++)
    {
        most = fmax(most, share_of(l, i));
    }
    for (int i = 0; i < l->rows; i++)
    {
        l->incomplete->weak[i] = everywhere || share_of(l, i) > peak * most;
    }
    raise_shifts(l);
}

weft_status sa_incomplete_repeat(sa_hierarchy* h, sa_level* l)
{
    return factor(h, l, 1);
}

weft_status sa_incomplete_refresh(sa_hierarchy* h, sa_level* l)
{
    return factor(h, l, 1);
}

weft_status sa_incomplete_restructure(sa_hierarchy* h, sa_level* l)
{
    return make_factor(h, l, false, ROUNDS_CONTACTS);
}

weft_status sa_incomplete_build(sa_hierarchy* h, sa_level* l)
{
    TRY(allocate(h, l));
    sa_incomplete* f = l->incomplete;
    f->cluster_count = make_clusters(&l->pattern, f->cluster, f->order);
    TRY(allocate_clusters(h, f));
    for (int i = 0; i < l->rows; i++)
    {
        f->shift[i] = SHIFT;
    }
    return make_factor(h, l, true, ROUNDS);
}

weft_status sa_incomplete_restore(sa_hierarchy* h, sa_level* l, const sa_factor_plan* plan)
{
    TRY(allocate(h, l));
    sa_incomplete* f = l->incomplete;
    size_t rows = (size_t)l->rows, fill = (size_t)plan->fill_start[rows];
    f->cluster_count = plan->cluster_count;
    f->fill = sa_ints_new(h, fill + 1);
    TRY(f->fill ? allocate_clusters(h, f) : WEFT_NO_MEMORY);
    memcpy(f->cluster, plan->cluster, rows * sizeof(int));
    memcpy(f->fill_start, plan->fill_start, (rows + 1) * sizeof(int));
    memcpy(f->fill, plan->fill, fill * sizeof(int));
    memcpy(f->shift, plan->shift, rows * sizeof(float));
    return WEFT_OK;
}

// ---- apply

void sa_incomplete_sweep(const sa_hierarchy* h, const sa_sweep* sweep)
{
    const sa_incomplete* f = sweep->level->incomplete;
    const sa_incomplete_kernels* kernels = sa_incomplete_kernels_for(h->cpu);
    sa_sweep s = *sweep;
    for (int c = 0; c < f->colour_count; c++)
    {
        s.cluster = f->colour_start[c];
        sa_run_pass(h->pool, f->colour_start[c + 1] - s.cluster, 1, kernels->forward, &s);
    }
    for (int c = f->colour_count - 1; c >= 0; c--)
    {
        s.cluster = f->colour_start[c];
        sa_run_pass(h->pool, f->colour_start[c + 1] - s.cluster, 1, kernels->backward, &s);
    }
}

// Setup of the hierarchy, level by level (algorithm 3 of the paper).
#include <math.h>
#include <string.h>

#include "math/wide.h"
#include "solve/prefilter.h"
#include "solve/sa.h"

enum
{
    LANCZOS_SEED = 20150811,
    LANCZOS_DEFAULT = 10,
    NODE_GRAIN = 64
};

static const double DROP = 1e-10; // a column shorter than this share of its first length is dependent
static const double STALL = 0.75; // a level that keeps more than this share of the nodes is the last

static size_t real_size(const sa_hierarchy* h)
{
    return h->precision == 64 ? sizeof(double) : sizeof(float);
}

static void* real_new(sa_hierarchy* h, size_t count)
{
    h->bytes += (count + SA_PAD) * real_size(h);
    return mem_alloc(count + SA_PAD, real_size(h));
}

static void* ints_new(sa_hierarchy* h, size_t count)
{
    h->bytes += count * sizeof(int);
    return mem_alloc(count, sizeof(int));
}

// What only the setup needs.
static void level_trim(sa_level* l)
{
    mem_free(l->kernel);
    mem_free(l->Q);
    mem_free(l->dropped);
    mem_free(l->AP_start);
    mem_free(l->AP_column);
    mem_free(l->chunk_start);
    mem_free(l->chunk_row);
    l->kernel = NULL;
    l->Q = NULL;
    l->dropped = NULL;
    l->AP_start = l->AP_column = l->chunk_start = l->chunk_row = NULL;
}

static void level_finish(sa_level* l, bool finest)
{
    level_trim(l);
    if (!finest)
    {
        bsr_pattern_finish(&l->pattern);
    }
    void* owned[] = {l->A,     l->inverse, l->aggregate, l->P_start, l->P_column, l->P, l->R_start,
                     l->R_row, l->R_slot,  l->x,         l->y,       l->b,        l->r, l->d};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    *l = (sa_level){0};
}

void sa_finish(sa_hierarchy* h)
{
    for (int k = 0; k < h->level_count; k++)
    {
        level_finish(&h->levels[k], k == 0);
    }
    chol_symbolic_finish(&h->symbolic);
    chol_numeric_finish(&h->numeric);
    mem_free(h->direct_x);
    h->direct_x = NULL;
    h->level_count = 0;
    h->direct = false;
    h->bytes = 0;
}

// ---- the finest level

static weft_status load_finest(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    sa_level* l = &h->levels[0];
    int rows = system->A.pattern->row_count;
    h->level_count = 1;
    h->element_vertices = system->element_vertices;
    *l = (sa_level){.rows = rows, .block = 3, .pattern = *system->A.pattern};
    l->A = real_new(h, 9 * (size_t)l->pattern.block_count);
    int* index = prefilter && system->filter_count > 0 ? MEM_NEW(rows, int) : NULL;
    if (!l->A || (prefilter && system->filter_count > 0 && !index))
    {
        mem_free(index);
        return WEFT_NO_MEMORY;
    }
    if (index)
    {
        prefilter_index(system, index);
    }
    double most = 0.0;
    for (int i = 0; i < rows; i++)
    {
        const double* a = system->A.values + 9 * (size_t)l->pattern.diagonal[i];
        most = fmax(most, fmax(a[0], fmax(a[4], a[8])));
    }
    h->matrix_scale = 1.0 / sa_power_of_two(most);
    sa_load load = {system, index, l, h->matrix_scale};
    parallel_for(h->pool, rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->load, &load);
    mem_free(index);
    return WEFT_OK;
}

// The vectors that the near kernel is made of, row after row; rotations are about the middle of all positions and
// scaled by their extent.
static weft_status fill_kernel(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    sa_level* l = &h->levels[0];
    int count = system->kernel ? system->kernel_count : h->settings.vectors == 6 && system->positions ? 6 : 3;
    int K = (count + 2) / 3 * 3;
    l->coarse_block = K;
    l->kernel = MEM_NEW((size_t)l->rows * 3 * (size_t)K + SA_PAD, double);
    if (!l->kernel)
    {
        return WEFT_NO_MEMORY;
    }
    vec3 low = system->positions ? system->positions[0] : v3(0, 0, 0), high = low;
    for (int i = 0; i < l->rows && system->positions; i++)
    {
        vec3 x = system->positions[i];
        low = v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    vec3 middle = v3_scale(0.5, v3_add(low, high));
    double extent = v3_length(v3_sub(high, low)), scale = extent > 0.0 ? 1.0 / extent : 1.0;
    for (int i = 0; i < l->rows; i++)
    {
        double* k = l->kernel + (size_t)(3 * K) * (size_t)i;
        if (system->kernel)
        {
            for (int r = 0; r < 3; r++)
            {
                for (int c = 0; c < count; c++)
                {
                    k[r * K + c] = system->kernel[(size_t)c * 3 * (size_t)l->rows + 3 * (size_t)i + (size_t)r];
                }
            }
            continue;
        }
        k[0] = k[K + 1] = k[2 * K + 2] = 1.0;
        if (count == 6)
        {
            vec3 x = v3_scale(scale, v3_sub(system->positions[i], middle));
            k[K + 3] = -x.z; // (0, -z, y)
            k[2 * K + 3] = x.y;
            k[4] = x.z; // (z, 0, -x)
            k[2 * K + 4] = -x.x;
            k[5] = -x.y; // (-y, x, 0)
            k[K + 5] = x.x;
        }
    }
    for (int f = 0; f < system->filter_count && prefilter; f++)
    {
        const filter_record* record = &system->filter[f];
        double* k = l->kernel + (size_t)(3 * K) * (size_t)record->vertex;
        for (int c = 0; c < K; c++)
        {
            vec3 v = m3_mul_v(record->S, v3(k[c], k[K + c], k[2 * K + c]));
            k[c] = v.x;
            k[K + c] = v.y;
            k[2 * K + c] = v.z;
        }
    }
    return WEFT_OK;
}

// ---- spectral radius

double sa_tridiagonal_max(const double* diagonal, const double* off, int count)
{
    double low = diagonal[0], high = diagonal[0];
    for (int k = 0; k < count; k++)
    {
        double reach = (k > 0 ? fabs(off[k - 1]) : 0.0) + (k + 1 < count ? fabs(off[k]) : 0.0);
        high = fmax(high, diagonal[k] + reach);
        low = fmax(low, diagonal[k]);
    }
    // Sturm: x is above all eigenvalues when all pivots of T - x are negative.
    for (int round = 0; round < 60 && high - low > 1e-14 * fabs(high); round++)
    {
        double x = 0.5 * (low + high), pivot = diagonal[0] - x;
        bool above = pivot < 0.0;
        for (int k = 1; k < count && above; k++)
        {
            pivot = diagonal[k] - x - off[k - 1] * off[k - 1] / pivot;
            above = pivot < 0.0;
        }
        *(above ? &high : &low) = x;
    }
    return high;
}

typedef struct real_fill
{
    void* v;
    const void* from;
    double scale;
    int precision;
} real_fill;

static void fill_random(void* context, int begin, int end)
{
    real_fill* f = context;
    for (int k = begin; k < end; k++)
    {
        double value = random_unit(LANCZOS_SEED, (uint64_t)k) - 0.5;
        f->precision == 32 ? (void)(((float*)f->v)[k] = (float)value) : (void)(((double*)f->v)[k] = value);
    }
}

static void fill_scaled(void* context, int begin, int end)
{
    real_fill* f = context;
    for (int k = begin; k < end; k++)
    {
        if (f->precision == 32)
        {
            ((float*)f->v)[k] = (float)f->scale * ((const float*)f->from)[k];
        }
        else
        {
            ((double*)f->v)[k] = f->scale * ((const double*)f->from)[k];
        }
    }
}

// Generalised Lanczos for A v = lambda D v (section 7): the largest Ritz value times the margin. v is D-orthonormal,
// p = D v; what is left of A v becomes the next p. No reorthogonalisation: lost orthogonality repeats eigenvalues that
// are found already.
static void lanczos(sa_hierarchy* h, sa_level* l, int limit)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    enum
    {
        LANCZOS_MAX = 100,
        SCALAR_GRAIN = 4096
    };
    double diagonal[LANCZOS_MAX], off[LANCZOS_MAX];
    int unknowns = l->rows * l->block, grain = l->block == 3 ? ROW_GRAIN : ROW_GRAIN / 4, count = 0;
    void *v = l->x, *p = l->y, *last = l->b, *w = l->r, *z = l->d;
    real_fill fill = {w, NULL, 0.0, h->precision};
    parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_random, &fill);
    memset(p, 0, (size_t)unknowns * real_size(h));
    sa_pass pass = {.level = l, .b = p, .y = w, .d = z};
    double beta = sqrt(parallel_sum(h->pool, l->rows, grain, kernels->lanczos_scale, &pass));
    while (count < limit && beta > 0.0 && isfinite(beta))
    {
        real_fill to_v = {v, z, 1.0 / beta, h->precision}, to_p = {last, w, 1.0 / beta, h->precision};
        parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_scaled, &to_v);
        parallel_for(h->pool, unknowns, SCALAR_GRAIN, fill_scaled, &to_p);
        void* previous = p;
        p = last;
        last = previous;
        pass = (sa_pass){.level = l, .x = v, .b = last, .y = w, .c1 = count > 0 ? beta : 0.0};
        double alpha = parallel_sum(h->pool, l->rows, grain, kernels->lanczos_multiply, &pass);
        pass = (sa_pass){.level = l, .b = p, .y = w, .d = z, .c1 = alpha};
        double next = parallel_sum(h->pool, l->rows, grain, kernels->lanczos_scale, &pass);
        if (count > 0)
        {
            off[count - 1] = beta;
        }
        diagonal[count++] = alpha;
        // A remainder at rounding level means that all of the spectrum has been seen.
        beta = next > 1e-10 * alpha * alpha ? sqrt(next) : 0.0;
    }
    l->radius = count > 0 ? h->settings.margin * sa_tridiagonal_max(diagonal, off, count) : NAN;
}

// For a sum of semidefinite elements A_e with the block diagonals D_e, x^T A_e x <= m x^T D_e x, m being the number of
// vertices of e (Cauchy-Schwarz): so m bounds the radius on the finest level, and prefiltering keeps that. Coarse
// matrices are no such sums.
static void find_radius(sa_hierarchy* h, sa_level* l)
{
    bool bound = h->settings.lanczos == 0 && l == h->levels && h->element_vertices > 0;
    if (bound)
    {
        l->radius = h->element_vertices;
        return;
    }
    lanczos(h, l, h->settings.lanczos > 0 ? h->settings.lanczos : LANCZOS_DEFAULT);
}

// ---- vectors, inverse, radius: what every level has

static weft_status prepare_level(sa_hierarchy* h, sa_level* l)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    size_t unknowns = (size_t)l->rows * (size_t)l->block;
    l->inverse = real_new(h, unknowns * (size_t)l->block);
    void** vectors[] = {&l->x, &l->y, &l->b, &l->r, &l->d};
    for (int k = 0; k < 5; k++)
    {
        *vectors[k] = real_new(h, unknowns);
        if (!*vectors[k])
        {
            return WEFT_NO_MEMORY;
        }
    }
    if (!l->inverse)
    {
        return WEFT_NO_MEMORY;
    }
    double bad = parallel_sum(h->pool, l->rows, ROW_GRAIN, kernels->invert, l);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

// ---- near kernel, aggregates, local QR

static weft_status relax_kernel(sa_hierarchy* h, sa_level* l)
{
    size_t size = (size_t)l->rows * (size_t)l->block * (size_t)l->coarse_block;
    for (int sweep = 0; sweep < h->settings.relax; sweep++)
    {
        double* relaxed = MEM_NEW(size + SA_PAD, double);
        if (!relaxed)
        {
            return WEFT_NO_MEMORY;
        }
        sa_relaxation c = {l, l->kernel, relaxed, 4.0 / 3.0 / l->radius};
        parallel_for(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->relax, &c);
        mem_free(l->kernel);
        l->kernel = relaxed;
    }
    return WEFT_OK;
}

// The nodes of each aggregate: member[start[a]] .. member[start[a + 1] - 1], increasing.
typedef struct member_list
{
    int *start, *member;
} member_list;

static bool members_of(const sa_level* l, member_list* out)
{
    out->start = MEM_NEW((size_t)l->coarse_rows + 2, int);
    out->member = MEM_NEW(l->rows, int);
    if (!out->start || !out->member)
    {
        return false;
    }
    for (int i = 0; i < l->rows; i++)
    {
        if (l->aggregate[i] >= 0)
        {
            out->start[l->aggregate[i] + 2]++;
        }
    }
    for (int a = 0; a < l->coarse_rows; a++)
    {
        out->start[a + 2] += out->start[a + 1];
    }
    for (int i = 0; i < l->rows; i++)
    {
        if (l->aggregate[i] >= 0)
        {
            out->member[out->start[l->aggregate[i] + 1]++] = i;
        }
    }
    return true;
}

typedef struct qr_context
{
    const sa_hierarchy* h;
    sa_level *level, *coarse;
    member_list list;
} qr_context;

// Several sums at once, which need not wait for each other.
static double column_dot(const double* a, const double* b, int count)
{
    wide sums = {0};
    double rest = 0.0;
    int k = 0;
    for (; k + WIDE <= count; k += WIDE)
    {
        sums += wide_load(a + k) * wide_load(b + k);
    }
    for (; k < count; k++)
    {
        rest += a[k] * b[k];
    }
    return wide_sum(sums) + rest;
}

// Thin QR of K columns of `size` numbers, column after column, by Gram-Schmidt, done twice, which is enough. A column
// that depends on those before it becomes zero, with a zero row in R.
static void local_qr(double* columns, int size, int K, double* R, unsigned char* dropped)
{
    memset(R, 0, (size_t)(K * K) * sizeof(double));
    for (int c = 0; c < K; c++)
    {
        double* v = columns + (size_t)c * (size_t)size;
        double first = sqrt(column_dot(v, v, size));
        for (int round = 0; round < 2; round++)
        {
            for (int k = 0; k < c; k++)
            {
                const double* q = columns + (size_t)k * (size_t)size;
                double s = column_dot(q, v, size);
                R[k * K + c] += s;
                for (int m = 0; m < size; m++)
                {
                    v[m] -= s * q[m];
                }
            }
        }
        double length = sqrt(column_dot(v, v, size));
        dropped[c] = !(length > DROP * first);
        R[c * K + c] = dropped[c] ? 0.0 : length;
        for (int m = 0; m < size; m++)
        {
            v[m] = dropped[c] ? 0.0 : v[m] / length;
        }
    }
}

static double qr_chunk(void* context, int begin, int end)
{
    qr_context* c = context;
    const sa_level* l = c->level;
    int B = l->block, K = l->coarse_block, most = 0;
    for (int a = begin; a < end; a++)
    {
        most = int_max(most, c->list.start[a + 1] - c->list.start[a]);
    }
    double* columns = MEM_NEW((size_t)most * (size_t)(B * K), double);
    if (!columns)
    {
        return 1.0;
    }
    for (int a = begin; a < end; a++)
    {
        const int* member = c->list.member + c->list.start[a];
        int count = c->list.start[a + 1] - c->list.start[a], size = count * B;
        for (int m = 0; m < size * K; m++)
        {
            columns[(m % K) * size + m / K] =
                l->kernel[(size_t)(B * K) * (size_t)member[m / (B * K)] + (size_t)(m % (B * K))];
        }
        local_qr(columns, size, K, c->coarse->kernel + (size_t)(K * K) * (size_t)a,
                 c->coarse->dropped + (size_t)K * (size_t)a);
        for (int m = 0; m < size * K; m++)
        {
            double value = columns[(m % K) * size + m / K];
            size_t to = (size_t)(B * K) * (size_t)member[m / (B * K)] + (size_t)(m % (B * K));
            c->h->precision == 32 ? (void)(((float*)l->Q)[to] = (float)value) : (void)(((double*)l->Q)[to] = value);
        }
    }
    mem_free(columns);
    return 0.0;
}

static weft_status tentative(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    size_t size = (size_t)l->rows * (size_t)l->block * (size_t)l->coarse_block, K = (size_t)l->coarse_block;
    l->Q = mem_alloc(size + SA_PAD, real_size(h));
    coarse->kernel = MEM_NEW((size_t)l->coarse_rows * K * K + SA_PAD, double);
    coarse->dropped = MEM_NEW((size_t)l->coarse_rows * K, unsigned char);
    qr_context c = {h, l, coarse, {0}};
    double failed = 1.0;
    if (l->Q && coarse->kernel && coarse->dropped && members_of(l, &c.list))
    {
        failed = parallel_sum(h->pool, l->coarse_rows, NODE_GRAIN, qr_chunk, &c);
    }
    mem_free(c.list.start);
    mem_free(c.list.member);
    return failed > 0.0 ? WEFT_NO_MEMORY : WEFT_OK;
}

// ---- structure of P, P^T, A P and the coarse matrix

// A set of integers that is filled and emptied in time linear in what it holds. The first SET_SMALL are in the list
// only, the others in the slots too.
enum
{
    SET_SMALL = 24
};

typedef struct int_set
{
    int* slot; // [slots] value + 1, 0: empty; at most half full
    int slots; // a power of two
    int* list; // [capacity] what is in it
    int count, capacity;
    bool failed;
} int_set;

static int* int_set_place(const int_set* set, int value)
{
    unsigned mask = (unsigned)set->slots - 1, at = (unsigned)value * 2654435761u >> 8 & mask;
    while (set->slot[at] != 0 && set->slot[at] != value + 1)
    {
        at = (at + 1) & mask;
    }
    return &set->slot[at];
}

static void int_set_grow(int_set* set)
{
    int_set next = {.slots = set->slots > 0 ? 2 * set->slots : 256};
    next.slot = MEM_NEW(next.slots, int);
    set->failed =
        set->failed || !next.slot || !mem_grow((void**)&set->list, &set->capacity, next.slots / 2, sizeof(int));
    if (set->failed)
    {
        mem_free(next.slot);
        return;
    }
    for (int k = SET_SMALL; k < set->count; k++)
    {
        *int_set_place(&next, set->list[k]) = set->list[k] + 1;
    }
    mem_free(set->slot);
    set->slot = next.slot;
    set->slots = next.slots;
}

static void int_set_add(int_set* set, int value)
{
    // Most sets stay small: looking through the list is quicker than hashing.
    int small = int_min(set->count, SET_SMALL);
    for (int k = 0; k < small; k++)
    {
        if (set->list[k] == value)
        {
            return;
        }
    }
    if (2 * set->count >= set->slots && !set->failed)
    {
        int_set_grow(set);
    }
    if (set->failed)
    {
        return;
    }
    if (set->count >= SET_SMALL)
    {
        int* place = int_set_place(set, value);
        if (*place != 0)
        {
            return;
        }
        *place = value + 1;
    }
    set->list[set->count++] = value;
}

static void int_set_clear(int_set* set)
{
    if (set->count > SET_SMALL)
    {
        memset(set->slot, 0, (size_t)set->slots * sizeof(int));
    }
    set->count = 0;
}

static void int_set_finish(int_set* set)
{
    mem_free(set->slot);
    mem_free(set->list);
}

static void sort_ints(int* list, int count)
{
    for (int gap = count / 2 > 0 ? count / 2 : 1; gap > 0; gap /= 2)
    {
        for (int k = gap; k < count; k++)
        {
            int value = list[k], at = k;
            for (; at >= gap && list[at - gap] > value; at -= gap)
            {
                list[at] = list[at - gap];
            }
            list[at] = value;
        }
    }
}

// Rows of a structure: each chunk of rows is collected into a list of its own, and the lists are put together.
typedef struct row_builder
{
    const sa_level* level;
    const sa_graph* strong; // P only: NULL takes all connections
    void (*collect)(const struct row_builder* b, int row, int_set* set);
    int* start;
    int* column;
    int** list;    // [chunks]
    int* capacity; // [chunks]
} row_builder;

static double collect_chunk(void* context, int begin, int end)
{
    row_builder* b = context;
    int_set set = {0};
    int **list = &b->list[begin / ROW_GRAIN], *capacity = &b->capacity[begin / ROW_GRAIN], count = 0;
    for (int i = begin; i < end && !set.failed; i++)
    {
        b->collect(b, i, &set);
        b->start[i + 1] = set.count;
        set.failed = set.failed || !mem_grow((void**)list, capacity, count + set.count, sizeof(int));
        if (set.count > 0 && !set.failed)
        {
            sort_ints(set.list, set.count);
            memcpy(*list + count, set.list, (size_t)set.count * sizeof(int));
        }
        count += set.count;
        int_set_clear(&set);
    }
    int_set_finish(&set);
    return set.failed ? 1.0 : 0.0;
}

static void join_chunk(void* context, int begin, int end)
{
    row_builder* b = context;
    int count = b->start[end] - b->start[begin];
    if (count > 0)
    {
        memcpy(b->column + b->start[begin], b->list[begin / ROW_GRAIN], (size_t)count * sizeof(int));
    }
}

static bool sum_starts(int* start, int rows)
{
    int64_t total = 0;
    for (int i = 0; i < rows && total <= INT32_MAX; i++)
    {
        total += start[i + 1];
        start[i + 1] = (int)total;
    }
    return total <= INT32_MAX;
}

static weft_status build_rows(sa_hierarchy* h, row_builder* b, int rows, int** start, int** column)
{
    int chunks = rows / ROW_GRAIN + 1;
    *start = b->start = ints_new(h, (size_t)rows + 1);
    b->list = MEM_NEW(chunks, int*);
    b->capacity = MEM_NEW(chunks, int);
    bool done = b->start && b->list && b->capacity && parallel_sum(h->pool, rows, ROW_GRAIN, collect_chunk, b) == 0.0 &&
                sum_starts(b->start, rows);
    if (done)
    {
        *column = b->column = ints_new(h, (size_t)b->start[rows]);
        done = b->column != NULL;
    }
    if (done)
    {
        parallel_for(h->pool, rows, ROW_GRAIN, join_chunk, b);
    }
    for (int k = 0; k < chunks && b->list; k++)
    {
        mem_free(b->list[k]);
    }
    mem_free(b->list);
    mem_free(b->capacity);
    return done ? WEFT_OK : WEFT_NO_MEMORY;
}

static void collect_P(const row_builder* b, int i, int_set* set)
{
    const sa_level* l = b->level;
    if (l->aggregate[i] < 0)
    {
        return; // a special node: its row stays empty
    }
    int_set_add(set, l->aggregate[i]);
    const int* start = b->strong ? b->strong->row_start : l->pattern.row_start;
    const int* column = b->strong ? b->strong->column : l->pattern.column;
    for (int k = start[i]; k < start[i + 1]; k++)
    {
        if (l->aggregate[column[k]] >= 0)
        {
            int_set_add(set, l->aggregate[column[k]]);
        }
    }
}

static void collect_AP(const row_builder* b, int i, int_set* set)
{
    const sa_level* l = b->level;
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1] && l->aggregate[i] >= 0; slot++)
    {
        int j = l->pattern.column[slot];
        for (int s = l->P_start[j]; s < l->P_start[j + 1]; s++)
        {
            int_set_add(set, l->P_column[s]);
        }
    }
}

static void collect_coarse(const row_builder* b, int I, int_set* set)
{
    const sa_level* l = b->level;
    for (int k = l->R_start[I]; k < l->R_start[I + 1]; k++)
    {
        int i = l->R_row[k];
        for (int s = l->AP_start[i]; s < l->AP_start[i + 1]; s++)
        {
            int_set_add(set, l->AP_column[s]);
        }
    }
}

static weft_status transpose_P(sa_hierarchy* h, sa_level* l)
{
    int count = l->P_start[l->rows];
    l->R_start = ints_new(h, (size_t)l->coarse_rows + 2);
    l->R_row = ints_new(h, (size_t)count);
    l->R_slot = ints_new(h, (size_t)count);
    if (!l->R_start || !l->R_row || !l->R_slot)
    {
        return WEFT_NO_MEMORY;
    }
    for (int s = 0; s < count; s++)
    {
        l->R_start[l->P_column[s] + 2]++;
    }
    for (int I = 0; I < l->coarse_rows; I++)
    {
        l->R_start[I + 2] += l->R_start[I + 1];
    }
    for (int i = 0; i < l->rows; i++)
    {
        for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
        {
            int at = l->R_start[l->P_column[s] + 1]++;
            l->R_row[at] = i;
            l->R_slot[at] = s;
        }
    }
    return WEFT_OK;
}

// For each chunk of coarse rows the fine rows that reach one of them.
static weft_status list_chunks(sa_hierarchy* h, sa_level* l)
{
    int chunks = (l->coarse_rows + SA_CHUNK - 1) / SA_CHUNK;
    l->chunk_start = ints_new(h, (size_t)chunks + 2);
    if (!l->chunk_start)
    {
        return WEFT_NO_MEMORY;
    }
    for (int pass = 0; pass < 2; pass++)
    {
        for (int i = 0; i < l->rows; i++)
        {
            int last = -1;
            for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
            {
                int chunk = l->P_column[s] / SA_CHUNK;
                if (chunk != last && pass == 0)
                {
                    l->chunk_start[chunk + 2]++;
                }
                else if (chunk != last)
                {
                    l->chunk_row[l->chunk_start[chunk + 1]++] = i;
                }
                last = chunk;
            }
        }
        for (int c = 0; c < chunks && pass == 0; c++)
        {
            l->chunk_start[c + 2] += l->chunk_start[c + 1];
        }
        if (pass == 0)
        {
            l->chunk_row = ints_new(h, (size_t)l->chunk_start[chunks + 1]);
            if (!l->chunk_row)
            {
                return WEFT_NO_MEMORY;
            }
        }
    }
    return WEFT_OK;
}

static weft_status coarse_pattern(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    row_builder rows = {.level = l, .collect = collect_coarse};
    bsr_pattern* p = &coarse->pattern;
    p->row_count = l->coarse_rows;
    TRY(build_rows(h, &rows, l->coarse_rows, &p->row_start, &p->column));
    p->block_count = p->row_start[p->row_count];
    p->diagonal = ints_new(h, (size_t)p->row_count);
    if (!p->diagonal)
    {
        return WEFT_NO_MEMORY;
    }
    for (int I = 0; I < p->row_count; I++)
    {
        p->diagonal[I] = bsr_pattern_find(p, I, I);
    }
    return WEFT_OK;
}

// ---- the coarse matrix

// A dropped column leaves a row and a column of zeros: its diagonal becomes the mean of the others of its node.
static void fill_dropped(const sa_hierarchy* h, sa_level* coarse)
{
    int K = coarse->block;
    for (int I = 0; I < coarse->rows; I++)
    {
        const unsigned char* dropped = coarse->dropped + (size_t)K * (size_t)I;
        size_t at = (size_t)(K * K) * (size_t)coarse->pattern.diagonal[I];
        double sum = 0.0;
        int kept = 0;
        for (int k = 0; k < K; k++)
        {
            size_t place = at + (size_t)(k * (K + 1));
            sum += h->precision == 32 ? (double)((float*)coarse->A)[place] : ((double*)coarse->A)[place];
            kept += !dropped[k];
        }
        double mean = sum > 0.0 && kept > 0 ? sum / kept : 1.0;
        for (int k = 0; k < K; k++)
        {
            size_t place = at + (size_t)(k * (K + 1));
            if (dropped[k])
            {
                h->precision == 32 ? (void)(((float*)coarse->A)[place] = (float)mean)
                                   : (void)(((double*)coarse->A)[place] = mean);
            }
        }
    }
}

static weft_status interpolation(sa_hierarchy* h, sa_level* l, const sa_graph* strong)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    row_builder rows = {.level = l, .strong = strong, .collect = collect_P};
    TRY(build_rows(h, &rows, l->rows, &l->P_start, &l->P_column));
    l->P = real_new(h, (size_t)l->P_start[l->rows] * (size_t)(l->block * l->coarse_block));
    if (!l->P)
    {
        return WEFT_NO_MEMORY;
    }
    sa_smoothing smoothing = {l, strong, 4.0 / 3.0 / l->radius};
    parallel_for(h->pool, l->rows, ROW_GRAIN / 2, kernels->smooth, &smoothing);
    if (isnan(l->radius))
    {
        return WEFT_NO_MEMORY;
    }
    return transpose_P(h, l);
}

static weft_status galerkin(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    row_builder rows = {.level = l, .collect = collect_AP};
    TRY(build_rows(h, &rows, l->rows, &l->AP_start, &l->AP_column));
    TRY(list_chunks(h, l));
    TRY(coarse_pattern(h, l, coarse));
    size_t K = (size_t)l->coarse_block;
    coarse->A = real_new(h, (size_t)coarse->pattern.block_count * K * K);
    if (!coarse->A)
    {
        return WEFT_NO_MEMORY;
    }
    sa_product product = {l, coarse};
    parallel_for(h->pool, (l->coarse_rows + SA_CHUNK - 1) / SA_CHUNK, 1, kernels->galerkin, &product);
    if (isnan(coarse->radius))
    {
        return WEFT_NO_MEMORY;
    }
    parallel_for(h->pool, coarse->rows, ROW_GRAIN / 4, kernels->mirror, coarse);
    fill_dropped(h, coarse);
    return WEFT_OK;
}

// ---- the last level

typedef struct direct_source
{
    const sa_hierarchy* h;
    const sa_level* level;
} direct_source;

static const double* direct_load(const void* context, const chol_entry* entry, double* buffer)
{
    const direct_source* s = context;
    int size = s->level->block * s->level->block;
    size_t at = (size_t)size * (size_t)entry->slot;
    if (s->h->precision == 64)
    {
        return (const double*)s->level->A + at;
    }
    for (int k = 0; k < size; k++)
    {
        buffer[k] = (double)((const float*)s->level->A)[at + (size_t)k];
    }
    return buffer;
}

static weft_status factor_last(sa_hierarchy* h)
{
    sa_level* l = &h->levels[h->level_count - 1];
    h->direct_x = MEM_NEW((size_t)l->rows * (size_t)l->block, double);
    if (!h->direct_x)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(chol_symbolic_create(&l->pattern, l->block, &h->symbolic));
    TRY(chol_numeric_create(&h->symbolic, &h->numeric));
    h->bytes += (size_t)(chol_symbolic_bytes(&h->symbolic) + chol_numeric_bytes(&h->symbolic));
    direct_source context = {h, l};
    chol_source source = {direct_load, &context};
    chol_engine engine = {h->pool, dense_kernels_for(h->cpu)};
    TRY(chol_factor(&h->symbolic, &h->numeric, &source, &engine));
    h->direct = true;
    return WEFT_OK;
}

// ---- all of it

// What decides about a level's aggregates and interpolation.
typedef struct connections
{
    float* rho;
    unsigned char *special, *unused;
    sa_graph strong, smoothing; // above theta; above filter
} connections;

static weft_status connect(const sa_hierarchy* h, const sa_level* l, connections* c)
{
    c->rho = MEM_NEW(l->pattern.block_count, float);
    c->special = MEM_NEW(l->rows, unsigned char);
    c->unused = MEM_NEW(l->rows, unsigned char);
    if (!c->rho || !c->special || !c->unused)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(sa_strength(h, l, c->rho));
    TRY(sa_strong_graph(l, c->rho, h->settings.theta, &c->strong, c->special));
    return h->settings.filter > 0.0 ? sa_strong_graph(l, c->rho, h->settings.filter, &c->smoothing, c->unused)
                                    : WEFT_OK;
}

static void connections_finish(connections* c)
{
    mem_free(c->rho);
    mem_free(c->special);
    mem_free(c->unused);
    sa_graph_finish(&c->strong);
    sa_graph_finish(&c->smoothing);
}

static weft_status add_level(sa_hierarchy* h, sa_level* l, const connections* c, bool* last)
{
    sa_level* coarse = l + 1;
    int distance = l == h->levels ? h->settings.distance : 1;
    l->coarse_rows = sa_aggregate(&c->strong, l->rows, c->special, distance, l->aggregate);
    *last = l->coarse_rows == 0 || l->coarse_rows > STALL * l->rows;
    if (*last)
    {
        return WEFT_OK;
    }
    *coarse = (sa_level){.rows = l->coarse_rows, .block = l->coarse_block, .coarse_block = l->coarse_block};
    h->level_count++;
    TRY(tentative(h, l, coarse));
    TRY(interpolation(h, l, h->settings.filter > 0.0 ? &c->smoothing : NULL));
    return galerkin(h, l, coarse);
}

// Adds the level below `l`; *last when there is none to add.
static weft_status coarsen(sa_hierarchy* h, sa_level* l, bool* last)
{
    connections c = {0};
    l->aggregate = ints_new(h, (size_t)l->rows);
    weft_status status = l->aggregate ? connect(h, l, &c) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = add_level(h, l, &c, last);
    }
    connections_finish(&c);
    return status;
}

// A level with nothing but special nodes needs no direct solve.
static bool only_special(const sa_level* l)
{
    return l->aggregate && l->coarse_rows == 0;
}

static weft_status build(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    TRY(load_finest(h, system, prefilter));
    TRY(fill_kernel(h, system, prefilter));
    for (bool last = false; !last;)
    {
        sa_level* l = &h->levels[h->level_count - 1];
        TRY(prepare_level(h, l));
        last = l->rows * l->block <= h->settings.coarsest || h->level_count == WEFT_LEVEL_MAX;
        if (!last)
        {
            find_radius(h, l);
            if (!isfinite(l->radius) || !(l->radius > 0.0))
            {
                return WEFT_NOT_FINITE;
            }
            TRY(relax_kernel(h, l));
            TRY(coarsen(h, l, &last));
        }
        if (!h->keep)
        {
            level_trim(l);
        }
    }
    return only_special(&h->levels[h->level_count - 1]) ? WEFT_OK : factor_last(h);
}

weft_status sa_build(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    if (system->kernel_count > SA_KERNEL_MAX)
    {
        return WEFT_UNSUPPORTED;
    }
    sa_finish(h);
    h->precision = h->settings.precision;
    h->vector_scale = 1.0;
    weft_status status = build(h, system, prefilter);
    // Single precision may lose a matrix that double still holds.
    if ((status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE) && h->precision == 32)
    {
        sa_finish(h);
        h->precision = 64;
        status = build(h, system, prefilter);
    }
    return status;
}

void sa_stats(const sa_hierarchy* h, weft_solve_stats* stats)
{
    double all = 0.0, finest = 1.0;
    stats->level_count = h->level_count;
    for (int k = 0; k < h->level_count; k++)
    {
        const sa_level* l = &h->levels[k];
        double size = (double)l->pattern.block_count * l->block * l->block;
        stats->levels[k] = (weft_level_stats){l->rows, l->block, l->pattern.block_count};
        finest = k == 0 ? size : finest;
        all += size;
    }
    stats->operator_complexity = all / finest;
}

int sa_aggregates(const sa_hierarchy* h, int level, int* aggregate)
{
    if (level < 0 || level >= h->level_count - 1)
    {
        return -1;
    }
    for (int i = 0; i < h->levels[0].rows; i++)
    {
        int at = i;
        for (int k = 0; k <= level && at >= 0; k++)
        {
            at = h->levels[k].aggregate[at];
        }
        aggregate[i] = at;
    }
    return h->levels[level].coarse_rows;
}

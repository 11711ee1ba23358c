// The near kernel (section 6) and the tentative interpolation that holds it exactly: a QR on each aggregate (section 5,
// figure 3).
#include <math.h>
#include <string.h>

#include "math/wide.h"
#include "solve/sa/sa.h"

enum
{
    NODE_GRAIN = 64 // aggregates a chunk
};

// A column whose rest is below this share of its first length, or of the longest piece of it on any aggregate, is
// dependent. Relaxing with a matrix in single precision leaves some 1e-7 of noise; the rest of a rotation is an
// aggregate's size over that of the scene.
static const double DROP_DOUBLE = 1e-10, DROP_FLOAT = 4e-6, DROP_EMPTY = 1e-13;

// The vectors that the near kernel is made of, row after row; rotations are about the middle of all positions and
// scaled by their extent.
typedef struct kernel_pass
{
    const linear_system* system;
    sa_level* level;
    int count; // vectors; the block is filled up with zeros
    vec3 middle;
    double scale;
} kernel_pass;

static void kernel_rows(void* context, int begin, int end)
{
    const kernel_pass* c = context;
    const linear_system* system = c->system;
    int K = c->level->coarse_block;
    for (int i = begin; i < end; i++)
    {
        double* k = c->level->kernel + (size_t)(3 * K) * (size_t)i;
        memset(k, 0, (size_t)(3 * K) * sizeof(double));
        if (system->kernel)
        {
            for (int r = 0; r < 3; r++)
            {
                for (int v = 0; v < c->count; v++)
                {
                    k[r * K + v] = system->kernel[((size_t)v * (size_t)c->level->rows + (size_t)i) * 3 + (size_t)r];
                }
            }
            continue;
        }
        k[0] = k[K + 1] = k[2 * K + 2] = 1.0;
        if (c->count == 6)
        {
            vec3 x = v3_scale(c->scale, v3_sub(system->positions[i], c->middle));
            k[K + 3] = -x.z; // (0, -z, y)
            k[2 * K + 3] = x.y;
            k[4] = x.z; // (z, 0, -x)
            k[2 * K + 4] = -x.x;
            k[5] = -x.y; // (-y, x, 0)
            k[K + 5] = x.x;
        }
    }
}

typedef struct extent_pass
{
    const vec3* positions;
    vec3 *low, *high; // [chunks]
} extent_pass;

static void extent_rows(void* context, int begin, int end)
{
    const extent_pass* c = context;
    vec3 low = c->positions[begin], high = low;
    for (int i = begin; i < end; i++)
    {
        vec3 x = c->positions[i];
        low = v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    c->low[begin / ROW_GRAIN] = low;
    c->high[begin / ROW_GRAIN] = high;
}

// The box around all positions; false without memory.
static bool extent_of(const sa_hierarchy* h, const linear_system* system, vec3* low, vec3* high)
{
    int rows = h->levels[0].rows, chunks = (rows + ROW_GRAIN - 1) / ROW_GRAIN;
    *low = *high = v3(0, 0, 0);
    if (!system->positions)
    {
        return true;
    }
    vec3* ends = MEM_NEW(2 * (size_t)chunks, vec3);
    if (!ends)
    {
        return false;
    }
    extent_pass pass = {system->positions, ends, ends + chunks};
    parallel_for(h->pool, rows, ROW_GRAIN, extent_rows, &pass);
    extent_pass all = {ends, low, high};
    extent_rows(&all, 0, chunks); // lows; a chunk of their own for the highs
    vec3 lowest = *low;
    all.positions = ends + chunks;
    extent_rows(&all, 0, chunks);
    *low = lowest;
    mem_free(ends);
    return true;
}

static void filter_kernel(const linear_system* system, sa_level* l)
{
    int K = l->coarse_block;
    for (int f = 0; f < system->filter_count; f++)
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
}

static int vector_count(const sa_hierarchy* h, const linear_system* system)
{
    return system->kernel ? system->kernel_count : h->settings.vectors == 6 && system->positions ? 6 : 3;
}

int sa_kernel_block(const sa_hierarchy* h, const linear_system* system)
{
    return (vector_count(h, system) + 2) / 3 * 3;
}

weft_status sa_fill_kernel(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    sa_level* l = &h->levels[0];
    int count = vector_count(h, system);
    l->coarse_block = sa_kernel_block(h, system);
    l->kernel = mem_raw((size_t)l->rows * 3 * (size_t)l->coarse_block + SA_PAD, sizeof(double));
    if (!l->kernel)
    {
        return WEFT_NO_MEMORY;
    }
    vec3 low, high;
    if (!extent_of(h, system, &low, &high))
    {
        return WEFT_NO_MEMORY;
    }
    double extent = v3_length(v3_sub(high, low));
    kernel_pass pass = {system, l, count, v3_scale(0.5, v3_add(low, high)), extent > 0.0 ? 1.0 / extent : 1.0};
    parallel_for(h->pool, l->rows, ROW_GRAIN, kernel_rows, &pass);
    if (prefilter)
    {
        filter_kernel(system, l);
    }
    return WEFT_OK;
}

weft_status sa_relax_kernel(sa_hierarchy* h, sa_level* l)
{
    size_t size = (size_t)l->rows * (size_t)l->block * (size_t)l->coarse_block;
    for (int sweep = 0; sweep < h->settings.relax; sweep++)
    {
        double* relaxed = mem_raw(size + SA_PAD, sizeof(double));
        if (!relaxed)
        {
            return WEFT_NO_MEMORY;
        }
        sa_note_scratch(h, 2 * size * sizeof(double));
        sa_relaxation c = {l, l->kernel, relaxed, 4.0 / 3.0 / l->radius};
        parallel_for(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->relax, &c);
        mem_free(l->kernel);
        l->kernel = relaxed;
    }
    return WEFT_OK;
}

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

// What is too short for a column of Q.
typedef struct qr_limits
{
    double share;                // of the column's first length
    double least[SA_KERNEL_MAX]; // for each column
} qr_limits;

typedef struct limits_pass
{
    const sa_level* level;
    qr_limits* chunks; // [chunks] the largest entries of each
} limits_pass;

static void limits_chunk(void* context, int begin, int end)
{
    const limits_pass* c = context;
    int K = c->level->coarse_block;
    double* most = c->chunks[begin / ROW_GRAIN].least;
    const double* kernel = c->level->kernel + (size_t)begin * (size_t)(c->level->block * K);
    for (int r = 0; r < (end - begin) * c->level->block; r++, kernel += K)
    {
        for (int k = 0; k < K; k++)
        {
            most[k] = fmax(most[k], fabs(kernel[k]));
        }
    }
}

static bool limits_of(const sa_hierarchy* h, const sa_level* l, qr_limits* out)
{
    int K = l->coarse_block, chunks = (l->rows + ROW_GRAIN - 1) / ROW_GRAIN;
    limits_pass pass = {l, MEM_NEW(chunks, qr_limits)};
    if (!pass.chunks)
    {
        return false;
    }
    parallel_for(h->pool, l->rows, ROW_GRAIN, limits_chunk, &pass);
    *out = (qr_limits){.share = h->precision == 32 && h->settings.relax > 0 ? DROP_FLOAT : DROP_DOUBLE};
    for (int c = 0; c < chunks * K; c++)
    {
        out->least[c % K] = fmax(out->least[c % K], DROP_EMPTY * pass.chunks[c / K].least[c % K]);
    }
    mem_free(pass.chunks);
    return true;
}

// Thin QR of K columns of `size` numbers, column after column, by Gram-Schmidt, done twice, which is enough. A column
// that depends on those before it becomes zero, with a zero row in R.
static void local_qr(double* columns, int size, int K, const qr_limits* limits, double* R, unsigned char* dropped)
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
        dropped[c] = !(length > limits->share * first && length > limits->least[c]);
        R[c * K + c] = dropped[c] ? 0.0 : length;
        for (int m = 0; m < size; m++)
        {
            v[m] = dropped[c] ? 0.0 : v[m] / length;
        }
    }
}

typedef struct qr_context
{
    const sa_hierarchy* h;
    sa_level *level, *coarse;
    int *start, *member; // the nodes of each aggregate, increasing
    qr_limits limits;
} qr_context;

static double qr_chunk(void* context, int begin, int end)
{
    qr_context* c = context;
    const sa_level* l = c->level;
    int B = l->block, K = l->coarse_block, most = 0;
    for (int a = begin; a < end; a++)
    {
        most = int_max(most, c->start[a + 1] - c->start[a]);
    }
    double* columns = MEM_NEW((size_t)most * (size_t)(B * K), double);
    if (!columns)
    {
        return 1.0;
    }
    for (int a = begin; a < end; a++)
    {
        const int* member = c->member + c->start[a];
        int count = c->start[a + 1] - c->start[a], size = count * B;
        for (int m = 0; m < size; m++)
        {
            const double* from = l->kernel + (size_t)(B * K) * (size_t)member[m / B] + (size_t)(m % B * K);
            for (int k = 0; k < K; k++)
            {
                columns[k * size + m] = from[k];
            }
        }
        local_qr(columns, size, K, &c->limits, c->coarse->kernel + (size_t)(K * K) * (size_t)a,
                 c->coarse->dropped + (size_t)K * (size_t)a);
        for (int m = 0; m < size; m++)
        {
            size_t to = (size_t)(B * K) * (size_t)member[m / B] + (size_t)(m % B * K);
            for (int k = 0; k < K && c->h->precision == 32; k++)
            {
                ((float*)l->Q)[to + (size_t)k] = (float)columns[k * size + m];
            }
            for (int k = 0; k < K && c->h->precision == 64; k++)
            {
                ((double*)l->Q)[to + (size_t)k] = columns[k * size + m];
            }
        }
    }
    mem_free(columns);
    return 0.0;
}

typedef struct special_pass
{
    const sa_level* level;
    size_t size; // bytes of a row of Q
} special_pass;

// Special nodes are in no aggregate: their rows of Q are zero.
static void clear_special(void* context, int begin, int end)
{
    const special_pass* c = context;
    for (int i = begin; i < end; i++)
    {
        if (c->level->aggregate[i] < 0)
        {
            memset((char*)c->level->Q + (size_t)i * c->size, 0, c->size);
        }
    }
}

weft_status sa_tentative(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    size_t size = (size_t)l->rows * (size_t)l->block * (size_t)l->coarse_block, K = (size_t)l->coarse_block;
    l->Q = mem_raw(size + SA_PAD, sa_real_size(h));
    coarse->kernel = MEM_NEW((size_t)l->coarse_rows * K * K + SA_PAD, double);
    coarse->dropped = MEM_NEW((size_t)l->coarse_rows * K, unsigned char);
    qr_context c = {.h = h, .level = l, .coarse = coarse};
    sa_lists lists = {l->rows, NULL, l->aggregate, 1};
    size_t counted = h->bytes;
    double failed = 1.0;
    if (l->Q && coarse->kernel && coarse->dropped && limits_of(h, l, &c.limits) &&
        sa_invert_lists(h, &lists, l->coarse_rows, &c.start, &c.member, NULL) == WEFT_OK)
    {
        special_pass special = {l, (size_t)(l->block * l->coarse_block) * sa_real_size(h)};
        parallel_for(h->pool, l->rows, ROW_GRAIN, clear_special, &special);
        failed = parallel_sum(h->pool, l->coarse_rows, NODE_GRAIN, qr_chunk, &c);
    }
    mem_free(c.start);
    mem_free(c.member);
    h->bytes = counted; // the lists were for here alone
    return failed > 0.0 ? WEFT_NO_MEMORY : WEFT_OK;
}

// Compliant coarse links (softness.h).
#include "step/softness.h"

#include <string.h>

#include "material/spring.h"
#include "step/mend.h"

enum
{
    FORM = 21,       // of six products of the direction, the upper half
    DIRECTIONS = 100 // of a half sphere
};

// a of softness.h, of one sweep and of several, which go forth and back: by elongations of sheets of 10 to 40 cells
// with 1 to 16 substeps (`weft bench hpbd --parts hang` prints them).
static const double missed_once = 1.0, missed_each = 1.65;
static const double least_share = 1e-9; // what is missed by less is nothing

typedef struct span
{
    int a, b;
    double length; // m
    bool fold;     // no stretch: it is not among those whose stiffness is fitted
} span;

typedef struct former
{
    const model* m;
    const graph* g;
    double (*form)[FORM];     // [vertex_count] J
    double* mass;             // [vertex_count] kg, of what follows a vertex
    double (*material)[FORM]; // [component_count] J, of all vertices
    // of a level
    span* spans;            // [span_count]
    int span_count;         // its links
    int* degree;            // [vertex_count] links
    double (*linked)[FORM]; // [component_count] J, of all links
    double* factor;         // [component_count]
} former;

// ---- forms of level 0

static void form_add(double* form, const double* q, double factor)
{
    for (int i = 0, at = 0; i < 6; i++)
    {
        for (int j = i; j < 6; j++)
        {
            form[at++] += (i == j ? 1.0 : 2.0) * factor * q[i] * q[j];
        }
    }
}

static double form_value(const double* form, vec3 d)
{
    const double q[6] = {d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.x * d.z, d.y * d.z};
    double sum = 0.0;
    for (int i = 0, at = 0; i < 6; i++)
    {
        for (int j = i; j < 6; j++)
        {
            sum += form[at++] * q[i] * q[j];
        }
    }
    return sum;
}

// d . G d as six coefficients, G the sum of gradient times place.
static void virial_add(double* q, vec3 g, vec3 x)
{
    const double part[6] = {
        g.x * x.x, g.y * x.y, g.z * x.z, g.x * x.y + g.y * x.x, g.x * x.z + g.z * x.x, g.y * x.z + g.z * x.y};
    for (int k = 0; k < 6; k++)
    {
        q[k] += part[k];
    }
}

static bool bears(const element_group* group, int e)
{
    bool bend = group->kind == &kind_spring && (int)group->rest[SPRING_STRIDE * (size_t)e + SPRING_ROLE] == SPRING_BEND;
    return !bend && !group->kind->is_load && group->kind->arity <= 3 && group->kind->constraint;
}

static void add_element(former* f, const element_group* group, int e)
{
    const model* m = f->m;
    int arity = group->kind->arity, rows = int_max(group->kind->constraint_rows, 1);
    const int* v = group->vertices + (size_t)arity * (size_t)e;
    const int elements[BATCH] = {e, e, e, e, e, e, e, e};
    constraint_batch out[CONSTRAINT_ROWS_MAX];
    // At rest, whatever the state is: a run that resumes has the same links.
    element_motion motion = {.x = m->rest, .v = m->rest, .h = 1.0};
    element_context context = {group, &motion};
    group->kind->constraint(&context, elements, out);
    for (int r = 0; r < rows; r++)
    {
        double q[6] = {0};
        for (int a = 1; a < arity; a++)
        {
            vec3 g = v3(out[r].gradient[a][0][0], out[r].gradient[a][1][0], out[r].gradient[a][2][0]);
            virial_add(q, g, v3_sub(m->rest[v[a]], m->rest[v[0]]));
        }
        for (int a = 0; a < arity; a++)
        {
            form_add(f->form[v[a]], q, 1.0 / (arity * out[r].compliance[0]));
        }
    }
}

static void make_forms(former* f)
{
    const model* m = f->m;
    memcpy(f->mass, m->mass, (size_t)m->vertex_count * sizeof(double));
    for (int g = 0; g < m->groups.count; g++)
    {
        for (int e = 0; e < m->groups.list[g].count; e++)
        {
            bears(&m->groups.list[g], e) ? add_element(f, &m->groups.list[g], e) : (void)0;
        }
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        for (int k = 0; k < FORM; k++)
        {
            f->material[f->g->component[i]][k] += f->form[i][k];
        }
    }
}

// ---- levels

static vec3 direction_of(const former* f, const span* l)
{
    return v3_normalize(v3_sub(f->m->rest[l->b], f->m->rest[l->a]));
}

static double speed_sq(const former* f, int i, vec3 d)
{
    return form_value(f->form[i], d) / f->mass[i];
}

// Of a stretch by 1, J: times the factor of its component and over the square of its length it is the link's stiffness.
static double stretch_energy(const former* f, const span* l)
{
    vec3 d = direction_of(f, l);
    double part = f->mass[l->a] / f->degree[l->a] + f->mass[l->b] / f->degree[l->b];
    return 0.5 * (speed_sq(f, l->a, d) + speed_sq(f, l->b, d)) * part;
}

// The factor by which the form of the links comes nearest to the material's, over all directions.
static double factor_of(const double* material, const double* linked)
{
    double both = 0.0, square = 0.0;
    for (int k = 0; k < DIRECTIONS; k++)
    {
        const double golden = 2.399963229728653; // rad: points that lie evenly
        double z = (k + 0.5) / DIRECTIONS, r = sqrt(1.0 - z * z);
        vec3 d = v3(r * cos(golden * k), r * sin(golden * k), z);
        double has = form_value(linked, d);
        both += form_value(material, d) * has;
        square += has * has;
    }
    return square > 0.0 ? both / square : 0.0;
}

static void find_factors(former* f)
{
    memset(f->degree, 0, (size_t)f->g->vertex_count * sizeof(int));
    memset(f->linked, 0, (size_t)f->g->component_count * sizeof(double[FORM]));
    for (int k = 0; k < f->span_count; k++)
    {
        f->degree[f->spans[k].a] += !f->spans[k].fold;
        f->degree[f->spans[k].b] += !f->spans[k].fold;
    }
    for (int k = 0; k < f->span_count; k++)
    {
        const span* l = &f->spans[k];
        if (l->fold)
        {
            continue;
        }
        vec3 d = direction_of(f, l);
        const double q[6] = {d.x * d.x, d.y * d.y, d.z * d.z, 2.0 * d.x * d.y, 2.0 * d.x * d.z, 2.0 * d.y * d.z};
        form_add(f->linked[f->g->component[l->a]], q, stretch_energy(f, l));
    }
    for (int c = 0; c < f->g->component_count; c++)
    {
        f->factor[c] = factor_of(f->material[c], f->linked[c]);
    }
}

// k / m of the level's vertices.
static double link_stiffness(const former* f, const span* l)
{
    double k = f->factor[f->g->component[l->a]] * stretch_energy(f, l) / (l->length * l->length);
    return l->length > 0.0 ? k : 0.0;
}

static void rates_of(const former* f, double* rate)
{
    for (int k = 0; k < f->span_count; k++)
    {
        const span* l = &f->spans[k];
        if (l->fold)
        {
            continue;
        }
        double stiffness = link_stiffness(f, l);
        rate[l->a] += stiffness / (f->degree[l->a] * f->mass[l->a]);
        rate[l->b] += stiffness / (f->degree[l->b] * f->mass[l->b]);
    }
}

static void take_edges(former* f)
{
    const graph* g = f->g;
    f->span_count = 0;
    for (int i = 0; i < g->vertex_count; i++)
    {
        for (int k = g->start[i]; k < g->start[i + 1]; k++)
        {
            if (g->other[k] > i)
            {
                f->spans[f->span_count++] = (span){i, g->other[k], g->length[k], false};
            }
        }
    }
}

// In place of the cloth's edges: a level has fewer.
static void take_links(former* f, const links* l)
{
    f->span_count = l->count;
    for (int k = 0; k < l->count; k++)
    {
        f->spans[k] = (span){l->a[k], l->b[k], l->length[k], l->def[k].is_bend};
    }
}

// Children give what they have to their parents.
static void lump(former* f, const level* l)
{
    for (int c = 0; c < l->child_count; c++)
    {
        int child = l->child[c];
        for (int r = l->parent_start[c]; r < l->parent_start[c + 1]; r++)
        {
            int to = l->parent[r];
            f->mass[to] += l->weight[r] * f->mass[child];
            for (int k = 0; k < FORM; k++)
            {
                f->form[to][k] += l->weight[r] * f->form[child][k];
            }
        }
    }
}

// k / m of folds, the mean of those that end at a vertex.
static void fold_rates(former* f, const level* l, double* fold)
{
    memset(f->degree, 0, (size_t)f->g->vertex_count * sizeof(int));
    for (int k = 0; k < l->limits.count; k++)
    {
        const link_def* def = &l->limits.def[k];
        double stiffness = def->is_bend ? 1.0 / def->compliance : 0.0;
        fold[def->a] += stiffness / f->mass[def->a];
        fold[def->b] += stiffness / f->mass[def->b];
        f->degree[def->a] += def->is_bend;
        f->degree[def->b] += def->is_bend;
    }
    for (int v = 0; v < l->vertex_count; v++)
    {
        fold[l->vertex[v]] /= int_max(f->degree[l->vertex[v]], 1);
    }
}

// Those of the cloth itself, whatever elements bend it: as of a spring over two edges of the mean length.
static void first_fold_rates(const former* f, double* fold)
{
    const graph* g = f->g;
    for (int i = 0; i < g->vertex_count; i++)
    {
        double sum = 0.0;
        for (int k = g->start[i]; k < g->start[i + 1]; k++)
        {
            sum += g->length[k];
        }
        double s = sum / int_max(g->start[i + 1] - g->start[i], 1);
        double width = g->fan_start[i] < g->fan_start[i + 1] ? s : 1.0;
        fold[i] = s > 0.0 ? spring_bending(f->m->rigid[i] * width, s, s, 0.0) / f->m->mass[i] : 0.0;
    }
}

static void make_level(former* f, level* l, double* rate, double* fold)
{
    lump(f, l);
    take_links(f, &l->limits);
    find_factors(f);
    rates_of(f, rate);
    for (int k = 0; k < l->limits.count; k++)
    {
        link_def* def = &l->limits.def[k];
        const double* rigid = f->m->rigid;
        // Folds have that of bending 1.
        def->compliance = def->is_bend ? def->compliance / (0.5 * (rigid[def->a] + rigid[def->b]))
                                       : 1.0 / link_stiffness(f, &f->spans[k]);
    }
    fold ? fold_rates(f, l, fold) : (void)0;
}

static bool has_folds(const hierarchy* h)
{
    bool found = false;
    for (int k = 0; k < h->level_count; k++)
    {
        for (int e = 0; e < h->levels[k].limits.count && !found; e++)
        {
            found = h->levels[k].limits.def[e].is_bend;
        }
    }
    return found;
}

static weft_status softness_allocate(softness* s, const hierarchy* h)
{
    int n = h->vertex_count;
    s->moving = MEM_NEW(n, double);
    s->inverse = MEM_NEW(n, double);
    s->missing = MEM_NEW(n, double);
    bool ok = s->moving && s->inverse && s->missing;
    bool folds = has_folds(h);
    s->unfolded = folds ? MEM_NEW(n, double) : NULL;
    ok = ok && (s->unfolded || !folds);
    for (int k = 0; k <= h->level_count; k++)
    {
        s->rate[k] = MEM_NEW(n, double);
        s->fold[k] = folds ? MEM_NEW(n, double) : NULL;
        ok = ok && s->rate[k] && (s->fold[k] || !folds);
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static bool former_begin(former* f, const hierarchy* h)
{
    size_t n = (size_t)f->g->vertex_count, pieces = (size_t)f->g->component_count, room = (size_t)f->g->start[n];
    for (int k = 0; k < h->level_count; k++)
    {
        room = room > (size_t)h->levels[k].limits.count ? room : (size_t)h->levels[k].limits.count;
    }
    f->form = mem_alloc(n, sizeof(double[FORM]));
    f->material = mem_alloc(pieces, sizeof(double[FORM]));
    f->linked = mem_alloc(pieces, sizeof(double[FORM]));
    f->factor = MEM_NEW(pieces, double);
    f->mass = MEM_NEW(n, double);
    f->degree = MEM_NEW(n, int);
    f->spans = MEM_NEW(room, span);
    return f->form && f->material && f->linked && f->factor && f->mass && f->degree && f->spans;
}

static void former_finish(former* f)
{
    void* arrays[] = {f->form, f->material, f->linked, f->factor, f->mass, f->degree, f->spans};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

weft_status softness_create(softness* s, hierarchy* h, const graph* g, const model* m)
{
    former f = {.m = m, .g = g};
    *s = (softness){0};
    weft_status status = softness_allocate(s, h);
    status = status == WEFT_OK && !former_begin(&f, h) ? WEFT_NO_MEMORY : status;
    if (status == WEFT_OK)
    {
        make_forms(&f);
        take_edges(&f);
        find_factors(&f);
        rates_of(&f, s->rate[0]);
        s->fold[0] ? first_fold_rates(&f, s->fold[0]) : (void)0;
    }
    for (int k = 0; k < h->level_count && status == WEFT_OK; k++)
    {
        make_level(&f, &h->levels[k], s->rate[k + 1], s->fold[k + 1]);
    }
    former_finish(&f);
    return status;
}

weft_status softness_mend(softness* s, const hierarchy* h, int before, const int* from)
{
    size_t n = (size_t)h->vertex_count, old = (size_t)before;
    double** arrays[2 * LEVELS_MAX + 6] = {&s->moving, &s->inverse, &s->missing};
    int count = 3;
    for (int k = 0; k <= h->level_count; k++)
    {
        arrays[count++] = &s->rate[k];
        arrays[count] = &s->fold[k];
        count += s->fold[k] != NULL;
    }
    arrays[count] = &s->unfolded;
    count += s->unfolded != NULL;
    for (int k = 0; k < count; k++)
    {
        if (!array_grow((void**)arrays[k], old, n, sizeof(double)))
        {
            return WEFT_NO_MEMORY;
        }
        for (size_t i = old; i < n; i++)
        {
            (*arrays[k])[i] = (*arrays[k])[from[i - old]];
        }
    }
    s->h = 0.0;
    return WEFT_OK;
}

void softness_finish(softness* s)
{
    for (int k = 0; k <= LEVELS_MAX; k++)
    {
        mem_free(s->rate[k]);
        mem_free(s->fold[k]);
    }
    mem_free(s->unfolded);
    mem_free(s->moving);
    mem_free(s->inverse);
    mem_free(s->missing);
    *s = (softness){0};
}

// ---- steps

void softness_hold(softness* s, hierarchy* h, const model* m, const double* inv_mass)
{
    for (int i = 0; i < m->vertex_count; i++)
    {
        s->moving[i] = inv_mass[i] > 0.0 ? m->mass[i] : 0.0;
    }
    for (int k = 0; k < h->level_count; k++)
    {
        const level* l = &h->levels[k];
        for (int c = 0; c < l->child_count; c++)
        {
            for (int r = l->parent_start[c]; r < l->parent_start[c + 1]; r++)
            {
                s->moving[l->parent[r]] += l->weight[r] * s->moving[l->child[c]];
            }
        }
        for (int v = 0; v < l->vertex_count; v++)
        {
            int i = l->vertex[v];
            s->inverse[i] = inv_mass[i] > 0.0 ? 1.0 / s->moving[i] : 0.0;
        }
        links_hold(&h->levels[k].limits, s->inverse);
    }
    s->h = 0.0;
}

static double missed_by(double number, int sweeps)
{
    double a = sweeps > 1 ? missed_each : missed_once, share = a * number / (1.0 + a * number);
    return isfinite(number) ? pow(share, sweeps) : 1.0;
}

static void miss_less(const level* l, double* missing, const double* rate, const softness_step* step)
{
    for (int v = 0; v < l->vertex_count; v++)
    {
        int i = l->vertex[v];
        missing[i] *= missed_by(missing[i] * step->h * step->h * rate[i], step->coarse_sweeps);
    }
}

static void level_begin(softness* s, level* l, int index, const softness_step* step)
{
    links* all = &l->limits;
    double h_sq = step->h * step->h;
    for (int k = 0; k < all->count; k++)
    {
        const double* missing = all->def[k].is_bend ? s->unfolded : s->missing;
        double share = 0.5 * (missing[all->a[k]] + missing[all->b[k]]);
        all->soft[k] = share > least_share ? all->def[k].compliance / (h_sq * share) : INFINITY;
    }
    miss_less(l, s->missing, s->rate[index], step);
    s->unfolded ? miss_less(l, s->unfolded, s->fold[index], step) : (void)0;
}

void softness_begin(softness* s, hierarchy* h, const softness_step* step)
{
    if (s->h == step->h)
    {
        return;
    }
    for (int i = 0; i < h->vertex_count; i++)
    {
        s->missing[i] = missed_by(step->h * step->h * s->rate[0][i], step->sweeps);
    }
    for (int i = 0; i < h->vertex_count && s->unfolded; i++)
    {
        s->unfolded[i] = missed_by(step->h * step->h * s->fold[0][i], step->sweeps);
    }
    for (int k = 0; k < h->level_count; k++)
    {
        level_begin(s, &h->levels[k], k + 1, step);
    }
    s->h = step->h;
}

// Creases: what is bent beyond a curvature stays bent, in part.
//
// Plasticity of bending with isotropic hardening, in each triangle. With phi its three folds less those at rest and
// p what it has kept of them, the elastic part is phi - p, of the curvature
//
//     k = |L^T (phi - p)| / sqrt(B A)          (bending_kernel.c; bent along warp that is the curvature)
//
// which the material bears up to k_0 + (1/s - 1) w: k_0 is the curvature of `crease`, s its share, and w what was worn
// so far. What is beyond moves p along the elastic part (the radial return of Simo and Hughes 1998, section 3.3),
//
//     dw = s (k - k_0 - (1/s - 1) w),    dp = dw / k (phi - p),
//
// so that cloth that is bent to a curvature K once, and let go, keeps s (K - k_0). With s = 1 it bears k_0 at any time
// (Prandtl and Reuss). Elastic energy only falls by it.
//
// It is worn once at the end of a step that stands, whatever the method: p is then data of the rest shape, and every
// method bends about it. p belongs to the triangles of the body, so that clusters, edits and closing seams find it
// again. Elements take it as a shift of their rest folds, `exact` in the system of its directors, too.
#include "material/creases.h"

#include "material/bending.h"
#include "material/directors.h"

static const double sharpest = 3.0; // rad: folds that are sharper count as this, as 180 degrees have no end (bending.h)

typedef struct creased
{
    int element;
    double unit;      // of |L^T phi|, a curvature of 1/m
    double curvature; // 1/m, that it bears at first
    double share;
    crease* kept;
} creased;

struct crease_list
{
    creased* items; // [count] by element
    int count, capacity;
    double* shift; // [3 * elements of the group]
    int shift_capacity;
};

bool crease_is_sound(const crease* c)
{
    const double most = 1e6;
    bool sound = c->worn >= 0.0 && c->worn < 1e12;
    for (int k = 0; k < 3; k++)
    {
        sound = sound && fabs(c->fold[k]) < most;
    }
    return sound;
}

weft_status crease_append(element_group* group, const cloth_shape* shape, int t, double area)
{
    const weft_material* m = triangle_material(shape, t);
    if (!shape->crease || !(m->crease_curvature > 0.0) || !(m->bending > 0.0))
    {
        return WEFT_OK;
    }
    group->creases = group->creases ? group->creases : MEM_NEW(1, crease_list);
    crease_list* list = group->creases;
    if (!list || !mem_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof(creased)))
    {
        return WEFT_NO_MEMORY;
    }
    list->items[list->count++] = (creased){.element = group->count - 1,
                                           .unit = sqrt(area * m->bending),
                                           .curvature = m->crease_curvature,
                                           .share = m->crease_share,
                                           .kept = &shape->crease[shape->source[t]]};
    return WEFT_OK;
}

static void list_lay(const element_group* group)
{
    const crease_list* list = group->creases;
    for (int i = 0; i < list->count; i++)
    {
        const creased* c = &list->items[i];
        for (int k = 0; k < 3; k++)
        {
            list->shift[3 * (size_t)c->element + (size_t)k] = c->kept->fold[k];
        }
    }
    directors_forget(group->directors);
}

weft_status creases_close(element_group* group)
{
    crease_list* list = group->creases;
    if (!list)
    {
        return WEFT_OK;
    }
    int had = list->shift_capacity;
    if (!mem_grow((void**)&list->shift, &list->shift_capacity, 3 * group->count, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = had; k < list->shift_capacity; k++)
    {
        list->shift[k] = 0.0; // elements that keep none
    }
    group->shift = group->directors ? group->shift : list->shift;
    list_lay(group);
    return WEFT_OK;
}

double crease_shift(const element_group* group, int e, int k)
{
    return group->creases ? group->creases->shift[3 * (size_t)e + (size_t)k] : 0.0;
}

void creases_lay(const element_groups* groups)
{
    for (int g = 0; g < groups->count; g++)
    {
        groups->list[g].creases ? list_lay(&groups->list[g]) : (void)0;
    }
}

// ---- wear

// The elastic folds of an element at x; that of a missing wing is nothing.
static void elastic_folds(const element_group* group, int e, const vec3* x, double* out)
{
    const int* v = group->vertices + 6 * (size_t)e;
    const double* rest = group->rest + (size_t)group->kind->rest_stride * (size_t)e;
    for (int k = 0; k < 3; k++)
    {
        const vec3 at[4] = {x[v[(k + 1) % 3]], x[v[(k + 2) % 3]], x[v[k]], x[v[3 + k]]};
        bool there = (int)rest[10] >> k & 1;
        double fold = there ? fold_of_angle(fmax(-sharpest, fmin(hinge_angle(at), sharpest))) : 0.0;
        out[k] = there ? fold - rest[6 + k] - group->shift[3 * (size_t)e + (size_t)k] : 0.0;
    }
}

static void wear(const element_group* group, const creased* c, const vec3* x)
{
    const double* L = group->rest + (size_t)group->kind->rest_stride * (size_t)c->element;
    double s[3];
    elastic_folds(group, c->element, x, s);
    double a = L[0] * s[0] + L[1] * s[1] + L[3] * s[2], b = L[2] * s[1] + L[4] * s[2], d = L[5] * s[2];
    double bent = sqrt(a * a + b * b + d * d) / c->unit;
    double beyond = bent - c->curvature - (1.0 / c->share - 1.0) * c->kept->worn;
    if (!(beyond > 0.0) || !isfinite(bent))
    {
        return;
    }
    double more = c->share * beyond;
    c->kept->worn += more;
    for (int k = 0; k < 3; k++)
    {
        c->kept->fold[k] += more / bent * s[k];
    }
}

void creases_wear(const element_groups* groups, const vec3* x, workers* pool)
{
    const element_motion motion = {.x = x, .v = x, .h = 1.0};
    for (int g = 0; g < groups->count; g++)
    {
        const element_group* group = &groups->list[g];
        if (!group->creases)
        {
            continue;
        }
        group->kind->prepare ? group->kind->prepare(group, &motion, pool) : (void)0;
        for (int i = 0; i < group->creases->count; i++)
        {
            wear(group, &group->creases->items[i], x);
        }
    }
}

void creases_finish(crease_list* list)
{
    if (list)
    {
        mem_free(list->items);
        mem_free(list->shift);
        mem_free(list);
    }
}

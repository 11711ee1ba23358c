// Weights of pins, from 1, held, to 0, free: one for all, one a vertex, or fading out over some distance around what is
// selected. That is measured over the mesh from one vertex to the next: each knows the selected vertex that is nearest
// to it among those of its neighbours, so that ways are straight in flat cloth and none jumps from a sleeve to the
// body.
//
//     w(d) = w_0 s^2 (3 - 2 s),   s = 1 - d / fade
#include <string.h>

#include "scene/scene_data.h"

static const field weight_limits = {"", FIELD_NUMBER, 0, 0.0, 1.0, false};
static const field fade_limits = {"", FIELD_NUMBER, 0, POSITIVE};

static weft_status read_list(const scene_reader* r, const tree_node* node, scene_pin* pin)
{
    TRY(node->kind == TREE_ARRAY ? WEFT_OK
                                 : read_wrong_kind(r, node, "a number from 0 to 1, or one for each selected vertex"));
    if (node->child_count != pin->vertex_count)
    {
        return read_error(r, node, "expected one weight for each of the %d selected vertices, by their numbers, not %d",
                          pin->vertex_count, node->child_count);
    }
    double* to = pin->weights;
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(read_number(r, child, &weight_limits, to++));
    }
    return WEFT_OK;
}

static weft_status read_weights(const scene_reader* r, const tree_node* node, scene_pin* pin)
{
    double all = 1.0;
    pin->weights = MEM_NEW(pin->vertex_count, double);
    if (!pin->weights)
    {
        return read_no_memory(r);
    }
    if (node && node->kind != TREE_NUMBER)
    {
        return read_list(r, node, pin);
    }
    TRY(node ? read_number(r, node, &weight_limits, &all) : WEFT_OK);
    for (int k = 0; k < pin->vertex_count; k++)
    {
        pin->weights[k] = all;
    }
    return WEFT_OK;
}

// ---- fading

typedef struct fading
{
    const mesh* m;
    double reach;  // m
    int* nearest;  // [vertex_count] place in the pin of the selected vertex that is nearest, -1: none
    double* apart; // [vertex_count] m, how far that is
    const int* selected;
    bool changed;
} fading;

static void pass_on(fading* f, int from, int to)
{
    if (f->nearest[from] < 0)
    {
        return;
    }
    vec3 source = f->m->position[f->selected[f->nearest[from]]];
    double distance = v3_length(v3_sub(f->m->position[to], source));
    if (distance < f->reach && (f->nearest[to] < 0 || distance < f->apart[to]))
    {
        f->nearest[to] = f->nearest[from];
        f->apart[to] = distance;
        f->changed = true;
    }
}

static void pass_around(fading* f, const int* elements, int count, int arity)
{
    for (int e = 0; e < count; e++)
    {
        const int* v = elements + (size_t)arity * (size_t)e;
        for (int a = 0; a < arity; a++)
        {
            for (int b = 0; b < arity; b++)
            {
                a != b ? pass_on(f, v[a], v[b]) : (void)0;
            }
        }
    }
}

// The selected vertices and those that fade, ascending, in place of the former.
static bool take_faded(const fading* f, scene_pin* pin)
{
    int count = 0;
    for (int i = 0; i < f->m->vertex_count; i++)
    {
        count += f->nearest[i] >= 0;
    }
    int* vertices = MEM_NEW(count, int);
    double* weights = MEM_NEW(count, double);
    if (!vertices || !weights)
    {
        mem_free(vertices);
        mem_free(weights);
        return false;
    }
    for (int i = 0, k = 0; i < f->m->vertex_count; i++)
    {
        if (f->nearest[i] >= 0)
        {
            double s = 1.0 - f->apart[i] / f->reach;
            vertices[k] = i;
            weights[k++] = pin->weights[f->nearest[i]] * s * s * (3.0 - 2.0 * s);
        }
    }
    mem_free(pin->vertices);
    mem_free(pin->weights);
    pin->vertices = vertices;
    pin->weights = weights;
    pin->vertex_count = count;
    return true;
}

static bool fade_out(fading* f, scene_pin* pin)
{
    const mesh* m = f->m;
    f->nearest = MEM_NEW(m->vertex_count, int);
    f->apart = MEM_NEW(m->vertex_count, double);
    if (!f->nearest || !f->apart)
    {
        return false;
    }
    memset(f->nearest, -1, (size_t)m->vertex_count * sizeof(int));
    for (int k = 0; k < pin->vertex_count; k++)
    {
        f->nearest[pin->vertices[k]] = k;
    }
    do
    {
        f->changed = false;
        pass_around(f, m->triangle, m->triangle_count, 3);
        pass_around(f, m->segment, m->segment_count, 2);
        pass_around(f, m->tetrahedron, m->tetrahedron_count, 4);
    } while (f->changed);
    return take_faded(f, pin);
}

weft_status pin_weights_read(const scene_reader* r, const tree_node* weights, const tree_node* fade, const mesh* m,
                             scene_pin* pin)
{
    bool fades = fade && fade->kind != TREE_NULL;
    if (!weights && !fades)
    {
        return WEFT_OK;
    }
    fading f = {.m = m, .selected = pin->vertices};
    TRY(fades ? read_number(r, fade, &fade_limits, &f.reach) : WEFT_OK);
    TRY(read_weights(r, weights, pin));
    bool ok = !fades || fade_out(&f, pin);
    mem_free(f.nearest);
    mem_free(f.apart);
    return ok ? WEFT_OK : read_no_memory(r);
}

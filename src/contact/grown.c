// What crosses a body that has not grown to its size yet (sim/growth.c). Contact has it thinner, so that nothing of
// this is a collision; it is listed with what is left of the start.
#include <string.h>

#include "collide/triangle_tree.h"
#include "contact/find.h"

static const double winding_inside = 0.75; // as in squeeze_list.c

typedef struct grown
{
    contact* c;
    vec3* x; // [vertex_count] at the end, with bodies of their full size
    triangle_tree tree;
} grown;

static weft_status make_tree(grown* g, int body)
{
    const int* range = g->c->lists.body_face + body;
    int count = range[1] - range[0], *faces = MEM_NEW(int_max(count, 1), int);
    for (int k = 0; k < count && faces; k++)
    {
        faces[k] = range[0] + k;
    }
    weft_status status = faces
                             ? triangle_tree_create(&g->tree, g->c->collider->corner[FEATURE_FACE], faces, count, g->x)
                             : WEFT_NO_MEMORY;
    mem_free(faces);
    return status;
}

// The crossings of a cloth and a body.
static weft_status list_cloth(grown* g, int cloth)
{
    contact* c = g->c;
    for (int face = c->lists.body_face[cloth]; face < c->lists.body_face[cloth + 1]; face++)
    {
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
        triangle_tree_walk walk = triangle_tree_begin(&g->tree, g->x, v);
        for (int at = triangle_tree_next(&walk); at >= 0; at = triangle_tree_next(&walk))
        {
            TRY(squeeze_list_faces(c, face, at));
        }
    }
    return WEFT_OK;
}

// A cloth that lies in the body and crosses it nowhere is told by one pair.
static weft_status list_nested(grown* g, int cloth, int body)
{
    contact* c = g->c;
    const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)c->lists.body_face[body];
    winding_tree solid;
    bool inside = false;
    TRY(winding_create(&solid, corner, c->lists.body_face[body + 1] - c->lists.body_face[body], g->x));
    winding_update(&solid, g->x);
    weft_status status = WEFT_OK;
    for (int face = c->lists.body_face[cloth]; face < c->lists.body_face[cloth + 1] && !inside; face++)
    {
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
        inside = winding_exceeds(&solid, g->x[v[0]], winding_inside);
        squeezed_pair pair = {{int_min(v[0], v[1]), int_max(v[0], v[1])}, {corner[0], corner[1], corner[2]}, 1};
        status = inside ? squeezed_pairs_add(&c->squeezed, &c->squeezed_count, &c->squeezed_capacity, &pair) : WEFT_OK;
    }
    winding_finish(&solid);
    return status;
}

static weft_status list_body(grown* g, int body)
{
    contact* c = g->c;
    TRY(make_tree(g, body));
    for (int cloth = 0; cloth < body; cloth++)
    {
        int first = c->lists.body_face[cloth], before = c->squeezed_count;
        bool is_cloth = first < c->lists.body_face[cloth + 1] &&
                        c->collider->corner[FEATURE_FACE][3 * (size_t)first] < c->cloth_count;
        TRY(is_cloth ? list_cloth(g, cloth) : WEFT_OK);
        TRY(is_cloth && c->squeezed_count == before ? list_nested(g, cloth, body) : WEFT_OK);
    }
    return WEFT_OK;
}

static weft_status list_all(grown* g, double time)
{
    contact* c = g->c;
    memcpy(g->x, c->end, (size_t)c->cloth_count * sizeof(vec3));
    TRY(c->whole_at(c->grower, time, g->x + c->cloth_count, &c->error));
    c->looked = g->x;
    for (int body = 0; body < c->lists.body_count; body++)
    {
        if (c->grows(c->grower, body, time) && c->lists.body_face[body] < c->lists.body_face[body + 1])
        {
            TRY(list_body(g, body));
            triangle_tree_finish(&g->tree);
        }
    }
    return WEFT_OK;
}

static bool is_any_growing(const contact* c, double time)
{
    bool any = false;
    int last = c->grows && c->vertex_count > c->cloth_count ? c->body[c->vertex_count - 1] : -1;
    for (int body = c->body[0]; body <= last; body++)
    {
        any = any || c->grows(c->grower, body, time);
    }
    return any;
}

weft_status grown_list(contact* c)
{
    double time = c->now.time + c->now.h;
    int before = c->squeezed_count;
    if (!is_any_growing(c, time))
    {
        return WEFT_OK;
    }
    TRY(squeeze_prepare(c));
    grown g = {.c = c, .x = MEM_NEW(c->vertex_count + 1, vec3)};
    weft_status status = g.x ? list_all(&g, time) : WEFT_NO_MEMORY;
    c->looked = c->end;
    for (int k = before; k < c->squeezed_count; k++)
    {
        c->squeezed[k].start = 1;
    }
    squeeze_drop_copies(c->squeezed, &c->squeezed_count);
    triangle_tree_finish(&g.tree);
    mem_free(g.x);
    return status;
}

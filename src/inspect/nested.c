// Bodies inside others, of which no triangles cross. A piece (triangles connected over common vertices) is a solid when
// it is closed and encloses a positive volume, so that its faces look outward. A piece of cloth with a vertex strictly
// inside a solid obstacle with which it does not cross is nested in it; so is a solid piece of cloth in another.
//
// Strictly inside: the vertex is on no triangle of the solid's body, and the winding number around it is positive, both
// of the solid and of all closed pieces of its body together: a room with thick walls has a second piece that looks
// inward, and the air in it is not inside. The winding number counts the triangles that a ray along +x leaves through,
// less those that it enters. The ray starts at p + (0, e, e^2) for an e smaller than anything: then it meets no edge,
// and signs that vanish at e = 0 are those of the first power of e that does not. Since p is on no triangle, the side
// of the triangle's plane on which it is does not vanish where the ray meets the triangle.
#include "inspect/frame.h"

typedef struct piece_state
{
    box hull;   // of the triangles that take part
    bool whole; // closed, and all of it takes part
    bool solid; // and looks outward
    bool cloth;
} piece_state;

// ---- one point

typedef struct winding
{
    const inspect_frame* frame;
    const piece_state* state;
    int solid, body, except; // pieces, and the body of the solid; the piece `except` does not count
    int of_solid, of_body;
    bool on_surface;
} winding;

// Sign of the area of u, v, p + (0, e, e^2) seen along x.
static int perturbed_sign(vec3 u, vec3 v, vec3 p)
{
    int sign = sign_cross(0, u, v, u, p);
    if (sign == 0)
    {
        sign = v.z < u.z ? 1 : v.z > u.z ? -1 : v.y > u.y ? 1 : v.y < u.y ? -1 : 0;
    }
    return sign;
}

// 1: the ray leaves through it, -1: it enters, 0: it passes.
static int ray_crossing(const vec3* t, vec3 p)
{
    int turn = perturbed_sign(t[0], t[1], p);
    if (turn == 0 || perturbed_sign(t[1], t[2], p) != turn || perturbed_sign(t[2], t[0], p) != turn)
    {
        return 0;
    }
    return sign_volume(t[0], t[1], t[2], p) == -turn ? turn : 0;
}

static void winding_triangle(winding* w, int t, vec3 p)
{
    const inspect_frame* f = w->frame;
    const inspect_model* m = f->model;
    int piece = m->piece_of[t];
    if (m->body_of[t] != w->body || piece == w->except || !w->state[piece].whole)
    {
        return;
    }
    const int* c = m->triangles + 3 * (size_t)t;
    vec3 x[3] = {f->x[c[0]], f->x[c[1]], f->x[c[2]]};
    if (box_holds(&f->hull[t], p) && sign_volume(x[0], x[1], x[2], p) == 0)
    {
        flat point = {{p}, 1}, face = frame_flat(f, t);
        w->on_surface |= flat_touch(&point, &face);
    }
    int crossing = ray_crossing(x, p);
    w->of_body += crossing;
    w->of_solid += piece == w->solid ? crossing : 0;
}

static bool ray_meets_box(const box* b, vec3 p)
{
    return b->max.x >= p.x && b->min.y <= p.y && p.y <= b->max.y && b->min.z <= p.z && p.z <= b->max.z;
}

static void winding_walk(winding* w, vec3 p)
{
    const hull_tree* tree = &w->frame->tree;
    int stack[HULL_DEPTH], depth = 0;
    stack[depth++] = 1;
    while (depth > 0 && !w->on_surface)
    {
        int node = stack[--depth];
        if (!ray_meets_box(&tree->node[node], p))
        {
            continue;
        }
        if (node < tree->leaf_count)
        {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
            continue;
        }
        int end = hull_tree_leaf_begin(tree, node - tree->leaf_count + 1);
        for (int k = hull_tree_leaf_begin(tree, node - tree->leaf_count); k < end; k++)
        {
            winding_triangle(w, tree->item[k], p);
        }
    }
}

// ---- a piece in a solid

typedef struct nested_search
{
    const inspect_frame* frame;
    const piece_state* state; // [piece_count]
    int piece, solid;
    unsigned char* inside; // [chunks of the piece's triangles]
} nested_search;

enum
{
    NESTED_CHUNK = 256 // triangles
};

static void nested_chunk(void* context, int begin, int end)
{
    nested_search* s = context;
    const inspect_model* m = s->frame->model;
    const int* triangles = m->piece_triangles + m->piece_start[s->piece];
    bool inside = false;
    int body = m->body_of[m->piece_triangles[m->piece_start[s->solid]]];
    for (int k = 3 * begin; k < 3 * end && !inside; k++)
    {
        int slot = 3 * triangles[k / 3] + k % 3, vertex = m->triangles[slot];
        vec3 p = s->frame->x[vertex];
        if (m->first_use[vertex] != slot || !box_holds(&s->state[s->solid].hull, p)) // none holds what is not finite
        {
            continue;
        }
        winding w = {s->frame, s->state, s->solid, body, s->piece, 0, 0, false};
        winding_walk(&w, p);
        inside = !w.on_surface && w.of_solid > 0 && w.of_body > 0;
    }
    s->inside[begin / NESTED_CHUNK] = inside;
}

static bool nested_inside(nested_search* s)
{
    const inspect_model* m = s->frame->model;
    int count = m->piece_start[s->piece + 1] - m->piece_start[s->piece];
    parallel_for(s->frame->pool, count, NESTED_CHUNK, nested_chunk, s);
    bool inside = false;
    for (int k = 0; k < (count - 1) / NESTED_CHUNK + 1; k++)
    {
        inside |= s->inside[k];
    }
    return inside;
}

// ---- all pieces

static piece_state piece_measure(const inspect_frame* f, int piece)
{
    const inspect_model* m = f->model;
    int begin = m->piece_start[piece], end = m->piece_start[piece + 1];
    piece_state s = {box_empty(), m->closed[piece], false, !triangle_is_obstacle(m, m->piece_triangles[begin])};
    for (int k = begin; k < end; k++)
    {
        int t = m->piece_triangles[k];
        s.whole = s.whole && !f->left_out[t];
        s.hull = f->left_out[t] ? s.hull : box_join(&s.hull, &f->hull[t]);
    }
    s.solid = s.whole && sign_enclosed(f->x, m->triangles, m->piece_triangles + begin, end - begin) > 0;
    return s;
}

// Pairs of pieces whose boxes overlap cost one test; a pair that is looked into costs as many as its piece has corners.
static weft_status nested_in_solid(inspect_frame* f, crossing_list* list, const piece_state* state, int solid,
                                   unsigned char* scratch)
{
    const inspect_model* m = f->model;
    nested_search s = {.frame = f, .state = state, .solid = solid, .inside = scratch};
    for (int p = 0; p < m->piece_count && f->tests_left > 0; p++)
    {
        bool may_be = p != solid && state[p].cloth && (!state[solid].cloth || state[p].solid);
        f->tests_left -= may_be;
        if (!may_be || !box_overlap(&state[p].hull, &state[solid].hull) || crossings_have_pieces(list, p, solid))
        {
            continue;
        }
        s.piece = p;
        f->tests_left -= 3 * (m->piece_start[p + 1] - m->piece_start[p]);
        if (nested_inside(&s))
        {
            hit h = {m->piece_triangles[m->piece_start[p]], m->piece_triangles[m->piece_start[solid]],
                     WEFT_CROSSING_NESTED};
            TRY(crossings_add(f, list, h));
        }
    }
    return WEFT_OK;
}

weft_status nested_find(inspect_frame* f, crossing_list* list)
{
    const inspect_model* m = f->model;
    piece_state* state = MEM_NEW(m->piece_count, piece_state);
    unsigned char* scratch = MEM_NEW(m->triangle_count / NESTED_CHUNK + 1, unsigned char);
    weft_status status = state && scratch ? WEFT_OK : WEFT_NO_MEMORY;
    for (int p = 0; p < m->piece_count && status == WEFT_OK; p++)
    {
        state[p] = piece_measure(f, p);
    }
    for (int p = 0; p < m->piece_count && status == WEFT_OK && f->tests_left > 0 && list->count < list->limit; p++)
    {
        status = state[p].solid ? nested_in_solid(f, list, state, p, scratch) : WEFT_OK;
    }
    list->truncated |= f->tests_left <= 0 || list->count >= list->limit;
    mem_free(state);
    mem_free(scratch);
    return status;
}

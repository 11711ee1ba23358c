// The start of a scene that settles: which vertices of cloth cross a body, or are on its wrong side, as marks from
// which contact brings them apart while the simulation runs (contact/unsettled.c). Nothing moves here.
//
// What is inside of an obstacle, by its winding number, is to come out: on its own outer side, which is that to which
// the normals of the cloth around it point, as the vertices outside say with a clear majority. Where cloth crosses
// cloth or an open surface, the curves of intersection cut it into pieces, as in untangling, and the smallest piece
// beside a curve is to come over; what no curve separates, and what crosses itself, is left to the shrinking of the
// curve. Layers say it without curves: every vertex of an outer one that is below an inner one comes up, and the other
// way round.
#include <string.h>

#include "collide/broad.h"
#include "start/untangle.h"

enum
{
    PROBES = 64, // faces that are asked whether a body has an inside
    INSIDE = 1,  // of a vertex, in tangle.inside
    BEHIND = 2,
    REFUSED = 4 // it was looked at, and is not
};

static const double winding_inside = 0.75; // as in contact
static const double clear = 0.6;           // share of a vote that decides
static const double vote_reach = 0.1;      // m, from the body: what is farther does not say
static const double layer_reach = 0.1;     // m, that a layer is out of place at most

typedef struct settling
{
    start_look* look;
    tangle t;
    winding_tree* windings; // [body_count] zero: it has no inside
    int* votes;             // [body_count] scratch
    int* outward;           // [body_count] of a layer: 1 when its normals look outward, -1 when inward
    unsigned char* grows;   // [body_count] an obstacle that cloth is outside of while it is thin
    mark_list* marks;
} settling;

static weft_status add_mark(settling* s, int vertex, int body, mark_kind kind, int side, bool through)
{
    const tangle* t = &s->t;
    if (vertex >= t->cloth_count || tangle_excluded(t, vertex, body))
    {
        return WEFT_OK;
    }
    int home = t->home[vertex];
    squeeze_mark mark = {.vertex = s->look->sim->bodies[home].scene_vertex[vertex - s->look->first_vertex[home]],
                         .body = body,
                         .through = through,
                         .kind = (int)kind,
                         .side = side};
    return marks_add(s->marks, mark);
}

// ---- bodies with an inside

// Points a little before and behind some faces: behind those of a closed body the winding number is 1, behind those of
// an open surface about a half. Holes do not matter.
static bool has_inside(const tangle* t, int body, winding_tree* tree)
{
    int first = t->first_triangle[body], count = t->first_triangle[body + 1] - first, inside = 0, probes = 0;
    for (int k = 0; k < int_min(count, PROBES); k++)
    {
        int face = first + (int)((int64_t)k * count / int_min(count, PROBES));
        const int* c = t->triangle + 3 * (size_t)face;
        vec3 middle = v3_scale(1.0 / 3.0, v3_add(v3_add(t->x[c[0]], t->x[c[1]]), t->x[c[2]]));
        vec3 n = tangle_face_normal(t, face);
        double size = sqrt(v3_length(n));
        n = v3_normalize(n);
        probes += size > 0.0;
        inside += size > 0.0 && (winding_exceeds(tree, v3_madd(middle, -0.05 * size, n), winding_inside) ||
                                 winding_exceeds(tree, v3_madd(middle, 0.05 * size, n), winding_inside));
    }
    return 2 * inside > probes;
}

static weft_status find_insides(settling* s)
{
    tangle* t = &s->t;
    for (int b = 0; b < s->look->body_count; b++)
    {
        winding_tree* tree = &s->windings[b];
        int first = t->first_triangle[b], count = t->first_triangle[b + 1] - first;
        bool may = count > 0 && (b >= s->look->sim->body_count || s->look->meshes[b]->form == MESH_SOLID);
        t->solid[b] = false;
        if (!may)
        {
            continue;
        }
        TRY(winding_create(tree, t->triangle + 3 * (size_t)first, count, t->x));
        winding_update(tree, t->x);
        t->solid[b] = has_inside(t, b, tree);
    }
    return WEFT_OK;
}

// Which way the normals of cloth look that is outside of a body and near it: 1 away from it, -1 to it, 0: not clear.
static int vote(const settling* s, int cloth, int body, const unsigned char* inside)
{
    const tangle* t = &s->t;
    int away = 0, to = 0;
    for (int i = s->look->first_vertex[cloth]; i < s->look->first_vertex[cloth + 1]; i++)
    {
        surface_point n = inside[i] ? (surface_point){.triangle = -1}
                                    : triangle_tree_nearest(&t->trees[body], t->x, t->x[i], vote_reach);
        double along = n.triangle >= 0 ? v3_dot(t->normal[i], v3_sub(t->x[i], n.point)) : 0.0;
        away += along > 0.5 * n.distance;
        to += along < -0.5 * n.distance;
    }
    return away > clear * (away + to) ? 1 : to > clear * (away + to) ? -1 : 0;
}

// How far a vertex is from where its own outer normal leaves the body.
static double way_through(const settling* s, int vertex, int body)
{
    const tangle* t = &s->t;
    vec3 own = v3_scale(s->votes[t->home[vertex]], t->normal[vertex]);
    return v3_dot(own, own) > 0.0 ? triangle_tree_exit(&t->trees[body], t->x, t->x[vertex], own) : INFINITY;
}

// Outside of the body, and yet its own outer side looks through it.
static bool is_behind(const settling* s, int vertex, int body)
{
    const tangle* t = &s->t;
    surface_point n = triangle_tree_nearest(&t->trees[body], t->x, t->x[vertex], UNSETTLED_THROUGH);
    vec3 own = v3_scale(s->votes[t->home[vertex]], t->normal[vertex]);
    return n.triangle >= 0 && v3_dot(own, v3_sub(t->x[vertex], n.point)) < -0.5 * n.distance &&
           way_through(s, vertex, body) < UNSETTLED_THROUGH;
}

static bool is_border(const tangle* t, int vertex)
{
    for (int j = t->near_start[vertex]; j < t->near_start[vertex + 1]; j++)
    {
        if (t->mate[t->near_slot[j]] < 0)
        {
            return true;
        }
    }
    return false;
}

// What hangs together with a vertex that is behind the body, and is so as well, or inside; false: it has no border, so
// that no hole that the body has made can be left over it. It has been looked at in any case.
static bool collect_behind(settling* s, int first, int body, int* count)
{
    tangle* t = &s->t;
    bool border = false;
    *count = 0;
    t->inside[first] |= BEHIND;
    t->queue[(*count)++] = first;
    for (int k = 0; k < *count; k++)
    {
        int i = t->queue[k];
        border = border || (!(t->inside[i] & INSIDE) && is_border(t, i));
        for (int j = t->near_start[i]; j < t->near_start[i + 1]; j++)
        {
            int other = t->near[j];
            bool in = (t->inside[other] & INSIDE) != 0;
            if (t->inside[other] & (BEHIND | REFUSED) || tangle_excluded(t, other, body) ||
                !(in ? way_through(s, other, body) < UNSETTLED_THROUGH : is_behind(s, other, body)))
            {
                continue;
            }
            t->inside[other] |= BEHIND;
            t->queue[(*count)++] = other;
        }
    }
    return border;
}

// Beside cloth inside: patches that are behind the body.
static void find_behind(settling* s, int body)
{
    tangle* t = &s->t;
    for (int i = 0; i < t->cloth_count; i++)
    {
        bool beside = false;
        for (int j = t->near_start[i]; j < t->near_start[i + 1] && t->inside[i] == 0; j++)
        {
            beside = beside || t->inside[t->near[j]] & INSIDE;
        }
        int count = 0;
        if (beside && !tangle_excluded(t, i, body) && is_behind(s, i, body) && !collect_behind(s, i, body, &count))
        {
            for (int k = 0; k < count; k++)
            {
                t->inside[t->queue[k]] &= INSIDE;
                t->inside[t->queue[k]] |= REFUSED;
            }
        }
    }
}

static weft_status mark_inside(settling* s, int body)
{
    tangle* t = &s->t;
    for (int i = 0; i < t->cloth_count; i++)
    {
        t->inside[i] = t->home[i] != body && !tangle_excluded(t, i, body) &&
                       winding_exceeds(&s->windings[body], t->x[i], winding_inside);
    }
    for (int cloth = 0; cloth < s->look->sim->body_count; cloth++)
    {
        s->votes[cloth] = cloth != body ? vote(s, cloth, body, t->inside) : 0;
    }
    find_behind(s, body);
    for (int i = 0; i < t->cloth_count; i++)
    {
        t->inside[i] &= INSIDE | BEHIND;
        mark_kind kind = t->inside[i] & BEHIND ? MARK_BEHIND : MARK_INSIDE;
        TRY(t->inside[i] ? add_mark(s, i, body, kind, s->votes[t->home[i]], true) : WEFT_OK);
    }
    for (int k = 0; k < 2 * s->look->pair_count; k++)
    {
        // Where two soft bodies cross, either is asked.
        const weft_crossing* c = &s->look->pairs[k / 2];
        int side = k % 2;
        if (c->body[1 - side] != body || c->body[side] == body || start_is_segment(s->look, c, side) ||
            c->kind == WEFT_CROSSING_NESTED)
        {
            continue;
        }
        const int* corner = t->triangle + 3 * (size_t)tangle_triangle(t, c, side);
        for (int j = 0; j < 3; j++)
        {
            bool inside = corner[j] < t->cloth_count && t->inside[corner[j]] != 0;
            int own = corner[j] < t->cloth_count ? s->votes[t->home[corner[j]]] : 0;
            TRY(add_mark(s, corner[j], body, MARK_INSIDE, own, inside));
        }
    }
    return WEFT_OK;
}

// ---- open surfaces

static weft_status take_side(void* user, int vertex, int body, int side, bool wrong)
{
    return add_mark(user, vertex, body, MARK_SIDED, side, wrong);
}

// What nothing else has an answer for. Of all marks of a place the better one stays.
static weft_status mark_free(settling* s)
{
    const start_look* look = s->look;
    for (int k = 0; k < 2 * look->pair_count; k++)
    {
        const weft_crossing* c = &look->pairs[k / 2];
        int side = k % 2, body = c->body[side], other = c->body[1 - side];
        if (s->t.solid[other] || s->t.solid[body] || c->kind == WEFT_CROSSING_NESTED)
        {
            continue;
        }
        const mesh* m = look->meshes[body];
        bool segment = start_is_segment(look, c, side);
        const int* corner = segment ? m->segment + 2 * (size_t)(c->triangle[side] - m->triangle_count)
                                    : m->triangle + 3 * (size_t)c->triangle[side];
        for (int j = 0; j < (segment ? 2 : 3); j++)
        {
            TRY(add_mark(s, look->first_vertex[body] + corner[j], other, MARK_FREE, 0, true));
        }
    }
    return WEFT_OK;
}

// ---- layers

// Whether the normals of a cloth look outward: seen from the bodies in it, else from its own middle.
static int find_outward(settling* s, int cloth, start_layers layers)
{
    tangle* t = &s->t;
    for (int k = 0; k < layers.count; k++)
    {
        int body = layers.body[k];
        if (t->solid[body] && body != cloth)
        {
            memset(t->inside, 0, (size_t)t->cloth_count);
            int found = vote(s, cloth, body, t->inside);
            if (found != 0)
            {
                return found;
            }
        }
    }
    int first = s->look->first_vertex[cloth], last = s->look->first_vertex[cloth + 1];
    vec3 middle = v3(0, 0, 0);
    double sum = 0.0;
    for (int i = first; i < last; i++)
    {
        middle = v3_madd(middle, 1.0 / (last - first), t->x[i]);
    }
    for (int i = first; i < last; i++)
    {
        sum += v3_dot(t->normal[i], v3_sub(t->x[i], middle));
    }
    return sum >= 0.0 ? 1 : -1;
}

// Vertices of a cloth that are on the wrong side of another, whose normals and its own look the same way there: the
// other wall of a sleeve is not meant.
static weft_status mark_layer(settling* s, int cloth, int other, int side)
{
    const tangle* t = &s->t;
    for (int i = s->look->first_vertex[cloth]; i < s->look->first_vertex[cloth + 1]; i++)
    {
        surface_point n = triangle_tree_nearest(&t->trees[other], t->x, t->x[i], layer_reach);
        if (n.triangle < 0)
        {
            continue;
        }
        const int* corner = t->triangle + 3 * (size_t)n.triangle;
        vec3 normal = v3(0, 0, 0), from = v3_sub(t->x[i], n.point);
        for (int k = 0; k < 3; k++)
        {
            normal = v3_madd(normal, n.weight[k], t->normal[corner[k]]);
        }
        normal = v3_normalize(normal);
        double height = side * v3_dot(from, normal), gap = tangle_gap(t, i, other);
        double beside = v3_length(v3_madd(from, -v3_dot(from, normal), normal));
        bool alike = s->outward[cloth] * s->outward[other] * v3_dot(normal, t->normal[i]) > 0.3;
        if (alike && height < 0.0 && beside <= fmax(-height, gap))
        {
            TRY(add_mark(s, i, other, MARK_SIDED, side, true));
        }
    }
    return WEFT_OK;
}

static bool is_cloth(const settling* s, int body)
{
    return body < s->look->sim->body_count && s->look->meshes[body]->form == MESH_SHEET;
}

// Crossings of two layers, whatever the curves would say.
static weft_status mark_layer_crossings(settling* s, int inner, int outer)
{
    const tangle* t = &s->t;
    for (int k = 0; k < 2 * s->look->pair_count; k++)
    {
        const weft_crossing* c = &s->look->pairs[k / 2];
        int body = c->body[k % 2], other = c->body[1 - k % 2];
        if (!((body == inner && other == outer) || (body == outer && other == inner)))
        {
            continue;
        }
        const int* corner = t->triangle + 3 * (size_t)tangle_triangle(t, c, k % 2);
        for (int j = 0; j < 3; j++)
        {
            int side = body == outer ? s->outward[other] : -s->outward[other];
            TRY(add_mark(s, corner[j], other, MARK_SIDED, side, false));
        }
    }
    return WEFT_OK;
}

static weft_status mark_layers(settling* s, start_layers layers)
{
    for (int k = 0; k < layers.count; k++)
    {
        s->outward[layers.body[k]] = is_cloth(s, layers.body[k]) ? find_outward(s, layers.body[k], layers) : 0;
    }
    for (int k = 0; k < layers.count; k++)
    {
        for (int j = k + 1; j < layers.count; j++)
        {
            int inner = layers.body[k], outer = layers.body[j];
            if (is_cloth(s, inner) && is_cloth(s, outer))
            {
                TRY(mark_layer(s, outer, inner, s->outward[inner]));
                TRY(mark_layer(s, inner, outer, -s->outward[outer]));
                TRY(mark_layer_crossings(s, inner, outer));
            }
        }
    }
    return WEFT_OK;
}

static bool are_layers(start_layers layers, int a, int b)
{
    int found = 0;
    for (int k = 0; k < layers.count; k++)
    {
        found += layers.body[k] == a || layers.body[k] == b;
    }
    return found == 2;
}

// Curves have no say in pairs of layers, and segments have none.
static weft_status mark_by_curves(settling* s, start_layers layers)
{
    start_look* look = s->look;
    int count = look->pair_count, kept = 0;
    weft_crossing* all = MEM_NEW(count + 1, weft_crossing);
    if (!all)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(all, look->pairs, (size_t)count * sizeof(weft_crossing));
    for (int k = 0; k < count; k++)
    {
        const weft_crossing* c = &all[k];
        bool curved = !s->t.solid[c->body[0]] && !s->t.solid[c->body[1]] && !start_is_segment(look, c, 0) &&
                      !start_is_segment(look, c, 1) && !are_layers(layers, c->body[0], c->body[1]);
        look->pairs[kept] = *c;
        kept += curved;
    }
    look->pair_count = kept;
    weft_status status = kept > 0 ? tangle_sides(&s->t, take_side, s) : WEFT_OK;
    memcpy(look->pairs, all, (size_t)count * sizeof(weft_crossing));
    look->pair_count = count;
    mem_free(all);
    return status;
}

// ---- the whole

static weft_status settle(settling* s, start_layers layers, weft_error* error)
{
    weft_sim* sim = s->look->sim;
    int bodies = s->look->body_count;
    TRY(tangle_create(&s->t, s->look));
    s->windings = MEM_NEW(bodies, winding_tree);
    s->votes = MEM_NEW(bodies, int);
    s->outward = MEM_NEW(bodies, int);
    s->grows = MEM_NEW(bodies, unsigned char);
    TRY(s->windings && s->votes && s->outward && s->grows ? WEFT_OK : WEFT_NO_MEMORY);
    TRY(sim_build(sim, error));
    s->marks = &sim->world.state.contact.marks;
    tangle_measure(&s->t);
    TRY(find_insides(s));
    TRY(start_grow(s->look, s->t.solid, s->grows, error));
    for (int b = 0; b < bodies; b++)
    {
        TRY(s->t.solid[b] && !s->grows[b] ? mark_inside(s, b) : WEFT_OK);
    }
    TRY(mark_layers(s, layers));
    TRY(mark_by_curves(s, layers));
    TRY(mark_free(s));
    marks_sort(s->marks);
    return WEFT_OK;
}

weft_status start_settle(start_look* look, start_layers layers, weft_error* error)
{
    settling s = {.look = look, .t = {.look = look}};
    weft_status status = settle(&s, layers, error);
    for (int b = 0; b < look->body_count && s.windings; b++)
    {
        winding_finish(&s.windings[b]);
    }
    tangle_finish(&s.t);
    mem_free(s.windings);
    mem_free(s.votes);
    mem_free(s.outward);
    mem_free(s.grows);
    return status;
}

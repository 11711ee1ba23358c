// Pairs that a step has told of, after its tears. What was squeezed or is left of the start is listed where the step
// ends, and then cloth tears: faces go along with new vertices, so that the same crossing has another name, and the
// sides of a cut go a little way, so that the next face of a body may be the one that they cross. What crosses at torn
// vertices is therefore listed again, by their new names and where they are now.
//
// Only what the step has told of already: a crossing with a body of which no pair was listed around the cut is none
// of these, but where the body grows. Cuts do not open where cloth would cross cloth (tear_room.c).
#include "sim/tear.h"

#include <math.h>
#include <string.h>

#include "collide/broad.h"
#include "collide/ccd.h"
#include "sim/edits.h"

enum
{
    BESIDE = 1, // in a face at a torn vertex
    TORN = 2
};

typedef struct told_face
{
    int body; // by number
    const int* v;
    vec3 x[3];
    double_box box;
} told_face;

typedef struct teller
{
    weft_sim* sim;
    weft_step_stats* stats;
    int torn;       // the body that tears, by number
    uint8_t* at;    // [its vertices] see above
    vec3* around;   // [obstacle vertices] where files have them
    told_face* cut; // [cut_count] at torn vertices
    int cut_count, cut_capacity;
    double_box box; // around them
} teller;

static bool is_cloth(const teller* t, int body)
{
    return body < t->sim->body_count;
}

static const mesh* mesh_of(const teller* t, int body)
{
    return is_cloth(t, body) ? &t->sim->bodies[body].rest : &t->sim->obstacles[body - t->sim->body_count].mesh;
}

static bool is_removed(const teller* t, int body)
{
    return is_cloth(t, body) ? t->sim->bodies[body].removed : t->sim->obstacles[body - t->sim->body_count].removed;
}

static vec3 place_of(const teller* t, int body, int vertex)
{
    return v3_round(is_cloth(t, body) ? t->sim->world.state.x[t->sim->bodies[body].scene_vertex[vertex]]
                                      : t->around[t->sim->obstacles[body - t->sim->body_count].first + vertex]);
}

// Of a face, or of a segment, which has two corners.
static told_face face_of(const teller* t, int body, const int* v, int count)
{
    told_face f = {.body = body, .v = v};
    for (int k = 0; k < count; k++)
    {
        f.x[k] = place_of(t, body, v[k]);
    }
    f.box = feature_box(f.x, f.x, (const int[3]){0, 1, 2}, count);
    return f;
}

// ---- the list: what is squeezed, then what is unsettled

static weft_squeezed* told(const teller* t)
{
    return t->sim->squeezed;
}

// Corners in any order.
static bool same_pair(const weft_squeezed* a, const weft_squeezed* b)
{
    bool same = a->body[0] == b->body[0] && a->body[1] == b->body[1];
    same = same && ((a->edge[0] == b->edge[0] && a->edge[1] == b->edge[1]) ||
                    (a->edge[0] == b->edge[1] && a->edge[1] == b->edge[0]));
    for (int k = 0; k < 3 && same; k++)
    {
        same = a->face[k] == b->face[0] || a->face[k] == b->face[1] || a->face[k] == b->face[2];
    }
    return same;
}

static weft_status tell(const teller* t, const weft_squeezed* pair, bool start)
{
    weft_sim* sim = t->sim;
    weft_step_stats* stats = t->stats;
    int count = stats->squeezed + stats->unsettled;
    for (int k = 0; k < count; k++)
    {
        if (same_pair(&told(t)[k], pair))
        {
            return WEFT_OK;
        }
    }
    if (!mem_grow((void**)&sim->squeezed, &sim->squeezed_capacity, count + 1, sizeof(weft_squeezed)))
    {
        return WEFT_NO_MEMORY;
    }
    int at = start ? count : stats->squeezed;
    memmove(told(t) + at + 1, told(t) + at, (size_t)(count - at) * sizeof(weft_squeezed));
    told(t)[at] = *pair;
    stats->squeezed += !start;
    stats->unsettled += start;
    stats->squeezed_pairs = stats->squeezed > 0 ? told(t) : NULL;
    stats->unsettled_pairs = stats->unsettled > 0 ? told(t) + stats->squeezed : NULL;
    return WEFT_OK;
}

// Whether a pair is one of the torn body, near what has torn, with the other one.
static bool is_near(const teller* t, const weft_squeezed* pair, int other)
{
    bool near = false;
    for (int k = 0; k < 5; k++)
    {
        bool of_face = k >= 2;
        int vertex = of_face ? pair->face[k - 2] : pair->edge[k];
        near = near || (pair->body[of_face] == t->torn && pair->body[!of_face] == other && t->at[vertex]);
    }
    return near;
}

// False: the step tells of no such pair. What is left of the start stays so, whatever is squeezed as well; and so is
// all that crosses a body which has not grown yet (contact/grown.c).
static bool find_told(const teller* t, int other, bool* start)
{
    bool found = sim_grows(t->sim, other, weft_sim_time(t->sim));
    *start = found;
    for (int k = 0; k < t->stats->squeezed + t->stats->unsettled; k++)
    {
        bool near = is_near(t, &told(t)[k], other);
        found = found || near;
        *start = *start || (near && k >= t->stats->squeezed);
    }
    return found;
}

// ---- what crosses

// Edges of what has `count` corners that pierce the face. In one body those that end at the face only touch it there.
static weft_status tell_edges(const teller* t, const told_face* a, int count, const told_face* face, bool start)
{
    for (int k = 0; k < (count == 2 ? 1 : 3); k++)
    {
        int l = (k + 1) % count, from = a->v[k], to = a->v[l];
        bool joined = false;
        for (int c = 0; c < 3 && a->body == face->body; c++)
        {
            joined = joined || face->v[c] == from || face->v[c] == to;
        }
        if (!joined && ccd_pierces(a->x[k], a->x[l], face->x))
        {
            weft_squeezed pair = {{a->body, face->body}, {from, to}, {face->v[0], face->v[1], face->v[2]}};
            TRY(tell(t, &pair, start));
        }
    }
    return WEFT_OK;
}

static bool is_torn(const teller* t, const int* v)
{
    return t->at[v[0]] == TORN || t->at[v[1]] == TORN || t->at[v[2]] == TORN;
}

static void mark(const teller* t, const tear_list* tears)
{
    const mesh* m = mesh_of(t, t->torn);
    for (int k = 0; k < tears->count; k++)
    {
        t->at[tears->from[k]] = t->at[m->vertex_count - tears->count + k] = TORN;
    }
    for (int k = 0; k < m->triangle_count; k++)
    {
        const int* v = m->triangle + 3 * (size_t)k;
        bool torn = is_torn(t, v);
        for (int c = 0; c < 3 && torn; c++)
        {
            t->at[v[c]] = t->at[v[c]] == TORN ? TORN : BESIDE;
        }
    }
}

static weft_status gather(teller* t)
{
    const mesh* m = mesh_of(t, t->torn);
    for (int k = 0; k < 3; k++)
    {
        t->box.low[k] = HUGE_VAL;
        t->box.high[k] = -HUGE_VAL;
    }
    for (int f = 0; f < m->triangle_count; f++)
    {
        const int* v = m->triangle + 3 * (size_t)f;
        if (!is_torn(t, v))
        {
            continue;
        }
        if (!mem_grow((void**)&t->cut, &t->cut_capacity, t->cut_count + 1, sizeof(told_face)))
        {
            return WEFT_NO_MEMORY;
        }
        told_face* face = &t->cut[t->cut_count++];
        *face = face_of(t, t->torn, v, 3);
        for (int k = 0; k < 3; k++)
        {
            t->box.low[k] = fmin(t->box.low[k], face->box.low[k]);
            t->box.high[k] = fmax(t->box.high[k], face->box.high[k]);
        }
    }
    return WEFT_OK;
}

// A face or segment of another body, or of the torn one, and all faces at what has torn.
static weft_status tell_around(const teller* t, const told_face* other, int count, bool start)
{
    for (int k = 0; k < t->cut_count && boxes_near(&t->box, &other->box, 0.0); k++)
    {
        const told_face* face = &t->cut[k];
        if (boxes_near(&face->box, &other->box, 0.0))
        {
            TRY(tell_edges(t, other, count, face, start));
            TRY(count == 3 ? tell_edges(t, face, 3, other, start) : WEFT_OK);
        }
    }
    return WEFT_OK;
}

static weft_status tell_body(const teller* t, int other, bool start)
{
    const mesh* m = mesh_of(t, other);
    for (int k = 0; k < m->triangle_count; k++)
    {
        told_face face = face_of(t, other, m->triangle + 3 * (size_t)k, 3);
        TRY(tell_around(t, &face, 3, start));
    }
    for (int k = 0; k < m->segment_count; k++)
    {
        told_face line = face_of(t, other, m->segment + 2 * (size_t)k, 2);
        TRY(tell_around(t, &line, 2, start));
    }
    return WEFT_OK;
}

static weft_status tell_all(teller* t)
{
    TRY(gather(t));
    for (int other = 0; other < t->sim->body_count + t->sim->obstacle_count; other++)
    {
        bool start;
        TRY(!is_removed(t, other) && find_told(t, other, &start) ? tell_body(t, other, start) : WEFT_OK);
    }
    return WEFT_OK;
}

static bool is_any_growing(const weft_sim* sim)
{
    bool any = false;
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        any = any || sim_grows(sim, sim->body_count + k, weft_sim_time(sim));
    }
    return any;
}

weft_status tear_tell(weft_sim* sim, const body* b, const tear_list* tears, weft_step_stats* stats, weft_error* error)
{
    if (stats->squeezed + stats->unsettled == 0 && !is_any_growing(sim))
    {
        return WEFT_OK;
    }
    teller t = {.sim = sim, .stats = stats, .torn = (int)(b - sim->bodies)};
    t.at = MEM_NEW(b->rest.vertex_count, uint8_t);
    t.around = MEM_NEW(sim->obstacle_vertices + 1, vec3);
    weft_status status = t.at && t.around ? WEFT_OK : edit_error(WEFT_NO_MEMORY, error);
    status = status == WEFT_OK ? obstacles_at(sim, weft_sim_time(sim), t.around, error) : status;
    if (status == WEFT_OK)
    {
        mark(&t, tears);
        status = edit_error(tell_all(&t), error);
    }
    mem_free(t.cut);
    mem_free(t.at);
    mem_free(t.around);
    return status;
}

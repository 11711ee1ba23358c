// See join.h. A thread that goes straight through a body would draw its ends against it from both sides, and down along
// it: a strap never comes over a shoulder. Where points of the straight way at the start are inside of an obstacle, by
// its winding number, the deepest of them says where to go around: over the nearest place of the surface. As long as
// something is in the straight way, the thread goes over that place, wherever the obstacle has taken it. From positions
// and the time alone, so that a run that is resumed does the same.
#include <string.h>

#include "collide/broad.h"
#include "collide/triangle_tree.h"
#include "sim/join.h"

enum
{
    SAMPLES = 12 // along a thread
};

static const double inside = 0.75; // a winding number above it, as in contact
static const double beside = 0.01; // m, from the surface of what is in the way

// All obstacles as one surface.
typedef struct routes
{
    vec3* x;     // [obstacle_vertices] m, now
    int* corner; // [3 * count]
    int* item;   // [count] all of them
    int count;
    triangle_tree surface;
    winding_tree* solid; // [obstacles] each by itself: a floor under a body would take from its winding number
    int obstacles;
    vec3 low, high; // m, around it
    double time;    // s, of x
} routes;

void routes_drop(weft_sim* sim)
{
    routes* r = sim->routes;
    if (r)
    {
        triangle_tree_finish(&r->surface);
        for (int k = 0; k < r->obstacles; k++)
        {
            winding_finish(&r->solid[k]);
        }
        mem_free(r->solid);
        mem_free(r->x);
        mem_free(r->corner);
        mem_free(r->item);
        mem_free(r);
    }
    sim->routes = NULL;
}

static int count_faces(const weft_sim* sim)
{
    int count = 0;
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        count += sim->obstacles[k].removed ? 0 : sim->obstacles[k].mesh.triangle_count;
    }
    return count;
}

static void list_faces(const weft_sim* sim, routes* r)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        for (int t = 0; t < o->mesh.triangle_count && !o->removed; t++)
        {
            r->item[r->count] = r->count;
            for (int c = 0; c < 3; c++)
            {
                r->corner[3 * r->count + c] = o->first + o->mesh.triangle[3 * (size_t)t + (size_t)c];
            }
            r->count++;
        }
    }
}

static void measure(routes* r, const weft_sim* sim)
{
    r->low = v3(INFINITY, INFINITY, INFINITY);
    r->high = v3(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < sim->obstacle_vertices; i++)
    {
        vec3 p = r->x[i];
        r->low = v3(fmin(r->low.x, p.x), fmin(r->low.y, p.y), fmin(r->low.z, p.z));
        r->high = v3(fmax(r->high.x, p.x), fmax(r->high.y, p.y), fmax(r->high.z, p.z));
    }
}

// Trees are made where obstacles are at the start, whenever that is: their order is always the same.
static weft_status routes_make(weft_sim* sim, weft_error* error)
{
    int count = count_faces(sim);
    routes* r = sim->routes = MEM_NEW(1, routes);
    if (!r)
    {
        return WEFT_NO_MEMORY;
    }
    r->x = MEM_NEW(sim->obstacle_vertices, vec3);
    r->corner = MEM_NEW(3 * (size_t)count, int);
    r->item = MEM_NEW(count, int);
    r->solid = MEM_NEW(sim->obstacle_count, winding_tree);
    if (!r->x || !r->corner || !r->item || !r->solid)
    {
        return WEFT_NO_MEMORY;
    }
    list_faces(sim, r);
    TRY(obstacles_at(sim, 0.0, r->x, error));
    TRY(triangle_tree_create(&r->surface, r->corner, r->item, count, r->x));
    r->obstacles = sim->obstacle_count;
    for (int k = 0, first = 0; k < r->obstacles; k++)
    {
        int own = sim->obstacles[k].removed ? 0 : sim->obstacles[k].mesh.triangle_count;
        TRY(own > 0 ? winding_create(&r->solid[k], r->corner + 3 * first, own, r->x) : WEFT_OK);
        first += own;
    }
    r->time = NAN;
    return WEFT_OK;
}

static weft_status routes_follow(weft_sim* sim, double time, weft_error* error)
{
    routes* r = sim->routes;
    if (r->time == time)
    {
        return WEFT_OK;
    }
    TRY(obstacles_at(sim, time, r->x, error));
    triangle_tree_refit(&r->surface, r->x);
    for (int k = 0; k < r->obstacles; k++)
    {
        r->solid[k].count > 0 ? winding_update(&r->solid[k], r->x) : (void)0;
    }
    measure(r, sim);
    r->time = time;
    return WEFT_OK;
}

static bool holds(const routes* r, vec3 p)
{
    bool near =
        p.x > r->low.x && p.y > r->low.y && p.z > r->low.z && p.x < r->high.x && p.y < r->high.y && p.z < r->high.z;
    bool held = false;
    for (int k = 0; k < r->obstacles && near && !held; k++)
    {
        held = r->solid[k].count > 0 && winding_exceeds(&r->solid[k], p, inside);
    }
    return held;
}

static vec3 face_normal(const routes* r, int face)
{
    const int* v = r->corner + 3 * (size_t)face;
    return v3_normalize(v3_cross(v3_sub(r->x[v[1]], r->x[v[0]]), v3_sub(r->x[v[2]], r->x[v[0]])));
}

// Where the thread goes now, once it is known over which face.
static vec3 place(const routes* r, const tie* t)
{
    const int* v = r->corner + 3 * (size_t)t->way_face;
    vec3 p = v3_scale(beside * t->way_side, face_normal(r, t->way_face));
    for (int k = 0; k < 3; k++)
    {
        p = v3_madd(p, t->way_weight[k], r->x[v[k]]);
    }
    return p;
}

static vec3 sample(vec3 from, vec3 to, int k)
{
    return v3_madd(from, k / (SAMPLES + 1.0), v3_sub(to, from));
}

// Which way a thread is to go, obstacles being where they were when its cloth came.
static void choose(const routes* r, tie* t)
{
    double deepest = 0.0;
    for (int k = 1; k <= SAMPLES; k++)
    {
        vec3 p = sample(t->start[0], t->start[1], k);
        surface_point out = holds(r, p) ? triangle_tree_nearest(&r->surface, r->x, p, INFINITY) : (surface_point){0};
        if (out.distance > deepest)
        {
            deepest = out.distance;
            t->way_face = out.triangle;
            memcpy(t->way_weight, out.weight, sizeof(t->way_weight));
            t->way_side = v3_dot(face_normal(r, out.triangle), v3_sub(out.point, p)) < 0.0 ? -1.0 : 1.0;
        }
    }
    if (t->way_face >= 0)
    {
        vec3 way = place(r, t);
        t->gap = v3_length(v3_sub(t->start[0], way)) + v3_length(v3_sub(t->start[1], way));
    }
}

static void route(const routes* r, const vec3* x, tie* t)
{
    vec3 a = tie_point(t, x), b = stitch_to(t, x);
    t->bent = false;
    for (int k = 1; k <= SAMPLES && t->way_face >= 0 && !t->bent; k++)
    {
        t->bent = holds(r, sample(a, b, k));
    }
    t->way = t->bent ? place(r, t) : t->way;
}

// Threads of a generation are made without a way.
static weft_status routes_begin(weft_sim* sim, weft_error* error)
{
    tie_set* set = &sim->model.ties;
    TRY(routes_make(sim, error));
    for (int k = 0; k < set->count; k++)
    {
        tie* t = &set->ties[k];
        if (t->close > 0.0)
        {
            TRY(routes_follow(sim, t->added, error));
            choose(sim->routes, t);
        }
    }
    return WEFT_OK;
}

weft_status sim_route(void* user)
{
    weft_sim* sim = user;
    tie_set* set = &sim->model.ties;
    bool any = false;
    for (int k = 0; k < set->count; k++)
    {
        any = any || set->ties[k].close > 0.0;
    }
    if (!any || !sim->def.contact || count_faces(sim) == 0)
    {
        return WEFT_OK;
    }
    weft_error error = {0};
    weft_status status = sim->routes ? WEFT_OK : routes_begin(sim, &error);
    status = status == WEFT_OK ? routes_follow(sim, sim->world.time, &error) : status;
    if (status != WEFT_OK)
    {
        routes_drop(sim);
        return status;
    }
    for (int k = 0; k < set->count; k++)
    {
        set->ties[k].close > 0.0 ? route(sim->routes, sim->world.state.x, &set->ties[k]) : (void)0;
    }
    return WEFT_OK;
}

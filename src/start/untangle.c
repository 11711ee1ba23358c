// Untangling a start: rounds of pushing and smoothing until the inspector finds no crossing on floats, then a
// relaxation that keeps it so.
//
// A round pushes what crosses: out of closed obstacles (untangle_solids.c), and from the wrong side of open surfaces,
// cloth among them (untangle_sheets.c). The displacement of vertices that were never pushed becomes the mean of their
// neighbours', less a tenth: cloth follows what was pushed, and keeps its wrinkles.
//
// Bounded: rounds that do not make the crossings fewer for a while end it, and the start is refused. All decisions are
// taken in the order of vertices, by counts and positions alone. Left out: which of two ways was meant is not known; a
// vertex beyond the middle of a body leaves it on the far side, and a tear would be needed where a body pierces cloth.
#include <string.h>

#include "mesh/mesh_inside.h"
#include "start/untangle.h"

enum
{
    ROUNDS_MAX = 100,
    STALL_MAX = 20,  // rounds without fewer crossings
    GROWTH_MAX = 4,  // times as many crossings as at the start and triangles of cloth: it gets worse
    SMOOTHINGS = 10, // sweeps a round
    PATIENCE = 6,  // rounds before a vertex is flattened; the eager count them threefold where bodies lie on each other
    CROSSES = 128, // flags in the age of a vertex: it crosses in this round,
    LIES = 64      // and what it crosses is another body, nearly parallel
};

static const double strain_most = 1.0; // of a triangle's side; what would stretch farther is refused
static const double parallel = 0.9;    // cosine between triangles that lie on each other
static const double following = 0.9;   // of its neighbours' displacement, a sweep

static const char remedy[] =
    "move the bodies apart, free pins, let \"initial_contact\": \"settle\" part them while the "
    "scene runs, or leave a pair alone with contact.exclude";

// ---- arrays

static weft_status tangle_allocate(tangle* t)
{
    size_t vertices = (size_t)t->vertex_count, cloth = (size_t)t->cloth_count;
    int bodies = t->look->body_count;
    t->first_triangle = MEM_NEW(bodies + 1, int);
    t->triangle = MEM_NEW(3 * (size_t)t->triangle_count, int);
    t->body_of = MEM_NEW(t->triangle_count, int);
    t->mate = MEM_NEW(3 * (size_t)t->triangle_count, int);
    t->home = MEM_NEW(vertices, int);
    t->from = MEM_NEW(vertices, vec3);
    t->x = MEM_NEW(vertices, vec3);
    t->scratch = MEM_NEW(vertices, vec3);
    t->normal = MEM_NEW(vertices, vec3);
    t->held = MEM_NEW(vertices, unsigned char);
    t->hard = MEM_NEW(vertices, unsigned char);
    t->near_start = MEM_NEW(cloth + 2, int);
    t->near = MEM_NEW(6 * (size_t)t->cloth_triangles, int);
    t->near_slot = MEM_NEW(6 * (size_t)t->cloth_triangles, int);
    t->size = MEM_NEW(cloth, double);
    t->lift = MEM_NEW(cloth, double);
    t->trees = MEM_NEW(bodies, triangle_tree);
    t->solid = MEM_NEW(bodies, unsigned char);
    t->age = MEM_NEW(vertices, unsigned char);
    t->queue = MEM_NEW(cloth, int);
    t->inside = MEM_NEW(cloth, unsigned char);
    bool ok = t->first_triangle && t->triangle && t->body_of && t->mate && t->home && t->from && t->x && t->scratch &&
              t->normal && t->held && t->hard && t->near_start && t->near && t->near_slot && t->size && t->lift &&
              t->trees && t->solid && t->age && t->queue && t->inside;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void tangle_finish(tangle* t)
{
    for (int k = 0; k < t->look->body_count && t->trees; k++)
    {
        triangle_tree_finish(&t->trees[k]);
    }
    void* const arrays[] = {t->first_triangle, t->triangle, t->body_of, t->mate,  t->home,       t->from,  t->x,
                            t->scratch,        t->normal,   t->held,    t->hard,  t->near_start, t->near,  t->near_slot,
                            t->size,           t->lift,     t->trees,   t->solid, t->age,        t->queue, t->inside};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

// ---- bodies

// Neighbours over the sides of triangles; those over an inner edge stand there twice, which weighs them more.
static void build_neighbours(tangle* t)
{
    int* start = t->near_start;
    for (int pass = 0; pass < 2; pass++)
    {
        for (int k = 0; k < 3 * t->cloth_triangles; k++)
        {
            const int* c = t->triangle + 3 * (size_t)(k / 3);
            int i = c[k % 3];
            for (int j = 1; j < 3; j++)
            {
                int other = c[(k + j) % 3];
                if (pass == 0)
                {
                    start[i + 2]++;
                    t->size[i] += v3_length(v3_sub(t->x[i], t->x[other]));
                }
                else
                {
                    t->near_slot[start[i + 1]] = k - k % 3 + (k + 3 - j) % 3;
                    t->near[start[i + 1]++] = other;
                }
            }
        }
        for (int i = 0; i < t->cloth_count && pass == 0; i++)
        {
            t->size[i] /= int_max(start[i + 2], 1);
            start[i + 2] += start[i + 1];
        }
    }
}

static weft_status build_mates(tangle* t)
{
    side* sides = NULL;
    int count = 3 * t->triangle_count;
    memset(t->mate, -1, (size_t)count * sizeof(int));
    TRY(sides_build(t->triangle, t->triangle_count, t->vertex_count, &sides));
    for (int k = 0, n; k < count; k += n)
    {
        n = sides_on_edge(sides, k, count);
        if (n == 2)
        {
            t->mate[sides[k].slot] = sides[k + 1].slot;
            t->mate[sides[k + 1].slot] = sides[k].slot;
        }
    }
    mem_free(sides);
    return WEFT_OK;
}

static weft_status build_tree(tangle* t, int body)
{
    int first = t->first_triangle[body], count = t->first_triangle[body + 1] - first;
    int* items = MEM_NEW(int_max(count, 1), int);
    for (int k = 0; k < count && items; k++)
    {
        items[k] = first + k;
    }
    weft_status status =
        items ? triangle_tree_create(&t->trees[body], t->triangle, items, count, t->x) : WEFT_NO_MEMORY;
    mem_free(items);
    return status;
}

static weft_status find_solid(tangle* t, int body)
{
    mesh_defects defects;
    TRY(mesh_find_defects(t->look->meshes[body], &defects));
    double volume = 0.0;
    vec3 origin = t->x[t->look->first_vertex[body]];
    for (int k = t->first_triangle[body]; k < t->first_triangle[body + 1]; k++)
    {
        const int* c = t->triangle + 3 * (size_t)k;
        volume += v3_dot(v3_sub(t->x[c[0]], origin), v3_cross(v3_sub(t->x[c[1]], origin), v3_sub(t->x[c[2]], origin)));
    }
    t->solid[body] = defects_are_closed(&defects) && volume > 0.0;
    return WEFT_OK;
}

static void fill_bodies(tangle* t)
{
    const start_look* look = t->look;
    for (int b = 0; b < look->body_count; b++)
    {
        const mesh* m = look->meshes[b];
        int first = t->first_triangle[b];
        t->first_triangle[b + 1] = first + m->triangle_count;
        for (int k = 0; k < 3 * m->triangle_count; k++)
        {
            t->triangle[3 * (size_t)first + (size_t)k] = look->first_vertex[b] + m->triangle[k];
            t->body_of[first + k / 3] = b;
        }
        for (int i = look->first_vertex[b]; i < look->first_vertex[b + 1]; i++)
        {
            t->home[i] = b;
        }
    }
}

weft_status tangle_create(tangle* t, start_look* look)
{
    *t = (tangle){.look = look, .vertex_count = look->vertex_count};
    t->cloth_count = look->first_vertex[look->sim->body_count];
    for (int b = 0; b < look->body_count; b++)
    {
        t->triangle_count += look->meshes[b]->triangle_count;
        t->cloth_triangles += b < look->sim->body_count ? look->meshes[b]->triangle_count : 0;
    }
    TRY(tangle_allocate(t));
    fill_bodies(t);
    for (int i = 0; i < t->vertex_count; i++)
    {
        t->x[i] = t->from[i] = tangle_round(look->x[i]);
    }
    start_hold(look, t->held);
    build_neighbours(t);
    TRY(build_mates(t));
    for (int b = 0; b < look->body_count; b++)
    {
        TRY(build_tree(t, b));
        TRY(b < look->sim->body_count ? WEFT_OK : find_solid(t, b));
    }
    return WEFT_OK;
}

// ---- what the parts ask

double tangle_gap(const tangle* t, int vertex, int body)
{
    const weft_sim* sim = t->look->sim;
    double thickness = body < sim->body_count
                           ? 0.5 * (sim->bodies[t->home[vertex]].thickness + sim->bodies[body].thickness)
                           : sim->obstacles[body - sim->body_count].thickness;
    // Thin or none: far above rounding, far below an edge.
    return fmax(thickness, 1e-3 * t->size[vertex]);
}

int tangle_triangle(const tangle* t, const weft_crossing* c, int side)
{
    return t->first_triangle[c->body[side]] + c->triangle[side];
}

bool tangle_excluded(const tangle* t, int vertex, int body)
{
    int home = t->home[vertex];
    return t->look->sim->exclusion_count > 0 &&
           start_is_excluded(t->look, home, vertex - t->look->first_vertex[home], body);
}

vec3 tangle_face_normal(const tangle* t, int triangle)
{
    const int* c = t->triangle + 3 * (size_t)triangle;
    return v3_cross(v3_sub(t->x[c[1]], t->x[c[0]]), v3_sub(t->x[c[2]], t->x[c[0]]));
}

// ---- a round

void tangle_measure(tangle* t)
{
    memset(t->normal, 0, (size_t)t->vertex_count * sizeof(vec3));
    for (int k = 0; k < t->triangle_count; k++)
    {
        vec3 n = tangle_face_normal(t, k);
        for (int j = 0; j < 3; j++)
        {
            vec3* sum = &t->normal[t->triangle[3 * (size_t)k + (size_t)j]];
            *sum = v3_add(*sum, n);
        }
    }
    for (int i = 0; i < t->vertex_count; i++)
    {
        t->normal[i] = v3_normalize(t->normal[i]);
    }
    for (int b = 0; b < t->look->sim->body_count; b++)
    {
        triangle_tree_refit(&t->trees[b], t->x);
    }
}

// Corners of triangles that cross an open surface round after round: half of what stands out from their neighbours
// goes.
static void flatten(tangle* t)
{
    for (int k = 0; k < t->look->pair_count; k++)
    {
        const weft_crossing* c = &t->look->pairs[k];
        int a = tangle_triangle(t, c, 0), b = tangle_triangle(t, c, 1);
        vec3 first = v3_normalize(tangle_face_normal(t, a)), second = v3_normalize(tangle_face_normal(t, b));
        bool lies = c->body[0] != c->body[1] && fabs(v3_dot(first, second)) > parallel;
        t->layered |= lies;
        for (int j = 0; j < 6 && !t->solid[c->body[1]]; j++)
        {
            t->age[t->triangle[3 * (size_t)(j < 3 ? a : b) + (size_t)(j % 3)]] |= lies ? CROSSES | LIES : CROSSES;
        }
    }
    for (int i = 0; i < t->cloth_count; i++)
    {
        int age = (t->age[i] & (LIES - 1)) + (t->eager && t->age[i] & LIES ? 3 : 1);
        t->age[i] = t->age[i] & CROSSES ? (unsigned char)int_min(age, LIES - 1) : 0;
        int begin = t->near_start[i], end = t->near_start[i + 1];
        if (t->age[i] < PATIENCE || end == begin)
        {
            continue;
        }
        vec3 sum = v3(0, 0, 0);
        for (int k = begin; k < end; k++)
        {
            sum = v3_add(sum, v3_sub(t->x[t->near[k]], t->x[i]));
        }
        tangle_push(t, i, v3_scale(0.5 / (end - begin) * v3_dot(sum, t->normal[i]), t->normal[i]));
    }
}

// Displacements of what was not pushed become the means of their neighbours'.
static void smooth(tangle* t)
{
    for (int sweep = 0; sweep < SMOOTHINGS; sweep++)
    {
        for (int i = 0; i < t->cloth_count; i++)
        {
            int begin = t->near_start[i], end = t->near_start[i + 1];
            bool follows = !t->held[i] && !t->hard[i] && end > begin;
            vec3 sum = v3(0, 0, 0);
            for (int k = begin; k < end && follows; k++)
            {
                sum = v3_add(sum, v3_sub(t->x[t->near[k]], t->from[t->near[k]]));
            }
            t->scratch[i] = follows ? v3_madd(t->from[i], following / (end - begin), sum) : t->x[i];
        }
        memcpy(t->x, t->scratch, (size_t)t->cloth_count * sizeof(vec3));
    }
    for (int i = 0; i < t->cloth_count; i++)
    {
        t->x[i] = tangle_round(t->x[i]);
    }
}

// ---- the whole

static bool pins_cross(tangle* t, weft_error* error)
{
    start_look* look = t->look;
    int kept = 0;
    for (int k = 0; k < look->pair_count; k++)
    {
        bool held = true;
        for (int j = 0; j < 6; j++)
        {
            held =
                held && t->held[t->triangle[3 * (size_t)tangle_triangle(t, &look->pairs[k], j / 3) + (size_t)(j % 3)]];
        }
        look->pairs[kept] = look->pairs[k];
        kept += held;
    }
    if (kept > 0)
    {
        look->pair_count = kept;
        start_refuse(look, "triangles of which every vertex is pinned or an obstacle's cross at the start",
                     "untangling leaves pins where they are: move them apart", error);
    }
    return kept > 0;
}

// How it goes, for whoever watches the simulation.
static weft_status tell_round(const tangle* t, int rounds, weft_error* error)
{
    const weft_sim* sim = t->look->sim;
    weft_progress now = {
        .done = (double)rounds / ROUNDS_MAX, .stage = "untangle", .rounds = rounds, .crossings = t->look->pair_count};
    bool stop = sim->look && sim->look(sim->look_user, &now) != 0;
    return stop ? error_set(error, WEFT_CANCELLED, NULL, 0,
                            "untangling was stopped after %d rounds, with %d crossings left", rounds, now.crossings)
                : WEFT_OK;
}

// Rounds from the start on. NOT_CONVERGED: the crossings have not become fewer for a while.
static weft_status rounds_run(tangle* t, weft_untangling* out, weft_error* error)
{
    int fewest = INT32_MAX;
    size_t cloth = (size_t)t->cloth_count;
    memcpy(t->x, t->from, (size_t)t->vertex_count * sizeof(vec3));
    memset(t->hard, 0, cloth);
    memset(t->age, 0, cloth);
    memset(t->lift, 0, cloth * sizeof(double));
    t->stall = out->rounds = 0;
    TRY(start_look_inspect(t->look, t->x, error));
    int most = GROWTH_MAX * int_min(t->look->pair_count + t->cloth_triangles, INT32_MAX / GROWTH_MAX);
    while (t->look->pair_count > 0)
    {
        t->stall = t->look->pair_count < fewest ? 0 : t->stall + 1;
        fewest = int_min(fewest, t->look->pair_count);
        if (t->stall > STALL_MAX || out->rounds == ROUNDS_MAX || t->look->pair_count > most)
        {
            return WEFT_NOT_CONVERGED;
        }
        TRY(tell_round(t, out->rounds, error));
        out->rounds++;
        tangle_measure(t);
        flatten(t);
        TRY(tangle_part_sheets(t));
        TRY(tangle_leave_solids(t));
        smooth(t);
        TRY(start_look_inspect(t->look, t->x, error));
    }
    return WEFT_OK;
}

// Jitter of layers wants flattening, sharp folds do not: what fails one way is tried the other.
static weft_status attempt(tangle* t, weft_untangling* out, weft_error* error)
{
    if (pins_cross(t, error))
    {
        return WEFT_BAD_INPUT;
    }
    t->eager = true;
    weft_status status = rounds_run(t, out, error);
    if (status == WEFT_NOT_CONVERGED && t->layered)
    {
        t->eager = false;
        status = rounds_run(t, out, error);
    }
    if (status == WEFT_NOT_CONVERGED)
    {
        status = start_refuse(t->look, "the scene starts with crossings that could not be untangled; left are", remedy,
                              error);
    }
    return status;
}

static void find_farthest(const tangle* t, weft_untangling* out)
{
    for (int i = 0; i < t->cloth_count; i++)
    {
        double way = v3_length(v3_sub(t->x[i], t->from[i]));
        if (way > out->farthest)
        {
            out->farthest = way;
            out->body = t->home[i];
            out->vertex = i - t->look->first_vertex[t->home[i]];
        }
    }
}

// Positions of the cloths in scene order; all that is free becomes a float, moved or not: what was inspected is what
// steps start from.
static void to_scene_order(const tangle* t, vec3* x)
{
    const weft_sim* sim = t->look->sim;
    memcpy(x, sim->world.state.x, (size_t)t->cloth_count * sizeof(vec3));
    for (int i = 0; i < t->cloth_count; i++)
    {
        const body* b = &sim->bodies[t->home[i]];
        int scene_vertex = b->scene_vertex[i - t->look->first_vertex[t->home[i]]];
        x[scene_vertex] = t->held[i] ? x[scene_vertex] : t->x[i];
    }
}

static weft_status take_positions(tangle* t, weft_untangling* out, weft_error* error)
{
    weft_sim* sim = t->look->sim;
    TRY(sim_build(sim, error));
    find_farthest(t, out);
    to_scene_order(t, t->scratch);
    out->max_strain = tangle_strain(t);
    if (out->max_strain > strain_most)
    {
        TRY(start_look_inspect(t->look, t->from, error));
        return start_refuse(t->look, "the scene starts with crossings, and cloth without them would be torn", remedy,
                            error);
    }
    memcpy(sim->world.state.x, t->scratch, (size_t)t->cloth_count * sizeof(vec3));
    return WEFT_OK;
}

weft_status untangle(start_look* look, weft_untangling* out, weft_error* error)
{
    tangle t;
    weft_status status = tangle_create(&t, look);
    status = status == WEFT_OK ? attempt(&t, out, error) : status;
    status = status == WEFT_OK ? tangle_relax(&t, error) : status;
    status = status == WEFT_OK ? take_positions(&t, out, error) : status;
    tangle_finish(&t);
    return status;
}

// Where cloth tears. The membrane force at a vertex is the virial of the elements around it,
//
//     N = 1/A sum over elements 1/n sum over their n vertices -f (x - x_0)^T,   A = a third of the triangles around it
//
// which for springs is sum f L d d^T / (2 A), for a triangle its own stress: N/m, whatever the mesh. Where the largest
// principal value exceeds the strength, the plane across its direction parts the faces around the vertex; what hangs
// together on one side shares a vertex, and all but one of these are new. Of a step the strongest come first,
// what is much weaker waits for the next one, and a face is parted from others once. Pinned and tied vertices stay
// whole: what is next to them tears.
//
// Both sides start a little apart (tear_gap), so that contact knows which side is which; where there is no room for
// that (tear_room.c) the vertex waits.
#include "sim/tear.h"

#include <stdlib.h>
#include <string.h>

#include "material/spring.h"
#include "math/eigen3.h"
#include "sim/edits.h"
#include "sim/tear_mend.h"

static const double tear_gap = 1e-5; // m
// Of the strongest force: what is weaker waits for the next step, as a cut takes the load off what is around it.
static const double together = 0.97;

// ---- forces

static bool is_membrane(const element_group* group)
{
    return !group->kind->is_load && group->kind->arity <= 3;
}

static bool is_bend(const element_group* group, int e)
{
    return group->kind == &kind_spring && (int)group->rest[SPRING_STRIDE * (size_t)e + SPRING_ROLE] == SPRING_BEND;
}

static void add_element(const weft_sim* sim, const element_group* group, int e, const vec3* force, double (*out)[6])
{
    int arity = group->kind->arity;
    const int* v = group->vertices + (size_t)arity * (size_t)e;
    const vec3* x = sim->world.state.x;
    double W[6] = {0};
    for (int a = 1; a < arity; a++)
    {
        vec3 d = v3_sub(x[v[a]], x[v[0]]), f = v3_scale(-1.0 / arity, force[a]);
        const double part[6] = {f.x * d.x, f.y * d.y, f.z * d.z, f.x * d.y, f.x * d.z, f.y * d.z};
        for (int k = 0; k < 6; k++)
        {
            W[k] += part[k];
        }
    }
    for (int a = 0; a < arity; a++)
    {
        for (int k = 0; k < 6; k++)
        {
            out[v[a]][k] += W[k];
        }
    }
}

static void add_group(const weft_sim* sim, const element_group* group, const vec3* still, double (*out)[6])
{
    element_motion motion = {.x = sim->world.state.x, .v = still, .h = 1.0};
    element_context context = {group, &motion};
    const element_kernels* kernels = element_kernels_for(group->kind, sim->cpu);
    double force[ARITY_MAX][3][BATCH];
    for (int e = 0; e < group->count && kernels->force; e += BATCH)
    {
        int elements[BATCH];
        for (int k = 0; k < BATCH; k++)
        {
            elements[k] = int_min(e + k, group->count - 1);
        }
        kernels->force(&context, elements, force);
        for (int k = 0; k < BATCH && e + k < group->count; k++)
        {
            vec3 f[3];
            for (int a = 0; a < group->kind->arity; a++)
            {
                f[a] = v3(force[a][0][k], force[a][1][k], force[a][2][k]);
            }
            is_bend(group, e + k) ? (void)0 : add_element(sim, group, e + k, f, out);
        }
    }
}

// Sums over the elements, and the area of each vertex.
static void add_forces(const weft_sim* sim, const vec3* still, double (*force)[6], double* area)
{
    const model* m = &sim->model;
    for (int g = 0; g < m->groups.count; g++)
    {
        is_membrane(&m->groups.list[g]) ? add_group(sim, &m->groups.list[g], still, force) : (void)0;
    }
    for (int c = 0; c < 3 * m->triangle_count; c++)
    {
        area[m->triangle[c]] += triangle_rest_area(m->triangle_rest + 3 * (c / 3)) / 3.0;
    }
}

// The largest principal value, N/m, and its direction.
static double strongest(const double* W, double area, vec3* direction)
{
    double s = 1.0 / area, A[3][3], V[3][3];
    const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int k = 0; k < 9; k++)
    {
        A[k / 3][k % 3] = s * W[place[k / 3][k % 3]];
    }
    eigen3(A, V);
    int best = A[1][1] > A[0][0] ? 1 : 0;
    best = A[2][2] > A[best][best] ? 2 : best;
    *direction = v3(V[0][best], V[1][best], V[2][best]);
    return A[best][best];
}

// ---- what splits

typedef struct weak
{
    int vertex; // of the user
    double force;
    vec3 direction;
} weak;

typedef struct ripper
{
    weft_sim* sim;
    body* b;
    double (*force)[6]; // [vertices of the scene] lent, as the next two
    double* area;
    uint8_t* held; // pinned or tied
    weak* list;    // [count]
    int count, capacity;
    double strength;   // N/m, that of the cloth or what counts as more than that
    int *start, *face; // faces around each vertex of the user
    uint8_t* touched;  // [faces] parted in this step
    int* side;         // [faces] scratch: what a face around the vertex hangs together with
    tear_list tears;
} ripper;

static int compare_weak(const void* a, const void* b)
{
    const weak *p = a, *q = b;
    return p->force != q->force ? (p->force < q->force) - (p->force > q->force)
                                : (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// No principal value is larger.
static double size_of(const double* W)
{
    double sum = 0.0;
    for (int k = 0; k < 6; k++)
    {
        sum += (k < 3 ? 1.0 : 2.0) * W[k] * W[k];
    }
    return sqrt(sum);
}

static weft_status find_weak(ripper* r)
{
    const body* b = r->b;
    r->count = 0;
    for (int u = 0; u < b->rest.vertex_count; u++)
    {
        int i = b->scene_vertex[u];
        vec3 direction;
        if (r->held[i] || !(r->area[i] > 0.0) || !(size_of(r->force[i]) > r->strength * r->area[i]))
        {
            continue;
        }
        double force = strongest(r->force[i], r->area[i], &direction);
        if (!(force > r->strength))
        {
            continue;
        }
        if (!mem_grow((void**)&r->list, &r->capacity, r->count + 1, sizeof(weak)))
        {
            return WEFT_NO_MEMORY;
        }
        r->list[r->count++] = (weak){u, force, direction};
    }
    r->count > 0 ? qsort(r->list, (size_t)r->count, sizeof(weak), compare_weak) : (void)0;
    return WEFT_OK;
}

static weft_status gather_faces(ripper* r)
{
    const mesh* m = &r->b->rest;
    int corners = m->face_start[m->face_count];
    r->start = MEM_NEW(m->vertex_count + 1, int);
    r->face = MEM_NEW(corners, int);
    r->touched = MEM_NEW(m->face_count, uint8_t);
    r->side = MEM_NEW(m->face_count, int);
    if (!r->start || !r->face || !r->touched || !r->side)
    {
        return WEFT_NO_MEMORY;
    }
    for (int c = 0; c < corners; c++)
    {
        r->start[m->face_vertex[c] + 1]++;
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        r->start[i + 1] += r->start[i];
    }
    for (int f = 0; f < m->face_count; f++)
    {
        for (int c = m->face_start[f]; c < m->face_start[f + 1]; c++)
        {
            r->face[r->start[m->face_vertex[c]]++] = f;
        }
    }
    for (int i = m->vertex_count; i > 0; i--)
    {
        r->start[i] = r->start[i - 1];
    }
    r->start[0] = 0;
    return WEFT_OK;
}

static vec3 middle_of(const ripper* r, int face)
{
    const mesh* m = &r->b->rest;
    vec3 sum = v3(0, 0, 0);
    for (int c = m->face_start[face]; c < m->face_start[face + 1]; c++)
    {
        sum = v3_add(sum, r->sim->world.state.x[r->b->scene_vertex[m->face_vertex[c]]]);
    }
    return v3_scale(1.0 / (m->face_start[face + 1] - m->face_start[face]), sum);
}

// Whether two faces have an edge at the vertex in common.
static bool are_joined(const mesh* m, int f, int g, int vertex)
{
    for (int c = m->face_start[f]; c < m->face_start[f + 1]; c++)
    {
        for (int d = m->face_start[g]; d < m->face_start[g + 1]; d++)
        {
            if (m->face_vertex[c] == m->face_vertex[d] && m->face_vertex[c] != vertex)
            {
                return true;
            }
        }
    }
    return false;
}

// side[f] of the faces around the vertex: 0, 1, ... for what hangs together on one side of the plane. Returns how many
// there are; 1 where one side has none.
static int part_faces(ripper* r, const weak* w)
{
    const int *faces = r->face + r->start[w->vertex], count = r->start[w->vertex + 1] - r->start[w->vertex];
    vec3 x = r->sim->world.state.x[r->b->scene_vertex[w->vertex]];
    int parts = 0, above = 0;
    for (int k = 0; k < count; k++)
    {
        bool up = v3_dot(v3_sub(middle_of(r, faces[k]), x), w->direction) > 0.0;
        above += up;
        r->side[faces[k]] = up ? -1 : -2; // not numbered yet
    }
    if (above == 0 || above == count)
    {
        return 1;
    }
    for (int k = 0; k < count; k++)
    {
        if (r->side[faces[k]] >= 0)
        {
            continue;
        }
        int half = r->side[faces[k]];
        r->side[faces[k]] = parts;
        for (bool grew = true; grew;)
        {
            grew = false;
            for (int f = 0; f < count * count; f++)
            {
                int from = faces[f / count], to = faces[f % count];
                if (r->side[from] == parts && r->side[to] == half && are_joined(&r->b->rest, from, to, w->vertex))
                {
                    r->side[to] = parts;
                    grew = true;
                }
            }
        }
        parts++;
    }
    return parts;
}

static bool is_fresh(const ripper* r, int vertex)
{
    bool fresh = true;
    for (int k = r->start[vertex]; k < r->start[vertex + 1]; k++)
    {
        fresh = fresh && !r->touched[r->face[k]];
    }
    return fresh;
}

static weft_status split(ripper* r, const weak* w)
{
    int parts = is_fresh(r, w->vertex) ? part_faces(r, w) : 1;
    parts = parts > 1 && tear_has_room(r->sim, r->b, w->vertex, r->side, parts, tear_gap) ? parts : 1;
    for (int part = 1; part < parts; part++)
    {
        TRY(tears_add(&r->tears, w->vertex));
        for (int k = r->start[w->vertex]; k < r->start[w->vertex + 1]; k++)
        {
            TRY(r->side[r->face[k]] == part ? tears_take(&r->tears, r->face[k]) : WEFT_OK);
        }
    }
    for (int k = r->start[w->vertex]; k < r->start[w->vertex + 1] && parts > 1; k++)
    {
        r->touched[r->face[k]] = 1;
    }
    return WEFT_OK;
}

static weft_status choose(ripper* r)
{
    TRY(find_weak(r));
    TRY(r->count > 0 ? gather_faces(r) : WEFT_OK);
    double least = 0.0;
    for (int k = 0; k < r->count && r->list[k].force >= least; k++)
    {
        int before = r->tears.count;
        TRY(split(r, &r->list[k]));
        least = r->tears.count > before && before == 0 ? together * r->list[k].force : least;
    }
    return WEFT_OK;
}

// ---- the next generation

// Both sides of a cut go a little towards their faces.
void tear_open(weft_sim* sim, body* b, int vertex)
{
    const mesh* m = &b->rest;
    vec3 sum = v3(0, 0, 0), *x = sim->world.state.x;
    int i = b->scene_vertex[vertex];
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        for (int k = 0; k < 3 && (v[0] == vertex || v[1] == vertex || v[2] == vertex); k++)
        {
            sum = v3_add(sum, v3_sub(x[b->scene_vertex[v[k]]], x[i]));
        }
    }
    double length = v3_length(sum);
    x[i] = length > 0.0 ? v3_madd(x[i], tear_gap / length, sum) : x[i];
}

// All of the model anew.
static weft_status next_generation(weft_sim* sim, body* b, const tear_list* tears, weft_error* error)
{
    body before;
    TRY(edit_error(body_tear(b, tears, &before), error));
    weft_status status = generation_next(sim, false, error);
    if (status != WEFT_OK)
    {
        // The order of vertices is that of the generation which is there.
        before.first = b->first;
        before.scene_vertex = b->scene_vertex;
        before.user_vertex = b->user_vertex;
        body_tear_undo(b, &before);
        return status;
    }
    body_tear_keep(b, &before);
    return WEFT_OK;
}

static weft_status tear_apart(weft_sim* sim, body* b, const tear_list* tears, weft_error* error)
{
    bool mended;
    TRY(edits_begin(sim, error));
    weft_status status = sim_mend(sim, b, tears, &mended, error);
    if (status != WEFT_OK)
    {
        // What is half mended may still be built; if not, the next step tries again.
        return sim->mends.stale ? generation_next(sim, false, error) : status;
    }
    TRY(mended ? WEFT_OK : next_generation(sim, b, tears, error));
    int last = b->rest.vertex_count - tears->count;
    for (int k = 0; k < tears->count; k++)
    {
        tear_open(sim, b, last + k);
        k == 0 || tears->from[k] != tears->from[k - 1] ? tear_open(sim, b, tears->from[k]) : (void)0;
    }
    sim->edits.begun = true;
    return WEFT_OK;
}

static void mark_held(const model* m, uint8_t* held)
{
    for (int k = 0; k < m->pins.count; k++)
    {
        held[m->pins.pins[k].vertex] = 1;
    }
    for (int k = 0; k < m->ties.member_count; k++)
    {
        held[m->ties.members[k]] = 1;
    }
}

void tear_scratch_finish(tear_scratch* s)
{
    mem_free(s->still);
    mem_free(s->force);
    mem_free(s->area);
    mem_free(s->held);
    *s = (tear_scratch){0};
}

// All zero, for the vertices that there are now.
static weft_status scratch_take(weft_sim* sim, ripper* r)
{
    tear_scratch* s = &sim->tearing;
    int n = sim->model.vertex_count;
    if (s->capacity < n)
    {
        tear_scratch_finish(s);
        s->capacity = n + n / 4; // cloth that has torn will tear again
        s->still = MEM_NEW(s->capacity, vec3);
        s->force = mem_alloc((size_t)s->capacity, sizeof(double[6]));
        s->area = MEM_NEW(s->capacity, double);
        s->held = MEM_NEW(s->capacity, uint8_t);
    }
    if (!s->still || !s->force || !s->area || !s->held)
    {
        tear_scratch_finish(s);
        return WEFT_NO_MEMORY;
    }
    memset(s->force, 0, (size_t)n * sizeof(double[6]));
    memset(s->area, 0, (size_t)n * sizeof(double));
    memset(s->held, 0, (size_t)n);
    r->force = s->force;
    r->area = s->area;
    r->held = s->held;
    return WEFT_OK;
}

static void ripper_finish(ripper* r)
{
    mem_free(r->list);
    mem_free(r->start);
    mem_free(r->face);
    mem_free(r->touched);
    mem_free(r->side);
    tears_finish(&r->tears);
}

// Forces on the body's vertices; finish in any case.
static weft_status ripper_begin(ripper* r, weft_sim* sim, body* b, double strength)
{
    *r = (ripper){.sim = sim, .b = b, .strength = strength};
    TRY(scratch_take(sim, r));
    add_forces(sim, sim->tearing.still, r->force, r->area);
    mark_held(&sim->model, r->held);
    return WEFT_OK;
}

weft_status tear_is_due(weft_sim* sim, body* b, bool* due, weft_error* error)
{
    const double margin = 1.1;
    ripper r;
    weft_status status = ripper_begin(&r, sim, b, margin * b->tear);
    status = status == WEFT_OK ? find_weak(&r) : status;
    status = status == WEFT_OK && r.count > 0 ? gather_faces(&r) : status;
    *due = false;
    for (int k = 0; k < r.count && !*due && status == WEFT_OK; k++)
    {
        *due = part_faces(&r, &r.list[k]) > 1;
    }
    ripper_finish(&r);
    return edit_error(status, error);
}

// One body after the other: a generation numbers vertices anew.
static weft_status tear_one(weft_sim* sim, body* b, weft_step_stats* stats, int* torn, weft_error* error)
{
    ripper r;
    weft_status status = ripper_begin(&r, sim, b, b->tear);
    status = edit_error(status == WEFT_OK ? choose(&r) : status, error);
    if (status == WEFT_OK && r.tears.count > 0)
    {
        status = tear_apart(sim, b, &r.tears, error);
        *torn += status == WEFT_OK ? r.tears.count : 0;
        // Parts that follow tell anew.
        bool whole = status == WEFT_OK && sim->part_from == STEP_TICKS;
        status = whole ? tear_tell(sim, b, &r.tears, stats, error) : status;
    }
    ripper_finish(&r);
    return status;
}

weft_status sim_tear(weft_sim* sim, weft_step_stats* stats, int* torn, weft_error* error)
{
    *torn = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        body* b = &sim->bodies[k];
        TRY(b->tear > 0.0 && !b->removed ? tear_one(sim, b, stats, torn, error) : WEFT_OK);
    }
    return WEFT_OK;
}

// Relaxation of an untangled start: sides of triangles go back towards their lengths at rest (Jacobi steps of position
// based dynamics). What is near slides: the part of a step that would bring it too near is taken out along the normal.
// Continuous collision detection then takes back whatever would cross or come too near all the same.
// Positions are floats before and after each step, so what is proved holds for the cache.
#include <string.h>

#include "start/untangle.h"

enum
{
    STEPS_MAX = 300,
    LOOK_STEPS = 10,   // between two looks at the progress
    SLIDINGS = 6,      // sweeps over what is near
    BLOCKINGS_MAX = 30 // of one step, before it is given up
};

static const double strain_enough = 0.02;  // of the worst side
static const double strain_high = 0.1;     // that more steps are worth
static const double progress = 0.95;       // it goes on while the worst strain falls below this part of the last look's
static const double progress_least = 0.98; // likewise, where strain is high
static const double nearness = 0.3;        // of the least that a vertex may go in a step; nothing comes nearer

typedef struct relaxation
{
    tangle* t;
    weft_collider* collider;
    vec3* next;     // [vertex_count]
    int* shares;    // [cloth_count] sides that pull a vertex
    double reach;   // m, the farthest that a vertex may go in a step
    double nearest; // m
    double worst;   // strain of a side, longer or shorter
} relaxation;

static double rest_length(const tangle* t, int triangle, int corner)
{
    int b = t->body_of[triangle];
    const vec2* rest = t->look->sim->bodies[b].rest_uv + 3 * (size_t)(triangle - t->first_triangle[b]);
    vec2 p = rest[(corner + 1) % 3], q = rest[(corner + 2) % 3];
    return hypot(p.x - q.x, p.y - q.y);
}

// How far a vertex may go in a step: some of its edges, and not beyond what is looked for.
static double reach_of(const tangle* t, int vertex)
{
    double thickness = t->look->sim->bodies[t->home[vertex]].thickness, part = 0.1 * t->size[vertex];
    return thickness > 0.0 ? fmin(thickness, part) : part;
}

// Ways of the step, to next.
static void pull(relaxation* r)
{
    tangle* t = r->t;
    r->worst = 0.0;
    memset(r->next, 0, (size_t)t->vertex_count * sizeof(vec3));
    memset(r->shares, 0, (size_t)t->cloth_count * sizeof(int));
    for (int k = 0; k < 3 * t->cloth_triangles; k++)
    {
        const int* c = t->triangle + 3 * (size_t)(k / 3);
        int a = c[(k % 3 + 1) % 3], b = c[(k % 3 + 2) % 3];
        vec3 d = v3_sub(t->x[b], t->x[a]);
        double length = v3_length(d), rest = rest_length(t, k / 3, k % 3);
        double share = t->held[a] || t->held[b] ? 1.0 : 0.5;
        vec3 way = length > 0.0 ? v3_scale(share * (1.0 - rest / length), d) : v3(0, 0, 0);
        r->worst = fmax(r->worst, rest > 0.0 ? fabs(length / rest - 1.0) : 0.0);
        r->next[a] = v3_add(r->next[a], way);
        r->next[b] = v3_sub(r->next[b], way);
        r->shares[a]++;
        r->shares[b]++;
    }
    for (int i = 0; i < t->vertex_count; i++)
    {
        bool moves = i < t->cloth_count && !t->held[i] && r->shares[i] > 0;
        vec3 way = moves ? v3_scale(1.0 / r->shares[i], r->next[i]) : v3(0, 0, 0);
        double length = v3_length(way), most = moves ? reach_of(t, i) : 0.0;
        r->next[i] = length > most ? v3_scale(most / length, way) : way;
    }
}

// Takes out of the ways in next what would bring pairs too near.
static weft_status slide(relaxation* r, weft_error* error)
{
    tangle* t = r->t;
    const weft_near* near;
    int count = 0;
    TRY(weft_collider_update(r->collider, t->x, t->x, r->reach, error));
    TRY(weft_collider_near(r->collider, r->nearest + 2.0 * r->reach, &near, &count, error));
    for (int k = 0; k < SLIDINGS * count; k++)
    {
        const weft_near* n = &near[k % count];
        double after = n->distance - 2.0 * r->nearest, sum = 0.0;
        for (int j = 0; j < 4; j++)
        {
            after += n->weight[j] * v3_dot(n->normal, r->next[n->vertex[j]]);
            sum += t->held[n->vertex[j]] ? 0.0 : n->weight[j] * n->weight[j];
        }
        for (int j = 0; j < 4 && after < 0.0 && sum > 1e-3; j++)
        {
            vec3* way = &r->next[n->vertex[j]];
            *way = t->held[n->vertex[j]] ? *way : v3_madd(*way, -after * n->weight[j] / sum, n->normal);
        }
    }
    for (int i = 0; i < t->vertex_count; i++)
    {
        r->next[i] = t->held[i] ? t->x[i] : tangle_round(v3_add(t->x[i], r->next[i]));
    }
    return WEFT_OK;
}

static bool moved(const relaxation* r, int vertex)
{
    return memcmp(&r->next[vertex], &r->t->x[vertex], sizeof(vec3)) != 0;
}

static int take_back(relaxation* r, const int vertex[4])
{
    int count = 0;
    for (int k = 0; k < 4; k++)
    {
        count += moved(r, vertex[k]);
        r->next[vertex[k]] = r->t->x[vertex[k]];
    }
    return count;
}

// Takes back vertices that would collide or come too near; *blocked counts them.
static weft_status block(relaxation* r, int* blocked, weft_error* error)
{
    const weft_impact* impacts;
    const weft_near* near;
    int count = 0;
    *blocked = 0;
    TRY(weft_collider_update(r->collider, r->t->x, r->next, r->nearest, error));
    TRY(weft_collider_impacts(r->collider, &impacts, &count, error));
    for (int k = 0; k < count; k++)
    {
        *blocked += take_back(r, impacts[k].vertex);
    }
    TRY(weft_collider_update(r->collider, r->next, r->next, r->nearest, error));
    TRY(weft_collider_near(r->collider, r->nearest, &near, &count, error));
    for (int k = 0; k < count; k++)
    {
        *blocked += take_back(r, near[k].vertex);
    }
    return WEFT_OK;
}

static weft_status relax_step(relaxation* r, bool* goes_on, weft_error* error)
{
    pull(r);
    *goes_on = r->worst > strain_enough;
    int blocked = *goes_on;
    TRY(slide(r, error));
    for (int k = 0; k < BLOCKINGS_MAX && blocked > 0; k++)
    {
        TRY(block(r, &blocked, error));
    }
    *goes_on = *goes_on && blocked == 0;
    if (*goes_on)
    {
        memcpy(r->t->x, r->next, (size_t)r->t->vertex_count * sizeof(vec3));
    }
    return WEFT_OK;
}

static weft_status relax(relaxation* r, weft_error* error)
{
    tangle* t = r->t;
    r->next = MEM_NEW(t->vertex_count, vec3);
    r->shares = MEM_NEW(t->cloth_count, int);
    r->nearest = INFINITY;
    for (int i = 0; i < t->cloth_count; i++)
    {
        double reach = reach_of(t, i);
        r->reach = fmax(r->reach, reach);
        r->nearest = reach > 0.0 ? fmin(r->nearest, nearness * reach) : r->nearest; // unused vertices have no edges
    }
    TRY(r->next && r->shares ? WEFT_OK : WEFT_NO_MEMORY);
    TRY(weft_sim_create_collider(t->look->sim, &r->collider, error));
    bool goes_on = true;
    double before = INFINITY;
    for (int k = 0; k < STEPS_MAX && goes_on; k++)
    {
        TRY(relax_step(r, &goes_on, error));
        if (k % LOOK_STEPS == LOOK_STEPS - 1)
        {
            goes_on = goes_on && r->worst < (r->worst > strain_high ? progress_least : progress) * before;
            before = r->worst;
        }
    }
    return WEFT_OK;
}

weft_status tangle_relax(tangle* t, weft_error* error)
{
    relaxation r = {.t = t};
    memcpy(t->scratch, t->x, (size_t)t->vertex_count * sizeof(vec3));
    weft_status status = relax(&r, error);
    status = status == WEFT_OK ? start_look_inspect(t->look, t->x, error) : status;
    // The inspector has the last word. Coordinates that collision detection does not take leave the start unrelaxed.
    if ((status == WEFT_OK && t->look->pair_count > 0) || status == WEFT_BAD_INPUT)
    {
        status = WEFT_OK;
        memcpy(t->x, t->scratch, (size_t)t->vertex_count * sizeof(vec3));
    }
    weft_collider_destroy(r.collider);
    mem_free(r.next);
    mem_free(r.shares);
    return status;
}

double tangle_strain(const tangle* t)
{
    double most = 0.0;
    for (int k = 0; k < 3 * t->cloth_triangles; k++)
    {
        const int* c = t->triangle + 3 * (size_t)(k / 3);
        double length = v3_length(v3_sub(t->x[c[(k % 3 + 1) % 3]], t->x[c[(k % 3 + 2) % 3]]));
        double rest = rest_length(t, k / 3, k % 3);
        most = fmax(most, rest > 0.0 ? length / rest - 1.0 : 0.0);
    }
    return most;
}

// Starts that touch. Where two features touch exactly, every way is a way through: continuous detection, which asks for
// what meets between start and end, has no side from which they came. So before the first step what touches is parted,
// by a few roundings to float: a micrometre in a scene of a metre.
//
// Each pair that is closer becomes a row: along its normal, the weighted sum of its positions must be the gap. The side
// is that on which the pair is; at distance zero the one to which the meshes around the two features lean, and where
// they lean to neither, because all lies in one plane, the pair is left alone: crossings in a plane are the inspector's
// business, which refuses them. Sweeps with impulses that only push find the smallest movement that meets all rows;
// pins and obstacles stay where they are. Moved vertices may come near others, so a few searches follow each other.
// What would end with a crossing is not done; where a start settles it is, and is parted with the others.
#include "start/start.h"

#include <string.h>

#include "collide/broad.h"

enum
{
    SEARCHES = 8,
    SWEEPS = 100
};

static const double gap_ulps = 16.0;    // roundings to float: twice what responses keep
static const double close_share = 0.5;  // of the gap: closer is parted
static const double meets_share = 0.01; // of the gap, that may be missing in the end
static const double level = 1e-6;       // of the lengths around: less is no lean

typedef struct touch_row
{
    int vertex[4];
    double weight[4];
    vec3 normal;
    double gap, inv_mass, pushed;
} touch_row;

typedef struct touching
{
    start_look* look;
    weft_collider* collider;
    int cloth_count;
    vec3* x;             // [vertex_count] present positions
    vec3* rounded;       // [vertex_count]
    vec3* lean;          // [vertex_count] sum of the edges that leave a vertex
    double* around;      // [vertex_count] m, sum of their lengths
    unsigned char* held; // [vertex_count]
    touch_row* rows;     // [row_count]
    int row_count, row_capacity;
} touching;

static void touching_finish(touching* t)
{
    weft_collider_destroy(t->collider);
    mem_free(t->x);
    mem_free(t->rounded);
    mem_free(t->lean);
    mem_free(t->around);
    mem_free(t->held);
    mem_free(t->rows);
}

static weft_status touching_create(touching* t, start_look* look, weft_error* error)
{
    size_t n = (size_t)look->vertex_count;
    *t = (touching){.look = look, .cloth_count = look->first_vertex[look->sim->body_count]};
    t->x = MEM_NEW(n, vec3);
    t->rounded = MEM_NEW(n, vec3);
    t->lean = MEM_NEW(n, vec3);
    t->around = MEM_NEW(n, double);
    t->held = MEM_NEW(n, unsigned char);
    if (!t->x || !t->rounded || !t->lean || !t->around || !t->held)
    {
        return WEFT_NO_MEMORY;
    }
    start_hold(look, t->held);
    TRY(weft_sim_collider_positions(look->sim, t->x, error));
    TRY(weft_sim_create_collider(look->sim, &t->collider, error));
    const int* edge = t->collider->corner[FEATURE_EDGE];
    for (int k = 0; k < 2 * t->collider->tree[FEATURE_EDGE].count; k++)
    {
        int from = edge[k], to = edge[k ^ 1];
        vec3 d = v3_sub(t->x[to], t->x[from]);
        t->lean[from] = v3_add(t->lean[from], d);
        t->around[from] += v3_length(d);
    }
    return WEFT_OK;
}

// ---- rows

static double rounding_of(const touching* t, const int vertex[4])
{
    double largest = 0.0;
    for (int k = 0; k < 4; k++)
    {
        vec3 x = t->x[vertex[k]];
        largest = fmax(largest, fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))));
    }
    return ldexp(largest, -24);
}

static vec3 weighted_sum(const double weight[4], const int vertex[4], const vec3* x)
{
    vec3 sum = v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
    {
        sum = v3_madd(sum, weight[k], x[vertex[k]]);
    }
    return sum;
}

static int body_of(const start_look* look, int vertex)
{
    int body = 0;
    while (vertex >= look->first_vertex[body + 1])
    {
        body++;
    }
    return body;
}

// Vertices of one mesh that lie upon each other at rest are joined there, as at a seam that nobody has welded.
static bool is_joined(const touching* t, const weft_near* near, double gap)
{
    const start_look* look = t->look;
    int body = body_of(look, near->vertex[0]);
    if (body != body_of(look, near->vertex[near->kind == WEFT_VERTEX_FACE ? 1 : 2]))
    {
        return false;
    }
    vec3 apart = v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
    {
        int own = near->vertex[k] - look->first_vertex[body];
        apart = v3_madd(apart, near->weight[k], look->meshes[body]->position[own]);
    }
    return v3_length(apart) < gap;
}

// Across the face or both edges; zero where that is no direction. What is as good as zero apart has no other.
static vec3 across(const touching* t, const weft_near* near)
{
    const int* v = near->vertex;
    bool face = near->kind == WEFT_VERTEX_FACE;
    vec3 a = face ? v3_sub(t->x[v[2]], t->x[v[1]]) : v3_sub(t->x[v[1]], t->x[v[0]]);
    vec3 b = face ? v3_sub(t->x[v[3]], t->x[v[1]]) : v3_sub(t->x[v[3]], t->x[v[2]]);
    vec3 n = v3_cross(a, b);
    double size = v3_length(n);
    return size > level * v3_length(a) * v3_length(b) ? v3_scale(1.0 / size, n) : v3(0, 0, 0);
}

// Where two edges meet at an end of one, a vertex and a face say it, but for lines, which have none.
static bool may_count(const touching* t, const weft_near* near)
{
    const start_look* look = t->look;
    const double* w = near->weight;
    bool inside = w[0] != 0.0 && w[1] != 0.0 && w[2] != 0.0 && w[3] != 0.0;
    return near->kind == WEFT_VERTEX_FACE || inside ||
           (look->meshes[body_of(look, near->vertex[0])]->form == MESH_LINES &&
            look->meshes[body_of(look, near->vertex[2])]->form == MESH_LINES);
}

// Which way the first feature's surroundings lie beside the second's, along a direction: 1, -1, or 0 in one plane.
static double side_of(const touching* t, const weft_near* near, vec3 normal)
{
    double lean = 0.0, around = 0.0;
    for (int k = 0; k < 4; k++)
    {
        int i = near->vertex[k];
        lean += near->weight[k] * v3_dot(normal, t->lean[i]);
        around += fabs(near->weight[k]) * t->around[i];
    }
    return fabs(lean) <= level * around ? 0.0 : lean > 0.0 ? 1.0 : -1.0;
}

static weft_status add_row(touching* t, const weft_near* near)
{
    double ulp = rounding_of(t, near->vertex), gap = gap_ulps * ulp;
    bool apart = near->distance > 1e-3 * ulp;
    vec3 normal = apart ? near->normal : across(t, near);
    double side = apart ? 1.0 : side_of(t, near, normal);
    if (near->distance >= close_share * gap || side == 0.0 || !may_count(t, near) || is_joined(t, near, gap))
    {
        return WEFT_OK;
    }
    touch_row row = {.normal = v3_scale(side, normal), .gap = gap};
    memcpy(row.vertex, near->vertex, sizeof(row.vertex));
    memcpy(row.weight, near->weight, sizeof(row.weight));
    for (int k = 0; k < 4; k++)
    {
        row.inv_mass += t->held[row.vertex[k]] ? 0.0 : row.weight[k] * row.weight[k];
    }
    if (row.inv_mass < 1e-6) // nothing of it can move
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&t->rows, &t->row_capacity, t->row_count + 1, sizeof(touch_row)))
    {
        return WEFT_NO_MEMORY;
    }
    t->rows[t->row_count++] = row;
    return WEFT_OK;
}

static weft_status find_rows(touching* t, weft_error* error)
{
    double largest = 0.0;
    for (int i = 0; i < t->look->vertex_count; i++)
    {
        largest = fmax(largest, fmax(fabs(t->x[i].x), fmax(fabs(t->x[i].y), fabs(t->x[i].z))));
    }
    const weft_near* near;
    int count;
    double reach = gap_ulps * ldexp(largest, -24);
    t->row_count = 0;
    TRY(weft_collider_update(t->collider, t->x, t->x, reach, error));
    TRY(weft_collider_near(t->collider, reach, &near, &count, error));
    for (int k = 0; k < count; k++)
    {
        TRY(add_row(t, &near[k]));
    }
    return WEFT_OK;
}

// ---- parting

static double row_meet(touching* t, touch_row* row)
{
    double missing = row->gap - v3_dot(row->normal, weighted_sum(row->weight, row->vertex, t->x));
    double push = fmax(missing / row->inv_mass, -row->pushed);
    row->pushed += push;
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        t->x[i] = t->held[i] ? t->x[i] : v3_madd(t->x[i], push * row->weight[k], row->normal);
    }
    return missing / row->gap;
}

static void part_rows(touching* t)
{
    double worst = 1.0;
    for (int turn = 0; turn < SWEEPS && worst > meets_share; turn++)
    {
        worst = 0.0;
        for (int k = 0; k < t->row_count; k++)
        {
            worst = fmax(worst, row_meet(t, &t->rows[k]));
        }
    }
}

// Positions come from the meshes as they are given: what is left of them is not rounded.
static weft_status take_positions(touching* t, bool crosses, weft_error* error)
{
    weft_sim* sim = t->look->sim;
    for (int i = 0; i < t->look->vertex_count; i++)
    {
        t->rounded[i] = v3_round(t->x[i]);
    }
    TRY(start_look_inspect(t->look, t->rounded, error));
    TRY(sim_build(sim, error));
    for (int b = 0; b < sim->body_count && (crosses || t->look->pair_count == 0); b++)
    {
        for (int i = 0; i < sim->bodies[b].rest.vertex_count; i++)
        {
            int k = t->look->first_vertex[b] + i;
            sim->world.state.x[sim->bodies[b].scene_vertex[i]] = t->x[k];
        }
    }
    return WEFT_OK;
}

weft_status start_part(start_look* look, bool crosses, weft_error* error)
{
    touching t;
    weft_status status = touching_create(&t, look, error);
    bool any = false;
    for (int search = 0; search < SEARCHES && status == WEFT_OK; search++)
    {
        status = find_rows(&t, error);
        if (status != WEFT_OK || t.row_count == 0)
        {
            break;
        }
        any = true;
        part_rows(&t);
    }
    status = status == WEFT_OK && any ? take_positions(&t, crosses, error) : status;
    touching_finish(&t);
    return status;
}

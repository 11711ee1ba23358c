// From a sewing pattern to triangles: edges as points at equal distances along their curves, as many on both sides of a
// stitch; panels as triangles (panel.c), put in place.
#include "mesh/sewing_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_inside.h"
#include "mesh/panel.h"

enum
{
    CURVE_STEPS = 512, // of which an edge's length is summed up
    POINTS_MAX = 4096, // of one outline: sides are compared with each other
    PANEL_TRIANGLES_MAX = 4000000
};

static const double joined = 1e-6; // m: edges this close at the start are one
static const double gap = 0.02;    // m, between panels in the texture map

void pattern_finish(sewing_pattern* p)
{
    for (int k = 0; k < p->panel_count; k++)
    {
        mem_free(p->panel[k].name);
        mem_free(p->panel[k].corner);
        mem_free(p->panel[k].edge);
    }
    mem_free(p->panel);
    mem_free(p->stitch);
    mem_free(p->file);
    *p = (sewing_pattern){0};
}

// ---- curves

static vec2 mix(vec2 a, vec2 b, double t)
{
    return (vec2){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

// The middle of an arc's circle is beside the middle of its chord, on the left where it turns to the left and is the
// shorter one.
static vec2 arc_point(const pattern_edge* e, vec2 a, vec2 b, double t)
{
    double dx = b.x - a.x, dy = b.y - a.y, half = 0.5 * hypot(dx, dy);
    double radius = fmax(e->radius, half), height = sqrt(fmax(0.0, radius * radius - half * half));
    double side = e->left != e->large ? height : -height;
    vec2 center = {0.5 * (a.x + b.x) - side * dy / (2.0 * half), 0.5 * (a.y + b.y) + side * dx / (2.0 * half)};
    double turn = 2.0 * asin(fmin(1.0, half / radius));
    turn = e->large ? 2.0 * acos(-1.0) - turn : turn;
    double angle = atan2(a.y - center.y, a.x - center.x) + (e->left ? t : -t) * turn;
    return (vec2){center.x + radius * cos(angle), center.y + radius * sin(angle)};
}

static vec2 curve_point(const pattern_panel* p, const pattern_edge* e, double t)
{
    vec2 a = p->corner[e->from], b = p->corner[e->to];
    if (e->kind == CURVE_LINE || t <= 0.0 || t >= 1.0)
    {
        return t <= 0.0 ? a : t >= 1.0 ? b : mix(a, b, t);
    }
    if (e->kind == CURVE_ARC)
    {
        return arc_point(e, a, b, t);
    }
    vec2 c = e->control[0], d = e->kind == CURVE_CUBIC ? e->control[1] : c;
    vec2 ac = mix(a, c, t), cd = mix(c, d, t), db = mix(d, b, t);
    return e->kind == CURVE_CUBIC ? mix(mix(ac, cd, t), mix(cd, db, t), t) : mix(ac, db, t);
}

// Lengths from the start to each of CURVE_STEPS + 1 places, m.
static void curve_lengths(const pattern_panel* p, const pattern_edge* e, double* out)
{
    vec2 last = curve_point(p, e, 0.0);
    out[0] = 0.0;
    for (int k = 1; k <= CURVE_STEPS; k++)
    {
        vec2 now = curve_point(p, e, (double)k / CURVE_STEPS);
        out[k] = out[k - 1] + hypot(now.x - last.x, now.y - last.y);
        last = now;
    }
}

static double curve_length(const pattern_panel* p, const pattern_edge* e)
{
    double lengths[CURVE_STEPS + 1];
    curve_lengths(p, e, lengths);
    return lengths[CURVE_STEPS];
}

// The points that cut an edge into `count` parts of equal length, without its ends.
static void curve_divide(const pattern_panel* p, const pattern_edge* e, int count, vec2* out)
{
    double lengths[CURVE_STEPS + 1];
    curve_lengths(p, e, lengths);
    for (int k = 1, at = 0; k < count; k++)
    {
        double want = lengths[CURVE_STEPS] * k / count;
        while (at < CURVE_STEPS - 1 && lengths[at + 1] < want)
        {
            at++;
        }
        double step = lengths[at + 1] - lengths[at];
        double share = step > 0.0 ? (want - lengths[at]) / step : 0.0;
        out[k - 1] = curve_point(p, e, (at + share) / CURVE_STEPS);
    }
}

// ---- how many points an edge has

// Of all edges, one panel after the other.
typedef struct edge_counts
{
    int* first; // [panel_count + 1] number of a panel's first edge
    int* count; // [edges] parts that each is cut into
} edge_counts;

static weft_status too_many(const sewing_pattern* p, int line, const char* name, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, p->file, line,
                     "the outline of panel `%.60s` would have more than %d points: take a larger \"edge\"", name,
                     POINTS_MAX);
}

static weft_status count_parts(const sewing_pattern* p, double edge, edge_counts* c, weft_error* error)
{
    for (int k = 0; k < p->panel_count; k++)
    {
        const pattern_panel* panel = &p->panel[k];
        for (int e = 0; e < panel->edge_count; e++)
        {
            double parts = round(curve_length(panel, &panel->edge[e]) / edge);
            if (!(parts < POINTS_MAX))
            {
                return too_many(p, panel->edge[e].line, panel->name, error);
            }
            c->count[c->first[k] + e] = int_max(1, (int)parts);
        }
    }
    // Both sides of a stitch take the larger number; stitches that share an edge hand it on.
    for (int turn = 0; turn <= p->stitch_count; turn++)
    {
        for (int s = 0; s < p->stitch_count; s++)
        {
            const pattern_side* side = p->stitch[s].side;
            int *a = &c->count[c->first[side[0].panel] + side[0].edge],
                *b = &c->count[c->first[side[1].panel] + side[1].edge];
            *a = *b = int_max(*a, *b);
        }
    }
    return WEFT_OK;
}

// ---- panels

typedef struct made_panel
{
    panel_mesh mesh;
    int* edge_start; // [edge_count + 1] number of each edge's first point on the outline as the panel has it
    int outline;     // points of it
    bool turned;     // the panel runs clockwise: its points are in the other order
    int first;       // vertex of the mesh
} made_panel;

static double outline_area(const vec2* x, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
    {
        vec2 a = x[k], b = x[(k + 1) % count];
        sum += a.x * b.y - a.y * b.x;
    }
    return 0.5 * sum;
}

// The edge that a side of the outline is a part of.
static int edge_of_side(const made_panel* made, const pattern_panel* panel, int side)
{
    int n = made->outline, point = made->turned ? (2 * n - 2 - side) % n : side, edge = 0;
    while (edge + 1 < panel->edge_count && made->edge_start[edge + 1] <= point)
    {
        edge++;
    }
    return edge;
}

static weft_status crossing_error(const sewing_pattern* p, const pattern_panel* panel, const made_panel* made,
                                  panel_crossing crossing, weft_error* error)
{
    if (crossing.first < 0)
    {
        return error_set(error, WEFT_BAD_INPUT, p->file, panel->line,
                         "panel `%.60s` cannot be cut into triangles: check its outline", panel->name);
    }
    int a = edge_of_side(made, panel, crossing.first), b = edge_of_side(made, panel, crossing.second);
    return error_set(error, WEFT_BAD_INPUT, p->file, panel->edge[int_max(a, b)].line,
                     "panel `%.60s` crosses or touches itself: its edges %d and %d meet where they should not; correct "
                     "its corners or curves",
                     panel->name, int_min(a, b), int_max(a, b));
}

static weft_status fill_outline(const pattern_panel* panel, const int* count, made_panel* made, vec2* x)
{
    made->outline = 0;
    for (int e = 0; e < panel->edge_count; e++)
    {
        made->edge_start[e] = made->outline;
        x[made->outline] = panel->corner[panel->edge[e].from];
        curve_divide(panel, &panel->edge[e], count[e], x + made->outline + 1);
        made->outline += count[e];
    }
    made->edge_start[panel->edge_count] = made->outline;
    // Panels whose outside looks away from the reader run clockwise.
    made->turned = outline_area(x, made->outline) < 0.0;
    for (int k = 0; k < made->outline / 2 && made->turned; k++)
    {
        vec2 kept = x[k];
        x[k] = x[made->outline - 1 - k];
        x[made->outline - 1 - k] = kept;
    }
    return WEFT_OK;
}

static weft_status panel_make(const sewing_pattern* p, int k, const int* count, double edge, made_panel* made,
                              weft_error* error)
{
    const pattern_panel* panel = &p->panel[k];
    int points = 0;
    for (int e = 0; e < panel->edge_count; e++)
    {
        points += count[e];
        if (points > POINTS_MAX)
        {
            return too_many(p, panel->line, panel->name, error);
        }
    }
    if (points < 3)
    {
        return error_set(error, WEFT_BAD_INPUT, p->file, panel->line,
                         "panel `%.60s` has an outline of %d points, which is no surface: take a smaller \"edge\"",
                         panel->name, points);
    }
    made->edge_start = MEM_NEW(panel->edge_count + 1, int);
    vec2* x = MEM_NEW(points, vec2);
    weft_status status = made->edge_start && x ? fill_outline(panel, count, made, x) : WEFT_NO_MEMORY;
    panel_crossing crossing = {-1, -1};
    double cells = status == WEFT_OK ? fabs(outline_area(x, points)) / (edge * edge) : 0.0;
    if (cells > PANEL_TRIANGLES_MAX / 2.5)
    {
        status = error_set(error, WEFT_BAD_INPUT, p->file, panel->line,
                           "panel `%.60s` would have more than %d triangles: take a larger \"edge\"", panel->name,
                           PANEL_TRIANGLES_MAX);
        mem_free(x);
        return status;
    }
    status = status == WEFT_OK ? panel_triangulate(x, points, edge, &made->mesh, &crossing) : status;
    mem_free(x);
    return status == WEFT_BAD_INPUT ? crossing_error(p, panel, made, crossing, error) : status;
}

// The vertex of point `k` along an edge, 0 to its number of parts.
static int edge_vertex(const made_panel* made, int edge, int k)
{
    int point = (made->edge_start[edge] + k) % made->outline;
    return made->first + (made->turned ? made->outline - 1 - point : point);
}

// ---- all of them as one mesh

typedef struct assembly
{
    const sewing_pattern* p;
    edge_counts counts;
    made_panel* made; // [panel_count]
    int vertex_count, triangle_count;
    int* same; // [vertex_count] an earlier vertex that lies at the same place and is sewn to it, or itself
} assembly;

static void assembly_finish(assembly* a)
{
    for (int k = 0; k < a->p->panel_count && a->made; k++)
    {
        panel_mesh_finish(&a->made[k].mesh);
        mem_free(a->made[k].edge_start);
    }
    mem_free(a->made);
    mem_free(a->counts.first);
    mem_free(a->counts.count);
    mem_free(a->same);
}

static weft_status assembly_make(assembly* a, double edge, weft_error* error)
{
    const sewing_pattern* p = a->p;
    a->counts.first = MEM_NEW(p->panel_count + 1, int);
    a->made = MEM_NEW(p->panel_count, made_panel);
    TRY(a->counts.first && a->made ? WEFT_OK : WEFT_NO_MEMORY);
    for (int k = 0; k < p->panel_count; k++)
    {
        a->counts.first[k + 1] = a->counts.first[k] + p->panel[k].edge_count;
    }
    a->counts.count = MEM_NEW(a->counts.first[p->panel_count], int);
    TRY(a->counts.count ? WEFT_OK : WEFT_NO_MEMORY);
    TRY(count_parts(p, edge, &a->counts, error));
    for (int k = 0; k < p->panel_count; k++)
    {
        TRY(panel_make(p, k, a->counts.count + a->counts.first[k], edge, &a->made[k], error));
        a->made[k].first = a->vertex_count;
        a->vertex_count += a->made[k].mesh.point_count;
        a->triangle_count += a->made[k].mesh.triangle_count;
        if (a->triangle_count > PANEL_TRIANGLES_MAX)
        {
            return error_set(error, WEFT_BAD_INPUT, p->file, 0,
                             "the pattern would have more than %d triangles: take a larger \"edge\"",
                             PANEL_TRIANGLES_MAX);
        }
    }
    return WEFT_OK;
}

static weft_status mesh_allocate(const assembly* a, mesh* m)
{
    size_t corners = 3 * (size_t)a->triangle_count;
    m->form = MESH_SHEET;
    m->position = MEM_NEW(a->vertex_count, vec3);
    m->texcoord = MEM_NEW(a->vertex_count, vec2);
    m->face_start = MEM_NEW(a->triangle_count + 1, int);
    m->face_vertex = MEM_NEW(corners, int);
    m->face_texcoord = MEM_NEW(corners, int);
    m->face_object = MEM_NEW(a->triangle_count, int);
    m->face_line = MEM_NEW(a->triangle_count, int);
    m->object_name = MEM_NEW(a->p->panel_count, char*);
    m->file = mem_strdup(a->p->file);
    bool room = m->position && m->texcoord && m->face_start && m->face_vertex && m->face_texcoord && m->face_object &&
                m->face_line && m->object_name && m->file;
    for (int k = 0; k < a->p->panel_count && room; k++)
    {
        m->object_name[k] = mem_strdup(a->p->panel[k].name);
        m->object_count++;
        room = m->object_name[k] != NULL;
    }
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

// Its points in space and in the map, where the next panel begins at *right.
static void put_points(const assembly* a, int k, mesh* m, double* right)
{
    const made_panel* made = &a->made[k];
    const pattern_panel* panel = &a->p->panel[k];
    double low = INFINITY, high = -INFINITY, bottom = INFINITY;
    for (int i = 0; i < made->mesh.point_count; i++)
    {
        vec2 x = made->mesh.point[i];
        low = fmin(low, x.x);
        high = fmax(high, x.x);
        bottom = fmin(bottom, x.y);
        const double* r = panel->rotation;
        vec3 turned = {r[0] * x.x + r[1] * x.y, r[3] * x.x + r[4] * x.y, r[6] * x.x + r[7] * x.y};
        m->position[made->first + i] = v3_add(turned, panel->translation);
    }
    for (int i = 0; i < made->mesh.point_count; i++)
    {
        vec2 x = made->mesh.point[i];
        m->texcoord[made->first + i] = (vec2){*right + (x.x - low), x.y - bottom};
    }
    *right += high - low + gap;
}

static void put_triangles(const assembly* a, int k, mesh* m)
{
    const made_panel* made = &a->made[k];
    for (int t = 0; t < made->mesh.triangle_count; t++)
    {
        int face = m->face_count++;
        m->face_start[face + 1] = 3 * face + 3;
        m->face_object[face] = k;
        m->face_line[face] = a->p->panel[k].line;
        for (int c = 0; c < 3; c++)
        {
            int corner = made->turned ? 2 - c : c;
            m->face_vertex[3 * face + c] = made->first + made->mesh.triangle[3 * t + corner];
            m->face_texcoord[3 * face + c] = m->face_vertex[3 * face + c];
        }
    }
}

// ---- stitches

static int root(const int* same, int v)
{
    while (same[v] != v)
    {
        v = same[v];
    }
    return v;
}

// The two vertices of pair k along a stitch.
static void stitch_vertices(const assembly* a, const pattern_stitch* s, int k, int out[2])
{
    const pattern_side* side = s->side;
    int parts = a->counts.count[a->counts.first[side[0].panel] + side[0].edge];
    out[0] = edge_vertex(&a->made[side[0].panel], side[0].edge, k);
    out[1] = edge_vertex(&a->made[side[1].panel], side[1].edge, s->alike ? k : parts - k);
}

static int stitch_parts(const assembly* a, const pattern_stitch* s)
{
    return a->counts.count[a->counts.first[s->side[0].panel] + s->side[0].edge];
}

static bool lies_upon(const assembly* a, const pattern_stitch* s, const mesh* m)
{
    for (int k = 0; k <= stitch_parts(a, s); k++)
    {
        int v[2];
        stitch_vertices(a, s, k, v);
        if (v3_length(v3_sub(m->position[v[0]], m->position[v[1]])) > joined)
        {
            return false;
        }
    }
    return true;
}

static void join_upon(assembly* a, const mesh* m)
{
    for (int s = 0; s < a->p->stitch_count; s++)
    {
        const pattern_stitch* stitch = &a->p->stitch[s];
        bool upon = lies_upon(a, stitch, m);
        for (int k = 0; k <= stitch_parts(a, stitch) && upon; k++)
        {
            int v[2];
            stitch_vertices(a, stitch, k, v);
            int i = root(a->same, v[0]), j = root(a->same, v[1]);
            a->same[int_max(i, j)] = int_min(i, j);
        }
    }
}

// Drops vertices that are another one; `same` becomes the new number of each.
static void drop_joined(assembly* a, mesh* m)
{
    for (int v = 0; v < a->vertex_count; v++)
    {
        a->same[v] = root(a->same, v);
    }
    int kept = 0;
    for (int v = 0; v < a->vertex_count; v++)
    {
        bool stays = a->same[v] == v;
        m->position[kept] = stays ? m->position[v] : m->position[kept];
        a->same[v] = stays ? kept : a->same[a->same[v]]; // the earlier one has its number by now
        kept += stays;
    }
    m->vertex_count = kept;
    for (int k = 0; k < 3 * m->face_count; k++)
    {
        m->face_vertex[k] = a->same[m->face_vertex[k]];
    }
}

static int compare_pairs(const void* a, const void* b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

static weft_status collect_pairs(const assembly* a, stitch_pairs* out)
{
    for (int s = 0; s < a->p->stitch_count; s++)
    {
        const pattern_stitch* stitch = &a->p->stitch[s];
        for (int k = 0; k <= stitch_parts(a, stitch); k++)
        {
            int v[2];
            stitch_vertices(a, stitch, k, v);
            int i = a->same[v[0]], j = a->same[v[1]], ints = 2 * out->capacity;
            if (i == j)
            {
                continue; // a dart's tip, or already one
            }
            if (!mem_grow((void**)&out->vertex, &ints, 2 * out->count + 2, sizeof(int)))
            {
                return WEFT_NO_MEMORY;
            }
            out->capacity = ints / 2;
            out->vertex[2 * out->count] = int_min(i, j);
            out->vertex[2 * out->count++ + 1] = int_max(i, j);
        }
    }
    int kept = 0;
    if (out->count > 0)
    {
        qsort(out->vertex, (size_t)out->count, 2 * sizeof(int), compare_pairs);
    }
    for (int k = 0; k < out->count; k++)
    {
        if (k == 0 || compare_pairs(out->vertex + 2 * k, out->vertex + 2 * kept - 2) != 0)
        {
            memmove(out->vertex + 2 * kept++, out->vertex + 2 * k, 2 * sizeof(int));
        }
    }
    out->count = kept;
    return WEFT_OK;
}

static weft_status assembly_join(assembly* a, mesh* m, stitch_pairs* stitches)
{
    a->same = MEM_NEW(a->vertex_count, int);
    TRY(a->same ? WEFT_OK : WEFT_NO_MEMORY);
    for (int v = 0; v < a->vertex_count; v++)
    {
        a->same[v] = v;
    }
    join_upon(a, m);
    drop_joined(a, m);
    return collect_pairs(a, stitches);
}

// Which vertices are on which edge of a panel, for who selects them.
static weft_status keep_sides(const assembly* a, mesh* m)
{
    const sewing_pattern* p = a->p;
    int sides = a->counts.first[p->panel_count], points = 0;
    for (int s = 0; s < sides; s++)
    {
        points += a->counts.count[s] + 1;
    }
    m->side_first = MEM_NEW(p->panel_count + 1, int);
    m->side_start = MEM_NEW(sides + 1, int);
    m->side_vertex = MEM_NEW(points, int);
    m->seam_side = MEM_NEW(int_max(2 * p->stitch_count, 1), int);
    TRY(m->side_first && m->side_start && m->side_vertex && m->seam_side ? WEFT_OK : WEFT_NO_MEMORY);
    memcpy(m->side_first, a->counts.first, (size_t)(p->panel_count + 1) * sizeof(int));
    for (int panel = 0, at = 0; panel < p->panel_count; panel++)
    {
        for (int e = 0; e < p->panel[panel].edge_count; e++)
        {
            int parts = a->counts.count[m->side_count];
            for (int k = 0; k <= parts; k++)
            {
                m->side_vertex[at++] = a->same[edge_vertex(&a->made[panel], e, k)];
            }
            m->side_start[++m->side_count] = at;
        }
    }
    for (int k = 0; k < 2 * p->stitch_count; k++)
    {
        const pattern_side* side = &p->stitch[k / 2].side[k % 2];
        m->seam_side[k] = a->counts.first[side->panel] + side->edge;
    }
    m->seam_count = p->stitch_count;
    return WEFT_OK;
}

weft_status mesh_from_pattern(const sewing_pattern* p, double edge, mesh* out, stitch_pairs* stitches,
                              weft_error* error)
{
    WEFT_ASSERT(p && edge > 0.0 && out && stitches);
    *out = (mesh){0};
    *stitches = (stitch_pairs){0};
    assembly a = {.p = p};
    weft_status status = assembly_make(&a, edge, error);
    status = status == WEFT_OK ? mesh_allocate(&a, out) : status;
    double right = 0.0;
    for (int k = 0; k < p->panel_count && status == WEFT_OK; k++)
    {
        put_points(&a, k, out, &right);
        put_triangles(&a, k, out);
    }
    out->vertex_count = out->texcoord_count = a.vertex_count;
    status = status == WEFT_OK ? assembly_join(&a, out, stitches) : status;
    status = status == WEFT_OK ? keep_sides(&a, out) : status;
    assembly_finish(&a);
    if (status != WEFT_OK)
    {
        mesh_finish(out);
        mem_free(stitches->vertex);
        *stitches = (stitch_pairs){0};
    }
    return status == WEFT_NO_MEMORY ? error_set(error, status, p->file, 0, "%s", weft_status_text(status)) : status;
}

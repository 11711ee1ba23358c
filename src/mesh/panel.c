// An outline as triangles of about one size (Chew, "Guaranteed-quality triangular meshes", 1989): the constrained
// Delaunay triangulation of the outline, into which the centres of circles are inserted that are larger than SIZE
// edges, until there are none. Ears are cut first, edges flipped then (Lawson 1977). The outline's own points stay what
// they are, as those of other panels are sewn to them: a centre beyond a side, or in the circle over one, is left out,
// so that near narrow corners the triangles are as good as the outline lets them be. At last interior points go to the
// middle of their neighbours a few times. Signs of areas and circles are exact, by integers.
#include "mesh/panel.h"

#include <math.h>
#include <string.h>

enum
{
    SWEEPS = 6 // of smoothing
};

static const double circle_max = 0.75;   // radius over edge: edges come out between 0.75 and 1.5, at the mean 1
static const double distance_min = 0.55; // between points, over edge
static const double flip_slack = 1e-3;   // of a triangle's turn: smoothing must leave areas that are not tiny

typedef __int128 wide_int;

typedef struct grid_point
{
    int64_t x, y; // in PANEL_UNIT
} grid_point;

typedef struct triangle
{
    int v[3]; // counter-clockwise
    int n[3]; // triangle beyond the side opposite to v[k], -1: the outline
} triangle;

typedef struct mesher
{
    grid_point* p;
    int point_count, point_capacity, outline;
    triangle* t;
    int triangle_count, triangle_capacity;
    int* queue; // ring: triangles that may be too large
    int queue_capacity, queue_first, queue_count;
    uint8_t* queued; // [queued_capacity]
    int queued_capacity;
    int* stack; // scratch: 3 * triangle + side
    int stack_count, stack_capacity;
    double edge; // in PANEL_UNIT
} mesher;

// ---- exact signs

// Twice the area of a, b, c.
static wide_int area(grid_point a, grid_point b, grid_point c)
{
    return (wide_int)(b.x - a.x) * (c.y - a.y) - (wide_int)(b.y - a.y) * (c.x - a.x);
}

static int sign(wide_int value)
{
    return (value > 0) - (value < 0);
}

// Whether d is inside the circle through a, b, c, which turn to the left.
static bool in_circle(grid_point a, grid_point b, grid_point c, grid_point d)
{
    wide_int ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, by = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
    wide_int sum = (ax * ax + ay * ay) * (bx * cy - by * cx);
    sum += (bx * bx + by * by) * (cx * ay - cy * ax);
    sum += (cx * cx + cy * cy) * (ax * by - ay * bx);
    return sum > 0;
}

static bool in_triangle(grid_point a, grid_point b, grid_point c, grid_point p)
{
    return area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0;
}

static double distance(grid_point a, grid_point b)
{
    return hypot((double)(a.x - b.x), (double)(a.y - b.y));
}

// ---- the outline

static bool in_box(grid_point a, grid_point b, grid_point p)
{
    return (a.x < b.x ? a.x <= p.x && p.x <= b.x : b.x <= p.x && p.x <= a.x) &&
           (a.y < b.y ? a.y <= p.y && p.y <= b.y : b.y <= p.y && p.y <= a.y);
}

// Whether two closed segments share a point.
static bool segments_meet(grid_point a, grid_point b, grid_point c, grid_point d)
{
    int abc = sign(area(a, b, c)), abd = sign(area(a, b, d)), cda = sign(area(c, d, a)), cdb = sign(area(c, d, b));
    if (abc * abd < 0 && cda * cdb < 0)
    {
        return true;
    }
    return (abc == 0 && in_box(a, b, c)) || (abd == 0 && in_box(a, b, d)) || (cda == 0 && in_box(c, d, a)) ||
           (cdb == 0 && in_box(c, d, b));
}

static bool sides_meet(const mesher* m, int i, int j)
{
    int n = m->outline, i1 = (i + 1) % n, j1 = (j + 1) % n;
    const grid_point* p = m->p;
    if (j == i1 || i == j1) // neighbours share a point: the other end must not lie on the side
    {
        int shared = j == i1 ? i1 : i, a = j == i1 ? i : i1, b = j == i1 ? j1 : j;
        wide_int along = (wide_int)(p[a].x - p[shared].x) * (p[b].x - p[shared].x) +
                         (wide_int)(p[a].y - p[shared].y) * (p[b].y - p[shared].y);
        return area(p[shared], p[a], p[b]) == 0 && along >= 0;
    }
    return segments_meet(p[i], p[i1], p[j], p[j1]);
}

static bool outline_is_simple(const mesher* m, panel_crossing* out)
{
    for (int i = 0; i < m->outline; i++)
    {
        for (int j = i + 1; j < m->outline; j++)
        {
            if (sides_meet(m, i, j))
            {
                *out = (panel_crossing){i, j};
                return false;
            }
        }
    }
    *out = (panel_crossing){-1, -1};
    return true;
}

// ---- ears

static int add_triangle(mesher* m, int a, int b, int c)
{
    if (!mem_grow((void**)&m->t, &m->triangle_capacity, m->triangle_count + 1, sizeof(triangle)))
    {
        return -1;
    }
    m->t[m->triangle_count] = (triangle){{a, b, c}, {-1, -1, -1}};
    return m->triangle_count++;
}

static bool is_ear(const mesher* m, const int* next, int before, int at, int after)
{
    const grid_point* p = m->p;
    if (area(p[before], p[at], p[after]) <= 0)
    {
        return false;
    }
    for (int k = next[after]; k != before; k = next[k])
    {
        if (in_triangle(p[before], p[at], p[after], p[k]))
        {
            return false;
        }
    }
    return true;
}

// Side k of triangle t and that of `other` that has the same ends.
static void join(mesher* m, int t, int k, int other)
{
    m->t[t].n[k] = other;
    int a = m->t[t].v[(k + 1) % 3], b = m->t[t].v[(k + 2) % 3];
    for (int c = 0; c < 3; c++)
    {
        if (m->t[other].v[(c + 1) % 3] == b && m->t[other].v[(c + 2) % 3] == a)
        {
            m->t[other].n[c] = t;
        }
    }
}

// The triangle behind each side of what is left of the outline stands in `behind`, by the side's first point.
static weft_status cut_ear(mesher* m, int* behind, int before, int at, int after)
{
    int t = add_triangle(m, before, at, after);
    if (t < 0)
    {
        return WEFT_NO_MEMORY;
    }
    behind[at] >= 0 ? join(m, t, 0, behind[at]) : (void)0;
    behind[before] >= 0 ? join(m, t, 2, behind[before]) : (void)0;
    behind[before] = t;
    return WEFT_OK;
}

// BAD_INPUT: no ear is left, which a simple outline rules out.
static weft_status cut_ears(mesher* m)
{
    int n = m->outline, left = n, at = 0, tries = 0;
    int *next = MEM_NEW(n, int), *before = MEM_NEW(n, int), *behind = MEM_NEW(n, int);
    weft_status status = next && before && behind ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < n && status == WEFT_OK; k++)
    {
        next[k] = (k + 1) % n;
        before[k] = (k + n - 1) % n;
        behind[k] = -1;
    }
    while (left > 3 && status == WEFT_OK)
    {
        if (!is_ear(m, next, before[at], at, next[at]))
        {
            at = next[at];
            status = ++tries > left ? WEFT_BAD_INPUT : WEFT_OK;
            continue;
        }
        status = cut_ear(m, behind, before[at], at, next[at]);
        next[before[at]] = next[at];
        before[next[at]] = before[at];
        at = next[next[at]]; // ears side by side would make fans of slivers
        left--;
        tries = 0;
    }
    status = status == WEFT_OK ? cut_ear(m, behind, before[at], at, next[at]) : status;
    if (status == WEFT_OK && behind[next[at]] >= 0)
    {
        join(m, m->triangle_count - 1, 1, behind[next[at]]); // the last triangle closes the third side, too
    }
    mem_free(next);
    mem_free(before);
    mem_free(behind);
    return status;
}

// ---- flips

static bool push_side(mesher* m, int t, int k)
{
    if (!mem_grow((void**)&m->stack, &m->stack_capacity, m->stack_count + 1, sizeof(int)))
    {
        return false;
    }
    m->stack[m->stack_count++] = 3 * t + k;
    return true;
}

static int side_towards(const triangle* t, int other)
{
    return t->n[0] == other ? 0 : t->n[1] == other ? 1 : 2;
}

// A triangle beyond side k of t no longer has `was` for a neighbour, but t.
static void renew_neighbour(mesher* m, int t, int k, int was)
{
    int other = m->t[t].n[k];
    if (other >= 0)
    {
        m->t[other].n[side_towards(&m->t[other], was)] = t;
    }
}

// The side between t and its neighbour beyond side k becomes the other diagonal.
static int flip(mesher* m, int t, int k)
{
    int o = m->t[t].n[k], c = side_towards(&m->t[o], t);
    triangle a = m->t[t], b = m->t[o];
    int apex = a.v[k], right = a.v[(k + 1) % 3], left = a.v[(k + 2) % 3], far = b.v[c];
    // t: apex, right, far. o: apex, far, left.
    m->t[t] = (triangle){{apex, right, far}, {b.n[(c + 1) % 3], o, a.n[(k + 2) % 3]}};
    m->t[o] = (triangle){{apex, far, left}, {b.n[(c + 2) % 3], a.n[(k + 1) % 3], t}};
    renew_neighbour(m, t, 0, o);
    renew_neighbour(m, o, 1, t);
    return o;
}

static bool should_flip(const mesher* m, int t, int k)
{
    int o = m->t[t].n[k];
    const triangle *a = &m->t[t], *b = &m->t[o];
    return in_circle(m->p[a->v[0]], m->p[a->v[1]], m->p[a->v[2]], m->p[b->v[side_towards(b, t)]]);
}

static bool enqueue(mesher* m, int t);

// Sides on the stack, and those around what they change, become Delaunay.
static weft_status flip_all(mesher* m)
{
    while (m->stack_count > 0)
    {
        int side = m->stack[--m->stack_count], t = side / 3, k = side % 3;
        if (m->t[t].n[k] < 0 || !should_flip(m, t, k))
        {
            continue;
        }
        int o = flip(m, t, k);
        bool ok = push_side(m, t, 0) && push_side(m, t, 2) && push_side(m, o, 0) && push_side(m, o, 1);
        if (!ok || !enqueue(m, t) || !enqueue(m, o))
        {
            return WEFT_NO_MEMORY;
        }
    }
    return WEFT_OK;
}

static weft_status flip_everywhere(mesher* m)
{
    for (int side = 0; side < 3 * m->triangle_count; side++)
    {
        if (!push_side(m, side / 3, side % 3))
        {
            return WEFT_NO_MEMORY;
        }
    }
    return flip_all(m);
}

// ---- refinement

static bool enqueue(mesher* m, int t)
{
    int had = m->queued_capacity;
    if (!mem_grow((void**)&m->queued, &m->queued_capacity, t + 1, 1))
    {
        return false;
    }
    memset(m->queued + had, 0, (size_t)(m->queued_capacity - had));
    if (m->queued[t])
    {
        return true;
    }
    if (m->queue_count == m->queue_capacity)
    {
        int capacity = 2 * m->queue_capacity + 64;
        int* ring = MEM_NEW(capacity, int);
        for (int k = 0; k < m->queue_count && ring; k++)
        {
            ring[k] = m->queue[(m->queue_first + k) % m->queue_capacity];
        }
        if (!ring)
        {
            return false;
        }
        mem_free(m->queue);
        m->queue = ring;
        m->queue_capacity = capacity;
        m->queue_first = 0;
    }
    m->queue[(m->queue_first + m->queue_count++) % m->queue_capacity] = t;
    m->queued[t] = 1;
    return true;
}

// The centre of the circle through a triangle, and its radius.
static double circle_of(const mesher* m, const triangle* t, grid_point* out)
{
    grid_point a = m->p[t->v[0]], b = m->p[t->v[1]], c = m->p[t->v[2]];
    double bx = (double)(b.x - a.x), by = (double)(b.y - a.y), cx = (double)(c.x - a.x), cy = (double)(c.y - a.y);
    double d = 2.0 * (bx * cy - by * cx), bb = bx * bx + by * by, cc = cx * cx + cy * cy;
    double x = (cy * bb - by * cc) / d, y = (bx * cc - cx * bb) / d;
    if (!(fabs(x) < 0x1p31 && fabs(y) < 0x1p31)) // far off: some side is in between
    {
        x = y = 0x1p31;
    }
    *out = (grid_point){a.x + (int64_t)llround(x), a.y + (int64_t)llround(y)};
    return hypot(x, y);
}

// The triangle that p is in, walking from t; -1: beyond the outline.
static int locate(const mesher* m, int t, grid_point p)
{
    for (int steps = 0; steps < m->triangle_count; steps++)
    {
        const triangle* at = &m->t[t];
        int k = 0;
        while (k < 3 && area(m->p[at->v[(k + 1) % 3]], m->p[at->v[(k + 2) % 3]], p) >= 0)
        {
            k++;
        }
        if (k == 3)
        {
            return t;
        }
        t = at->n[k];
        if (t < 0)
        {
            return -1;
        }
    }
    return -1;
}

// Whether p sees the side a, b under more than a right angle.
static bool encroaches(grid_point p, grid_point a, grid_point b)
{
    return (wide_int)(a.x - p.x) * (b.x - p.x) + (wide_int)(a.y - p.y) * (b.y - p.y) < 0;
}

// Whether p may be a point: not in the circle over a side of the outline near it, not close to another point. Looks at
// the triangles whose circles hold p; `seen` collects them on the stack.
static bool has_room(mesher* m, int t, grid_point p, bool* failed)
{
    m->stack_count = 0;
    bool room = true;
    *failed = !push_side(m, t, 0);
    for (int k = 0; k < m->stack_count && room && !*failed; k++)
    {
        const triangle* at = &m->t[m->stack[k] / 3];
        for (int c = 0; c < 3 && room; c++)
        {
            grid_point a = m->p[at->v[(c + 1) % 3]], b = m->p[at->v[(c + 2) % 3]];
            room = distance(p, m->p[at->v[c]]) > distance_min * m->edge && (at->n[c] >= 0 || !encroaches(p, a, b));
        }
        for (int c = 0; c < 3 && room && !*failed; c++)
        {
            int other = at->n[c];
            bool fresh = other >= 0;
            for (int s = 0; s < m->stack_count && fresh; s++)
            {
                fresh = m->stack[s] / 3 != other;
            }
            const triangle* o = fresh ? &m->t[other] : NULL;
            if (o && in_circle(m->p[o->v[0]], m->p[o->v[1]], m->p[o->v[2]], p))
            {
                *failed = !push_side(m, other, 0);
            }
        }
    }
    m->stack_count = 0;
    return room;
}

static weft_status insert(mesher* m, int t, grid_point p)
{
    if (!mem_grow((void**)&m->p, &m->point_capacity, m->point_count + 1, sizeof(grid_point)))
    {
        return WEFT_NO_MEMORY;
    }
    int v = m->point_count++;
    m->p[v] = p;
    triangle was = m->t[t];
    int part[3] = {t, add_triangle(m, was.v[2], was.v[0], v), add_triangle(m, was.v[0], was.v[1], v)};
    if (part[1] < 0 || part[2] < 0)
    {
        return WEFT_NO_MEMORY;
    }
    m->t[t] = (triangle){{was.v[1], was.v[2], v}, {part[1], part[2], was.n[0]}};
    m->t[part[1]] = (triangle){{was.v[2], was.v[0], v}, {part[2], t, was.n[1]}};
    m->t[part[2]] = (triangle){{was.v[0], was.v[1], v}, {t, part[1], was.n[2]}};
    renew_neighbour(m, part[1], 2, t);
    renew_neighbour(m, part[2], 2, t);
    for (int k = 0; k < 3; k++)
    {
        if (!push_side(m, part[k], 2) || !enqueue(m, part[k]))
        {
            return WEFT_NO_MEMORY;
        }
    }
    return flip_all(m);
}

static weft_status refine(mesher* m)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        TRY(enqueue(m, t) ? WEFT_OK : WEFT_NO_MEMORY);
    }
    while (m->queue_count > 0)
    {
        int t = m->queue[m->queue_first];
        m->queue_first = (m->queue_first + 1) % m->queue_capacity;
        m->queue_count--;
        m->queued[t] = 0;
        grid_point centre;
        if (circle_of(m, &m->t[t], &centre) <= circle_max * m->edge)
        {
            continue;
        }
        int home = locate(m, t, centre);
        bool failed = false;
        if (home >= 0 && has_room(m, home, centre, &failed))
        {
            // On a side, a triangle without area would come up, if only until the flips.
            bool inside = true;
            for (int k = 0; k < 3; k++)
            {
                const int* v = m->t[home].v;
                inside = inside && area(m->p[v[k]], m->p[v[(k + 1) % 3]], centre) > 0;
            }
            centre.x += inside ? 0 : 1;
            home = inside ? home : locate(m, home, centre);
            TRY(home >= 0 ? insert(m, home, centre) : WEFT_OK);
        }
        TRY(failed ? WEFT_NO_MEMORY : WEFT_OK);
    }
    return WEFT_OK;
}

// ---- smoothing

typedef struct fan
{
    int *start, *triangle; // triangles around each point
    double *x, *y;         // sums of neighbours
    int* count;
} fan;

static void fan_fill(const mesher* m, fan* f)
{
    memset(f->start, 0, (size_t)(m->point_count + 2) * sizeof(int));
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        f->start[m->t[k / 3].v[k % 3] + 2]++;
    }
    for (int i = 0; i < m->point_count; i++)
    {
        f->start[i + 2] += f->start[i + 1];
    }
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        f->triangle[f->start[m->t[k / 3].v[k % 3] + 1]++] = k / 3;
    }
}

// Whether all triangles around a point keep a part of what they should have.
static bool turns_left(const mesher* m, const fan* f, int i)
{
    for (int k = f->start[i]; k < f->start[i + 1]; k++)
    {
        const int* v = m->t[f->triangle[k]].v;
        if ((double)area(m->p[v[0]], m->p[v[1]], m->p[v[2]]) < flip_slack * m->edge * m->edge)
        {
            return false;
        }
    }
    return true;
}

static void smooth_once(mesher* m, const fan* f)
{
    for (int i = m->outline; i < m->point_count; i++)
    {
        double x = 0.0, y = 0.0;
        int around = f->start[i + 1] - f->start[i];
        grid_point was = m->p[i];
        for (int k = f->start[i]; k < f->start[i + 1]; k++)
        {
            const triangle* t = &m->t[f->triangle[k]];
            int c = t->v[0] == i ? 0 : t->v[1] == i ? 1 : 2;
            grid_point next = m->p[t->v[(c + 1) % 3]]; // each neighbour is the next one of one triangle
            x += (double)(next.x - was.x);
            y += (double)(next.y - was.y);
        }
        m->p[i] = (grid_point){was.x + llround(x / around), was.y + llround(y / around)};
        m->p[i] = turns_left(m, f, i) ? m->p[i] : was;
    }
}

static weft_status smooth(mesher* m)
{
    fan f = {.start = MEM_NEW(m->point_count + 2, int), .triangle = MEM_NEW(3 * (size_t)m->triangle_count, int)};
    weft_status status = f.start && f.triangle ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < SWEEPS && status == WEFT_OK; k++)
    {
        fan_fill(m, &f);
        smooth_once(m, &f);
        status = flip_everywhere(m);
    }
    mem_free(f.start);
    mem_free(f.triangle);
    return status;
}

// ---- in and out

static weft_status mesher_take(mesher* m, const vec2* outline, int count, double edge)
{
    m->edge = edge / PANEL_UNIT;
    m->outline = m->point_count = m->point_capacity = count;
    m->p = MEM_NEW(count, grid_point);
    for (int k = 0; k < count && m->p; k++)
    {
        m->p[k] = (grid_point){llround(outline[k].x / PANEL_UNIT), llround(outline[k].y / PANEL_UNIT)};
    }
    return m->p ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status mesher_give(const mesher* m, panel_mesh* out)
{
    out->point = MEM_NEW(m->point_count, vec2);
    out->triangle = MEM_NEW(3 * (size_t)m->triangle_count, int);
    if (!out->point || !out->triangle)
    {
        return WEFT_NO_MEMORY;
    }
    out->point_count = m->point_count;
    out->triangle_count = m->triangle_count;
    for (int k = 0; k < m->point_count; k++)
    {
        out->point[k] = (vec2){(double)m->p[k].x * PANEL_UNIT, (double)m->p[k].y * PANEL_UNIT};
    }
    for (int t = 0; t < m->triangle_count; t++)
    {
        memcpy(out->triangle + 3 * t, m->t[t].v, sizeof(m->t[t].v));
    }
    return WEFT_OK;
}

static weft_status mesher_run(mesher* m, panel_crossing* crossing)
{
    TRY(outline_is_simple(m, crossing) ? WEFT_OK : WEFT_BAD_INPUT);
    TRY(cut_ears(m));
    TRY(flip_everywhere(m));
    TRY(refine(m));
    return smooth(m);
}

weft_status panel_triangulate(const vec2* outline, int count, double edge, panel_mesh* out, panel_crossing* crossing)
{
    WEFT_ASSERT(outline && count >= 3 && edge > 0.0 && out && crossing);
    *out = (panel_mesh){0};
    mesher m = {0};
    weft_status status = mesher_take(&m, outline, count, edge);
    status = status == WEFT_OK ? mesher_run(&m, crossing) : status;
    status = status == WEFT_OK ? mesher_give(&m, out) : status;
    mem_free(m.p);
    mem_free(m.t);
    mem_free(m.queue);
    mem_free(m.queued);
    mem_free(m.stack);
    status == WEFT_OK ? (void)0 : panel_mesh_finish(out);
    return status;
}

void panel_mesh_finish(panel_mesh* m)
{
    mem_free(m->point);
    mem_free(m->triangle);
    *m = (panel_mesh){0};
}

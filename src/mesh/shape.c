// Shapes as triangles: plane, sphere, box (with a square hole or without), cylinder, capsule, torus.
//
// Every vertex lies on the shape's surface, so that the mesh of a convex shape lies inside it. Largest distance between
// the two, with n = segments (shape_deviation; the test measures it):
//   plane, box       0
//   sphere           R (1 - 1 / sqrt(1 + ((3 - sqrt 5) / n)^2)), at the middle of an icosahedron's face
//   cylinder         R (1 - cos(pi / n))
//   capsule          11 R / n^2 on its ends (cells are about as tall as wide), the cylinder's value between them
//   torus            (R + t) (1 - cos(pi / n)) + t (1 - cos(pi / m)), m segments around the tube; in its hole the mesh
//   is
//                    the part that stands out, by at most (R - t) (1 - cos(pi / n))
//
// Flat faces and the sphere come from a small polyhedron whose edges are cut into n pieces. The sphere starts from the
// icosahedron: its largest triangle has twice the area of its smallest, where the cube's projection has three times
// and meridians crowd at poles. Contact wants even triangles, since the largest decides how far a tree's boxes overlap.
// The other shapes are rings around an axis; rings that shrink towards a pole or a cap's middle have fewer vertices, so
// that no fan of slivers comes out.
//
// Not here: ellipsoids, cones, height fields; they come as meshes.
#include "mesh/mesh_inside.h"

enum
{
    TRIANGLES_MAX = 2000000,
    TUBE_SEGMENTS_MIN = 8,
    ROWS_FACTOR = 4 // most rows along a cylinder, in segments
};

// ---- what is built

typedef struct builder
{
    vec3* position;
    int vertex_count, vertex_capacity;
    int* triangle; // [3 * triangle_count]
    int triangle_count, corner_capacity;
    bool failed; // no memory
} builder;

static int builder_vertex(builder* b, vec3 x)
{
    if (!mem_grow((void**)&b->position, &b->vertex_capacity, b->vertex_count + 1, sizeof(vec3)))
    {
        b->failed = true;
        return 0;
    }
    b->position[b->vertex_count] = x;
    return b->vertex_count++;
}

static void builder_triangle(builder* b, int i, int j, int k)
{
    if (!mem_grow((void**)&b->triangle, &b->corner_capacity, 3 * b->triangle_count + 3, sizeof(int)))
    {
        b->failed = true;
        return;
    }
    int* corner = b->triangle + 3 * b->triangle_count++;
    corner[0] = i;
    corner[1] = j;
    corner[2] = k;
}

static void builder_finish(builder* b)
{
    mem_free(b->position);
    mem_free(b->triangle);
}

// Two directions across n with u x v = n. The axis y gets u = x and v = -z, as flat grids have.
static void across(vec3 n, vec3* u, vec3* v)
{
    *v = v3_normalize(v3_cross(n, fabs(n.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0)));
    *u = v3_cross(*v, n);
}

// ---- polyhedra with cut edges

enum
{
    POLYHEDRON_EDGES_MAX = 48 // of the box with a hole
};

typedef struct polyhedron
{
    const vec3* corner;
    int corner_count;
    const int* face; // [3 * face_count]
    int face_count;
} polyhedron;

// The polyhedron's corners are the builder's first vertices; each edge has n - 1 between its ends, low end first.
typedef struct cutter
{
    builder* b;
    const polyhedron* p;
    int n;
    int edge[POLYHEDRON_EDGES_MAX][3]; // low corner, high corner, first vertex between them
    int edge_count;
} cutter;

static int cutter_edge(cutter* c, int from, int to)
{
    int low = int_min(from, to), high = int_max(from, to);
    for (int e = 0; e < c->edge_count; e++)
    {
        if (c->edge[e][0] == low && c->edge[e][1] == high)
        {
            return e;
        }
    }
    WEFT_ASSERT(c->edge_count < POLYHEDRON_EDGES_MAX);
    int* edge = c->edge[c->edge_count];
    edge[0] = low;
    edge[1] = high;
    edge[2] = c->b->vertex_count;
    for (int k = 1; k < c->n; k++)
    {
        double t = (double)k / c->n;
        builder_vertex(c->b, v3_madd(v3_scale(1.0 - t, c->p->corner[low]), t, c->p->corner[high]));
    }
    return c->edge_count++;
}

// The k-th vertex from `from` on the way to `to`, 0 < k < n.
static int cutter_on_edge(cutter* c, int from, int to, int k)
{
    const int* edge = c->edge[cutter_edge(c, from, to)];
    return edge[2] + (from < to ? k : c->n - k) - 1;
}

// Vertex of a face i steps towards its second corner and j towards its third. Inner ones follow `first`, by j, then i.
static int cutter_vertex(cutter* c, const int* face, int first, int i, int j)
{
    int n = c->n;
    if (i + j == 0 || i == n || j == n)
    {
        return face[i == n ? 1 : j == n ? 2 : 0];
    }
    if (j == 0)
    {
        return cutter_on_edge(c, face[0], face[1], i);
    }
    if (i == 0)
    {
        return cutter_on_edge(c, face[0], face[2], j);
    }
    if (i + j == n)
    {
        return cutter_on_edge(c, face[1], face[2], j);
    }
    // Row j has n - 1 - j inner vertices.
    return first + (j - 1) * (n - 1) - j * (j - 1) / 2 + i - 1;
}

static void cutter_face(cutter* c, const int* face)
{
    int n = c->n;
    for (int k = 0; k < 3; k++)
    {
        cutter_edge(c, face[k], face[(k + 1) % 3]); // before the face's own vertices
    }
    int first = c->b->vertex_count;
    const vec3* corner = c->p->corner;
    for (int j = 1; j < n; j++)
    {
        for (int i = 1; i + j < n; i++)
        {
            double s = (double)i / n, t = (double)j / n;
            vec3 x = v3_scale((double)(n - i - j) / n, corner[face[0]]);
            builder_vertex(c->b, v3_madd(v3_madd(x, s, corner[face[1]]), t, corner[face[2]]));
        }
    }
    for (int j = 0; j < n && !c->b->failed; j++)
    {
        for (int i = 0; i + j < n; i++)
        {
            int right = cutter_vertex(c, face, first, i + 1, j), up = cutter_vertex(c, face, first, i, j + 1);
            builder_triangle(c->b, cutter_vertex(c, face, first, i, j), right, up);
            if (i + j < n - 1)
            {
                builder_triangle(c->b, right, cutter_vertex(c, face, first, i + 1, j + 1), up);
            }
        }
    }
}

static void cut_polyhedron(builder* b, const polyhedron* p, int n)
{
    cutter c = {.b = b, .p = p, .n = n};
    for (int k = 0; k < p->corner_count; k++)
    {
        builder_vertex(b, p->corner[k]);
    }
    for (int f = 0; f < p->face_count && !b->failed; f++)
    {
        cutter_face(&c, p->face + 3 * f);
    }
}

static void build_plane(builder* b, const shape_options* o)
{
    vec3 n = v3_normalize(o->axis), u, v;
    across(n, &u, &v);
    vec3 corner[4];
    for (int k = 0; k < 4; k++)
    {
        double s = k == 1 || k == 2 ? 0.5 : -0.5, t = k >= 2 ? 0.5 : -0.5;
        corner[k] = v3_madd(v3_madd(o->center, s * o->size.x, u), t * o->size.x, v);
    }
    static const int face[] = {0, 1, 2, 0, 2, 3};
    cut_polyhedron(b, &(polyhedron){corner, 4, face, 2}, o->segments);
}

static void build_sphere(builder* b, const shape_options* o)
{
    const double g = 1.6180339887498948482; // golden ratio
    const vec3 corner[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                             {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    static const int face[] = {0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                               4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                               6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1};
    cut_polyhedron(b, &(polyhedron){corner, 12, face, 20}, o->segments);
    for (int k = 0; k < b->vertex_count; k++)
    {
        b->position[k] = v3_madd(o->center, o->radius, v3_normalize(b->position[k]));
    }
}

// Corners of a rectangle in x and z at one height, counter-clockwise seen from above.
static void box_ring(const shape_options* o, double half_x, double y, double half_z, vec3* out)
{
    static const double sx[] = {-1, 1, 1, -1}, sz[] = {1, 1, -1, -1};
    for (int k = 0; k < 4; k++)
    {
        vec3 x = v3(sx[k] * half_x, y, sz[k] * half_z);
        out[k] = v3_add(o->center, o->is_turned ? m3_mul_v(o->rotation, x) : x);
    }
}

static void face_pair(int* face, int* count, int a, int b, int c, int d)
{
    const int corners[] = {a, b, c, a, c, d};
    for (int k = 0; k < 6; k++)
    {
        face[(*count)++] = corners[k];
    }
}

// Rings of corners: 0-3 outer bottom, 4-7 outer top; with a hole 8-11 inner bottom, 12-15 inner top.
static void build_box(builder* b, const shape_options* o)
{
    vec3 corner[16];
    int face[3 * 32], used = 0;
    bool hole = o->hole > 0.0;
    double y = 0.5 * o->size.y, half = 0.5 * o->hole;
    box_ring(o, 0.5 * o->size.x, -y, 0.5 * o->size.z, corner);
    box_ring(o, 0.5 * o->size.x, y, 0.5 * o->size.z, corner + 4);
    box_ring(o, half, -y, half, corner + 8);
    box_ring(o, half, y, half, corner + 12);
    for (int k = 0; k < 4; k++)
    {
        int next = (k + 1) % 4;
        face_pair(face, &used, k, next, 4 + next, 4 + k);
        if (hole)
        {
            face_pair(face, &used, 4 + k, 4 + next, 12 + next, 12 + k); // top
            face_pair(face, &used, 8 + k, 8 + next, next, k);           // bottom
            face_pair(face, &used, 12 + k, 12 + next, 8 + next, 8 + k); // towards the hole
        }
    }
    if (!hole)
    {
        face_pair(face, &used, 4, 5, 6, 7);
        face_pair(face, &used, 3, 2, 1, 0);
    }
    cut_polyhedron(b, &(polyhedron){corner, hole ? 16 : 8, face, used / 3}, o->segments);
}

// ---- rings around an axis

typedef struct ring
{
    double radius, height;
    int count; // vertices; 1: a pole
} ring;

typedef struct lathe
{
    builder* b;
    vec3 origin, axis, u, v;
    int first, count; // of the ring below; count 0: none yet
} lathe;

static lathe lathe_start(builder* b, vec3 origin, vec3 axis)
{
    lathe l = {.b = b, .origin = origin, .axis = axis};
    across(axis, &l.u, &l.v);
    return l;
}

// Triangles between two rings, the lower one first on the way around; each next vertex goes to the ring that lags.
static void lathe_stitch(builder* b, int low, int low_count, int high, int high_count)
{
    int i = 0, j = 0;
    int low_steps = low_count > 1 ? low_count : 0, high_steps = high_count > 1 ? high_count : 0;
    while ((i < low_steps || j < high_steps) && !b->failed)
    {
        int at_low = low + i % low_count, at_high = high + j % high_count;
        bool lower =
            j >= high_steps || (i < low_steps && (2 * i + 1) * (int64_t)high_count <= (2 * j + 1) * (int64_t)low_count);
        if (lower)
        {
            builder_triangle(b, at_low, low + (i + 1) % low_count, at_high);
            i++;
        }
        else
        {
            builder_triangle(b, at_low, high + (j + 1) % high_count, at_high);
            j++;
        }
    }
}

static void lathe_ring(lathe* l, double radius, double height, int count)
{
    int first = l->b->vertex_count;
    vec3 middle = v3_madd(l->origin, height, l->axis);
    for (int k = 0; k < count; k++)
    {
        double angle = 2.0 * PI * k / count;
        vec3 out = v3_madd(v3_scale(cos(angle), l->u), sin(angle), l->v);
        builder_vertex(l->b, count > 1 ? v3_madd(middle, radius, out) : middle);
    }
    if (l->count > 0)
    {
        lathe_stitch(l->b, l->first, l->count, first, count);
    }
    l->first = first;
    l->count = count;
}

// Rows of cells about as tall as wide.
static int side_rows(const shape_options* o)
{
    double rows = round(v3_length(v3_sub(o->to, o->from)) / (2.0 * PI * o->radius / o->segments));
    return (int)fmin(fmax(rows, 1.0), (double)ROWS_FACTOR * o->segments);
}

static int cap_rings(const shape_options* o)
{
    return int_max(1, (o->segments + 3) / 6);
}

static int cap_count(const shape_options* o, int ring)
{
    return int_max(3, (int)lround((double)o->segments * ring / cap_rings(o)));
}

static void build_cylinder(builder* b, const shape_options* o)
{
    vec3 along = v3_sub(o->to, o->from);
    double length = v3_length(along);
    lathe l = lathe_start(b, o->from, v3_normalize(along));
    int caps = cap_rings(o), rows = side_rows(o);
    lathe_ring(&l, 0.0, 0.0, 1);
    for (int k = 1; k <= caps; k++)
    {
        lathe_ring(&l, o->radius * k / caps, 0.0, cap_count(o, k));
    }
    for (int k = 1; k <= rows && !b->failed; k++)
    {
        lathe_ring(&l, o->radius, length * k / rows, o->segments);
    }
    for (int k = caps - 1; k >= 1; k--)
    {
        lathe_ring(&l, o->radius * k / caps, length, cap_count(o, k));
    }
    lathe_ring(&l, 0.0, length, 1);
}

static int dome_rings(const shape_options* o)
{
    return int_max(1, (int)lround(0.25 * o->segments));
}

static int dome_count(const shape_options* o, int ring)
{
    return ring == 0 ? o->segments : int_max(3, (int)lround(o->segments * cos(0.5 * PI * ring / dome_rings(o))));
}

static void build_capsule(builder* b, const shape_options* o)
{
    vec3 along = v3_sub(o->to, o->from);
    double length = v3_length(along);
    lathe l = lathe_start(b, o->from, v3_normalize(along));
    int domes = dome_rings(o), rows = side_rows(o);
    lathe_ring(&l, 0.0, -o->radius, 1);
    for (int k = domes - 1; k >= 0; k--)
    {
        double latitude = 0.5 * PI * k / domes;
        lathe_ring(&l, o->radius * cos(latitude), -o->radius * sin(latitude), dome_count(o, k));
    }
    for (int k = 1; k <= rows && !b->failed; k++)
    {
        lathe_ring(&l, o->radius, length * k / rows, o->segments);
    }
    for (int k = 1; k < domes; k++)
    {
        double latitude = 0.5 * PI * k / domes;
        lathe_ring(&l, o->radius * cos(latitude), length + o->radius * sin(latitude), dome_count(o, k));
    }
    lathe_ring(&l, 0.0, length + o->radius, 1);
}

static int tube_segments(const shape_options* o)
{
    return int_max(TUBE_SEGMENTS_MIN, (int)lround(o->segments * o->tube / o->radius));
}

static void build_torus(builder* b, const shape_options* o)
{
    lathe l = lathe_start(b, o->center, v3_normalize(o->axis));
    int rings = tube_segments(o);
    for (int k = 0; k < rings && !b->failed; k++)
    {
        double angle = 2.0 * PI * k / rings;
        lathe_ring(&l, o->radius + o->tube * cos(angle), o->tube * sin(angle), o->segments);
    }
    lathe_stitch(b, l.first, l.count, 0, o->segments);
}

// ---- the table of shapes

typedef struct shape_kind_row
{
    const char* name;
    int segments, segments_min; // default, least
    void (*build)(builder* b, const shape_options* o);
} shape_kind_row;

static const shape_kind_row kinds[SHAPE_KIND_COUNT] = {
    [SHAPE_PLANE] = {"plane", 1, 1, build_plane},
    [SHAPE_SPHERE] = {"sphere", 12, 1, build_sphere},
    [SHAPE_BOX] = {"box", 1, 1, build_box},
    [SHAPE_CYLINDER] = {"cylinder", 48, 3, build_cylinder},
    [SHAPE_CAPSULE] = {"capsule", 48, 4, build_capsule},
    [SHAPE_TORUS] = {"torus", 64, 3, build_torus},
};

const char* shape_name(shape_kind kind)
{
    return kinds[kind].name;
}

int shape_segments_min(shape_kind kind)
{
    return kinds[kind].segments_min;
}

shape_options shape_default(shape_kind kind)
{
    return (shape_options){
        .kind = kind, .axis = {0, 1, 0}, .size = {10.0, 10.0, 10.0}, .segments = kinds[kind].segments};
}

double shape_deviation(const shape_options* o)
{
    double n = o->segments, chord = 1.0 - cos(PI / n), spread = (3.0 - sqrt(5.0)) / n;
    switch (o->kind)
    {
    case SHAPE_SPHERE:
        return o->radius * (1.0 - 1.0 / sqrt(1.0 + spread * spread));
    case SHAPE_CYLINDER:
        return o->radius * chord;
    case SHAPE_CAPSULE:
        return o->radius * fmax(chord, 11.0 / (n * n));
    case SHAPE_TORUS:
        return (o->radius + o->tube) * chord + o->tube * (1.0 - cos(PI / tube_segments(o)));
    default:
        return 0.0;
    }
}

// Of rings with `inner` and more vertices: every ring of c vertices brings c triangles on each side.
static double cap_triangles(const shape_options* o)
{
    double sum = 0.0;
    for (int k = 1; k <= cap_rings(o); k++)
    {
        sum += (k < cap_rings(o) ? 2.0 : 1.0) * cap_count(o, k);
    }
    return sum;
}

static double dome_triangles(const shape_options* o)
{
    double sum = 0.0;
    for (int k = 0; k < dome_rings(o); k++)
    {
        sum += (k > 0 ? 2.0 : 1.0) * dome_count(o, k);
    }
    return sum;
}

double shape_triangle_count(const shape_options* o)
{
    double n = o->segments;
    switch (o->kind)
    {
    case SHAPE_PLANE:
        return 2.0 * n * n;
    case SHAPE_SPHERE:
        return 20.0 * n * n;
    case SHAPE_BOX:
        return (o->hole > 0.0 ? 32.0 : 12.0) * n * n;
    case SHAPE_CYLINDER:
        return 2.0 * n * side_rows(o) + 2.0 * cap_triangles(o);
    case SHAPE_CAPSULE:
        return 2.0 * n * side_rows(o) + 2.0 * dome_triangles(o);
    case SHAPE_TORUS:
        return 2.0 * n * tube_segments(o);
    default:
        return 0.0;
    }
}

// A shape keeps its form as long as rounding moves no vertex by more than a hundredth of the shortest side.
static weft_status shape_check_rounding(const builder* b, weft_error* error)
{
    double moved = 0.0, shortest = HUGE_VAL;
    for (int k = 0; k < b->vertex_count; k++)
    {
        moved = fmax(moved, v3_length(v3_sub(b->position[k], v3_round(b->position[k]))));
    }
    for (int k = 0; k < 3 * b->triangle_count; k++)
    {
        int next = k % 3 < 2 ? k + 1 : k - 2;
        vec3 d = v3_sub(b->position[b->triangle[next]], b->position[b->triangle[k]]);
        shortest = fmin(shortest, v3_length(d));
    }
    return moved <= 0.01 * shortest
               ? WEFT_OK
               : error_set(error, WEFT_BAD_INPUT, NULL, 0,
                           "the shape is too small or too thin for its place: in single precision its vertices move by "
                           "%.2g m where sides are %.2g m long; make it larger, move it towards the origin, or take "
                           "fewer segments",
                           moved, shortest);
}

weft_status mesh_from_shape(const shape_options* o, mesh* out, weft_error* error)
{
    WEFT_ASSERT(o && out && o->kind >= 0 && o->kind < SHAPE_KIND_COUNT && o->segments >= kinds[o->kind].segments_min);
    *out = (mesh){0};
    double triangles = shape_triangle_count(o);
    if (!(triangles <= TRIANGLES_MAX))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "%d segments make %.0f triangles; at most %d are allowed, so take fewer segments", o->segments,
                         triangles, TRIANGLES_MAX);
    }
    builder b = {0};
    kinds[o->kind].build(&b, o);
    weft_status status = b.failed ? mesh_no_memory(out, error) : WEFT_OK;
    WEFT_ASSERT(b.failed || b.triangle_count == (int)triangles);
    if (status == WEFT_OK)
    {
        status = mesh_from_arrays(b.position, b.vertex_count, NULL, b.triangle, b.triangle_count, out, error);
    }
    status = status == WEFT_OK ? shape_check_rounding(&b, error) : status;
    builder_finish(&b);
    if (status == WEFT_OK)
    {
        mesh_round(out);
        status = mesh_split(out, error);
    }
    if (status != WEFT_OK)
    {
        mesh_finish(out);
    }
    return status;
}

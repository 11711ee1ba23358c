// Polygon meshes of an Alembic archive: AbcGeom's PolyMesh and SubD (its cage), each below transforms that may move.
//
//   x(t) = X_1(t) ... X_n(t) P(t),   X = O_1 O_2 ... O_k of the operations of a transform, outermost first
//
// Points and transforms have times of their own; samples of the body are those of whichever has the most. Between
// samples points and matrices are linear. What is left out: velocities, visibility, instances.
#include <math.h>
#include <string.h>

#include "mesh/abc_file.h"
#include "mesh/mesh_inside.h"

enum
{
    DEPTH_MAX = 64, // of objects
    MESHES_MAX = 10000,
    OP_SCALE = 0,
    OP_TRANSLATE,
    OP_ROTATE,
    OP_MATRIX,
    OP_ROTATE_X,
    OP_ROTATE_Y,
    OP_ROTATE_Z
};

// 3 x 4, row by row.
typedef struct place
{
    double m[12];
} place;

static const place unmoved = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

// A transform: its operations, and their numbers at each sample.
typedef struct transform
{
    int parent; // -1: none
    int* op;    // [op_count]
    int op_count;
    abc_property values;
    bool has_values, alone; // alone: what is above it does not count
} transform;

typedef struct part
{
    char name[256];
    int transform; // -1: none
    int first;     // of its vertices
    int vertex_count;
    abc_property points, indices, counts;
    bool has_points, has_indices, has_counts;
} part;

struct abc_body
{
    abc_file* file;
    part* parts; // [part_count]
    int part_count, part_capacity;
    transform* transforms; // [transform_count]
    int transform_count, transform_capacity;
    int vertex_count;
    abc_property leading; // whose samples are the body's
};

// ---- what is in the file

typedef struct finder
{
    abc_body* b;
    const char* object; // wanted, or NULL
    const char* above;  // name of the object that is looked into
    int transform;      // that it hangs on
    int depth;
    bool taken; // what is above has the name
} finder;

typedef struct lookup
{
    const char* name;
    abc_item* out;
    bool found;
} lookup;

static weft_status look(void* context, const abc_item* item)
{
    lookup* l = context;
    if (!l->found && strcmp(item->name, l->name) == 0)
    {
        *l->out = *item;
        l->found = true;
    }
    return WEFT_OK;
}

// A compound of an object, ".geom" or ".xform".
static weft_status compound_of(abc_file* f, uint64_t object, const char* name, uint64_t* out)
{
    abc_item item;
    lookup l = {name, &item, false};
    TRY(abc_each_property(f, object, look, &l));
    *out = l.found && item.is_compound ? item.place : 0;
    return WEFT_OK;
}

static weft_status property_of(abc_file* f, uint64_t compound, const char* name, abc_property* out, bool* found)
{
    abc_item item;
    lookup l = {name, &item, false};
    TRY(abc_each_member(f, compound, look, &l));
    *found = l.found && !item.is_compound && item.property.count > 0;
    *out = *found ? item.property : (abc_property){0};
    return WEFT_OK;
}

static weft_status ops_read(abc_file* f, const abc_property* ops, transform* t)
{
    double* codes = NULL;
    int count = 0;
    TRY(abc_numbers(f, ops, 0, &codes, &count));
    t->op = MEM_NEW(int_max(count, 1), int);
    for (int k = 0; k < count && t->op; k++)
    {
        t->op[k] = codes[k] >= 0.0 && codes[k] < 256.0 ? (int)codes[k] >> 4 : 15;
    }
    t->op_count = count;
    mem_free(codes);
    return t->op ? WEFT_OK : abc_no_memory(f);
}

static weft_status transform_read(finder* in, const abc_item* item, int* out)
{
    abc_body* b = in->b;
    uint64_t compound;
    abc_property ops, inherits;
    bool has_ops, has_inherits;
    if (!mem_grow((void**)&b->transforms, &b->transform_capacity, b->transform_count + 1, sizeof(transform)))
    {
        return abc_no_memory(b->file);
    }
    transform* t = &b->transforms[b->transform_count];
    *t = (transform){.parent = in->transform};
    *out = b->transform_count++;
    TRY(compound_of(b->file, item->place, ".xform", &compound));
    TRY(property_of(b->file, compound, ".ops", &ops, &has_ops));
    TRY(property_of(b->file, compound, ".vals", &t->values, &t->has_values));
    TRY(property_of(b->file, compound, ".inherits", &inherits, &has_inherits));
    if (has_inherits)
    {
        double* truth = NULL;
        int count = 0;
        TRY(abc_numbers(b->file, &inherits, 0, &truth, &count));
        t->alone = count > 0 && truth[0] == 0.0;
        mem_free(truth);
    }
    return has_ops ? ops_read(b->file, &ops, t) : WEFT_OK;
}

static weft_status part_read(finder* in, const abc_item* item)
{
    abc_body* b = in->b;
    uint64_t geom;
    if (b->part_count >= MESHES_MAX || !mem_grow((void**)&b->parts, &b->part_capacity, b->part_count + 1, sizeof(part)))
    {
        return abc_no_memory(b->file);
    }
    part* p = &b->parts[b->part_count];
    *p = (part){.transform = in->transform};
    snprintf(p->name, sizeof(p->name), "%s", item->name);
    TRY(compound_of(b->file, item->place, ".geom", &geom));
    TRY(property_of(b->file, geom, "P", &p->points, &p->has_points));
    TRY(property_of(b->file, geom, ".faceIndices", &p->indices, &p->has_indices));
    TRY(property_of(b->file, geom, ".faceCounts", &p->counts, &p->has_counts));
    if (!p->has_points || !p->has_indices || !p->has_counts)
    {
        return abc_wrong(b->file, "mesh `%.80s` has no %s; export it with its faces", p->name,
                         !p->has_points ? "points" : "faces");
    }
    if (p->indices.last > 0 || p->counts.last > 0)
    {
        return abc_wrong(b->file,
                         "the faces of mesh `%.80s` change from sample to sample, which a body's must not; export it "
                         "with one topology",
                         p->name);
    }
    b->part_count++;
    return WEFT_OK;
}

static weft_status object_visit(void* context, const abc_item* item)
{
    finder* in = context;
    bool named = in->object && strcmp(item->name, in->object) == 0;
    finder next = {in->b, in->object, item->name, in->transform, in->depth + 1, in->taken || named};
    if (in->depth >= DEPTH_MAX)
    {
        return abc_wrong(in->b->file, "objects hang below each other more than %d deep; export the file again",
                         DEPTH_MAX);
    }
    if (strncmp(item->schema, "AbcGeom_Xform_", 14) == 0)
    {
        TRY(transform_read(in, item, &next.transform));
    }
    bool is_mesh =
        strncmp(item->schema, "AbcGeom_PolyMesh_", 17) == 0 || strncmp(item->schema, "AbcGeom_SubD_", 13) == 0;
    TRY(is_mesh && (!in->object || next.taken) ? part_read(in, item) : WEFT_OK);
    return abc_each_object(in->b->file, item->place, object_visit, &next);
}

// ---- times

static void lead(abc_body* b, const abc_property* p)
{
    b->leading = p->count > b->leading.count ? *p : b->leading;
}

static weft_status counts_take(abc_body* b)
{
    for (int k = 0; k < b->part_count; k++)
    {
        part* p = &b->parts[k];
        double* x = NULL;
        int count = 0;
        TRY(abc_numbers(b->file, &p->points, 0, &x, &count));
        mem_free(x);
        if (count % 3 != 0 || count == 0 || b->vertex_count > COUNT_MAX - count / 3)
        {
            return abc_wrong(b->file, "mesh `%.80s` has %d coordinates; export it again", p->name, count);
        }
        p->first = b->vertex_count;
        p->vertex_count = count / 3;
        b->vertex_count += p->vertex_count;
        lead(b, &p->points);
        for (int t = p->transform; t >= 0; t = b->transforms[t].parent)
        {
            b->transforms[t].has_values ? lead(b, &b->transforms[t].values) : (void)0;
        }
    }
    return WEFT_OK;
}

int abc_body_vertex_count(const abc_body* b)
{
    return b->vertex_count;
}

int abc_body_sample_count(const abc_body* b)
{
    return b->leading.count;
}

double abc_body_rate(const abc_body* b)
{
    double step = b->leading.count > 1 && abc_is_even(b->file, &b->leading)
                      ? abc_time(b->file, &b->leading, 1) - abc_time(b->file, &b->leading, 0)
                      : 0.0;
    return step > 0.0 ? 1.0 / step : 0.0;
}

double abc_body_length(const abc_body* b)
{
    return fmax(abc_time(b->file, &b->leading, b->leading.count - 1) - abc_time(b->file, &b->leading, 0), 0.0);
}

// The sample at or before a time, and how far it is on the way to the next.
static int sample_before(const abc_body* b, const abc_property* p, double time, double* share)
{
    int low = 0, high = p->count - 1;
    while (high - low > 1)
    {
        int middle = low + (high - low) / 2;
        bool before = abc_time(b->file, p, middle) <= time;
        low = before ? middle : low;
        high = before ? high : middle;
    }
    double from = abc_time(b->file, p, low), to = abc_time(b->file, p, high);
    *share = high > low && to > from ? fmin(fmax((time - from) / (to - from), 0.0), 1.0) : 0.0;
    // Times that are samples are samples, whatever their last bits.
    bool at_low = *share<1e-6, at_high = *share> 1.0 - 1e-6;
    *share = at_low || at_high ? 0.0 : *share;
    return at_high && !at_low ? high : low;
}

// Numbers of a property at a time; *out is mem_free'd by the caller.
static weft_status numbers_at(abc_body* b, const abc_property* p, double time, double** out, int* count)
{
    double share, *next = NULL;
    int k = sample_before(b, p, time, &share), other = 0;
    TRY(abc_numbers(b->file, p, k, out, count));
    if (share == 0.0)
    {
        return WEFT_OK;
    }
    weft_status status = abc_numbers(b->file, p, k + 1, &next, &other);
    if (status == WEFT_OK && other != *count)
    {
        status = abc_wrong(b->file, "samples %d and %d have %d and %d numbers; export it with one topology", k, k + 1,
                           *count, other);
    }
    for (int i = 0; i < *count && status == WEFT_OK; i++)
    {
        (*out)[i] = (1.0 - share) * (*out)[i] + share * next[i];
    }
    mem_free(next);
    if (status != WEFT_OK)
    {
        mem_free(*out);
        *out = NULL;
    }
    return status;
}

// ---- transforms

static place place_mul(const place* a, const place* b)
{
    place out;
    for (int k = 0; k < 12; k++)
    {
        const double* row = a->m + k / 4 * 4;
        out.m[k] =
            row[0] * b->m[k % 4] + row[1] * b->m[4 + k % 4] + row[2] * b->m[8 + k % 4] + (k % 4 == 3 ? row[3] : 0.0);
    }
    return out;
}

static place turn_of(double x, double y, double z, double degrees)
{
    double length = sqrt(x * x + y * y + z * z), c = cos(degrees * (PI / 180.0)), s = sin(degrees * (PI / 180.0));
    double d = 1.0 - c;
    if (!(length > 0.0))
    {
        return unmoved;
    }
    x /= length, y /= length, z /= length;
    return (place){{c + d * x * x, d * x * y - s * z, d * x * z + s * y, 0, d * x * y + s * z, c + d * y * y,
                    d * y * z - s * x, 0, d * x * z - s * y, d * y * z + s * x, c + d * z * z, 0}};
}

static int op_width(int op)
{
    return op == OP_SCALE || op == OP_TRANSLATE ? 3 : op == OP_ROTATE ? 4 : op == OP_MATRIX ? 16 : 1;
}

static place op_place(int op, const double* v)
{
    place out = unmoved;
    switch (op)
    {
    case OP_SCALE:
        return (place){{v[0], 0, 0, 0, 0, v[1], 0, 0, 0, 0, v[2], 0}};
    case OP_TRANSLATE:
        return (place){{1, 0, 0, v[0], 0, 1, 0, v[1], 0, 0, 1, v[2]}};
    case OP_ROTATE:
        return turn_of(v[0], v[1], v[2], v[3]);
    case OP_MATRIX: // the file has rows of what acts on row vectors
        for (int k = 0; k < 12; k++)
        {
            out.m[k] = v[4 * (k % 4) + k / 4];
        }
        return out;
    default:
        return turn_of(op == OP_ROTATE_X, op == OP_ROTATE_Y, op == OP_ROTATE_Z, v[0]);
    }
}

static weft_status transform_at(abc_body* b, const transform* t, double time, place* out)
{
    *out = unmoved;
    double* v = NULL;
    int count = 0, at = 0;
    TRY(t->has_values ? numbers_at(b, &t->values, time, &v, &count) : WEFT_OK);
    weft_status status = WEFT_OK;
    for (int k = 0; k < t->op_count && status == WEFT_OK; k++)
    {
        int width = op_width(t->op[k]);
        if (t->op[k] > OP_ROTATE_Z || at + width > count)
        {
            status = abc_wrong(b->file,
                               "a transform has an operation that is not known, or too few numbers; export it again");
            break;
        }
        place own = op_place(t->op[k], v + at);
        *out = place_mul(out, &own);
        at += width;
    }
    mem_free(v);
    return status;
}

static weft_status world_at(abc_body* b, int index, double time, place* out)
{
    *out = unmoved;
    for (int t = index; t >= 0; t = b->transforms[t].alone ? -1 : b->transforms[t].parent)
    {
        place own;
        TRY(transform_at(b, &b->transforms[t], time, &own));
        *out = place_mul(&own, out);
    }
    return WEFT_OK;
}

// ---- points and faces

weft_status abc_body_pose(abc_body* b, double time, vec3* out, weft_error* error)
{
    double at = abc_time(b->file, &b->leading, 0) + time;
    abc_report(b->file, error);
    for (int k = 0; k < b->part_count; k++)
    {
        const part* p = &b->parts[k];
        place world;
        double* x = NULL;
        int count = 0;
        TRY(world_at(b, p->transform, at, &world));
        TRY(numbers_at(b, &p->points, at, &x, &count));
        if (count != 3 * p->vertex_count)
        {
            mem_free(x);
            return abc_wrong(b->file, "mesh `%.80s` has %d points at first and %d at %g s; export it with one topology",
                             p->name, p->vertex_count, count / 3, time);
        }
        const double* m = world.m;
        for (int v = 0; v < p->vertex_count; v++)
        {
            const double* q = x + 3 * v;
            out[p->first + v] =
                v3(m[0] * q[0] + m[1] * q[1] + m[2] * q[2] + m[3], m[4] * q[0] + m[5] * q[1] + m[6] * q[2] + m[7],
                   m[8] * q[0] + m[9] * q[1] + m[10] * q[2] + m[11]);
        }
        mem_free(x);
    }
    return WEFT_OK;
}

// Appends the faces of a part; lists grow.
static weft_status faces_take(abc_body* b, int index, int_list* start, int_list* vertex, int_list* object)
{
    const part* p = &b->parts[index];
    double *indices = NULL, *counts = NULL;
    int index_count = 0, count_count = 0, at = 0;
    weft_status status = abc_numbers(b->file, &p->indices, 0, &indices, &index_count);
    status = status == WEFT_OK ? abc_numbers(b->file, &p->counts, 0, &counts, &count_count) : status;
    for (int f = 0; f < count_count && status == WEFT_OK; f++)
    {
        int corners = counts[f] >= 0.0 && counts[f] <= index_count - at ? (int)counts[f] : -1;
        if (corners < 0)
        {
            status =
                abc_wrong(b->file, "face %d of mesh `%.80s` has %g corners; export it again", f, p->name, counts[f]);
        }
        bool room = corners < 3 || (int_list_push(object, index) && int_list_push(start, vertex->count));
        for (int k = corners - 1; k >= 0 && corners >= 3 && status == WEFT_OK; k--) // clockwise in the file
        {
            double v = indices[at + k];
            status = v >= 0.0 && v < p->vertex_count
                         ? WEFT_OK
                         : abc_wrong(b->file, "face %d of mesh `%.80s` names point %g of %d; export it again", f,
                                     p->name, v, p->vertex_count);
            room = room && status == WEFT_OK && int_list_push(vertex, p->first + (int)v);
        }
        status = status == WEFT_OK && !room ? abc_no_memory(b->file) : status;
        at += int_max(corners, 0);
    }
    mem_free(indices);
    mem_free(counts);
    return status;
}

static weft_status mesh_fill(abc_body* b, const char* path, mesh* out)
{
    int_list start = {0}, vertex = {0}, object = {0};
    weft_status status = WEFT_OK;
    for (int k = 0; k < b->part_count && status == WEFT_OK; k++)
    {
        status = faces_take(b, k, &start, &vertex, &object);
    }
    out->face_count = start.count;
    bool room = int_list_push(&start, vertex.count);
    out->face_start = start.item;
    out->face_vertex = vertex.item;
    out->face_object = object.item;
    out->file = mem_strdup(path);
    out->object_name = MEM_NEW(int_max(b->part_count, 1), char*);
    for (int k = 0; k < b->part_count && out->object_name; k++)
    {
        out->object_name[k] = mem_strdup(b->parts[k].name);
        room = room && out->object_name[k];
        out->object_count++;
    }
    room = room && out->object_name && out->file;
    return status != WEFT_OK ? status : !room ? abc_no_memory(b->file) : WEFT_OK;
}

weft_status abc_body_mesh(abc_body* b, const char* path, mesh* out, weft_error* error)
{
    abc_report(b->file, error);
    *out = (mesh){.form = MESH_SHEET, .vertex_count = b->vertex_count};
    out->position = MEM_NEW(b->vertex_count, vec3);
    weft_status status = out->position ? mesh_fill(b, path, out) : abc_no_memory(b->file);
    status = status == WEFT_OK ? abc_body_pose(b, 0.0, out->position, error) : status;
    if (status == WEFT_OK && out->face_count == 0)
    {
        status =
            abc_wrong(b->file, "the meshes have no face, so there is nothing that cloth could touch; export them with "
                               "faces");
    }
    if (status != WEFT_OK)
    {
        mesh_finish(out);
    }
    return status;
}

// ---- the whole

void abc_body_destroy(abc_body* b)
{
    if (!b)
    {
        return;
    }
    for (int k = 0; k < b->transform_count; k++)
    {
        mem_free(b->transforms[k].op);
    }
    abc_close(b->file);
    mem_free(b->parts);
    mem_free(b->transforms);
    mem_free(b);
}

static weft_status body_find(abc_body* b, const char* object, weft_error* error)
{
    finder in = {.b = b, .object = object, .above = "", .transform = -1};
    TRY(abc_each_object(b->file, abc_top(b->file), object_visit, &in));
    if (b->part_count == 0 && object)
    {
        return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no mesh below an object named `%.80s` in the file",
                         object);
    }
    return b->part_count > 0
               ? counts_take(b)
               : abc_wrong(b->file, "the file has no polygon mesh; export the body's mesh, not its curves");
}

weft_status abc_body_open(const char* path, const char* object, abc_body** out, weft_error* error)
{
    *out = NULL;
    abc_body* b = MEM_NEW(1, abc_body);
    weft_status status = b ? abc_open(path, &b->file, error)
                           : error_set(error, WEFT_NO_MEMORY, path, 0, "there is no memory to read the file");
    status = status == WEFT_OK ? body_find(b, object, error) : status;
    if (status != WEFT_OK)
    {
        abc_body_destroy(b);
        return status;
    }
    *out = b;
    return WEFT_OK;
}

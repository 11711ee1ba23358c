// What crossed at the start, and is brought apart while the simulation runs ("initial_contact": "settle").
//
// Vertices that take part are marked, as those that are squeezed are (squeeze.c): until they are apart, collisions of
// their edges and faces with the body that they crossed do not count. What is different is that a mark knows the way
// out. It becomes a row of its own (contact_row.settles), whose distance is negative where the vertex is on the wrong
// side, so that every method brings it back as it brings out what has come too close:
//
//   MARK_INSIDE  of an obstacle with an inside, by its winding number: to the nearest point of its surface, of those
//                that lie ahead of the cloth's own outer side where that is known, or a sleeve would leave an arm on
//                both sides;
//   MARK_BEHIND  where an arm has gone through the wall of a sleeve instead of its end, what lies between the hole and
//   the
//                border: along its own outer side through the arm. Its mark stays until it has come out there;
//   MARK_SIDED   to one side of a surface, cloth or an open obstacle, along its normals;
//   MARK_FREE    where nobody knows a side, the curve of intersection is shortened: an edge E that pierces a face with
//                the normal N, from where the curve runs along R in each triangle at the edge, moves against the face
//                along the sum of R - 2 (E.R)/(E.N) N (Volino and Magnenat-Thalmann 2006, section 3).
//
// A vertex that has come to its side is no more let through faces; a triangle may still cross, over a nose or a finger
// finer than the cloth: then its vertices are lifted, the farther the longer it lasts. What crosses no more and is on
// its side is as anything else. So the vertices on a wrong side become fewer, and never more.
#include <stdlib.h>
#include <string.h>

#include "contact/find.h"

enum
{
    SOLID_FRESH = 1,
    SURFACE_FRESH = 2,
    LISTED = 4
};

static const double winding_inside = 0.75; // as in squeeze_list.c
static const double speed = 0.5;           // m/s, of what is brought apart
static const double detour = 4.0;          // by which a way out ahead may be longer than the shortest
static const double lift_time = 0.2;       // s, in which a lift grows to an edge
// Over h^2, of cushions, beside the mass of their pairs: less is not heard beside the membrane of the cloth, more tears
// at it. Curves have to move cloth along itself.
static const double stiff = 1e3, stiff_free = 1e4;
static const double steep_least = 0.1; // cosine of an edge and the normal of what it pierces

static bool unsettled_is(const mark_list* marks)
{
    for (int k = 0; k < marks->count; k++)
    {
        if (marks->item[k].kind != MARK_SQUEEZED)
        {
            return true;
        }
    }
    return false;
}

// The kind by which the pair's vertices, of the edge or of the face, hold it; -1: they do not.
static int held_as(const contact* c, const int* own, int count, int body)
{
    int kind = -1;
    for (int k = 0; k < count; k++)
    {
        const squeeze_mark* mark = c->marked[own[k]] ? marks_find(&c->marks, own[k], body) : NULL;
        if (mark && mark->kind != MARK_SQUEEZED)
        {
            kind = kind < 0 ? mark->kind : int_min(kind, mark->kind);
        }
    }
    return kind;
}

static int pair_kind(const contact* c, const squeezed_pair* p)
{
    int first = held_as(c, p->edge, 2, c->body[p->face[0]]), second = held_as(c, p->face, 3, c->body[p->edge[0]]);
    return first < 0 ? second : second < 0 ? first : int_min(first, second);
}

bool unsettled_holds(const contact* c, const squeezed_pair* pair)
{
    return pair_kind(c, pair) >= 0;
}

// ---- surfaces

static weft_status surface_of(contact* c, int body, const vec3* x, const triangle_tree** out)
{
    squeeze_lists* l = &c->lists;
    triangle_tree* t = &l->surface[body];
    *out = t;
    if (l->fresh[body] & SURFACE_FRESH)
    {
        return WEFT_OK;
    }
    int first = l->body_face[body], count = l->body_face[body + 1] - first;
    if (t->item)
    {
        triangle_tree_refit(t, x);
    }
    else
    {
        int* faces = MEM_NEW(int_max(count, 1), int);
        for (int k = 0; k < count && faces; k++)
        {
            faces[k] = first + k;
        }
        weft_status status =
            faces ? triangle_tree_create(t, c->collider->corner[FEATURE_FACE], faces, count, x) : WEFT_NO_MEMORY;
        mem_free(faces);
        TRY(status);
    }
    l->fresh[body] |= SURFACE_FRESH;
    return WEFT_OK;
}

static weft_status solid_of(contact* c, int body, const vec3* x, winding_tree** out)
{
    squeeze_lists* l = &c->lists;
    winding_tree* t = *out = &l->solid[body];
    if (!(l->fresh[body] & SOLID_FRESH))
    {
        const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)l->body_face[body];
        TRY(t->node ? WEFT_OK : winding_create(t, corner, l->body_face[body + 1] - l->body_face[body], x));
        winding_update(t, x);
        l->fresh[body] |= SOLID_FRESH;
    }
    return WEFT_OK;
}

static vec3 face_normal(const contact* c, const vec3* x, int face)
{
    const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
    return v3_cross(v3_sub(x[v[1]], x[v[0]]), v3_sub(x[v[2]], x[v[0]]));
}

static vec3 vertex_normal(const contact* c, const vec3* x, int vertex)
{
    vec3 sum = v3(0, 0, 0);
    for (int k = c->fan->start[vertex]; k < c->fan->start[vertex + 1]; k++)
    {
        sum = v3_add(sum, face_normal(c, x, c->fan->feature[k]));
    }
    return v3_normalize(sum);
}

int unsettled_side(const contact* c, const int v[4])
{
    const vec3* x = c->start;
    vec3 out = v3_cross(v3_sub(x[v[2]], x[v[1]]), v3_sub(x[v[3]], x[v[1]]));
    double along = v3_dot(out, v3_sub(x[v[0]], x[v[1]])) * v3_dot(out, vertex_normal(c, x, v[0]));
    return (along > 0.0) - (along < 0.0);
}

// ---- where a vertex stands

typedef struct stand
{
    bool wrong; // it has to pass the surface
    surface_point at;
    vec3 normal;   // unit, towards its side
    double height; // m, along the normal from the nearest point; negative: on the wrong side
} stand;

// How far it keeps from the body.
static double keeps(const contact* c, const squeeze_mark* mark)
{
    int other = c->collider->corner[FEATURE_FACE][3 * (size_t)c->lists.body_face[mark->body]];
    double own = c->thickness[mark->vertex], its = c->thickness[other];
    return other < c->cloth_count ? 0.5 * (own + its) : its;
}

static weft_status stand_inside(contact* c, const squeeze_mark* mark, const vec3* x, const triangle_tree* tree,
                                stand* out)
{
    vec3 p = x[mark->vertex];
    winding_tree* solid;
    TRY(solid_of(c, mark->body, x, &solid));
    out->wrong = winding_exceeds(solid, p, winding_inside);
    out->at = triangle_tree_nearest(tree, x, p, INFINITY);
    if (out->wrong && mark->side != 0)
    {
        vec3 ahead = v3_scale(mark->side, vertex_normal(c, x, mark->vertex));
        surface_point own = triangle_tree_nearest_ahead(tree, x, p, ahead, detour * out->at.distance + keeps(c, mark));
        out->at = own.triangle >= 0 ? own : out->at;
    }
    vec3 way = out->wrong ? v3_sub(out->at.point, p) : v3_sub(p, out->at.point);
    bool thin = !(out->at.distance > 1e-9);
    out->normal = v3_normalize(thin ? face_normal(c, x, out->at.triangle) : way);
    out->height = out->wrong ? -out->at.distance : out->at.distance;
    return WEFT_OK;
}

// The normals of the vertices around, too: what is drawn through a body crumples.
static vec3 smooth_normal(const contact* c, const vec3* x, int vertex)
{
    vec3 sum = v3(0, 0, 0);
    for (int k = 3 * c->fan->start[vertex]; k < 3 * c->fan->start[vertex + 1]; k++)
    {
        sum = v3_add(sum, vertex_normal(c, x, (c->collider->corner[FEATURE_FACE] + 3 * (size_t)c->fan->feature[k / 3])[k % 3]));
    }
    return v3_normalize(sum);
}

static void stand_ahead(const vec3* x, const triangle_tree* tree, vec3 p, vec3 own, double way, stand* out)
{
    out->wrong = true;
    out->normal = own;
    out->height = -way;
    out->at = triangle_tree_nearest(tree, x, v3_madd(p, way, own), INFINITY);
}

// Where its own normal leaves the body; as anything else where it does not meet it or has left it.
static weft_status stand_behind(contact* c, const squeeze_mark* mark, const vec3* x, const triangle_tree* tree,
                                stand* out)
{
    vec3 p = x[mark->vertex], own = v3_scale(mark->side, smooth_normal(c, x, mark->vertex));
    TRY(stand_inside(c, mark, x, tree, out));
    bool ahead = out->wrong || v3_dot(out->normal, own) < 0.0;
    double way = ahead ? triangle_tree_exit(tree, x, p, own) : INFINITY;
    if (way < UNSETTLED_THROUGH)
    {
        stand_ahead(x, tree, p, own, way, out);
    }
    return WEFT_OK;
}

// Over the surface, not beside it: at its border nothing has sides.
static void stand_sided(const contact* c, const squeeze_mark* mark, const vec3* x, const triangle_tree* tree,
                        stand* out)
{
    vec3 p = x[mark->vertex], sum = v3(0, 0, 0);
    out->at = triangle_tree_nearest(tree, x, p, INFINITY);
    const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)out->at.triangle;
    for (int k = 0; k < 3; k++)
    {
        sum = v3_madd(sum, out->at.weight[k], vertex_normal(c, x, corner[k]));
    }
    out->normal = v3_scale(mark->side, v3_normalize(sum));
    vec3 from = v3_sub(p, out->at.point);
    out->height = v3_dot(from, out->normal);
    double beside = v3_length(v3_madd(from, -out->height, out->normal));
    out->wrong = out->height < 0.0 && beside <= fmax(-out->height, keeps(c, mark));
}

// False: there is nothing to stand on, or nobody knows the side.
static weft_status stand_of(contact* c, const squeeze_mark* mark, const vec3* x, stand* out, bool* known)
{
    const squeeze_lists* l = &c->lists;
    *out = (stand){0};
    *known = (mark->kind == MARK_INSIDE || mark->kind == MARK_SIDED || mark->kind == MARK_BEHIND) &&
             mark->body < l->body_count && l->body_face[mark->body] < l->body_face[mark->body + 1];
    if (!*known)
    {
        return WEFT_OK;
    }
    const triangle_tree* tree;
    TRY(surface_of(c, mark->body, x, &tree));
    if (mark->kind != MARK_SIDED)
    {
        return mark->kind == MARK_BEHIND ? stand_behind(c, mark, x, tree, out) : stand_inside(c, mark, x, tree, out);
    }
    stand_sided(c, mark, x, tree, out);
    return WEFT_OK;
}

// ---- rows

static weft_status add_row(contact* c, int vertex, int face, const contact_row* made)
{
    contact_row row = *made;
    row.kind = WEFT_VERTEX_FACE;
    row.pair = (weft_pair){vertex, face};
    row.settles = true;
    row.vertex[0] = vertex;
    memcpy(row.vertex + 1, c->collider->corner[FEATURE_FACE] + 3 * (size_t)face, 3 * sizeof(int));
    if (!mem_grow(&c->rows.item, &c->rows.capacity, c->rows.count + 1, sizeof(contact_row)))
    {
        return WEFT_NO_MEMORY;
    }
    ((contact_row*)c->rows.item)[c->rows.count++] = row;
    return WEFT_OK;
}

static weft_status add_stand(contact* c, const squeeze_mark* mark, const stand* s)
{
    double thickness = keeps(c, mark) + mark->lift;
    if (s->height > CONTACT_REACH * thickness || (s->height < 0.0 && !s->wrong))
    {
        return WEFT_OK;
    }
    contact_row row = {.normal = s->normal, .distance = s->height, .thickness = thickness};
    row.weight[0] = 1.0;
    for (int k = 0; k < 3; k++)
    {
        row.weight[k + 1] = -s->at.weight[k];
    }
    return add_row(c, mark->vertex, s->at.triangle, &row);
}

static weft_status add_mark(contact* c, const squeeze_mark* mark)
{
    stand s;
    bool known;
    TRY(stand_of(c, mark, c->start, &s, &known));
    return known ? add_stand(c, mark, &s) : WEFT_OK;
}

static bool is_inside(const contact* c, const squeeze_mark* mark)
{
    return mark->kind == MARK_SQUEEZED && mark->through && c->record[mark->vertex] < 0 && squeeze_is_obstacle(c, mark->body);
}

// What was squeezed, and is inside of the body that was let through: out where it came from, as far as the cloth's normals
// know, or by the shortest way, once that leads out of the body: an armpit that is closed has no way out, nor has what
// pins hold. Without it a forearm that had pressed a skirt on a thigh carried the fold that it went through along, to the
// end of the walk.
static weft_status add_inside(contact* c, const squeeze_mark* mark)
{
    const triangle_tree* tree;
    stand s = {0};
    if (!is_inside(c, mark))
    {
        return WEFT_OK;
    }
    squeeze_mark shortest = {.vertex = mark->vertex, .body = mark->body};
    TRY(surface_of(c, mark->body, c->start, &tree));
    TRY(stand_inside(c, &shortest, c->start, tree, &s));
    if (!s.wrong)
    {
        return WEFT_OK;
    }
    vec3 p = c->start[mark->vertex], own = v3_scale(mark->side, smooth_normal(c, c->start, mark->vertex));
    double way = mark->side != 0 ? triangle_tree_exit(tree, c->start, p, own) : INFINITY;
    if (way < detour * s.at.distance + keeps(c, mark))
    {
        stand_ahead(c->start, tree, p, own, way, &s);
    }
    winding_tree* solid;
    TRY(solid_of(c, mark->body, c->start, &solid));
    vec3 beyond = v3_madd(p, 0.5 * keeps(c, mark) - s.height, s.normal);
    return winding_exceeds(solid, beyond, winding_inside) ? WEFT_OK : add_stand(c, mark, &s);
}

// ---- curves that get shorter

// Where the edge pierces the plane of the face: its share of the way, and weights of the corners.
static bool pierce(const vec3* x, const squeezed_pair* p, vec3 normal, double* along, double weight[3])
{
    vec3 a = x[p->face[0]], u = v3_sub(x[p->face[1]], a), v = v3_sub(x[p->face[2]], a);
    double from = v3_dot(v3_sub(x[p->edge[0]], a), normal), to = v3_dot(v3_sub(x[p->edge[1]], a), normal);
    double area = v3_dot(normal, normal);
    if (from == to || !(area > 0.0))
    {
        return false;
    }
    *along = fmin(fmax(from / (from - to), 0.0), 1.0);
    vec3 at = v3_sub(v3_madd(x[p->edge[0]], *along, v3_sub(x[p->edge[1]], x[p->edge[0]])), a);
    weight[1] = fmin(fmax(v3_dot(v3_cross(at, v), normal) / area, 0.0), 1.0);
    weight[2] = fmin(fmax(v3_dot(v3_cross(u, at), normal) / area, 0.0), 1.0);
    weight[0] = 1.0 - weight[1] - weight[2];
    return true;
}

// How the edge moves against a face with the unit normal n, so that the curve in both of its triangles gets shorter.
static vec3 shortening(const contact* c, const vec3* x, const squeezed_pair* p, vec3 n)
{
    vec3 edge = v3_normalize(v3_sub(x[p->edge[1]], x[p->edge[0]])), sum = v3(0, 0, 0);
    double steep = v3_dot(edge, n);
    steep = fabs(steep) < steep_least ? copysign(steep_least, steep) : steep;
    for (int k = c->fan->start[p->edge[0]]; k < c->fan->start[p->edge[0] + 1]; k++)
    {
        const int* v = c->collider->corner[FEATURE_FACE] + 3 * (size_t)c->fan->feature[k];
        if (v[0] != p->edge[1] && v[1] != p->edge[1] && v[2] != p->edge[1])
        {
            continue;
        }
        int third = v[0] + v[1] + v[2] - p->edge[0] - p->edge[1];
        vec3 inward = across(v3_sub(x[third], x[p->edge[0]]), edge);
        vec3 run = v3_normalize(v3_cross(n, face_normal(c, x, c->fan->feature[k])));
        run = v3_dot(run, inward) < 0.0 ? v3_scale(-1.0, run) : run;
        sum = v3_add(sum, v3_madd(run, -2.0 * v3_dot(edge, run) / steep, n));
    }
    return sum;
}

static int face_of(const contact* c, const int v[3])
{
    for (int k = c->fan->start[v[0]]; k < c->fan->start[v[0] + 1]; k++)
    {
        if (memcmp(c->collider->corner[FEATURE_FACE] + 3 * (size_t)c->fan->feature[k], v, 3 * sizeof(int)) == 0)
        {
            return c->fan->feature[k];
        }
    }
    return -1;
}

// Either end of the edge moves by its share against the face.
static weft_status add_piercing(contact* c, const squeezed_pair* p)
{
    const vec3* x = c->start;
    int face = face_of(c, p->face);
    vec3 normal = face >= 0 ? face_normal(c, x, face) : v3(0, 0, 0);
    double along, weight[3];
    if (!pierce(x, p, normal, &along, weight))
    {
        return WEFT_OK;
    }
    vec3 way = shortening(c, x, p, v3_normalize(normal));
    double size = v3_length(way);
    for (int k = 0; k < 2 && size > 1e-3; k++)
    {
        int vertex = p->edge[k];
        if (vertex == p->face[0] || vertex == p->face[1] || vertex == p->face[2])
        {
            continue;
        }
        contact_row row = {
            .normal = v3_scale(1.0 / size, way), .weight = {1.0, -weight[0], -weight[1], -weight[2]}, .curve = true};
        vec3 sum = x[vertex];
        for (int j = 0; j < 3; j++)
        {
            sum = v3_madd(sum, -weight[j], x[p->face[j]]);
        }
        row.distance = v3_dot(row.normal, sum);
        row.thickness = row.distance + fmin(size, 1.0) * (k == 0 ? 1.0 - along : along) * c->edge;
        TRY(add_row(c, vertex, face, &row));
    }
    return WEFT_OK;
}

static weft_status add_curves(contact* c)
{
    squeezed_pair* last = c->squeezed;
    int count = c->squeezed_count, capacity = c->squeezed_capacity;
    c->squeezed = c->pierced;
    c->squeezed_capacity = c->pierced_capacity;
    weft_status status = squeeze_list_crossings(c, c->start);
    c->pierced = c->squeezed;
    c->pierced_capacity = c->squeezed_capacity;
    int pierced = c->squeezed_count;
    c->squeezed = last;
    c->squeezed_count = count;
    c->squeezed_capacity = capacity;
    for (int k = 0; k < pierced && status == WEFT_OK; k++)
    {
        status = pair_kind(c, &c->pierced[k]) == MARK_FREE ? add_piercing(c, &c->pierced[k]) : WEFT_OK;
    }
    return status;
}

// ---- all rows

// In the order of near pairs; of one pair that which settles comes first.
static int compare_rows(const void* left, const void* right)
{
    const contact_row *a = left, *b = right;
    const int x[] = {a->kind, a->pair.first, a->pair.second, !a->settles};
    const int y[] = {b->kind, b->pair.first, b->pair.second, !b->settles};
    for (int k = 0; k < 4; k++)
    {
        if (x[k] != y[k])
        {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    // Several edges pierce one face at a vertex: the longest way, and then any order that is always the same.
    double more = (b->thickness - b->distance) - (a->thickness - a->distance);
    return more < 0.0 ? -1 : more > 0.0 ? 1 : memcmp(&a->normal, &b->normal, sizeof(vec3));
}

static void sort_rows(contact* c)
{
    contact_row* rows = c->rows.item;
    int kept = 0;
    if (c->rows.count > 1)
    {
        qsort(rows, (size_t)c->rows.count, sizeof(contact_row), compare_rows);
    }
    for (int k = 0; k < c->rows.count; k++)
    {
        bool copy = kept > 0 && rows[k].kind == rows[kept - 1].kind &&
                    rows[k].pair.first == rows[kept - 1].pair.first &&
                    rows[k].pair.second == rows[kept - 1].pair.second;
        if (!copy)
        {
            rows[kept++] = rows[k];
        }
    }
    c->rows.count = kept;
}

weft_status unsettled_rows(contact* c)
{
    c->unsettled = c->draws = unsettled_is(&c->marks);
    if (c->marks.count == 0)
    {
        return WEFT_OK;
    }
    TRY(squeeze_prepare(c));
    memset(c->lists.fresh, 0, (size_t)c->lists.body_count);
    bool any_free = false;
    for (int k = 0; k < c->marks.count; k++)
    {
        c->draws = c->draws || is_inside(c, &c->marks.item[k]);
        TRY(add_inside(c, &c->marks.item[k]));
    }
    for (int k = 0; k < c->marks.count; k++)
    {
        any_free = any_free || c->marks.item[k].kind == MARK_FREE;
        TRY(add_mark(c, &c->marks.item[k]));
    }
    TRY(any_free ? add_curves(c) : WEFT_OK);
    sort_rows(c);
    return WEFT_OK;
}

// The least that its vertices of cloth leave it.
double unsettled_share(const contact* c, const contact_row* row)
{
    double share = 1.0;
    for (int k = 0; k < 4 && c->now.yielding; k++)
    {
        int i = row->vertex[k];
        share = i < c->cloth_count && row->weight[k] != 0.0 ? fmin(share, c->now.yielding[i]) : share;
    }
    return share;
}

// As far as it may come in the substep, against whatever cloth does: the force follows the mass, as of other cushions.
void unsettled_push(const contact* c, const contact_row* row, cushion* s)
{
    double h = c->now.h;
    s->overlap = fmin(row->thickness - row->distance, speed * h);
    s->stiffness = unsettled_share(c, row) * (row->curve ? stiff_free : stiff) / (h * h) / s->inv_mass;
    s->pressed = s->stiffness * fmax(s->overlap, 0.0);
}

// ---- what stays

// A vertex that is on the wrong side and has nothing around it that crosses: of each cloth and body one is listed, with
// an edge at it and the face that it has to pass, so that a list without pairs says that all has settled.
static weft_status list_alone(contact* c, const squeeze_mark* mark, const stand* s)
{
    const int* edge = c->collider->corner[FEATURE_EDGE] + 2 * (size_t)c->lists.first_edge[mark->vertex];
    const int* face = c->collider->corner[FEATURE_FACE] + 3 * (size_t)s->at.triangle;
    squeezed_pair pair = {{edge[0], edge[1]}, {face[0], face[1], face[2]}, 1};
    return squeezed_pairs_add(&c->squeezed, &c->squeezed_count, &c->squeezed_capacity, &pair);
}

static void listed_clear(contact* c)
{
    for (int body = 0; body < c->lists.body_count; body++)
    {
        c->lists.fresh[body] &= (uint8_t)~LISTED;
    }
}

weft_status unsettled_keep(contact* c)
{
    int home = -1;
    if (!c->unsettled)
    {
        return WEFT_OK;
    }
    memset(c->lists.fresh, 0, (size_t)c->lists.body_count);
    for (int k = 0; k < c->marks.count; k++)
    {
        squeeze_mark* old = &c->marks.item[k];
        squeeze_mark* next = old->kind != MARK_SQUEEZED ? marks_find(&c->crossed, old->vertex, old->body) : NULL;
        stand s;
        bool known;
        TRY(stand_of(c, old, c->end, &s, &known));
        if (next && known)
        {
            next->through = s.wrong;
            next->lift = s.wrong ? old->lift : fmin(old->lift + c->now.h / lift_time * c->edge, c->edge);
        }
        old->stays = !next && known && s.wrong;
        if (c->body[old->vertex] != home) // marks are sorted by vertex, and so by the body that it is of
        {
            home = c->body[old->vertex];
            listed_clear(c);
        }
        if (old->stays && !(c->lists.fresh[old->body] & LISTED))
        {
            c->lists.fresh[old->body] |= LISTED;
            TRY(list_alone(c, old, &s));
        }
    }
    return WEFT_OK;
}

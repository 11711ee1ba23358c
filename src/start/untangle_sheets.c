// One round for crossings of open surfaces: cloth with cloth, with itself, with obstacles that are not closed.
//
// Cutting all edges that contours pierce (untangle_contours.c) leaves pieces of cloth. A curve that separates a piece
// says what is on the wrong side: the smallest piece next to the contour, by area, without pins. Its vertices go along
// the normal to the side from which the contour came. So a corner that pokes through is drawn back, and of two sheets
// that cross wholly the smaller part changes sides.
//
// A contour whose curves separate nothing ends at borders of both surfaces, and is prolonged. What is not separated by
// that either, and what pierces cloth from a closed obstacle, is shortened by the gradient of its length
// (Volino and Magnenat-Thalmann 2006, section 3): an edge e with unit direction E that pierces a face with normal N,
// from where the contour runs along R in the edge's triangle, moves against the face along R - 2 (E.R)/(E.N) N.
//
// Triangles in one plane have no contour: one of them is shifted along the normal.
#include <string.h>

#include "start/untangle_sheets.h"

// ---- a piece that changes sides

typedef struct choice
{
    int piece;   // -1: none
    int curve;   // 0 or 1: that which separates it
    int body;    // that it passes
    double side; // of that body's normals it is to be on: 1 or -1
    vec3 lean;   // along the surface, for each metre of depth: how a flap turns about the contour onto the surface
} choice;

static bool contour_is_solid(const sheets* s, int contour)
{
    const crossing* c = &s->pairs[s->piercings[s->by_contour[s->contour_start[contour]]].pair];
    return s->t->solid[s->t->body_of[c->triangle[1]]];
}

static choice choose_piece(sheets* s, int contour)
{
    choice best = {.piece = -1};
    double least = contour_is_solid(s, contour) ? 0.0 : INFINITY;
    for (int pass = 0; pass < 2; pass++)
    {
        for (int k = s->contour_start[contour]; k < s->contour_start[contour + 1]; k++)
        {
            const piercing* p = &s->piercings[s->by_contour[k]];
            int curve = piercing_curve(s, p);
            for (int end = 0; end < 2 && p->edge[1] < s->t->cloth_count; end++)
            {
                int piece = s->piece[p->edge[end]];
                int* spoiled = &s->spoiled[2 * (size_t)piece + (size_t)curve];
                if (pass == 0)
                {
                    *spoiled = piece == s->piece[p->edge[1 - end]] ? contour + 1 : *spoiled;
                }
                else if (*spoiled != contour + 1 && s->area[piece] < least)
                {
                    least = s->area[piece];
                    best = (choice){.piece = piece, .curve = curve, .body = s->t->body_of[p->face]};
                }
            }
        }
    }
    return best;
}

// What the contour's curve says of the piece: sums over its pierced edges, from outside the piece to inside.
typedef struct approach
{
    double up;       // edges that leave along the normal, less those against it
    vec3 normal, in; // means, not normalised
    vec3 along;      // from the first piercing to the one farthest from it
    bool open;       // the contour ends at a border
} approach;

static approach find_approach(const sheets* s, int contour, const choice* c)
{
    const tangle* t = s->t;
    approach sum = {0};
    int begin = s->contour_start[contour];
    for (int k = begin; k < s->contour_start[contour + 1]; k++)
    {
        const piercing* p = &s->piercings[s->by_contour[k]];
        vec3 along = v3_sub(p->at, s->piercings[s->by_contour[begin]].at);
        sum.along = v3_dot(along, along) > v3_dot(sum.along, sum.along) ? along : sum.along;
        sum.open = sum.open || t->mate[p->side] < 0;
        int inside = p->edge[1] >= t->cloth_count || piercing_curve(s, p) != c->curve ? -1
                     : s->piece[p->edge[0]] == c->piece                               ? 0
                     : s->piece[p->edge[1]] == c->piece                               ? 1
                                                                                      : -1;
        if (inside >= 0)
        {
            vec3 n = v3_normalize(tangle_face_normal(t, p->face));
            vec3 in = v3_normalize(v3_sub(t->x[p->edge[inside]], t->x[p->edge[1 - inside]]));
            sum.up += v3_dot(n, in) < 0.0 ? 1.0 : -1.0;
            sum.normal = v3_add(sum.normal, n);
            sum.in = v3_add(sum.in, in);
        }
    }
    return sum;
}

// A flap behind an open contour turns onto the surface: a point at the distance r behind the contour, h = r sin(a)
// below the surface, comes up by h and goes ahead by r (1 - cos(a)) = h tan(a/2). Pokes through closed contours only
// come up.
static void find_way(const sheets* s, int contour, choice* c)
{
    approach a = find_approach(s, contour, c);
    c->side = a.up >= 0.0 ? 1.0 : -1.0;
    if (!a.open)
    {
        return;
    }
    // In the plane across the contour; edges on the slant cancel there or not, as the mesh will have it.
    vec3 n = v3_normalize(a.normal), axis = v3_normalize(v3_madd(a.along, -v3_dot(a.along, n), n));
    vec3 in = v3_normalize(v3_madd(a.in, -v3_dot(a.in, axis), axis));
    double steep = fabs(v3_dot(n, in));
    vec3 ahead = v3_madd(in, -v3_dot(n, in), n), across = v3_cross(n, axis);
    double flat = v3_length(ahead);
    bool upright = flat < 0.1;
    c->lean = v3_scale(steep / (1.0 + flat), v3_normalize(upright ? across : ahead));
}

// How high a vertex is over a surface, on the side that it is to be on; false: it may not move, or is beside the
// surface rather than over it, or high enough.
typedef struct stand
{
    vec3 normal; // unit, to that side
    double height, gap;
} stand;

static bool is_to_pass(const tangle* t, int vertex, const triangle_tree* tree, const choice* c, stand* out)
{
    surface_point n = triangle_tree_nearest(tree, t->x, t->x[vertex], INFINITY);
    if (n.triangle < 0 || t->held[vertex] || tangle_excluded(t, vertex, c->body))
    {
        return false;
    }
    const int* corner = t->triangle + 3 * (size_t)n.triangle;
    vec3 normal = v3(0, 0, 0), from = v3_sub(t->x[vertex], n.point);
    for (int k = 0; k < 3; k++)
    {
        normal = v3_madd(normal, n.weight[k], t->normal[corner[k]]);
    }
    out->normal = v3_scale(c->side, v3_normalize(normal));
    out->height = v3_dot(from, out->normal);
    out->gap = tangle_gap(t, vertex, c->body);
    double beside = v3_length(v3_madd(from, -out->height, out->normal));
    return out->height < 0.99 * out->gap && beside <= fmax(fabs(out->height), out->gap);
}

// Where a vertex of the piece goes: along the normal.
static bool change_side(sheets* s, int vertex, const triangle_tree* tree, const choice* c)
{
    stand at;
    bool goes = is_to_pass(s->t, vertex, tree, c, &at);
    if (goes)
    {
        vec3 lean = v3_madd(c->lean, -v3_dot(c->lean, at.normal), at.normal);
        tangle_push(s->t, vertex, v3_madd(v3_scale(at.gap - at.height, at.normal), fmax(0.0, -at.height), lean));
    }
    return goes;
}

// Of the body that the piece is itself part of, what is nearer to the other curve than to its own.
static weft_status nearer_part(sheets* s, int contour, const choice* c, int** items, int* item_count)
{
    const tangle* t = s->t;
    int count = 0, begin = 0;
    memset(s->ring, 0, (size_t)t->cloth_count * sizeof(int));
    for (int k = s->contour_start[contour]; k < s->contour_start[contour + 1]; k++)
    {
        const piercing* p = &s->piercings[s->by_contour[k]];
        bool own = piercing_curve(s, p) == c->curve;
        for (int j = 0; j < (own ? 5 : 2); j++)
        {
            // Ends of pierced edges of either curve; corners of the faces that the own curve pierces are the other's.
            int v = j < 2 ? p->edge[j] : t->triangle[3 * (size_t)p->face + (size_t)(j - 2)];
            int mark = own && j < 2 ? 1 : 2;
            if (v < t->cloth_count && s->piece[v] != c->piece && s->ring[v] == 0)
            {
                s->ring[v] = mark;
                s->queue[count++] = v;
            }
        }
    }
    for (; begin < count; begin++)
    {
        int v = s->queue[begin];
        for (int k = t->near_start[v]; k < t->near_start[v + 1]; k++)
        {
            if (s->ring[t->near[k]] == 0 && s->piece[t->near[k]] != c->piece)
            {
                s->ring[t->near[k]] = s->ring[v];
                s->queue[count++] = t->near[k];
            }
        }
    }
    int first = t->first_triangle[c->body], last = t->first_triangle[c->body + 1];
    *items = MEM_NEW(last - first, int);
    *item_count = 0;
    for (int k = first; k < last && *items; k++)
    {
        const int* v = t->triangle + 3 * (size_t)k;
        if (s->ring[v[0]] == 2 && s->ring[v[1]] == 2 && s->ring[v[2]] == 2)
        {
            (*items)[(*item_count)++] = k;
        }
    }
    return *items ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status push_from_itself(sheets* s, int contour, const choice* c, bool* moved)
{
    int *items = NULL, count = 0;
    triangle_tree tree = {0};
    weft_status status = nearer_part(s, contour, c, &items, &count);
    status = status == WEFT_OK ? triangle_tree_create(&tree, s->t->triangle, items, count, s->t->x) : status;
    for (int k = s->piece_start[c->piece]; k < s->piece_start[c->piece + 1] && status == WEFT_OK; k++)
    {
        *moved |= change_side(s, s->piece_vertex[k], &tree, c);
    }
    triangle_tree_finish(&tree);
    mem_free(items);
    return status;
}

static weft_status push_piece(sheets* s, int contour, const choice* c, bool* moved)
{
    if (c->body == s->t->home[s->piece_vertex[s->piece_start[c->piece]]])
    {
        return push_from_itself(s, contour, c, moved);
    }
    // Many contours may lie between the same two.
    uint64_t key = (uint64_t)c->piece << 32 | (uint64_t)c->body;
    for (int k = 0; k < s->done_count; k++)
    {
        if (s->done[k] == key)
        {
            *moved = true;
            return WEFT_OK;
        }
    }
    void* done = s->done;
    if (!mem_grow(&done, &s->done_capacity, s->done_count + 1, sizeof(uint64_t)))
    {
        return WEFT_NO_MEMORY;
    }
    s->done = done;
    s->done[s->done_count++] = key;
    for (int k = s->piece_start[c->piece]; k < s->piece_start[c->piece + 1]; k++)
    {
        *moved |= change_side(s, s->piece_vertex[k], &s->t->trees[c->body], c);
    }
    return WEFT_OK;
}

// ---- a contour that gets shorter

// Moves edge and face against each other by `way`, each vertex by its share.
static void part(tangle* t, const piercing* p, vec3 way)
{
    const int* c = t->triangle + 3 * (size_t)p->face;
    const int vertex[5] = {p->edge[0], p->edge[1], c[0], c[1], c[2]};
    const double weight[5] = {1.0 - p->along, p->along, -p->weight[0], -p->weight[1], -p->weight[2]};
    double sum = 0.0;
    for (int k = 0; k < 5; k++)
    {
        sum += t->held[vertex[k]] ? 0.0 : weight[k] * weight[k];
    }
    for (int k = 0; k < 5 && sum > 1e-3; k++)
    {
        tangle_push(t, vertex[k], v3_scale(weight[k] / sum, way));
    }
}

static void shorten(sheets* s, int contour)
{
    tangle* t = s->t;
    for (int k = s->contour_start[contour]; k < s->contour_start[contour + 1]; k++)
    {
        const piercing *p = &s->piercings[s->by_contour[k]], *other = piercing_other(s, p);
        if (!other)
        {
            continue;
        }
        vec3 along = v3_normalize(v3_sub(other->at, p->at));
        vec3 edge = v3_normalize(v3_sub(t->x[p->edge[1]], t->x[p->edge[0]]));
        vec3 n = v3_normalize(tangle_face_normal(t, p->face));
        double steep = v3_dot(edge, n);
        steep = fabs(steep) < 0.1 ? copysign(0.1, steep) : steep;
        vec3 way = v3_madd(along, -2.0 * v3_dot(edge, along) / steep, n);
        int cloth = int_min(p->edge[0], t->triangle[3 * (size_t)p->face]); // of a pair one is cloth, and comes first
        part(t, p, v3_scale(0.1 * t->size[cloth] / sqrt(1.0 + v3_dot(way, way)), way));
    }
}

// ---- the round

// Coplanar triangles, and what else has no contour.
static void shift_flat(tangle* t, const crossing* c)
{
    for (int side = 1; side >= 0; side--)
    {
        const int *mine = t->triangle + 3 * (size_t)c->triangle[side], other = c->triangle[1 - side];
        vec3 n = v3_normalize(tangle_face_normal(t, other));
        bool moved = false;
        for (int k = 0; k < 3; k++)
        {
            const int* corner = t->triangle + 3 * (size_t)other;
            bool shared = mine[k] == corner[0] || mine[k] == corner[1] || mine[k] == corner[2];
            if (!t->held[mine[k]] && !shared && mine[k] < t->cloth_count)
            {
                double gap = tangle_gap(t, mine[k], t->body_of[other]);
                double height = v3_dot(v3_sub(t->x[mine[k]], t->x[corner[0]]), n);
                tangle_push(t, mine[k], v3_scale(height < gap ? gap - height : 0.0, n));
                moved = true;
            }
        }
        if (moved)
        {
            return;
        }
    }
}

// Pushes what contours separate that are not settled yet.
static weft_status push_separated(sheets* s, bool* all)
{
    *all = true;
    for (int k = 0; k < s->contour_count; k++)
    {
        choice c = s->settled[k] ? (choice){.piece = -1} : choose_piece(s, k);
        bool moved = false;
        if (c.piece >= 0)
        {
            find_way(s, k, &c);
            TRY(push_piece(s, k, &c, &moved));
        }
        s->settled[k] = s->settled[k] || moved;
        *all = *all && s->settled[k];
    }
    return WEFT_OK;
}

static weft_status sheets_run(sheets* s)
{
    sheets_find(s);
    bool all;
    TRY(push_separated(s, &all));
    for (int k = 0; k < s->piercing_count && !all; k++)
    {
        s->settled[s->pairs[s->piercings[k].pair].contour] ? (void)0 : sheets_prolong(s, &s->piercings[k]);
    }
    if (!all)
    {
        s->done_count = 0;
        sheets_flood(s);
        TRY(push_separated(s, &all));
    }
    for (int k = 0; k < s->contour_count; k++)
    {
        s->settled[k] ? (void)0 : shorten(s, k);
    }
    for (int k = 0; k < s->pair_count; k++)
    {
        s->pairs[k].pierced == 0 ? shift_flat(s->t, &s->pairs[k]) : (void)0;
    }
    return WEFT_OK;
}

weft_status tangle_part_sheets(tangle* t)
{
    sheets s;
    weft_status status = sheets_create(&s, t);
    status = status == WEFT_OK && s.pair_count > 0 ? sheets_run(&s) : status;
    sheets_finish(&s);
    return status;
}

// ---- sides alone, for steps that bring cloth there

typedef struct side_taker
{
    tangle_side_fn* take;
    void* user;
} side_taker;

// The piece, and the cloth around it that the contour runs through.
static weft_status take_choice(sheets* s, int contour, const choice* c, const side_taker* to)
{
    const tangle* t = s->t;
    stand at;
    for (int k = s->piece_start[c->piece]; k < s->piece_start[c->piece + 1]; k++)
    {
        int vertex = s->piece_vertex[k];
        if (is_to_pass(t, vertex, &t->trees[c->body], c, &at) && at.height < 0.0)
        {
            TRY(to->take(to->user, vertex, c->body, (int)c->side, true));
        }
    }
    int home = t->home[s->piece_vertex[s->piece_start[c->piece]]];
    for (int k = 0; k < 6 * s->pair_count; k++)
    {
        const crossing* pair = &s->pairs[k / 6];
        int triangle = pair->triangle[k % 6 / 3];
        if (pair->contour == contour && t->body_of[triangle] == home)
        {
            TRY(to->take(to->user, t->triangle[3 * (size_t)triangle + (size_t)(k % 3)], c->body, (int)c->side, false));
        }
    }
    return WEFT_OK;
}

static weft_status take_separated(sheets* s, const side_taker* to, bool* all)
{
    *all = true;
    for (int k = 0; k < s->contour_count; k++)
    {
        choice c = s->settled[k] ? (choice){.piece = -1} : choose_piece(s, k);
        bool other = c.piece >= 0 && c.body != s->t->home[s->piece_vertex[s->piece_start[c.piece]]];
        if (other)
        {
            find_way(s, k, &c);
            TRY(take_choice(s, k, &c, to));
        }
        s->settled[k] = s->settled[k] || other;
        *all = *all && s->settled[k];
    }
    return WEFT_OK;
}

static weft_status sides_run(sheets* s, const side_taker* to)
{
    bool all;
    sheets_find(s);
    TRY(take_separated(s, to, &all));
    for (int k = 0; k < s->piercing_count && !all; k++)
    {
        s->settled[s->pairs[s->piercings[k].pair].contour] ? (void)0 : sheets_prolong(s, &s->piercings[k]);
    }
    all ? (void)0 : sheets_flood(s);
    return all ? WEFT_OK : take_separated(s, to, &all);
}

weft_status tangle_sides(tangle* t, tangle_side_fn* take, void* user)
{
    sheets s;
    weft_status status = sheets_create(&s, t);
    status = status == WEFT_OK && s.pair_count > 0 ? sides_run(&s, &(side_taker){take, user}) : status;
    sheets_finish(&s);
    return status;
}

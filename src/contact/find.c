// Which pairs of features matter in a substep: one search of the trees for all of it, then rows of what is near.
//
// The boxes span the way from the start to where velocities lead, and pairs of boxes within `reach` of each other are
// the candidates. They serve twice. Before the solve: which features are closer than their thickness, or will be if
// nothing stops them. After it: which collide on the way to the end that the solve has found. A candidate list stays
// complete as long as no vertex leaves its box by more than half of the search's margin; then the trees are asked
// again, where these are few only for what is around them. The margin is the reach, and before the solve some more: the
// longer the ways, the farther from where velocities lead they end.
//
// Boxes of neighbours that move along with each other overlap by their whole way. What all cloth has in common is taken
// off; and where the rest is long beside an edge, boxes of the start and of the end are kept apart (broad.h), which
// costs twice the tests and holds only while no vertex ends farther than half of the reach from where it was led.
#include "contact/find.h"

#include <string.h>

#include "collide/ccd.h"

static const double long_way = 0.5;     // edges
static const double rounded_up = 1.001; // far above what sums in another order differ by
static const double smooth_ulps = 16.0; // what is smooth stays farther apart than that
static const int few = 64;              // one of so many vertices is not worth a search of all

// Candidates a vertex above which a substep is too long, where ways are longer than so many times the reach: half of it
// has a quarter of them, as boxes are areas. Folded cloth has some tens.
static const double crowd = 500.0, crowd_way = 4.0;

// Coordinates below what exact detection takes are as good as zero.
vec3 find_flush(vec3 x)
{
    const double least = 1e-30;
    return v3(fabs(x.x) < least ? 0.0 : x.x, fabs(x.y) < least ? 0.0 : x.y, fabs(x.z) < least ? 0.0 : x.z);
}

static inline double less_of(double a, double b)
{
    return a < b ? a : b;
}

static inline double more_of(double a, double b)
{
    return a > b ? a : b;
}

// NaN counts as infinite.
static double largest_of(vec3 x)
{
    double sum = fabs(x.x) + fabs(x.y) + fabs(x.z);
    double most = more_of(fabs(x.x), more_of(fabs(x.y), fabs(x.z)));
    return sum < INFINITY ? most : INFINITY;
}

// The rounding of what takes part. What has left the range of exact detection has gone wrong long before.
weft_status find_measure(contact* c)
{
    const double far = 1e11;
    double largest = 0.0;
    for (int i = 0; i < c->vertex_count; i++)
    {
        largest = more_of(largest, more_of(largest_of(c->start[i]), largest_of(c->end[i])));
    }
    c->ulp = fmax(c->ulp, ldexp(largest, -24));
    return largest < far ? WEFT_OK : WEFT_NOT_FINITE;
}

static void load_cloth(contact* c)
{
    const contact_substep* now = &c->now;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->start[i] = now->x[i] = find_flush(now->x[i]);
        c->velocity[i] = v3_madd(now->v[i], now->h, now->expected[i]);
        c->end[i] = find_flush(v3_madd(c->start[i], now->h, c->velocity[i]));
        c->record[i] = -1;
    }
    for (int k = 0; k < now->pin_count; k++)
    {
        c->record[now->pins[k].vertex] = k;
    }
}

static weft_status load_obstacles(contact* c)
{
    int n = c->cloth_count;
    TRY(c->obstacles_at(c->user, c->now.time, c->start + n, &c->error));
    TRY(c->obstacles_at(c->user, c->now.time + c->now.h, c->end + n, &c->error));
    for (int i = n; i < c->vertex_count; i++)
    {
        c->start[i] = find_flush(c->start[i]);
        c->end[i] = find_flush(c->end[i]);
        c->velocity[i] = v3_scale(1.0 / c->now.h, v3_sub(c->end[i], c->start[i]));
    }
    return WEFT_OK;
}

// Positions of the substep, its end as velocities and accelerations have it.
static weft_status load(contact* c)
{
    TRY(load_obstacles(c));
    load_cloth(c);
    TRY(squeeze_load(c, &c->now.last->marks));
    c->ulp = 0.0;
    return find_measure(c);
}

// Who meets whom does not change when all bodies move on by the same way: the mean way of the cloth, where it is long.
static weft_status choose_frame(contact* c)
{
    vec3 sum = v3(0, 0, 0);
    for (int i = 0; i < c->cloth_count; i++)
    {
        sum = v3_add(sum, v3_sub(c->end[i], c->start[i]));
    }
    vec3 mean = v3_scale(1.0 / c->cloth_count, sum);
    bool is_long = v3_length(mean) > c->reach;
    c->frame = is_long ? mean : v3(0, 0, 0);
    double way = 0.0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        way += v3_length(v3_sub(v3_sub(c->end[i], c->start[i]), c->frame));
    }
    return collider_split_boxes(c->collider, way > long_way * c->edge * c->cloth_count);
}

// The way that two features can come closer within the substep, at most.
static double swing_of(const contact* c)
{
    double most = 0.0;
    for (int i = 0; i < c->vertex_count; i++)
    {
        vec3 d = v3_sub(v3_sub(c->end[i], c->start[i]), c->frame);
        most = more_of(most, v3_dot(d, d));
    }
    return 2.0 * sqrt(most);
}

// What is put aside is farther apart than any pair's reach, at the start and where velocities lead, along one
// direction; neighbours in flat cloth are apart by more than a third of an edge, so that it lasts where the end is
// another.
static double sift_least(const contact* c)
{
    const double edge_share = 0.2;
    return fmax(rounded_up * c->reach, edge_share * c->edge);
}

// Beyond the reach, so that candidates last: what vertices end off their boxes after a solve is mostly less than a
// tenth of the longest way, and a tenth of an edge makes few candidates more.
static double search_slack(const contact* c)
{
    const double way_share = 0.1, edge_share = 0.04;
    return fmin(way_share * 0.5 * swing_of(c), edge_share * c->edge);
}

static double candidate_count(const contact* c)
{
    const pair_list* lists = c->collider->candidates;
    return (double)lists[0].count + lists[1].count;
}

// What may come within the reach, should all ends be off by `slack`.
static weft_status search_with(contact* c, double slack)
{
    c->margin = c->reach + 2.0 * slack;
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->framed[i] = v3_sub(c->end[i], c->frame);
    }
    TRY(weft_collider_update(c->collider, c->start, c->framed, c->margin, NULL));
    collider_smooth_measure(c->collider, c->reach, smooth_ulps * c->ulp);
    TRY(collider_candidates(c->collider, c->margin, NULL));
    c->crowded = candidate_count(c) > crowd * contact_size(c) && swing_of(c) > crowd_way * c->reach;
    c->sifted = false;
    return WEFT_OK;
}

weft_status find_search(contact* c)
{
    TRY(choose_frame(c));
    return search_with(c, 0.0);
}

// All candidates are about to be tested. NOT_CONVERGED: rather not, half the substep is cheaper.
static weft_status find_afford(contact* c)
{
    if (c->crowded && c->now.may_halve)
    {
        return WEFT_NOT_CONVERGED;
    }
    c->effort += candidate_count(c);
    return WEFT_OK;
}

static double outside(double x, double a, double b)
{
    return more_of(less_of(a, b) - x, x - more_of(a, b));
}

// Vertices that candidates do not cover; how many.
static int find_strays(contact* c)
{
    const double most = 0.499 * c->margin;
    int count = 0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        vec3 x = v3_sub(c->end[i], c->frame), b = c->collider->end[i],
             a = c->collider->apart ? b : c->collider->start[i];
        if (outside(x.x, a.x, b.x) > most || outside(x.y, a.y, b.y) > most || outside(x.z, a.z, b.z) > most)
        {
            c->strays[count++] = i;
        }
    }
    return count;
}

// Whether all ends are so near those of the search that what was put aside, if anything was, cannot collide.
static bool ends_as_led(const contact* c)
{
    double most = 0.499 * (sift_least(c) - 8.0 * c->ulp), most_sq = most > 0.0 ? most * most : -1.0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        vec3 off = v3_sub(v3_sub(c->end[i], c->frame), c->collider->end[i]);
        if (!(v3_dot(off, off) <= most_sq))
        {
            return false;
        }
    }
    return true;
}

// Candidates that last: few vertices that have gone astray are searched for alone.
static weft_status find_cover(contact* c)
{
    c->strayed = c->all_awake ? !ends_as_led(c) : c->strayed;
    int count = find_strays(c);
    bool done = count == 0;
    bool smooth = collider_smooth_holds(c->collider, c->end, smooth_ulps * c->ulp);
    for (int k = 0; k < count; k++)
    {
        c->framed[c->strays[k]] = v3_sub(c->end[c->strays[k]], c->frame);
    }
    if (smooth && count > 0 && count <= c->cloth_count / few)
    {
        TRY(collider_extend(c->collider, c->strays, count, c->framed, &done));
    }
    return done && smooth ? WEFT_OK : find_search(c);
}

// ---- a quick look

// The four points of a candidate at the start and at the end.
typedef struct candidate
{
    int vertex[4];
    vec3 start[4], end[4];
    int first; // points of the first feature
} candidate;

static candidate candidate_of(const contact* c, weft_pair_kind kind, weft_pair pair)
{
    candidate q;
    q.first = kind == WEFT_VERTEX_FACE ? 1 : 2;
    collider_vertices(c->collider, kind, pair, q.vertex);
    for (int k = 0; k < 4; k++)
    {
        q.start[k] = c->start[q.vertex[k]];
    }
    return q;
}

static void candidate_end(const contact* c, candidate* q)
{
    for (int k = 0; k < 4; k++)
    {
        q->end[k] = c->end[q->vertex[k]];
    }
}

// The direction from the middle of the second to that of the first, at the start; of any length.
static vec3 middle_direction(const candidate* q)
{
    const vec3* x = q->start;
    if (q->first == 1)
    {
        return v3_sub(v3_scale(3.0, x[0]), v3_add(v3_add(x[1], x[2]), x[3]));
    }
    return v3_sub(v3_add(x[0], x[1]), v3_add(x[2], x[3]));
}

// How far they are apart along d, at least, in lengths of d; not above zero: not at all.
static double gap_along(vec3 d, const vec3 x[4], int first)
{
    double low = v3_dot(d, x[0]), high = more_of(v3_dot(d, x[2]), v3_dot(d, x[3])), other = v3_dot(d, x[1]);
    low = first == 2 ? less_of(low, other) : low;
    high = first == 1 ? more_of(high, other) : high;
    return low - high;
}

// Whether they are farther apart along d than `least`.
static bool apart_by(vec3 d, const vec3 x[4], int first, double least)
{
    double gap = gap_along(d, x, first);
    return gap > 0.0 && gap * gap > least * least * v3_dot(d, d);
}

// Apart along one direction at the start, at the end, and so in between.
static bool stays_apart(const candidate* q, double least)
{
    vec3 d = middle_direction(q);
    return apart_by(d, q->start, q->first, least) && apart_by(d, q->end, q->first, least);
}

// ---- near

// What keeps its vertices at the thickness above the faces of a round body comes closer to the edges between these: on
// gentle curves vertices alone are to carry it. Edges and corners of obstacles keep this share.
static const double edge_share = 0.5;

// Of an obstacle's feature with vertices [from, to), at a point of it, or, without weights, the largest.
static double own_thickness(const contact* c, const int* vertex, int from, int to, const double* weight)
{
    double most = c->thickness[vertex[from]], sum = 0.0, all = 0.0;
    bool same = true;
    for (int k = from; k < to; k++)
    {
        double own = c->thickness[vertex[k]];
        same = same && own == c->thickness[vertex[from]];
        most = fmax(most, own);
        sum += weight ? fabs(weight[k]) * own : 0.0;
        all += weight ? fabs(weight[k]) : 0.0;
    }
    return same || !(all > 0.0) ? most : sum / all;
}

// weight: of the closest points, or NULL: from above.
static double pair_thickness(const contact* c, const candidate* q, const double* weight)
{
    int a = q->vertex[0], b = q->vertex[q->first];
    bool a_moves = a < c->cloth_count, b_moves = b < c->cloth_count;
    if (a_moves && b_moves)
    {
        return 0.5 * (c->thickness[a] + c->thickness[b]);
    }
    // Lines are round: of these half the thickness, the radius, is to stay outside of the body's own half everywhere.
    bool faces = a_moves && q->first == 1;
    double own = own_thickness(c, q->vertex, a_moves ? q->first : 0, a_moves ? 4 : q->first, weight);
    double girth = c->girth[c->body[a_moves ? a : b]];
    double thickness = 0.5 * (own + fmax(own, girth));
    return faces ? thickness : fmax(edge_share * thickness, 0.5 * girth);
}

// Features of which two vertices are drawn together keep half of what is between these, so that contact holds them
// apart and lets the gap close.
static double seam_limit(const contact* c, const candidate* q, double thickness)
{
    for (int k = 0; k < q->first * (4 - q->first); k++)
    {
        int i = k % q->first, j = q->first + k / q->first, seam = c->seam[q->vertex[i]];
        if (seam >= 0 && seam == c->seam[q->vertex[j]])
        {
            thickness = fmin(thickness, 0.5 * v3_length(v3_sub(q->start[i], q->start[j])));
        }
    }
    return thickness;
}

// Whether triangles around both features are so large that neighbours keep the thickness. Sewn cloth has no place where
// it lies at rest, only one where it was when its seams closed, and layers may have been near each other there.
static bool has_room(const contact* c, const candidate* q, double thickness)
{
    double least = INFINITY;
    for (int k = 0; k < 4; k++)
    {
        least = fmin(least, c->room[q->vertex[k]]);
    }
    return least > 2.0 * thickness;
}

// Neighbours in one cloth that are near each other at rest keep half of that distance only; so do cloths that are sewn
// together, of that at which they started.
static double rest_limit(const contact* c, weft_pair_kind kind, const candidate* q, double thickness)
{
    if (q->vertex[0] >= c->cloth_count || q->vertex[q->first] >= c->cloth_count)
    {
        return thickness;
    }
    int a = c->body[q->vertex[0]], b = c->body[q->vertex[q->first]];
    if (a != b && !(c->kin && c->kin[a] == c->kin[b]))
    {
        return thickness;
    }
    thickness = c->seam && a == b ? seam_limit(c, q, thickness) : thickness;
    if (c->room && a == b && has_room(c, q, thickness))
    {
        return thickness;
    }
    const vec3* x = a == b ? c->rest : c->sewn;
    candidate rest = {.first = q->first};
    for (int k = 0; k < 4; k++)
    {
        rest.start[k] = x[q->vertex[k]];
    }
    if (apart_by(middle_direction(&rest), rest.start, rest.first, 2.0 * thickness))
    {
        return thickness;
    }
    closest at = kind == WEFT_VERTEX_FACE ? closest_vertex_face(rest.start) : closest_edge_edge(rest.start);
    return fmin(thickness, 0.5 * at.distance);
}

// The closest points lie inside both features, not on their borders.
static bool is_inside(const closest* at)
{
    return at->weight[0] != 0.0 && at->weight[1] != 0.0 && at->weight[2] != 0.0 && at->weight[3] != 0.0;
}

// Where two edges meet at an end, a vertex and a face say it already; and from far away a border is approached by
// whatever slides along the face beside it.
static bool may_count(weft_pair_kind kind, const closest* at, double reach)
{
    return (kind == WEFT_VERTEX_FACE && at->distance <= reach) || is_inside(at);
}

// Boxes of both features that stay apart along an axis, on one side, by more than the pair's own reach: then it is no
// pair, whatever the margin of the search was. That is the scene's, and what is far away must not change a pair.
static bool boxes_stay_apart(const candidate* q, double reach)
{
    for (int axis = 0; axis < 6; axis++)
    {
        double side = axis < 3 ? 1.0 : -1.0;
        vec3 d = v3(axis % 3 == 0 ? side : 0.0, axis % 3 == 1 ? side : 0.0, axis % 3 == 2 ? side : 0.0);
        if (gap_along(d, q->start, q->first) > reach && gap_along(d, q->end, q->first) > reach)
        {
            return true;
        }
    }
    return false;
}

// What passes a border is kept apart where it comes closest on its way, not where it is seen first: a sheet that slides
// over the vertices of another at the thickness would run into each of them. What comes straight is stopped.
static void pass_border(const candidate* q, const closest* at, contact_row* row)
{
    const double straight = 0.5; // of the thickness
    vec3 there = weighted(at->weight, (const int[4]){0, 1, 2, 3}, q->end), here = v3_scale(at->distance, at->normal);
    vec3 way = v3_sub(there, here);
    double size_sq = v3_dot(way, way), when = size_sq > 0.0 ? -v3_dot(here, way) / size_sq : 0.0;
    vec3 nearest = v3_madd(here, fmin(fmax(when, 0.0), 1.0), way);
    if (v3_length(nearest) > straight * row->thickness)
    {
        row->normal = v3_normalize(nearest);
        row->distance = v3_dot(row->normal, here);
    }
}

// The row of a candidate, when it is one: near at the start or at the end.
static bool row_of(const contact* c, weft_pair_kind kind, const candidate* q, contact_row* row)
{
    double thickness = pair_thickness(c, q, NULL), reach = CONTACT_REACH * thickness;
    if (stays_apart(q, reach))
    {
        return false;
    }
    closest at = kind == WEFT_VERTEX_FACE ? closest_vertex_face(q->start) : closest_edge_edge(q->start);
    double end = v3_dot(at.normal, weighted(at.weight, (const int[4]){0, 1, 2, 3}, q->end));
    double nearest = fmin(at.distance, end);
    if (nearest > reach || !may_count(kind, &at, reach))
    {
        return false;
    }
    thickness = rest_limit(c, kind, q, pair_thickness(c, q, at.weight));
    reach = CONTACT_REACH * thickness;
    if (!(thickness > 0.0) || nearest > reach || !may_count(kind, &at, reach) || boxes_stay_apart(q, reach) ||
        !fan_counts(c, kind, row->pair, q->vertex, &at))
    {
        return false;
    }
    row->normal = at.normal;
    row->distance = at.distance;
    row->thickness = thickness;
    memcpy(row->weight, at.weight, sizeof(row->weight));
    if (!touch_of(c, kind, q->vertex) && !is_inside(&at))
    {
        pass_border(q, &at, row);
    }
    memcpy(row->vertex, q->vertex, sizeof(row->vertex));
    row->friction = contact_friction_at(c, q->vertex, q->first, at.weight);
    return true;
}

// Edges and corners of obstacles: the largest reach of a pair with one of them.
static double border_reach(const contact* c)
{
    double own = 0.0, girth = 0.0;
    for (int i = 0; i < c->vertex_count; i++)
    {
        bool cloth = i < c->cloth_count;
        own = cloth ? own : more_of(own, c->thickness[i]);
        girth = cloth ? more_of(girth, c->girth[c->body[i]]) : girth;
    }
    return CONTACT_REACH * fmax(edge_share * 0.5 * (own + fmax(own, girth)), 0.5 * girth);
}

static bool near_test(const weft_collider* collider, weft_pair_kind kind, weft_pair pair, void* context, void* out)
{
    (void)collider;
    const contact* c = context;
    candidate q = candidate_of(c, kind, pair);
    if (c->marks.count > 0 && squeeze_ignores(c, q.vertex, q.first))
    {
        return false;
    }
    double reach = CONTACT_REACH * pair_thickness(c, &q, NULL);
    if (apart_by(middle_direction(&q), q.start, q.first, reach + c->swing))
    {
        return false;
    }
    candidate_end(c, &q);
    *(contact_row*)out = (contact_row){.kind = kind, .pair = pair};
    return row_of(c, kind, &q, out);
}

bool find_row(const contact* c, weft_pair pair, vec3 end, contact_row* row)
{
    candidate q = candidate_of(c, WEFT_VERTEX_FACE, pair);
    if (c->marks.count > 0 && squeeze_ignores(c, q.vertex, q.first))
    {
        return false;
    }
    candidate_end(c, &q);
    q.end[0] = end;
    *row = (contact_row){.kind = WEFT_VERTEX_FACE, .pair = pair};
    return row_of(c, WEFT_VERTEX_FACE, &q, row);
}

weft_status contact_find(contact* c, const contact_substep* now)
{
    narrow_search search = {c->reach, near_test, c, sizeof(contact_row), AMONG_DOUBTED};
    c->now = *now;
    c->releases = c->projected_count = 0;
    TRY(load(c));
    TRY(choose_frame(c));
    TRY(search_with(c, search_slack(c)));
    c->sifted = !c->strayed; // else nobody would look at it again
    TRY(c->sifted ? collider_sift(c->collider, sift_least(c)) : WEFT_OK);
    TRY(find_afford(c));
    c->swing = swing_of(c);
    near_reach reach = {rounded_up * c->reach, rounded_up * border_reach(c), c->cloth_count};
    TRY(collider_doubt_near(c->collider, c->sifted ? AMONG_SIFTED : AMONG_ALL, c->start, c->end, &reach));
    TRY(collider_test(c->collider, &search, &c->rows));
    TRY(find_fallen(c));
    TRY(unsettled_rows(c));
    TRY(touches_take(c));
    return particles_find(c);
}

// ---- collisions

static bool collision_test(const weft_collider* collider, weft_pair_kind kind, weft_pair pair, void* context, void* out)
{
    (void)collider;
    const contact* c = context;
    int v[4];
    collider_vertices(c->collider, kind, pair, v);
    candidate q = candidate_of(c, kind, pair);
    if (c->marks.count > 0 && squeeze_ignores(c, v, q.first))
    {
        return false;
    }
    // Far above the rounding of these sums, and farther than the rounding to float moves anything.
    double least = 4.0 * c->ulp;
    if (apart_by(middle_direction(&q), q.start, q.first, least + c->swing))
    {
        return false;
    }
    candidate_end(c, &q);
    if (stays_apart(&q, least))
    {
        return false;
    }
    weft_ccd found = ccd_decide(kind, q.start, q.end);
    double time = found.time;
    if (!found.collides)
    {
        vec3 rounded[4];
        for (int k = 0; k < 4; k++)
        {
            rounded[k] = v3_round(q.end[k]);
        }
        found = ccd_decide(kind, q.end, rounded);
        time = -1.0;
    }
    *(collision*)out = (collision){kind, {v[0], v[1], v[2], v[3]}, time};
    return found.collides;
}

weft_status find_collisions(contact* c)
{
    TRY(find_measure(c)); // the response may have moved things
    narrow_search search = {c->reach, collision_test, c, sizeof(collision), AMONG_DOUBTED};
    TRY(find_cover(c));
    TRY(find_afford(c));
    c->swing = swing_of(c);
    narrow_among among = c->sifted && ends_as_led(c) ? AMONG_SIFTED : AMONG_ALL;
    if (!c->all_awake)
    {
        TRY(collider_awake(c->collider, among, c->awake));
        among = AMONG_DOUBTED;
    }
    TRY(collider_doubt_collision(c->collider, among, c->start, c->end, 8.0 * c->ulp));
    TRY(collider_test(c->collider, &search, &c->found));
    memset(c->awake, 0, (size_t)c->vertex_count);
    c->all_awake = false;
    return WEFT_OK;
}

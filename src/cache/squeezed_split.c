// Which crossings of a frame the run itself has listed as squeezed. An edge through a face explains a crossing of two
// triangles when the face is one of them and the edge is a side of the other. A piece of cloth inside a body crosses
// nothing: a pair of the two that was listed at any time before explains it, because what a body has gone over whole
// cannot leave it again. Lists name one vertex where files show it at several places, as along a closed seam or where
// a mesh was welded: of vertices at the same place to the bit the smallest stands for all.
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "weft/cache.h"

// One listed pair, so that it is found by its face.
typedef struct squeezed_key
{
    int face_body, face[3]; // vertices ascending
    int edge_body, edge[2];
} squeezed_key;

typedef struct placed_vertex
{
    int body, vertex;
    weft_vec3 x;
} placed_vertex;

struct weft_squeezed_split
{
    const weft_inspect_body* bodies; // [bodies] a copy; triangles and segments are the caller's
    int** one;                       // [bodies][vertex_count] the smallest at its place, of those that the frame names
    int body_count;
    placed_vertex* placed; // [placed_count] these
    int placed_count, placed_capacity;
    squeezed_key* keys;    // [key_capacity]
    weft_crossing* others; // [other_capacity] crossings that no pair explains
    int key_capacity, other_capacity;
};

static void sort_three(int v[3])
{
    for (int pass = 0; pass < 2; pass++)
    {
        for (int k = 0; k < 2; k++)
        {
            int low = v[k] < v[k + 1] ? v[k] : v[k + 1], high = v[k] < v[k + 1] ? v[k + 1] : v[k];
            v[k] = low, v[k + 1] = high;
        }
    }
}

// Of a triangle, or of a segment behind them, which has its last one twice.
static void corners_of(const weft_inspect_body* body, int triangle, int out[3])
{
    int segment = triangle - body->triangle_count;
    if (segment < 0)
    {
        memcpy(out, body->triangles + 3 * (size_t)triangle, 3 * sizeof(int));
        return;
    }
    const int* v = body->segments + 2 * (size_t)segment;
    out[0] = v[0], out[1] = out[2] = v[1];
}

// ---- vertices at one place

static void place(weft_squeezed_split* s, const weft_vec3* const* x, int body, const int* vertex, int count)
{
    for (int k = 0; k < count; k++)
    {
        s->placed[s->placed_count++] = (placed_vertex){body, vertex[k], x[body][vertex[k]]};
    }
}

static int compare_placed(const void* left, const void* right)
{
    const placed_vertex *a = left, *b = right;
    int at = a->body != b->body ? a->body - b->body : memcmp(&a->x, &b->x, sizeof(a->x));
    return at != 0 ? at : a->vertex - b->vertex;
}

// All vertices that the list and the crossings name find the one that stands for them.
static weft_status unite(weft_squeezed_split* s, const weft_squeezed_list* list, const weft_vec3* const* x,
                         const weft_inspection* found)
{
    void* placed = s->placed;
    if (!mem_grow(&placed, &s->placed_capacity, 5 * list->pair_count + 6 * found->pair_count, sizeof(*s->placed)))
    {
        return WEFT_NO_MEMORY;
    }
    s->placed = placed;
    s->placed_count = 0;
    for (int k = 0; k < list->pair_count; k++)
    {
        place(s, x, list->pairs[k].body[0], list->pairs[k].edge, 2);
        place(s, x, list->pairs[k].body[1], list->pairs[k].face, 3);
    }
    for (int k = 0; k < 2 * found->pair_count; k++)
    {
        const weft_crossing* c = &found->pairs[k / 2];
        int corners[3];
        if (c->kind != WEFT_CROSSING_NESTED)
        {
            corners_of(&s->bodies[c->body[k % 2]], c->triangle[k % 2], corners);
            place(s, x, c->body[k % 2], corners, 3);
        }
    }
    if (s->placed_count > 1)
    {
        qsort(s->placed, (size_t)s->placed_count, sizeof(*s->placed), compare_placed);
    }
    for (int k = 0, first = 0; k < s->placed_count; k++)
    {
        const placed_vertex *p = &s->placed[k], *least = &s->placed[first];
        first = p->body != least->body || memcmp(&p->x, &least->x, sizeof(p->x)) != 0 ? k : first;
        s->one[p->body][p->vertex] = s->placed[first].vertex;
    }
    return WEFT_OK;
}

static void name_one(const weft_squeezed_split* s, int body, int* vertex, int count)
{
    for (int k = 0; k < count; k++)
    {
        vertex[k] = s->one[body][vertex[k]];
    }
}

// ---- what is listed

// By the face: its body, then its vertices.
static int compare_faces(const void* left, const void* right)
{
    const squeezed_key *a = left, *b = right;
    const int x[] = {a->face_body, a->face[0], a->face[1], a->face[2]};
    const int y[] = {b->face_body, b->face[0], b->face[1], b->face[2]};
    for (int k = 0; k < 4; k++)
    {
        if (x[k] != y[k])
        {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

static bool has_vertex(const int triangle[3], int vertex)
{
    return triangle[0] == vertex || triangle[1] == vertex || triangle[2] == vertex;
}

// Whether a listed pair has this triangle as its face and a side of the other as its edge.
static bool is_listed(const weft_squeezed_split* s, int count, int body, const int* triangle, int other_body,
                      const int* other)
{
    squeezed_key wanted = {.face_body = body};
    memcpy(wanted.face, triangle, sizeof(wanted.face));
    sort_three(wanted.face);
    int low = 0;
    for (int high = count; low < high;)
    {
        int middle = low + (high - low) / 2;
        compare_faces(&s->keys[middle], &wanted) < 0 ? (low = middle + 1) : (high = middle);
    }
    for (; low < count && compare_faces(&s->keys[low], &wanted) == 0; low++)
    {
        const squeezed_key* k = &s->keys[low];
        if (k->edge_body == other_body && has_vertex(other, k->edge[0]) && has_vertex(other, k->edge[1]))
        {
            return true;
        }
    }
    return false;
}

static bool is_explained(const weft_squeezed_split* s, const weft_squeezed_list* list, const weft_crossing* c)
{
    if (c->kind == WEFT_CROSSING_NESTED)
    {
        bool closed = false;
        for (int k = 0; k < list->closed_count && !closed; k++)
        {
            const int* body = list->closed[k].body;
            closed =
                (body[0] == c->body[0] && body[1] == c->body[1]) || (body[0] == c->body[1] && body[1] == c->body[0]);
        }
        return closed;
    }
    int corners[2][3];
    for (int k = 0; k < 2; k++)
    {
        corners_of(&s->bodies[c->body[k]], c->triangle[k], corners[k]);
        name_one(s, c->body[k], corners[k], 3);
    }
    return is_listed(s, list->pair_count, c->body[0], corners[0], c->body[1], corners[1]) ||
           is_listed(s, list->pair_count, c->body[1], corners[1], c->body[0], corners[0]);
}

static weft_status make_keys(weft_squeezed_split* s, const weft_squeezed_list* list)
{
    void* keys = s->keys;
    if (!mem_grow(&keys, &s->key_capacity, list->pair_count, sizeof(*s->keys)))
    {
        return WEFT_NO_MEMORY;
    }
    s->keys = keys;
    for (int k = 0; k < list->pair_count; k++)
    {
        const weft_squeezed* p = &list->pairs[k];
        s->keys[k] =
            (squeezed_key){p->body[1], {p->face[0], p->face[1], p->face[2]}, p->body[0], {p->edge[0], p->edge[1]}};
        name_one(s, p->body[1], s->keys[k].face, 3);
        name_one(s, p->body[0], s->keys[k].edge, 2);
        sort_three(s->keys[k].face);
    }
    if (list->pair_count > 1)
    {
        qsort(s->keys, (size_t)list->pair_count, sizeof(*s->keys), compare_faces);
    }
    return WEFT_OK;
}

weft_status weft_squeezed_split_create(const weft_inspect_body* bodies, int body_count, weft_squeezed_split** out)
{
    WEFT_ASSERT((bodies || body_count == 0) && out);
    weft_squeezed_split* s = *out = MEM_NEW(1, weft_squeezed_split);
    weft_inspect_body* copy = s ? MEM_NEW(body_count + 1, weft_inspect_body) : NULL;
    int** one = copy ? MEM_NEW(body_count + 1, int*) : NULL;
    bool ok = one != NULL;
    for (int k = 0; k < body_count && ok; k++)
    {
        copy[k] = bodies[k];
        one[k] = MEM_NEW(bodies[k].vertex_count + 1, int);
        ok = one[k] != NULL;
    }
    if (s)
    {
        s->bodies = copy;
        s->one = one;
        s->body_count = body_count;
    }
    if (!ok)
    {
        weft_squeezed_split_destroy(s);
        *out = NULL;
        return WEFT_NO_MEMORY;
    }
    return WEFT_OK;
}

weft_status weft_squeezed_split_frame(weft_squeezed_split* s, const weft_squeezed_list* list,
                                      const weft_vec3* const* positions, weft_inspection* found, int64_t* squeezed)
{
    WEFT_ASSERT(s && list && positions && found && squeezed);
    *squeezed = 0;
    if (list->pair_count + list->closed_count == 0 || found->pair_count == 0)
    {
        return WEFT_OK;
    }
    void* others = s->others;
    if (!mem_grow(&others, &s->other_capacity, found->pair_count, sizeof(*s->others)))
    {
        return WEFT_NO_MEMORY;
    }
    s->others = others;
    TRY(unite(s, list, positions, found));
    TRY(make_keys(s, list));
    int kept = 0;
    for (int k = 0; k < found->pair_count; k++)
    {
        bool explained = is_explained(s, list, &found->pairs[k]);
        found->nested -= explained && found->pairs[k].kind == WEFT_CROSSING_NESTED;
        s->others[kept] = found->pairs[k];
        kept += !explained;
    }
    *squeezed = found->pair_count - kept;
    found->crossings -= *squeezed;
    found->pairs = s->others;
    found->pair_count = kept;
    return WEFT_OK;
}

void weft_squeezed_split_destroy(weft_squeezed_split* s)
{
    if (s)
    {
        for (int k = 0; k < s->body_count && s->one; k++)
        {
            mem_free(s->one[k]);
        }
        mem_free(s->one);
        mem_free(s->placed);
        mem_free((void*)s->bodies);
        mem_free(s->keys);
        mem_free(s->others);
        mem_free(s);
    }
}

// All pairs of triangles that cross: each triangle of cloth walks the tree with its box, and the exact predicates
// decide.
//
// Chunks of triangles run in parallel into buffers of their own; a wave of chunks is then taken over in order, and the
// limits are looked at between waves. A chunk that fills its buffer or looks at too many pairs is done again, alone and
// to the end. So the count, where it stops, and the list do not depend on the number of threads, and a mesh with a
// million triangles in one place costs what the limits allow.
#include <stdlib.h>
#include <string.h>

#include "inspect/frame.h"

// ---- one pair

// A triangle leans on a face along an edge. It passes through together with its neighbour when that is off the face's
// plane on the other side, and the edge runs through the face's relative interior.
static bool passes_along_edge(const inspect_frame* f, int leaning, const flat_cross* c, const flat* face)
{
    int slot = 3 * leaning + c->corner, mate = f->model->mate[slot];
    if (mate < 0 || f->left_out[mate / 3])
    {
        return false;
    }
    vec3 far = f->x[f->model->triangles[mate]];
    const int* t = f->model->triangles + 3 * (size_t)leaning;
    flat edge = {{f->x[t[(c->corner + 1) % 3]], f->x[t[(c->corner + 2) % 3]]}, 2};
    return sign_volume(face->p[0], face->p[1], face->p[2], far) == -c->side && flat_meet(&edge, face);
}

static bool pair_crosses(const inspect_frame* f, int a, int b, weft_crossing_kind* kind)
{
    flat flat_a = frame_flat(f, a), flat_b = frame_flat(f, b);
    if (flat_a.count < 3 || flat_b.count < 3)
    {
        bool strand = triangle_is_segment(f->model, a) || triangle_is_segment(f->model, b);
        *kind = strand && int_min(flat_a.count, flat_b.count) == 2 ? WEFT_CROSSING_THROUGH : WEFT_CROSSING_DEGENERATE;
        return flat_meet(&flat_a, &flat_b);
    }
    flat_cross c = flat_cross_find(&flat_a, &flat_b);
    *kind = c.kind == CROSS_THROUGH   ? WEFT_CROSSING_THROUGH
            : c.kind == CROSS_OVERLAP ? WEFT_CROSSING_OVERLAP
                                      : WEFT_CROSSING_EDGE;
    return c.kind == CROSS_LEANS ? passes_along_edge(f, c.leaning ? b : a, &c, c.leaning ? &flat_a : &flat_b)
                                 : c.kind != CROSS_NONE;
}

// ---- one chunk of triangles

typedef struct chunk_search
{
    const inspect_frame* frame;
    crossing_list* list; // not NULL: hits go there when the buffer is full, and the list's limit holds
    hit* buffer;         // [CHUNK_HITS]
    int count;           // in the buffer
    int64_t tests, tests_max;
    bool stopped; // before the end
    weft_status status;
} chunk_search;

static void chunk_flush(chunk_search* s)
{
    for (int k = 0; k < s->count && s->status == WEFT_OK; k++)
    {
        s->status = crossings_add(s->frame, s->list, s->buffer[k]);
    }
    s->count = 0;
    s->stopped = s->status != WEFT_OK || s->list->count >= s->list->limit;
}

static void chunk_hit(chunk_search* s, hit h)
{
    if (s->count == CHUNK_HITS && s->list)
    {
        chunk_flush(s);
    }
    s->stopped |= s->count == CHUNK_HITS;
    if (!s->stopped)
    {
        s->buffer[s->count++] = h;
    }
}

// Every pair once: from its lower triangle, or from the cloth when the other is an obstacle.
static void chunk_leaf(chunk_search* s, int a, int leaf)
{
    const inspect_frame* f = s->frame;
    int end = hull_tree_leaf_begin(&f->tree, leaf + 1);
    for (int k = hull_tree_leaf_begin(&f->tree, leaf); k < end && !s->stopped; k++)
    {
        int b = f->tree.item[k];
        weft_crossing_kind kind;
        if ((b > a || (b != a && triangle_is_obstacle(f->model, b))) && box_overlap(&f->hull[a], &f->hull[b]))
        {
            s->stopped = ++s->tests > s->tests_max;
            if (!s->stopped && pair_crosses(f, a, b, &kind))
            {
                chunk_hit(s, (hit){a, b, kind});
            }
        }
    }
}

static void chunk_triangle(chunk_search* s, int a)
{
    const hull_tree* tree = &s->frame->tree;
    int stack[HULL_DEPTH], depth = 0;
    stack[depth++] = 1;
    while (depth > 0 && !s->stopped)
    {
        int node = stack[--depth];
        if (!box_overlap(&tree->node[node], &s->frame->hull[a]))
        {
            continue;
        }
        if (node >= tree->leaf_count)
        {
            chunk_leaf(s, a, node - tree->leaf_count);
            continue;
        }
        stack[depth++] = 2 * node + 1;
        stack[depth++] = 2 * node;
    }
}

static void chunk_run(chunk_search* s, int chunk)
{
    const inspect_frame* f = s->frame;
    int end = int_min(f->model->triangle_count, (chunk + 1) * CHUNK);
    for (int t = chunk * CHUNK; t < end && !s->stopped; t++)
    {
        if (!f->left_out[t] && !triangle_is_obstacle(f->model, t))
        {
            chunk_triangle(s, t);
        }
    }
}

// ---- waves

typedef struct crossing_wave
{
    const inspect_frame* frame;
    chunk_search* search; // [WAVE_CHUNKS]
    hit* buffer;
    int first; // chunk
} crossing_wave;

static void wave_run(void* context, int begin, int end)
{
    crossing_wave* w = context;
    for (int k = begin; k < end; k++)
    {
        w->search[k] =
            (chunk_search){.frame = w->frame, .buffer = w->buffer + (size_t)k * CHUNK_HITS, .tests_max = CHUNK_TESTS};
        chunk_run(&w->search[k], w->first + k);
    }
}

// Takes a chunk over; one that was stopped is done again to its end or the limits.
static weft_status wave_take(inspect_frame* f, crossing_list* list, chunk_search* s, int chunk)
{
    if (s->stopped)
    {
        *s = (chunk_search){.frame = f, .list = list, .buffer = s->buffer, .tests_max = f->tests_left};
        chunk_run(s, chunk);
        list->truncated |= s->stopped;
    }
    s->list = list;
    chunk_flush(s);
    f->tests_left -= s->tests;
    list->truncated |= list->count >= list->limit || f->tests_left <= 0;
    return s->status;
}

weft_status crossings_find(inspect_frame* f, crossing_list* list)
{
    chunk_search* search = MEM_NEW(WAVE_CHUNKS, chunk_search);
    if (!search)
    {
        return WEFT_NO_MEMORY;
    }
    weft_status status = WEFT_OK;
    int chunks = f->model->triangle_count / CHUNK + 1;
    for (int first = 0; first < chunks && status == WEFT_OK && !list->truncated; first += WAVE_CHUNKS)
    {
        crossing_wave wave = {f, search, list->buffer, first};
        int count = int_min(WAVE_CHUNKS, chunks - first);
        parallel_for(f->pool, count, 1, wave_run, &wave);
        for (int k = 0; k < count && status == WEFT_OK && !list->truncated; k++)
        {
            status = wave_take(f, list, &search[k], first + k);
        }
    }
    mem_free(search);
    return status;
}

// ---- the list

static uint64_t pieces_key(int a, int b)
{
    return ((uint64_t)int_min(a, b) << 32 | (uint64_t)int_max(a, b)) + 1; // 0 is free
}

// Where a key is, or where it would go. The capacity is a power of two.
static int pieces_slot(const uint64_t* pair, int capacity, uint64_t key)
{
    int at = (int)(random_bits(1, key) & (uint64_t)(capacity - 1));
    while (pair[at] && pair[at] != key)
    {
        at = (at + 1) & (capacity - 1);
    }
    return at;
}

static bool pieces_grow(crossing_list* list)
{
    int capacity = int_max(64, 2 * list->pair_capacity);
    uint64_t* grown = MEM_NEW(capacity, uint64_t);
    for (int k = 0; k < list->pair_capacity && grown; k++)
    {
        if (list->pair[k])
        {
            grown[pieces_slot(grown, capacity, list->pair[k])] = list->pair[k];
        }
    }
    if (grown)
    {
        mem_free(list->pair);
        list->pair = grown;
        list->pair_capacity = capacity;
    }
    return grown != NULL;
}

static weft_status pieces_remember(crossing_list* list, int a, int b)
{
    if (2 * list->pair_count >= list->pair_capacity && !pieces_grow(list))
    {
        return WEFT_NO_MEMORY;
    }
    uint64_t key = pieces_key(a, b), *place = &list->pair[pieces_slot(list->pair, list->pair_capacity, key)];
    list->pair_count += *place == 0;
    *place = key;
    return WEFT_OK;
}

bool crossings_have_pieces(const crossing_list* list, int a, int b)
{
    return list->pair_capacity > 0 && list->pair[pieces_slot(list->pair, list->pair_capacity, pieces_key(a, b))];
}

weft_status crossings_add(const inspect_frame* f, crossing_list* list, hit h)
{
    const inspect_model* m = f->model;
    if (list->count >= list->limit)
    {
        return WEFT_OK;
    }
    list->count++;
    list->nested += h.kind == WEFT_CROSSING_NESTED;
    if (list->listed_count < list->listed_limit)
    {
        void* listed = list->listed;
        if (!mem_grow(&listed, &list->listed_capacity, list->listed_count + 1, sizeof(hit)))
        {
            return WEFT_NO_MEMORY;
        }
        list->listed = listed;
        list->listed[list->listed_count++] = h;
    }
    if (h.kind == WEFT_CROSSING_NESTED)
    {
        return WEFT_OK;
    }
    list->apart = list->apart || !triangles_share_vertex(m, h.a, h.b);
    int a = m->piece_of[h.a], b = m->piece_of[h.b];
    return a != b && (m->closed[a] || m->closed[b]) ? pieces_remember(list, a, b) : WEFT_OK;
}

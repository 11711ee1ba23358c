// Which crossings of a frame the run itself has listed as squeezed: an edge through a face explains a crossing of two
// triangles when the face is one of them and the edge is a side of the other.
#include <stdlib.h>
#include <string.h>

#include "cli/inspect.h"

bool squeezed_any(const squeezed_lists* s, int first, int last)
{
    const weft_squeezed* pairs;
    for (int frame = first; frame <= last; frame++)
    {
        if (weft_cache_squeezed_at(s->list, frame, &pairs) > 0)
        {
            return true;
        }
    }
    return false;
}

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

static bool grow(void** array, int* capacity, int needed, size_t size)
{
    void* grown = needed > *capacity ? realloc(*array, (size_t)needed * size) : *array;
    *capacity = grown && needed > *capacity ? needed : *capacity;
    *array = grown ? grown : *array;
    return grown || needed == 0;
}

static bool has_vertex(const int triangle[3], int vertex)
{
    return triangle[0] == vertex || triangle[1] == vertex || triangle[2] == vertex;
}

// Whether a listed pair has this triangle as its face and a side of the other as its edge.
static bool is_listed(const squeezed_lists* s, int count, int body, const int* triangle, int other_body,
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

static bool is_explained(const squeezed_lists* s, int frame, int count, const weft_crossing* c)
{
    const int* corners[2];
    for (int k = 0; k < 2; k++)
    {
        int topology = weft_cache_topology_of(s->cache, c->body[k], frame);
        corners[k] = weft_cache_topology_at(s->cache, c->body[k], topology)->triangles + 3 * (size_t)c->triangle[k];
    }
    return c->kind != WEFT_CROSSING_NESTED && (is_listed(s, count, c->body[0], corners[0], c->body[1], corners[1]) ||
                                               is_listed(s, count, c->body[1], corners[1], c->body[0], corners[0]));
}

weft_status squeezed_part(squeezed_lists* s, int frame, weft_inspection* found, int64_t* squeezed, weft_error* error)
{
    const weft_squeezed* pairs;
    int count = weft_cache_squeezed_at(s->list, frame, &pairs), kept = 0;
    *squeezed = 0;
    if (count == 0)
    {
        return WEFT_OK;
    }
    if (!grow((void**)&s->keys, &s->key_capacity, count, sizeof(*s->keys)) ||
        !grow((void**)&s->others, &s->other_capacity, found->pair_count, sizeof(*s->others)))
    {
        *error = (weft_error){.status = WEFT_NO_MEMORY, .message = "no memory for the squeezed pairs of a frame"};
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < count; k++)
    {
        const weft_squeezed* p = &pairs[k];
        s->keys[k] =
            (squeezed_key){p->body[1], {p->face[0], p->face[1], p->face[2]}, p->body[0], {p->edge[0], p->edge[1]}};
        sort_three(s->keys[k].face);
    }
    qsort(s->keys, (size_t)count, sizeof(*s->keys), compare_faces);
    for (int k = 0; k < found->pair_count; k++)
    {
        if (!is_explained(s, frame, count, &found->pairs[k]))
        {
            s->others[kept++] = found->pairs[k];
        }
    }
    *squeezed = found->pair_count - kept;
    found->crossings -= *squeezed;
    found->pairs = s->others;
    found->pair_count = kept;
    return WEFT_OK;
}

void squeezed_close(squeezed_lists* s)
{
    weft_cache_squeezed_destroy(s->list);
    free(s->keys);
    free(s->others);
}

// Candidates once more: those that one direction tells apart over the whole step are put aside (sift_kernel.c). What is
// left, some hundredths in a smooth sheet, is what narrow tests look at, as long as vertices end near where they were
// led; else all candidates are still there.
#include <string.h>

#include "collide/broad.h"

enum
{
    SIFT_GRAIN = 1024
};

typedef struct sift_context
{
    weft_collider* c;
    sift_job job;
    const weft_pair* pair;
    weft_pair* out;
    int* kept; // of each chunk
} sift_context;

// What a chunk keeps waits at the chunk's own place.
static void sift_chunk(void* context, int begin, int end)
{
    sift_context* s = context;
    s->kept[begin / SIFT_GRAIN] = s->c->sift(&s->job, s->pair + begin, end - begin, s->out + begin);
}

static weft_status sift_list(weft_collider* c, weft_pair_kind kind, double least)
{
    const pair_list* from = &c->candidates[kind];
    pair_list* to = &c->sifted[kind];
    int chunks = (from->count + SIFT_GRAIN - 1) / SIFT_GRAIN;
    if (!scratch_grow((void**)&to->pair, &to->capacity, from->count, sizeof(weft_pair)) ||
        !scratch_grow((void**)&c->kept, &c->kept_capacity, chunks, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    sift_context s = {c,
                      {kind, c->start, c->end, c->corner[kind == WEFT_EDGE_EDGE ? FEATURE_EDGE : FEATURE_FACE], least},
                      from->pair,
                      to->pair,
                      c->kept};
    parallel_for(c->pool, from->count, SIFT_GRAIN, sift_chunk, &s);
    to->count = 0;
    for (int k = 0; k < chunks; k++)
    {
        memmove(to->pair + to->count, to->pair + (size_t)k * SIFT_GRAIN, (size_t)c->kept[k] * sizeof(weft_pair));
        to->count += c->kept[k];
    }
    return WEFT_OK;
}

weft_status collider_sift(weft_collider* c, double least)
{
    TRY(sift_list(c, WEFT_VERTEX_FACE, least));
    return sift_list(c, WEFT_EDGE_EDGE, least);
}

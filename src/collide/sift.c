// Candidates once more: those that one direction tells apart over the whole step are put aside (sift_kernel.c). What is
// left, some hundredths in a smooth sheet, is what narrow tests look at, as long as vertices end near where they were
// led; else all candidates are still there. Of these a second sieve leaves only what is in doubt for the test to come
// (sift_kernel.c).
#include <string.h>

#include "collide/broad.h"

KERNELS_CHOICE(sift_kernels)

enum
{
    SIFT_GRAIN = 1024
};

typedef struct sift_context
{
    sift_fn* sift;
    sift_job job;
    const weft_pair* pair;
    weft_pair* out;
    int* kept; // of each chunk
} sift_context;

// What a chunk keeps waits at the chunk's own place, never ahead of what is still to be read: a list may be its own.
static void sift_chunk(void* context, int begin, int end)
{
    sift_context* s = context;
    s->kept[begin / SIFT_GRAIN] = s->sift(&s->job, s->pair + begin, end - begin, s->out + begin);
}

static weft_status sift_list(weft_collider* c, sift_fn* sift, const pair_list* from, pair_list* to, const sift_job* job)
{
    int chunks = (from->count + SIFT_GRAIN - 1) / SIFT_GRAIN;
    if (!scratch_grow((void**)&to->pair, &to->capacity, from->count, sizeof(weft_pair)) ||
        !scratch_grow((void**)&c->kept, &c->kept_capacity, chunks, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    sift_context s = {sift, *job, from->pair, to->pair, c->kept};
    s.job.corner = c->corner[job->kind == WEFT_EDGE_EDGE ? FEATURE_EDGE : FEATURE_FACE];
    s.job.first_corner = c->corner[job->kind == WEFT_EDGE_EDGE ? FEATURE_EDGE : FEATURE_VERTEX];
    parallel_for(c->pool, from->count, SIFT_GRAIN, sift_chunk, &s);
    to->count = 0;
    for (int k = 0; k < chunks; k++)
    {
        memmove(to->pair + to->count, to->pair + (size_t)k * SIFT_GRAIN, (size_t)c->kept[k] * sizeof(weft_pair));
        to->count += c->kept[k];
    }
    return WEFT_OK;
}

static weft_status sift_both(weft_collider* c, sift_fn* sift, const pair_list* from, pair_list* to, sift_job job)
{
    job.kind = WEFT_VERTEX_FACE;
    TRY(sift_list(c, sift, &from[0], &to[0], &job));
    job.kind = WEFT_EDGE_EDGE;
    return sift_list(c, sift, &from[1], &to[1], &job);
}

weft_status collider_sift(weft_collider* c, double least)
{
    sift_job job = {.start = c->start, .end = c->end, .least = least};
    return sift_both(c, c->sift->apart, c->candidates, c->sifted, job);
}

pair_list* collider_lists(weft_collider* c, narrow_among among)
{
    return among == AMONG_SIFTED ? c->sifted : among == AMONG_DOUBTED ? c->doubted : c->candidates;
}

weft_status collider_doubt_near(weft_collider* c, narrow_among among, const vec3* start, const vec3* end,
                                const near_reach* reach)
{
    sift_job job = {.start = start,
                    .end = end,
                    .least = reach->least,
                    .border_least = reach->border,
                    .obstacles = reach->obstacles};
    return sift_both(c, c->sift->near, collider_lists(c, among), c->doubted, job);
}

weft_status collider_doubt_collision(weft_collider* c, narrow_among among, const vec3* start, const vec3* end,
                                     double least)
{
    sift_job job = {.start = start, .end = end, .least = least};
    return sift_both(c, c->sift->collision, collider_lists(c, among), c->doubted, job);
}

static int awake(const sift_job* job, const weft_pair* pair, int count, weft_pair* out)
{
    bool edges = job->kind == WEFT_EDGE_EDGE;
    const uint8_t* is = job->awake;
    int kept = 0;
    for (int k = 0; k < count; k++)
    {
        weft_pair p = pair[k];
        const int *a = job->first_corner + (size_t)p.first * (edges ? 2 : 1),
                  *b = job->corner + (size_t)p.second * (edges ? 2 : 3);
        int any = is[a[0]] | is[edges ? a[1] : b[2]] | is[b[0]] | is[b[1]];
        out[kept] = p;
        kept += any != 0;
    }
    return kept;
}

weft_status collider_awake(weft_collider* c, narrow_among among, const uint8_t* who)
{
    return sift_both(c, awake, collider_lists(c, among), c->doubted, (sift_job){.awake = who});
}

// What is left of a start that settles, in words: which bodies, how many pairs, and where, the most first.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

enum
{
    PLACES_MAX = 64, // that are told apart
    PLACES_SAID = 6
};

static const double place_size = 0.1; // m, around its first pair

typedef struct place
{
    int body[2]; // the lower first
    weft_vec3 first, sum;
    int count;
} place;

static const char* body_name(const weft_sim* sim, int body)
{
    int cloths = weft_sim_cloth_count(sim);
    return body < cloths ? weft_sim_cloth_name(sim, body) : weft_sim_obstacle_name(sim, body - cloths);
}

// One of two is a cloth: the middle of its edge, or of its face.
static weft_vec3 pair_middle(const weft_squeezed* p, weft_vec3* const* x, int cloths)
{
    bool edge = p->body[0] < cloths;
    const int* vertex = edge ? p->edge : p->face;
    int count = edge ? 2 : 3;
    weft_vec3 sum = {0, 0, 0};
    for (int k = 0; k < count; k++)
    {
        weft_vec3 at = x[p->body[!edge]][vertex[k]];
        sum = (weft_vec3){sum.x + at.x / count, sum.y + at.y / count, sum.z + at.z / count};
    }
    return sum;
}

static void add_pair(place* places, int* count, const weft_squeezed* p, weft_vec3 at)
{
    int low = p->body[0] < p->body[1] ? p->body[0] : p->body[1], high = p->body[0] + p->body[1] - low, k = 0;
    for (k = 0; k < *count; k++)
    {
        const place* q = &places[k];
        double away = hypot(hypot(at.x - q->first.x, at.y - q->first.y), at.z - q->first.z);
        if (q->body[0] == low && q->body[1] == high && (away < place_size || *count == PLACES_MAX))
        {
            break;
        }
    }
    k = k == *count && *count == PLACES_MAX ? PLACES_MAX - 1 : k;
    if (k == *count)
    {
        places[(*count)++] = (place){.body = {low, high}, .first = at};
    }
    place* q = &places[k];
    q->sum = (weft_vec3){q->sum.x + at.x, q->sum.y + at.y, q->sum.z + at.z};
    q->count++;
}

static int compare_places(const void* left, const void* right)
{
    return ((const place*)right)->count - ((const place*)left)->count;
}

static weft_vec3* positions_of(const weft_sim* sim, int cloth)
{
    int count = weft_sim_output_count(sim, cloth);
    weft_vec3* x = malloc((size_t)(count > 0 ? count : 1) * sizeof(weft_vec3));
    if (x)
    {
        weft_sim_positions(sim, cloth, x);
    }
    return x;
}

void report_unsettled(const weft_sim* sim, const weft_squeezed* pairs, int pair_count)
{
    int cloths = weft_sim_cloth_count(sim), count = 0;
    weft_vec3** x = calloc((size_t)cloths + 1, sizeof(weft_vec3*));
    static place places[PLACES_MAX];
    bool room = x != NULL;
    for (int k = 0; k < cloths && room; k++)
    {
        x[k] = positions_of(sim, k);
        room = x[k] != NULL;
    }
    for (int k = 0; k < pair_count && room; k++)
    {
        add_pair(places, &count, &pairs[k], pair_middle(&pairs[k], x, cloths));
    }
    qsort(places, (size_t)count, sizeof(place), compare_places);
    for (int k = 0; k < count && k < PLACES_SAID; k++)
    {
        const place* q = &places[k];
        bool itself = q->body[0] == q->body[1];
        fprintf(stderr, "  `%s` with %s%s%s: %d pair%s around (%.2f, %.2f, %.2f)\n", body_name(sim, q->body[0]),
                itself ? "" : "`", itself ? "itself" : body_name(sim, q->body[1]), itself ? "" : "`", q->count,
                q->count == 1 ? "" : "s", q->sum.x / q->count, q->sum.y / q->count, q->sum.z / q->count);
    }
    int rest = 0;
    for (int k = PLACES_SAID; k < count; k++)
    {
        rest += places[k].count;
    }
    if (rest > 0)
    {
        fprintf(stderr, "  and %d in %d more place%s\n", rest, count - PLACES_SAID,
                count == PLACES_SAID + 1 ? "" : "s");
    }
    for (int k = 0; k < cloths && x; k++)
    {
        free(x[k]);
    }
    free(x);
}

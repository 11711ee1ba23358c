// Bodies that cloth crosses at the start of a scene that settles, and does not when they are thin: as in dressing
// (dress.c), the body gets as thin as it must, and grows while the simulation runs (sim/growth.c). What no thinness
// clears is led through the sleeves (dress_thread.c); what is left then has marks (start_settle.c).
#include <string.h>

#include "start/dress.h"

enum
{
    LEVELS = 12 // of thinness that are looked at
};

static const double thinnest = 0.97, threaded = 0.99;  // of the way to the core, as it is and led through sleeves
static const double speed = 0.5;                       // m/s, of a surface that grows, in the mean
static const double least_time = 0.1, most_time = 0.4; // s
// m, that a body grows: a limb that is led farther goes through an opening that was not meant for it, and wrings the
// cloth on its way back.
static const double farthest = 0.5;

typedef struct thinnings
{
    start_look* look;
    vec3* x;             // [vertex_count] with thin bodies
    vec3* core;          // [vertex_count]
    int* left;           // [body_count] pairs of cloth that cross it
    double* thin;        // [body_count] how thin it has to be; 0: it does not grow
    unsigned char* held; // [vertex_count]
    weft_crossing* all;  // [all_count] pairs at the start
    int all_count;
} thinnings;

// Cloth that lies wholly in a body comes out by its marks.
static void count_pairs(thinnings* g, bool nested)
{
    const start_look* look = g->look;
    memset(g->left, 0, (size_t)look->body_count * sizeof(int));
    for (int k = 0; k < look->pair_count; k++)
    {
        int counts = nested || look->pairs[k].kind != WEFT_CROSSING_NESTED;
        g->left[look->pairs[k].body[0]] += counts;
        g->left[look->pairs[k].body[1]] += counts;
    }
}

// A pin inside of the body, or at its skin, would hold the cloth where the body grows to.
static bool has_held(const thinnings* g, int body)
{
    const start_look* look = g->look;
    for (int k = 0; k < 2 * look->pair_count; k++)
    {
        const weft_crossing* c = &look->pairs[k / 2];
        int cloth = c->body[k % 2];
        if (c->body[1 - k % 2] != body || cloth >= look->sim->body_count || start_is_segment(look, c, k % 2) ||
            c->kind == WEFT_CROSSING_NESTED)
        {
            continue;
        }
        const int* corner = look->meshes[cloth]->triangle + 3 * (size_t)c->triangle[k % 2];
        for (int j = 0; j < 3; j++)
        {
            if (g->held[look->first_vertex[cloth] + corner[j]])
            {
                return true;
            }
        }
    }
    return false;
}

static weft_status choose(thinnings* g, const unsigned char* solid, unsigned char* grows, int* count)
{
    start_look* look = g->look;
    *count = 0;
    count_pairs(g, false);
    for (int b = look->sim->body_count; b < look->body_count; b++)
    {
        const mesh* m = look->meshes[b];
        int first = look->first_vertex[b];
        grows[b] = solid[b] && g->left[b] > 0 && !has_held(g, b);
        *count += grows[b];
        TRY(grows[b] ? core_find(m->triangle, m->triangle_count, look->x + first, m->vertex_count, g->core + first)
                     : WEFT_OK);
    }
    return WEFT_OK;
}

// Bodies that have found no thinness yet get this one; what it clears keeps it.
static weft_status try_thinness(thinnings* g, double thin, const unsigned char* grows, int* count, weft_error* error)
{
    start_look* look = g->look;
    for (int b = 0; b < look->body_count; b++)
    {
        for (int i = look->first_vertex[b]; i < look->first_vertex[b + 1] && grows[b] && g->thin[b] == 0.0; i++)
        {
            g->x[i] = v3_round(v3_madd(look->x[i], thin, v3_sub(g->core[i], look->x[i])));
        }
    }
    TRY(start_look_inspect(look, g->x, error));
    count_pairs(g, true);
    for (int b = 0; b < look->body_count; b++)
    {
        bool clear = grows[b] && g->thin[b] == 0.0 && g->left[b] == 0;
        g->thin[b] = clear ? thin : g->thin[b];
        *count -= clear;
    }
    return WEFT_OK;
}

// At the start, of which all pairs are kept.
static bool crosses(const thinnings* g, int cloth, int body)
{
    bool found = false;
    for (int k = 0; k < g->all_count && !found; k++)
    {
        found = g->all[k].body[0] == cloth && g->all[k].body[1] == body;
    }
    return found;
}

static double longest_way(const thinnings* g, int b)
{
    const start_look* look = g->look;
    double longest = 0.0;
    for (int i = look->first_vertex[b]; i < look->first_vertex[b + 1]; i++)
    {
        longest = fmax(longest, g->thin[b] * v3_length(v3_sub(g->core[i], look->x[i])));
    }
    return longest;
}

static weft_status begin(thinnings* g, int b)
{
    start_look* look = g->look;
    int first = look->first_vertex[b], n = look->first_vertex[b + 1] - first;
    vec3* thin = MEM_NEW(int_max(n, 1), vec3);
    for (int i = 0; i < n && thin; i++)
    {
        thin[i] = v3_scale(g->thin[b], v3_sub(g->core[first + i], look->x[first + i]));
    }
    int* lifts = MEM_NEW(look->sim->body_count + 1, int);
    if (!thin || !lifts)
    {
        mem_free(thin);
        mem_free(lifts);
        return WEFT_NO_MEMORY;
    }
    int count = 0;
    for (int cloth = 0; cloth < look->sim->body_count; cloth++)
    {
        lifts[count] = cloth;
        count += crosses(g, cloth, b);
    }
    double time = fmin(fmax(longest_way(g, b) / speed, least_time), most_time);
    obstacle_grow(&look->sim->obstacles[b - look->sim->body_count],
                  (obstacle_growth){thin, weft_sim_time(look->sim), time, lifts, count});
    return WEFT_OK;
}

static weft_status try_levels(thinnings* g, double most, const unsigned char* grows, int* count, weft_error* error)
{
    for (int k = 1; k <= LEVELS && *count > 0; k++)
    {
        TRY(try_thinness(g, most * k / LEVELS, grows, count, error));
    }
    return WEFT_OK;
}

// What its core does not clear is led through the openings of what it crosses.
static weft_status thread_cores(thinnings* g, const unsigned char* grows)
{
    const start_look* look = g->look;
    int cloth_count = look->sim->body_count;
    dress_cloth* cloths = MEM_NEW(int_max(cloth_count, 1), dress_cloth);
    weft_status status = cloths ? WEFT_OK : WEFT_NO_MEMORY;
    for (int b = 0; b < cloth_count && cloths; b++)
    {
        cloths[b] = (dress_cloth){look->meshes[b], look->x + look->first_vertex[b]};
    }
    for (int b = cloth_count; b < look->body_count && status == WEFT_OK; b++)
    {
        const mesh* m = look->meshes[b];
        int first = look->first_vertex[b];
        const thread_case body = {m->triangle, m->triangle_count, m->vertex_count, look->x + first,
                                  cloths,      cloth_count};
        bool threaded;
        status = grows[b] && g->thin[b] == 0.0 ? core_thread(&body, g->core + first, &threaded) : WEFT_OK;
    }
    mem_free(cloths);
    return status;
}

static weft_status grow(thinnings* g, const unsigned char* solid, unsigned char* grows, weft_error* error)
{
    start_look* look = g->look;
    int count = 0;
    start_hold(look, g->held);
    TRY(choose(g, solid, grows, &count));
    memcpy(g->x, look->x, (size_t)look->vertex_count * sizeof(vec3));
    TRY(try_levels(g, thinnest, grows, &count, error));
    TRY(count > 0 ? thread_cores(g, grows) : WEFT_OK);
    TRY(try_levels(g, threaded, grows, &count, error));
    for (int b = 0; b < look->body_count; b++)
    {
        grows[b] = g->thin[b] > 0.0 && longest_way(g, b) <= farthest;
        TRY(grows[b] ? begin(g, b) : WEFT_OK);
    }
    return WEFT_OK;
}

weft_status start_grow(start_look* look, const unsigned char* solid, unsigned char* grows, weft_error* error)
{
    thinnings g = {.look = look,
                   .x = MEM_NEW(int_max(look->vertex_count, 1), vec3),
                   .core = MEM_NEW(int_max(look->vertex_count, 1), vec3),
                   .left = MEM_NEW(look->body_count, int),
                   .thin = MEM_NEW(look->body_count, double),
                   .held = MEM_NEW(int_max(look->vertex_count, 1), unsigned char)};
    g.all_count = look->pair_count;
    g.all = MEM_NEW(g.all_count + 1, weft_crossing);
    weft_status status = g.x && g.core && g.left && g.thin && g.held && g.all ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        memcpy(g.all, look->pairs, (size_t)g.all_count * sizeof(weft_crossing));
        status = grow(&g, solid, grows, error);
        memcpy(look->pairs, g.all, (size_t)g.all_count * sizeof(weft_crossing)); // the list never shrinks
        look->pair_count = g.all_count;
    }
    void* const arrays[] = {g.x, g.core, g.left, g.thin, g.held, g.all};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    return status;
}

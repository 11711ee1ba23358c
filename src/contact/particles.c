// Cloth against cloth by particles (Boxerman 2003, section 3.4.2), as an option: the space around the cloth is divided
// into voxels, each vertex of a sheet is registered in its own, and every two within
//
//     d = 0.6 s,    s the spacing of the mesh (the mean of both: on a grid the length of its cells)
//
// of each other are pushed apart by a damped spring. With l their distance and n the direction from the second to the
// first, u their relative velocity, the force on the first is
//
//     k (d - l) n - c u,    while l < d
//
// The damping is the thesis's plain one (3.12), of all of the motion: what it takes across n stands for friction. Where
// the pair parts so fast that its part along n would pull, that part is left out: contact does not pull.
// Jacobian of the elastic force by x_1: -k (n n^T - (d/l - 1) (I - n n^T)); the second part makes the matrix indefinite
// and is dropped, so that the block is k n n^T. They are springs inside the solve, as cushions are, and always
// implicit.
//
// Vertices of one sheet that are near each other at rest have 0.6 of that distance for d, so that flat cloth has no
// such springs; on a grid that changes nothing. What stays between the particles (the middle of a cell is 0.7 s from
// its corners) meets cushions at the thickness, and the response follows, as ever.
//
// The thesis says nothing of k and c. By default k accelerates a pair by 1000 m/s^2 at l = 0, whatever the mesh, and c
// is a tenth of critical: with all of it sheets would stick to each other.
#include "contact/find.h"

static const double damping_share = 0.1; // of critical
static const double coincident = 1e-3;   // of d: closer ones have no direction

weft_status particles_create(contact* c, const particle_options* options)
{
    particles* p = &c->particles;
    int n = c->cloth_count;
    p->options = *options;
    p->bucket_count = 1;
    while (p->bucket_count < 2 * n)
    {
        p->bucket_count *= 2;
    }
    p->spacing = MEM_NEW(n + 1, double);
    p->cell = MEM_NEW(3 * (size_t)n + 1, int64_t);
    p->bucket = MEM_NEW(n + 1, int);
    p->item = MEM_NEW(n + 1, int);
    p->bucket_start = MEM_NEW((size_t)p->bucket_count + 2, int);
    return p->spacing && p->cell && p->bucket && p->item && p->bucket_start ? WEFT_OK : WEFT_NO_MEMORY;
}

void particles_finish(contact* c)
{
    particles* p = &c->particles;
    mem_free(p->spacing);
    mem_free(p->cell);
    mem_free(p->bucket);
    mem_free(p->item);
    mem_free(p->bucket_start);
    mem_free(p->pairs);
    *p = (particles){0};
}

// ---- voxels

static int bucket_of(const particles* p, const int64_t cell[3])
{
    uint64_t hash = (uint64_t)cell[0] * 0x9E3779B97F4A7C15u ^ (uint64_t)cell[1] * 0xC2B2AE3D27D4EB4Fu ^
                    (uint64_t)cell[2] * 0x165667B19E3779F9u;
    hash ^= hash >> 29;
    return (int)(hash & (uint64_t)(p->bucket_count - 1));
}

// The largest d of any pair.
static double voxel_size(const contact* c)
{
    double most = 0.0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        most = fmax(most, c->particles.spacing[i]);
    }
    return c->particles.options.distance * most;
}

// Every particle in its voxel's bucket: counts, then offsets one place on, so that filling moves each to its start.
static void register_all(const contact* c, double size)
{
    const particles* p = &c->particles;
    int* start = p->bucket_start;
    for (int b = 0; b < p->bucket_count + 2; b++)
    {
        start[b] = 0;
    }
    for (int i = 0; i < c->cloth_count; i++)
    {
        const vec3* x = &c->start[i];
        int64_t* cell = p->cell + 3 * (size_t)i;
        cell[0] = (int64_t)floor(x->x / size);
        cell[1] = (int64_t)floor(x->y / size);
        cell[2] = (int64_t)floor(x->z / size);
        p->bucket[i] = p->spacing[i] > 0.0 ? bucket_of(p, cell) : -1;
        start[p->bucket[i] + 2] += p->bucket[i] >= 0;
    }
    for (int b = 0; b < p->bucket_count; b++)
    {
        start[b + 2] += start[b + 1];
    }
    for (int i = 0; i < c->cloth_count; i++)
    {
        if (p->bucket[i] >= 0)
        {
            p->item[start[p->bucket[i] + 1]++] = i;
        }
    }
}

// ---- pairs

// The distance that two particles keep: what is near at rest, or was where it was sewn, keeps a share of that.
static double kept_distance(const contact* c, int i, int j)
{
    const particles* p = &c->particles;
    double share = p->options.distance, d = share * 0.5 * (p->spacing[i] + p->spacing[j]);
    int a = c->body[i], b = c->body[j];
    if (a != b && !(c->kin && c->kin[a] == c->kin[b]))
    {
        return d;
    }
    const vec3* x = a == b ? c->rest : c->sewn;
    return fmin(d, share * v3_length(v3_sub(x[i], x[j])));
}

static bool may_meet(const contact* c, int i, int j)
{
    const cull_rules* rules = &c->collider->rules;
    if (rules->body && !cull_features_wanted(rules, &i, 1, &j, 1))
    {
        return false;
    }
    if (c->seam && c->seam[i] >= 0 && c->seam[i] == c->seam[j])
    {
        return false;
    }
    return c->marks.count == 0 || !squeeze_ignores(c, (const int[4]){i, j, j, j}, 1);
}

static weft_status pair_add(contact* c, int i, int j)
{
    particles* p = &c->particles;
    vec3 way = v3_sub(c->start[i], c->start[j]);
    double length = v3_length(way), kept = kept_distance(c, i, j);
    if (!(length < kept) || length < coincident * kept || !may_meet(c, i, j))
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&p->pairs, &p->pair_capacity, p->pair_count + 1, sizeof(particle_pair)))
    {
        return WEFT_NO_MEMORY;
    }
    p->pairs[p->pair_count++] = (particle_pair){{i, j}, v3_scale(1.0 / length, way), length, kept};
    return WEFT_OK;
}

static bool is_in(const particles* p, int i, const int64_t cell[3])
{
    const int64_t* own = p->cell + 3 * (size_t)i;
    return own[0] == cell[0] && own[1] == cell[1] && own[2] == cell[2];
}

// With those of a greater number in its own voxel and the 26 around it.
static weft_status pairs_of(contact* c, int i)
{
    const particles* p = &c->particles;
    const int64_t* own = p->cell + 3 * (size_t)i;
    for (int n = 0; n < 27; n++)
    {
        const int64_t cell[3] = {own[0] + n % 3 - 1, own[1] + n / 3 % 3 - 1, own[2] + n / 9 - 1};
        int bucket = bucket_of(p, cell);
        for (int k = p->bucket_start[bucket]; k < p->bucket_start[bucket + 1]; k++)
        {
            if (p->item[k] > i && is_in(p, p->item[k], cell))
            {
                TRY(pair_add(c, i, p->item[k]));
            }
        }
    }
    return WEFT_OK;
}

weft_status particles_find(contact* c)
{
    particles* p = &c->particles;
    double size = p->spacing ? voxel_size(c) : 0.0;
    p->pair_count = 0;
    if (!(size > 0.0))
    {
        return WEFT_OK;
    }
    register_all(c, size);
    for (int i = 0; i < c->cloth_count; i++)
    {
        TRY(p->bucket[i] >= 0 ? pairs_of(c, i) : WEFT_OK);
    }
    int room = c->rows.count + p->pair_count;
    return mem_grow((void**)&c->cushions, &c->cushion_capacity, room, sizeof(cushion)) ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- in the system

// A cushion without a row: its damping across the normal is what friction in motion is to others.
static cushion spring_make(const contact* c, const particle_pair* pair, double inv_mass)
{
    const particle_options* o = &c->particles.options;
    int i = pair->vertex[0], j = pair->vertex[1];
    cushion s = {.row = -1,
                 .vertex = {i, j, j, j},
                 .weight = {1, -1, 0, 0},
                 .normal = pair->normal,
                 .overlap = pair->kept - pair->length,
                 .inv_mass = inv_mass,
                 .inv_mass_aside = inv_mass};
    s.stiffness = o->stiffness >= 0.0 ? o->stiffness : CUSHION_ACCELERATION / (pair->kept * inv_mass);
    double damping = o->damping >= 0.0 ? o->damping : damping_share * 2.0 * sqrt(s.stiffness / inv_mass);
    double parting = v3_dot(weighted(s.weight, s.vertex, c->velocity), s.normal);
    bool pulls = parting * (c->now.h * s.stiffness + damping) >= s.stiffness * s.overlap;
    s.damping = pulls ? 0.0 : damping;
    s.slip = damping;
    return s;
}

void particles_take(contact* c)
{
    for (int k = 0; k < c->particles.pair_count; k++)
    {
        const particle_pair* pair = &c->particles.pairs[k];
        const int vertex[4] = {pair->vertex[0], pair->vertex[1], pair->vertex[1], pair->vertex[1]};
        double inv_mass = contact_inv_mass(c, vertex, (const double[4]){1, -1, 0, 0}, pair->normal);
        if (inv_mass > 0.0)
        {
            c->cushions[c->cushion_count++] = spring_make(c, pair, inv_mass);
        }
    }
}

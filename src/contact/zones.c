// Rigid zones: what neither impulses nor sweeps can part moves as one, with the mean motion of its mass, or with what
// holds it. A translation keeps all distances, and a zone that hits more takes that in. Where even that leaves
// collisions, bodies hold a zone that move apart, and the fastest of them is let through the cloth.
#include <string.h>

#include "contact/find.h"

// Obstacles, and vertices that a pin holds in some direction: a zone moves as one, and no pin lets it.
static bool is_fixed(const contact* c, int i)
{
    return c->inv_mass[i] == 0.0 || (i < c->cloth_count && c->record[i] >= 0);
}

// Every vertex of a collision that can move belongs to one zone with the others of it. False: they all did already.
static bool zones_join(contact* c, const collision* hit, int count)
{
    bool grown = false;
    for (int k = 0; k < count; k++)
    {
        int first = -1;
        for (int v = 0; v < 4; v++)
        {
            int i = hit[k].vertex[v];
            if (!is_fixed(c, i) && first >= 0)
            {
                grown = forest_join(c->zone, first, i) || grown;
            }
            first = !is_fixed(c, i) ? i : first;
        }
    }
    return grown;
}

// Zones stand still. Only vertices of stuck collisions have ever been moved, joined or weighed.
static void zones_rest(contact* c)
{
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4];
        c->zone_motion[i] = v3(0, 0, 0);
        c->zone_mass[i] = 0.0;
    }
}

// Nothing is stuck: every vertex is a zone by itself again.
void zones_clear(contact* c)
{
    zones_rest(c);
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4];
        c->zone[i] = i;
    }
    c->stuck_count = 0;
}

// The motion of each zone: the mean of what cannot move and holds it, else of its own mass. Vertices of one zone are
// counted once for each collision that names them, which is as good a weight as any.
static void zones_move(contact* c)
{
    for (int anchored = 1; anchored >= 0; anchored--)
    {
        for (int k = 0; k < 4 * c->stuck_count; k++)
        {
            const collision* hit = &c->stuck[k / 4];
            int i = hit->vertex[k % 4], root = -1;
            for (int v = 0; v < 4 && root < 0; v++)
            {
                root = !is_fixed(c, hit->vertex[v]) ? forest_root(c->zone, hit->vertex[v]) : -1;
            }
            bool held = is_fixed(c, i);
            if (root < 0 || held != (anchored == 1) || (!anchored && c->zone_mass[root] < 0.0))
            {
                continue;
            }
            double mass = held ? 1.0 : 1.0 / c->inv_mass[i];
            c->zone_motion[root] = v3_madd(c->zone_motion[root], mass, v3_sub(c->end[i], c->start[i]));
            c->zone_mass[root] += held ? -mass : mass; // negative: held
        }
    }
}

static void zones_apply(contact* c, double h)
{
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4], root = forest_root(c->zone, i);
        if (!is_fixed(c, i) && c->zone_mass[root] != 0.0)
        {
            vec3 motion = v3_scale(1.0 / fabs(c->zone_mass[root]), c->zone_motion[root]);
            c->end[i] = v3_add(c->start[i], motion);
            c->velocity[i] = v3_scale(1.0 / h, motion);
        }
    }
}

// Everything of `fresh` collisions, the last of stuck, moves as one from now on. *grown: a zone has taken something in.
void zones_take(contact* c, int fresh, bool* grown)
{
    *grown = zones_join(c, c->stuck + c->stuck_count, fresh);
    c->stuck_count += fresh;
    zones_rest(c);
    zones_move(c);
    zones_apply(c, c->now.h);
    // They are looked at again, whatever became of them.
    int count = 0;
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4];
        count += !c->awake[i] && !is_fixed(c, i);
        c->awake[i] = 1;
        c->visits[i] = i < c->cloth_count ? VISITS_MAX : 0; // no sweep shall take it apart again
    }
    c->last_resort = int_max(c->last_resort, count);
}

// ---- bodies that close on the cloth

static int collision_root(contact* c, const collision* hit)
{
    int root = -1;
    for (int v = 0; v < 4 && root < 0; v++)
    {
        root = !is_fixed(c, hit->vertex[v]) ? forest_root(c->zone, hit->vertex[v]) : -1;
    }
    return root;
}

// The obstacle that takes part; -1: none does.
static int collision_obstacle(const contact* c, const collision* hit, double* way)
{
    int body = -1;
    *way = 0.0;
    for (int v = 0; v < 4; v++)
    {
        int i = hit->vertex[v];
        if (i >= c->cloth_count)
        {
            body = c->body[i];
            *way = fmax(*way, v3_length(v3_sub(c->end[i], c->start[i])));
        }
    }
    return body;
}

// Whether this collision belongs to a zone that cannot be parted, with a body; *way: how far that moves.
static bool holds_zone(contact* c, const collision* hit, int* root, int* body, double* way)
{
    *root = collision_root(c, hit);
    *body = collision_obstacle(c, hit, way);
    return *root >= 0 && *body >= 0 && c->zone_mass[*root] != 0.0;
}

// Of the bodies that hold a zone which cannot be parted, the one that moves most goes through the cloth: it will leave
// again, and the others keep the cloth on its side of them. *out is false when none moves. A zone that is weighed is
// one that cannot be parted, and its motion holds the longest way and the number of its body, from 1.
weft_status zones_let_through(contact* c, bool* out)
{
    int root, body;
    double way;
    *out = false;
    if (!mem_grow((void**)&c->stuck, &c->stuck_capacity, c->stuck_count + c->found.count, sizeof(collision)))
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(c->stuck + c->stuck_count, c->found.item, (size_t)c->found.count * sizeof(collision));
    zones_join(c, c->stuck + c->stuck_count, c->found.count);
    c->stuck_count += c->found.count;
    zones_rest(c);
    for (int k = c->stuck_count - c->found.count; k < c->stuck_count; k++)
    {
        root = collision_root(c, &c->stuck[k]);
        root >= 0 ? (void)(c->zone_mass[root] = 1.0) : (void)0;
    }
    for (int k = 0; k < c->stuck_count; k++)
    {
        if (holds_zone(c, &c->stuck[k], &root, &body, &way) && way > c->zone_motion[root].x)
        {
            c->zone_motion[root] = v3(way, body + 1, 0);
        }
    }
    for (int k = 0; k < c->stuck_count; k++)
    {
        if (holds_zone(c, &c->stuck[k], &root, &body, &way) && c->zone_motion[root].y == body + 1)
        {
            TRY(squeeze_let(c, &c->stuck[k]));
            *out = true;
        }
    }
    squeeze_settle(c);
    return WEFT_OK;
}

// Coarse links around bodies. A link of a coarse level is a straight line between places that may be far apart. Where
// the cloth between them lies on something bent, that line goes through the body, and to shorten it presses the cloth
// against the body instead of drawing it along: friction then holds what ought to slide, cloth stretches all the more,
// and shorter substeps press the more often (a sheet drawn through a ring: 4.8 times its length, by levels of short
// links alone 1.2). So a link rests while what it spans is in contact with sides that face different ways.
//
// Which ways they face is told by the sum of n n^T over the rows of contact: each vertex counts for its parent with the
// most weight, and so on up. Both sides of a layer between two others are one way.
#include <string.h>

#include "step/pbd.h"

// Of a sum M of n n^T: |M|^2 / (trace M)^2 is 1 where all face one way, 1/3 where they face all ways; on an arc of
// 92 degrees, whose chord is a tenth shorter, this. At 0.83 (65 degrees) cloth that falls on a sphere stretches more.
static const double one_way = 0.7;

static void facing_add(facing* f, double weight, vec3 n)
{
    f->xx += weight * n.x * n.x;
    f->yy += weight * n.y * n.y;
    f->zz += weight * n.z * n.z;
    f->xy += weight * n.x * n.y;
    f->yz += weight * n.y * n.z;
    f->zx += weight * n.z * n.x;
}

static facing facing_sum(const facing* f, const facing* g)
{
    return (facing){f->xx + g->xx, f->yy + g->yy, f->zz + g->zz, f->xy + g->xy, f->yz + g->yz, f->zx + g->zx};
}

static bool is_bent(const facing* f)
{
    double trace = f->xx + f->yy + f->zz;
    double size = f->xx * f->xx + f->yy * f->yy + f->zz * f->zz + 2.0 * (f->xy * f->xy + f->yz * f->yz + f->zx * f->zx);
    return size < one_way * trace * trace;
}

static void take_rows(const contact* c, facing* at)
{
    const contact_row* rows = c->rows.item;
    for (int k = 0; k < c->rows.count; k++)
    {
        for (int a = 0; a < 4; a++)
        {
            int i = rows[k].vertex[a];
            if (i < c->cloth_count && !rows[k].settles)
            {
                facing_add(&at[i], rows[k].weight[a] * rows[k].weight[a], rows[k].normal);
            }
        }
    }
}

static int first_parent(const level* l, int k)
{
    int best = l->parent_start[k];
    for (int r = best; r < l->parent_start[k + 1]; r++)
    {
        best = l->weight[r] > l->weight[best] ? r : best;
    }
    return best < l->parent_start[k + 1] ? l->parent[best] : -1;
}

// Takes each child's sum to its parent, then looks at the links between them.
static void level_rest(level* l, facing* at)
{
    for (int k = 0; k < l->child_count; k++)
    {
        int parent = first_parent(l, k);
        if (parent >= 0)
        {
            at[parent] = facing_sum(&at[parent], &at[l->child[k]]);
        }
    }
    links* limits = &l->limits;
    for (int k = 0; k < limits->count; k++)
    {
        facing both = facing_sum(&at[limits->a[k]], &at[limits->b[k]]);
        bool rests = limits->def[k].is_limit && is_bent(&both);
        limits->length[k] = rests ? INFINITY : limits->def[k].length;
    }
}

weft_status pbd_wrap(world* w, pbd_data* d)
{
    pbd_reach* r = &d->reach;
    bool touches = w->contact && w->contact->rows.count > 0;
    if (r->levels.level_count == 0 || (!touches && !r->resting))
    {
        return WEFT_OK;
    }
    int n = w->model->vertex_count;
    if (!mem_grow((void**)&r->facing, &r->facing_capacity, n, sizeof(facing)))
    {
        return WEFT_NO_MEMORY;
    }
    memset(r->facing, 0, (size_t)n * sizeof(facing));
    touches ? take_rows(w->contact, r->facing) : (void)0;
    for (int k = 0; k < r->levels.level_count; k++)
    {
        level_rest(&r->levels.levels[k], r->facing);
    }
    r->resting = touches;
    return WEFT_OK;
}

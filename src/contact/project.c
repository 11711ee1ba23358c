// Rows as inequalities on positions, for methods that have no matrix: explicit steps, local/global, position based.
//
// The end of the substep is moved as little as may be, in the metric of mass, so that along its normal every row has
// the distance that it wants, and across it friction takes what Coulomb's cone allows: with p >= 0 the accumulated
// normal impulse of a row (kg m) and q its tangential one, |q| <= mu p, q against the way since the start. Gauss-Seidel
// sweeps in the order of rows, which is sorted: the same bits on any number of threads. Static friction holds while the
// whole way fits into the cone of the coefficient at rest; then that in motion counts.
//
// A method that cuts the substep into shorter ones projects on parts of it: bodies are at their share of the way, and
// so is the distance that a row wants.
//
// A row wants its thickness; one that starts closer wants to come out by 0.9 of what is missing in a whole step, as
// touches do (touch.c).
#include "contact/find.h"

static const double come_out = 0.9, come_out_speed = 0.5; // of what is missing; m/s at most

static double wanted_distance(const contact* c, const contact_row* row)
{
    double missing = row->thickness - row->distance;
    if (!(missing > 0.0))
    {
        return row->thickness;
    }
    double speed = fmin(come_out * missing / c->now.time_step, come_out_speed);
    return row->distance + fmin(missing, c->now.h * speed);
}

// Of an obstacle, at a share of the substep.
static vec3 place_at(const contact* c, int i, double share)
{
    return share == 1.0 ? c->end[i] : v3_madd(c->start[i], share, v3_sub(c->end[i], c->start[i]));
}

// Sum over the row of what is here: cloth at x, obstacles at the end of the part; less where all was at its start.
static vec3 row_sum(const contact* c, const projected_row* p, const vec3* x, bool from_start)
{
    const contact_moment* now = &c->moment;
    vec3 sum = v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
    {
        int i = p->row->vertex[k];
        bool cloth = i < c->cloth_count;
        vec3 here = cloth ? x[i] : place_at(c, i, now->end);
        vec3 before = !from_start ? v3(0, 0, 0) : cloth ? now->from[i] : place_at(c, i, now->begin);
        sum = v3_madd(sum, p->row->weight[k], from_start ? v3_sub(here, before) : here);
    }
    return sum;
}

static void row_move(const contact* c, const projected_row* p, vec3 impulse, vec3* x)
{
    for (int k = 0; k < 4; k++)
    {
        int i = p->row->vertex[k];
        if (i < c->cloth_count)
        {
            x[i] = v3_madd(x[i], p->row->weight[k], contact_yield(c, i, impulse));
        }
    }
}

double project_missing(const contact* c, const projected_row* p, const vec3* x)
{
    return p->wanted - v3_dot(p->row->normal, row_sum(c, p, x, false));
}

// Returns what was missing along the normal.
static double row_project(const contact* c, projected_row* p, vec3* x)
{
    vec3 n = p->row->normal;
    double missing = project_missing(c, p, x);
    double push = fmax(missing / p->inv_mass, -p->pushed);
    p->pushed += push;
    row_move(c, p, v3_scale(push, n), x);
    if (!(p->inv_mass_aside > 0.0))
    {
        return missing;
    }
    vec3 way = row_sum(c, p, x, true);
    way = v3_madd(way, -v3_dot(way, n), n);
    vec3 rubbed = v3_madd(p->rubbed, -1.0 / p->inv_mass_aside, way);
    double size = v3_length(rubbed);
    if (size > p->row->friction.hold * p->pushed)
    {
        rubbed = size > 0.0 ? v3_scale(p->row->friction.rub * p->pushed / size, rubbed) : rubbed;
    }
    row_move(c, p, v3_sub(rubbed, p->rubbed), x);
    p->rubbed = rubbed;
    return missing;
}

void contact_leave_rows(contact* c)
{
    c->left_touches = c->touch_count;
    c->left_cushions = c->cushion_count;
    c->left_couplings = c->coupling_count;
    c->touch_count = c->cushion_count = c->coupling_count = 0;
}

void contact_return_rows(contact* c)
{
    c->touch_count = c->left_touches;
    c->cushion_count = c->left_cushions;
    c->coupling_count = c->left_couplings;
}

weft_status contact_project_begin(contact* c, const contact_moment* now)
{
    const contact_row* rows = c->rows.item;
    c->moment = *now;
    c->projected_count = 0;
    if (!mem_grow((void**)&c->projected, &c->projected_capacity, c->rows.count, sizeof(projected_row)))
    {
        return WEFT_NO_MEMORY;
    }
    if (c->draws && !mem_grow((void**)&c->drawn, &c->drawn_capacity, c->cloth_count, sizeof(vec3)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < c->rows.count; k++)
    {
        double inv_mass = contact_inv_mass(c, rows[k].vertex, rows[k].weight, rows[k].normal);
        double wanted = wanted_distance(c, &rows[k]), distance = rows[k].distance;
        bool whole = now->end == 1.0 || distance > wanted;
        if (inv_mass > 0.0)
        {
            c->projected[c->projected_count++] =
                (projected_row){.row = &rows[k],
                                .wanted = whole ? wanted : distance + now->end * (wanted - distance),
                                .inv_mass = inv_mass,
                                .inv_mass_aside = contact_inv_mass_aside(c, &rows[k])};
        }
    }
    c->contacts = int_max(c->contacts, c->projected_count);
    return WEFT_OK;
}

// What faces of obstacles pushed with in the last part.
void project_remember(contact* c)
{
    double h = (c->moment.end - c->moment.begin) * c->now.h;
    for (int k = 0; k < c->projected_count; k++)
    {
        const projected_row* p = &c->projected[k];
        if (touch_is(c, p->row))
        {
            contact_memory* next = &c->next.memory[p->row->vertex[0]];
            next->push = v3_madd(next->push, p->pushed / (h * h), p->row->normal);
        }
    }
}

void contact_project_coarse(contact* c, const contact_coarse* to, vec3* x)
{
    for (int k = 0; k < c->projected_count; k++)
    {
        const projected_row* p = &c->projected[k];
        if (touch_is(c, p->row) && to->coarsest[p->row->vertex[0]] >= to->level)
        {
            double further = project_missing(c, p, x) - fmax(project_missing(c, p, to->q), 0.0);
            row_move(c, p, v3_scale(fmax(further, 0.0) / p->inv_mass, p->row->normal), x);
        }
    }
}

double contact_project_sweep(contact* c, vec3* x)
{
    double missing = 0.0;
    for (int k = 0; k < c->projected_count; k++)
    {
        projected_row* p = &c->projected[k];
        missing = p->row->settles ? missing : fmax(missing, row_project(c, p, x));
    }
    return missing;
}

weft_status contact_project(contact* c, vec3* x, int sweeps, double* missing)
{
    contact_moment whole = {.from = c->start, .begin = 0.0, .end = 1.0};
    *missing = 0.0;
    TRY(contact_project_begin(c, &whole));
    for (int turn = 0; turn < sweeps; turn++)
    {
        contact_draw_apart(c, x);
        *missing = contact_project_sweep(c, x);
    }
    return WEFT_OK;
}

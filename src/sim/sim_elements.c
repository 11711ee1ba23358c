// The elements of a simulation as pictures show them: vertices in the user's order over all cloths, one after the
// other, and what the method does with each: implicit, explicit, slack.
//
// Methods that split say it of the last substep, or of the system that was built last; others take all implicitly, and
// which are slack is asked of the kinds where the cloth is now.
#include "sim/cluster.h"

typedef struct element_list_out
{
    weft_element* item; // [capacity]
    int capacity, count;
} element_list_out;

// One cluster, or the simulation where it has none.
typedef struct elements_part
{
    const weft_sim *whole, *sim;
    const int* member; // NULL: all bodies
} elements_part;

static int user_vertex(const elements_part* p, int vertex)
{
    for (int k = 0; k < p->sim->body_count; k++)
    {
        const body *own = &p->sim->bodies[k], *b = &p->whole->bodies[p->member ? p->member[k] : k];
        if (vertex >= own->first && vertex < own->first + own->rest.vertex_count)
        {
            return b->first + own->user_vertex[vertex - own->first];
        }
    }
    return -1;
}

static weft_element_state state_of(const world* w, int group, int e)
{
    const time_method* method = w->method.method;
    const element_group* g = &w->model->groups.list[group];
    uint8_t flag = ELEMENT_IMPLICIT, slack = 0;
    if (method->split)
    {
        flag = method->split(w->method.data)[group][e];
    }
    else if (g->kind->slack)
    {
        element_motion motion = {.x = w->state.x, .v = w->state.v, .h = w->settings.time_step};
        element_context context = {g, &motion};
        g->kind->slack(&context, e, e + 1, &slack);
    }
    return slack || flag == ELEMENT_INACTIVE ? WEFT_ELEMENT_SLACK
           : flag == ELEMENT_EXPLICIT        ? WEFT_ELEMENT_EXPLICIT
                                             : WEFT_ELEMENT_IMPLICIT;
}

static void add_group(const elements_part* p, int group, element_list_out* out)
{
    const world* w = &p->sim->world;
    const element_group* g = &w->model->groups.list[group];
    for (int e = 0; e < g->count; e++)
    {
        if (out->count < out->capacity)
        {
            weft_element* to = &out->item[out->count];
            *to = (weft_element){.vertex_count = g->kind->arity,
                                 .kind = g->kind->name,
                                 .role = (weft_element_role)role_of_element(g, e),
                                 .state = state_of(w, group, e)};
            for (int k = 0; k < g->kind->arity; k++)
            {
                to->vertices[k] = user_vertex(p, g->vertices[g->kind->arity * e + k]);
            }
        }
        out->count++;
    }
}

static void add_part(const elements_part* p, element_list_out* out)
{
    for (int g = 0; g < p->sim->model.groups.count; g++)
    {
        add_group(p, g, out);
    }
}

_Static_assert((int)WEFT_ELEMENT_LOAD == (int)ROLE_LOAD && (int)WEFT_ELEMENT_VERTEX_MAX >= (int)ARITY_MAX,
               "as the kinds have them");

int weft_sim_elements(const weft_sim* sim, weft_element* out, int capacity)
{
    WEFT_ASSERT(sim && (out || capacity == 0));
    element_list_out list = {out, capacity, 0};
    if (!sim->built)
    {
        return 0;
    }
    for (int k = 0; k < sim->clusters.count; k++)
    {
        const cluster* c = sim->clusters.list[k];
        add_part(&(elements_part){sim, &c->sim, c->member}, &list);
    }
    if (sim->clusters.count == 0)
    {
        add_part(&(elements_part){sim, sim, NULL}, &list);
    }
    return list.count;
}

// Loads along borders of specimens.
#include <math.h>
#include <stdlib.h>

#include "validate/rig.h"

double rig_low(const rig* r, int axis)
{
    double low = INFINITY;
    for (int k = 0; k < r->vertex_count; k++)
    {
        low = fmin(low, component(r->start[k], axis));
    }
    return low;
}

double rig_high(const rig* r, int axis)
{
    double high = -INFINITY;
    for (int k = 0; k < r->vertex_count; k++)
    {
        high = fmax(high, component(r->start[k], axis));
    }
    return high;
}

typedef struct station
{
    double along; // of the border, m
    int vertex;
} station;

static int by_place(const void* a, const void* b)
{
    double x = ((const station*)a)->along, y = ((const station*)b)->along;
    return (x > y) - (x < y);
}

// The vertices of the border in order; returns how many. A millionth of the specimen beside it still belongs to it.
static int border(const rig* r, rig_edge edge, station* out)
{
    int axis = edge == RIG_LEFT || edge == RIG_RIGHT ? 0 : 2, count = 0;
    double low = rig_low(r, axis), high = rig_high(r, axis), room = 1e-6 * (high - low);
    double at = edge == RIG_LEFT || edge == RIG_BACK ? low : high;
    for (int k = 0; k < r->vertex_count; k++)
    {
        if (fabs(component(r->start[k], axis) - at) <= room)
        {
            out[count++] = (station){component(r->start[k], 2 - axis), k};
        }
    }
    qsort(out, (size_t)count, sizeof(station), by_place);
    return count;
}

bool rig_load_edge(const rig* r, rig_load* load, rig_edge edge, weft_vec3 force)
{
    load->force = load->force ? load->force : calloc((size_t)r->vertex_count, sizeof(weft_vec3));
    station* list = malloc((size_t)r->vertex_count * sizeof(station));
    int count = list && load->force ? border(r, edge, list) : 0;
    for (int k = 0; k < count; k++)
    {
        double share = 0.5 * (list[k + 1 < count ? k + 1 : k].along - list[k > 0 ? k - 1 : k].along);
        weft_vec3* f = &load->force[list[k].vertex];
        *f = (weft_vec3){f->x + share * force.x, f->y + share * force.y, f->z + share * force.z};
    }
    free(list);
    if (count < 2)
    {
        result_fail(r->out, "no memory, or the specimen has no straight border");
    }
    return count >= 2;
}

bool rig_load_apply(rig* r, rig_load* load)
{
    weft_force* forces = calloc((size_t)r->vertex_count, sizeof(weft_force));
    int* vertices = calloc((size_t)r->vertex_count, sizeof(int));
    weft_error error = {0};
    weft_status status = forces && vertices ? WEFT_OK : WEFT_NO_MEMORY;
    int count = 0;
    for (int k = 0; k < r->vertex_count && status == WEFT_OK; k++)
    {
        weft_vec3 f = load->force[k];
        if (f.x != 0.0 || f.y != 0.0 || f.z != 0.0)
        {
            vertices[count] = k;
            forces[count] = (weft_force){.vertices = &vertices[count], .vertex_count = 1, .force = f};
            count++;
        }
        load->force[k] = (weft_vec3){0};
    }
    status = status == WEFT_OK ? weft_sim_set_force(r->sim, 0, forces, count, &error) : status;
    if (status != WEFT_OK)
    {
        result_fail(r->out, "%s", error.message[0] ? error.message : weft_status_text(status));
    }
    free(forces);
    free(vertices);
    return status == WEFT_OK;
}

void rig_load_free(rig_load* load)
{
    free(load->force);
    *load = (rig_load){0};
}

// Lists of springs by vertex; see spring_net.h.
#include "material/spring_net.h"

#include <string.h>

#include "material/spring.h"

enum
{
    SLICE_GRAIN = 64
};

KERNELS_CHOICE(spring_net_kernels)

void spring_net_finish(spring_net* net)
{
    mem_free(net->start);
    mem_free(net->other);
    mem_free(net->spring);
    mem_free(net->stiffness);
    mem_free(net->length);
    *net = (spring_net){0};
}

// From springs a vertex to the ranks of slices.
static weft_status place_slices(spring_net* net, const int* valence)
{
    int ranks = 0;
    for (int s = 0; s < net->slice_count; s++)
    {
        int most = 0;
        for (int i = SLICE * s; i < int_min(SLICE * s + SLICE, net->vertex_count); i++)
        {
            most = int_max(most, valence[i]);
        }
        if (most > INT32_MAX / SLICE - ranks)
        {
            return WEFT_UNSUPPORTED;
        }
        net->start[s] = ranks;
        ranks += most;
    }
    net->start[net->slice_count] = ranks;
    net->other = MEM_NEW(SLICE * ranks, int);
    net->spring = MEM_NEW(SLICE * ranks, int);
    net->stiffness = MEM_NEW(SLICE * ranks, double);
    net->length = MEM_NEW(SLICE * ranks, double);
    return net->other && net->spring && net->stiffness && net->length ? WEFT_OK : WEFT_NO_MEMORY;
}

static void place_springs(spring_net* net, int* filled)
{
    for (int s = 0; s < net->slice_count; s++)
    {
        for (int at = SLICE * net->start[s]; at < SLICE * net->start[s + 1]; at++)
        {
            net->other[at] = int_min(SLICE * s + at % SLICE, net->vertex_count - 1);
            net->spring[at] = -1;
        }
    }
    for (int k = 0; k < 2 * net->group->count; k++)
    {
        const int* ends = net->group->vertices + k / 2 * 2;
        int i = ends[k % 2], at = SLICE * (net->start[i / SLICE] + filled[i]++) + i % SLICE;
        net->other[at] = ends[1 - k % 2];
        net->spring[at] = k / 2;
    }
}

weft_status spring_net_create(spring_net* net, const element_group* group, int vertex_count)
{
    *net =
        (spring_net){.group = group, .vertex_count = vertex_count, .slice_count = (vertex_count + SLICE - 1) / SLICE};
    int* valence = MEM_NEW(vertex_count, int);
    net->start = MEM_NEW(net->slice_count + 1, int);
    weft_status status = valence && net->start ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < 2 * group->count && status == WEFT_OK; k++)
    {
        valence[group->vertices[k]]++;
        net->is_damped = net->is_damped || group->rest[SPRING_STRIDE * (k / 2) + SPRING_DAMPING] > 0.0;
    }
    status = status == WEFT_OK ? place_slices(net, valence) : status;
    if (status == WEFT_OK)
    {
        memset(valence, 0, (size_t)vertex_count * sizeof(int));
        place_springs(net, valence);
    }
    mem_free(valence);
    return status;
}

typedef struct begin_context
{
    spring_net* net;
    const uint8_t* flags;
    const element_motion* motion;
} begin_context;

static void begin_chunk(void* context, int begin, int end)
{
    const begin_context* c = context;
    const element_group* group = c->net->group;
    const vec3* x = c->motion->x_last;
    double h = c->motion->h;
    for (int at = SLICE * c->net->start[begin]; at < SLICE * c->net->start[end]; at++)
    {
        int e = c->net->spring[at];
        if (e < 0 || (c->flags && c->flags[e] & ELEMENT_INACTIVE))
        {
            c->net->stiffness[at] = 0.0;
            continue;
        }
        const double* rest = group->rest + SPRING_STRIDE * (size_t)e;
        double k = rest[SPRING_STIFFNESS], length = rest[SPRING_LENGTH], damping = rest[SPRING_DAMPING];
        if (damping > 0.0)
        {
            double last = v3_length(v3_sub(x[group->vertices[2 * e + 1]], x[group->vertices[2 * e]]));
            length = (h * length + damping * last) / (h + damping);
            k += k * damping / h;
        }
        c->net->stiffness[at] = k;
        c->net->length[at] = length;
    }
}

void spring_net_begin(spring_net* net, const uint8_t* flags, workers* pool, const element_motion* motion)
{
    if (net->h != motion->h || net->is_damped || flags)
    {
        begin_context c = {net, flags, motion};
        parallel_for(pool, net->slice_count, SLICE_GRAIN, begin_chunk, &c);
        net->h = motion->h;
    }
}

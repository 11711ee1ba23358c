// What the window knows of a stage: copies of positions, so that drawing and stepping do not wait for each other.
#include <stdlib.h>
#include <string.h>

#include "playground.h"

void* grab_memory(size_t count, size_t size)
{
    void* memory = calloc(count > 0 ? count : 1, size);
    if (!memory)
    {
        fprintf(stderr, "playground: out of memory\n");
        exit(1);
    }
    return memory;
}

void shape_finish(shape* s)
{
    free(s->x);
    free(s->rest);
    free(s->triangles);
    free(s->segments);
}

bool shape_is_floor(const shape* s)
{
    weft_box box = weft_box_empty();
    weft_box_add(&box, s->x, s->kind == SHAPE_OBSTACLE ? s->vertex_count : 0);
    return box.max.y - box.min.y < 1e-6 && box.min.x < box.max.x;
}

void picture_finish(picture* p)
{
    for (int k = 0; k < p->shape_count; k++)
    {
        shape_finish(&p->shapes[k]);
    }
    free(p->shapes);
    *p = (picture){0};
}

void* memory_copy(const void* from, size_t size)
{
    return memcpy(grab_memory(1, size + 1), from, size);
}

static void shape_copy(shape* to, const shape* from)
{
    *to = *from;
    to->x = memory_copy(from->x, (size_t)from->vertex_count * sizeof(weft_vec3));
    to->rest = memory_copy(from->rest, (size_t)from->vertex_count * sizeof(weft_vec3));
    to->triangles = memory_copy(from->triangles, 3 * (size_t)from->triangle_count * sizeof(int));
    to->segments = memory_copy(from->segments, 2 * (size_t)from->segment_count * sizeof(int));
}

void picture_copy(picture* to, const picture* from)
{
    picture old = *to;
    *to = *from;
    if (old.generation == from->generation)
    {
        to->shapes = old.shapes;
        for (int k = 0; k < from->shape_count; k++)
        {
            const shape* s = &from->shapes[k];
            memcpy(old.shapes[k].x, s->x, (size_t)s->vertex_count * sizeof(weft_vec3));
        }
        return;
    }
    picture_finish(&old);
    to->shapes = grab_memory((size_t)from->shape_count, sizeof(shape));
    for (int k = 0; k < from->shape_count; k++)
    {
        shape_copy(&to->shapes[k], &from->shapes[k]);
    }
}

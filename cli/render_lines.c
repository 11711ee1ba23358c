// Bodies of lines in pictures: tubes as thick as the scene says, made anew for each frame.
#include <math.h>
#include <stdlib.h>

#include "cli/render.h"

static const double slender = 0.05; // radius by the mean segment, where no scene states one

static double mean_length(const weft_cache_body* body)
{
    double sum = 0.0;
    for (int s = 0; s < body->segment_count; s++)
    {
        const int* v = body->segments + 2 * (size_t)s;
        weft_vec3 a = body->rest[v[0]], b = body->rest[v[1]];
        sum += sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
    }
    return sum / body->segment_count;
}

bool lines_draw(picture* p, int k, const weft_cache_body* body)
{
    weft_render_mesh* mesh = &p->meshes[k];
    tubes* t = &p->tubes[k];
    size_t count = (size_t)body->segment_count;
    if (t->segments != body->segments)
    {
        lines_finish(t);
        t->segments = body->segments;
        t->points = malloc(count * WEFT_TUBE_VERTICES * sizeof(weft_vec3));
        t->triangles = malloc(count * WEFT_TUBE_TRIANGLES * 3 * sizeof(int));
        t->radius = body->thickness > 0.0 ? 0.5 * body->thickness : slender * mean_length(body);
    }
    if (!t->points || !t->triangles)
    {
        return false;
    }
    weft_render_tubes(p->positions[k], body->segments, body->segment_count, t->radius, t->points, t->triangles);
    mesh->face_start = mesh->face_vertices = NULL; // a tube shows its edge by itself
    mesh->face_count = 0;
    mesh->positions = t->points;
    mesh->vertex_count = WEFT_TUBE_VERTICES * body->segment_count;
    mesh->triangles = t->triangles;
    mesh->triangle_count = WEFT_TUBE_TRIANGLES * body->segment_count;
    return true;
}

void lines_finish(tubes* t)
{
    free(t->points);
    free(t->triangles);
    *t = (tubes){0};
}

const char* lines_first(const weft_cache* cache)
{
    for (int k = 0; k < weft_cache_body_count(cache); k++)
    {
        if (weft_cache_body_at(cache, k)->lines)
        {
            return weft_cache_body_at(cache, k)->name;
        }
    }
    return NULL;
}

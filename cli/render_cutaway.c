// Obstacles that hide the cloth are cut open. The automatic camera looks at cloth from outside, so that a body around
// it, or a large one beside it, can stand before it: a picture without cloth. When less than a tenth of the cloth (of
// some of its vertices) can be seen past the obstacles, those that hide a tenth or more are cut: each triangle whose
// plane has the camera on one side and the middle of the cloth on the other is left out, with the shadow that it would
// cast. A wall behind the cloth and a floor below it stay, whichever way their faces look.
//
// Left out: what another cloth hides; the polygon edges of an obstacle that is cut.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"

enum
{
    SAMPLES = 32, // vertices of the cloth that are looked for
    SEEN_MAX = 3  // of those; more can be seen: nothing is cut
};

static const double nearly = 0.999; // of the way to a vertex: what the cloth lies on hides it from below only

static weft_vec3 minus(weft_vec3 a, weft_vec3 b)
{
    return (weft_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

// det(a, b, c), six times the volume that they span from the origin.
static double triple(weft_vec3 a, weft_vec3 b, weft_vec3 c)
{
    return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
}

// The triangle seen from the eye: corners relative to it.
static void corners_from(const weft_render_mesh* mesh, int t, weft_vec3 eye, weft_vec3* out)
{
    for (int k = 0; k < 3; k++)
    {
        out[k] = minus(mesh->positions[mesh->triangles[3 * (size_t)t + (size_t)k]], eye);
    }
}

// Whether the segment from the eye along d, nearly to its end, meets the triangle. Values that are not finite: no.
static bool segment_meets(const weft_vec3* c, weft_vec3 d)
{
    double u = triple(d, c[0], c[1]), v = triple(d, c[1], c[2]), w = triple(d, c[2], c[0]);
    bool inside = (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0);
    // d meets the plane at s d with s (u + v + w) = det(c0, c1, c2).
    double sum = u + v + w, volume = triple(c[0], c[1], c[2]);
    return inside && volume * sum > 0.0 && fabs(volume) < nearly * fabs(sum);
}

static bool mesh_hides(const weft_render_mesh* mesh, weft_vec3 eye, weft_vec3 x)
{
    weft_vec3 d = minus(x, eye);
    int count = mesh->role == WEFT_MESH_OBSTACLE ? mesh->triangle_count : 0;
    for (int t = 0; t < count; t++)
    {
        weft_vec3 c[3];
        corners_from(mesh, t, eye, c);
        if (segment_meets(c, d))
        {
            return true;
        }
    }
    return false;
}

static bool is_hidden(const picture* p, weft_vec3 x)
{
    for (int k = 0; k < p->body_count; k++)
    {
        if (mesh_hides(&p->meshes[k], p->view.eye, x))
        {
            return true;
        }
    }
    return false;
}

// Vertices of all cloths together.
static int64_t cloth_vertices(const picture* p)
{
    int64_t count = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        count += p->meshes[k].role == WEFT_MESH_CLOTH ? p->meshes[k].vertex_count : 0;
    }
    return count;
}

// Of them, the sample-th that is looked for.
static weft_vec3 cloth_sample(const picture* p, int sample)
{
    int64_t index = sample * cloth_vertices(p) / SAMPLES;
    int k = 0;
    while (p->meshes[k].role != WEFT_MESH_CLOTH || index >= p->meshes[k].vertex_count)
    {
        index -= p->meshes[k].role == WEFT_MESH_CLOTH ? p->meshes[k].vertex_count : 0;
        k++;
    }
    return p->positions[k][index];
}

// Whether obstacles hide nearly all cloth. Ends early where it can be seen, as it mostly can.
static bool cloth_is_hidden(const picture* p)
{
    bool any = cloth_vertices(p) > 0;
    int seen = 0;
    for (int k = 0; k < SAMPLES && any && seen <= SEEN_MAX; k++)
    {
        seen += !is_hidden(p, cloth_sample(p, k));
    }
    return any && seen <= SEEN_MAX;
}

// Whether this obstacle alone hides some of it.
static bool mesh_is_in_the_way(const picture* p, const weft_render_mesh* mesh)
{
    int hidden = 0;
    for (int k = 0; k < SAMPLES && hidden <= SEEN_MAX; k++)
    {
        hidden += mesh_hides(mesh, p->view.eye, cloth_sample(p, k));
    }
    return hidden > SEEN_MAX;
}

static weft_vec3 cloth_middle(const picture* p)
{
    weft_box box = weft_box_empty();
    for (int k = 0; k < p->body_count; k++)
    {
        bool cloth = p->meshes[k].role == WEFT_MESH_CLOTH;
        weft_box_add_triangles(&box, p->positions[k], p->meshes[k].triangles, cloth ? p->meshes[k].triangle_count : 0);
    }
    return (weft_vec3){0.5 * (box.min.x + box.max.x), 0.5 * (box.min.y + box.max.y), 0.5 * (box.min.z + box.max.z)};
}

// Copies the triangles that do not stand between the eye and the cloth's middle.
static bool mesh_cut(weft_render_mesh* mesh, weft_vec3 eye, weft_vec3 middle, int** out)
{
    *out = malloc((3 * (size_t)mesh->triangle_count + 1) * sizeof(int));
    int kept = 0;
    for (int t = 0; *out && t < mesh->triangle_count; t++)
    {
        weft_vec3 near[3], far[3];
        corners_from(mesh, t, eye, near);
        corners_from(mesh, t, middle, far);
        if (!(triple(near[0], near[1], near[2]) * triple(far[0], far[1], far[2]) < 0.0))
        {
            memcpy(*out + 3 * (size_t)kept++, mesh->triangles + 3 * (size_t)t, 3 * sizeof(int));
        }
    }
    mesh->face_count = kept < mesh->triangle_count ? 0 : mesh->face_count;
    mesh->triangle_count = kept;
    mesh->triangles = *out;
    return *out != NULL;
}

weft_status cutaway_make(const picture* p, cutaway* out)
{
    size_t count = (size_t)p->body_count;
    *out = (cutaway){.count = p->body_count,
                     .meshes = malloc((count + 1) * sizeof(weft_render_mesh)),
                     .triangles = calloc(count + 1, sizeof(int*))};
    bool ready = out->meshes && out->triangles;
    if (ready)
    {
        memcpy(out->meshes, p->meshes, count * sizeof(weft_render_mesh));
    }
    if (ready && !p->camera_is_given && cloth_is_hidden(p))
    {
        weft_vec3 middle = cloth_middle(p);
        for (size_t k = 0; k < count && ready; k++)
        {
            bool cut = mesh_is_in_the_way(p, &p->meshes[k]);
            ready = !cut || mesh_cut(&out->meshes[k], p->view.eye, middle, &out->triangles[k]);
        }
    }
    return ready ? WEFT_OK : WEFT_NO_MEMORY;
}

void cutaway_finish(cutaway* c)
{
    for (int k = 0; c->triangles && k < c->count; k++)
    {
        free(c->triangles[k]);
    }
    free(c->triangles);
    free(c->meshes);
}

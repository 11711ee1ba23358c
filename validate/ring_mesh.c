// Meshes of sheets around a disc, in a temporary file.
//
// Two rings of vertices are held: the fold along the last one stands for half a cell on either side, so that the disc's
// rim lies in the middle of the held cell, as in strips that are clamped.
#define _DEFAULT_SOURCE
#include "validate/ring_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double pi = 3.14159265358979323846;

double noise(unsigned* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 8388608.0 - 1.0;
}

ring_mesh ring_make(double inner, double outer, bool square, int cells)
{
    ring_mesh m = {
        .rings = cells + 2, .inner = inner, .outer = outer, .width = (outer - inner) / (cells + 0.5), .square = square};
    m.around = (int)(pi * (outer + inner) / m.width + 0.5);
    m.around += square ? (8 - m.around % 8) % 8 : 0; // corners and middles of sides are vertices
    return m;
}

double ring_border(const ring_mesh* m, double angle)
{
    return m->square ? m->outer / fmax(fabs(cos(angle)), fabs(sin(angle))) : m->outer;
}

// Triangles of ever other diagonal. The borders of a square are not shifted, and its rows are not staggered.
static bool ring_put(const ring_mesh* m, bool irregular, FILE* out)
{
    unsigned seed = 7;
    for (int k = 0; k < m->rings * m->around && out; k++)
    {
        int j = k / m->around, i = k % m->around;
        double shift = irregular && j > 1 && j < m->rings - 1 ? 0.25 : 0.0, cell = j - 0.5 + shift * noise(&seed);
        double stagger = m->square ? 0.0 : 0.5 * (j % 2);
        double angle = 2.0 * pi * (i + stagger + shift * noise(&seed)) / m->around;
        double r = m->inner + (ring_border(m, angle) - m->inner) * cell / (m->rings - 1.5);
        fprintf(out, "v %.17g 0 %.17g\n", r * cos(angle), r * sin(angle));
    }
    for (int k = 0; k < (m->rings - 1) * m->around && out; k++)
    {
        int j = k / m->around, i = k % m->around, n = m->around, next = (i + 1) % n;
        int a = j * n + i + 1, b = j * n + next + 1, c = (j + 1) * n + i + 1, d = (j + 1) * n + next + 1;
        j % 2 ? fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c)
              : fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
    }
    return out && fclose(out) == 0;
}

bool ring_write(ring_mesh* m, bool irregular, result* out)
{
    const char* folder = getenv("TMPDIR");
    snprintf(m->file, sizeof(m->file), "%s/weft-drape-XXXXXX.obj", folder && folder[0] ? folder : "/tmp");
    int handle = mkstemps(m->file, 4);
    if (handle < 0 || close(handle) != 0 || !ring_put(m, irregular, fopen(m->file, "w")))
    {
        result_fail(out, "the specimen's mesh could not be written to `%s`", m->file);
        handle >= 0 ? (void)unlink(m->file) : (void)0;
        m->file[0] = 0;
        return false;
    }
    return true;
}

void ring_remove(const ring_mesh* m)
{
    m->file[0] ? (void)unlink(m->file) : (void)0;
}

void ring_cloth(scene_text* s, const trial* t, const ring_mesh* m)
{
    scene_put(s, "\"cloth\": [{\"name\": \"specimen\", \"mesh\": {\"obj\": \"%s\"}, \"warp\": [1, 0, 0],\n", m->file);
    scene_material(s, t);
    scene_put(s, ", \"pins\": [{\"where\": {\"vertices\": [");
    for (int k = 0; k < 2 * m->around; k++)
    {
        scene_put(s, "%s%d", k ? "," : "", k);
    }
    scene_put(s, "]}}]}]");
}

// An OBJ file in place of specimens: a rectangle in a plane of two axes, cut into any triangles. Only its extent is
// read here; the scene reads the file itself.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/validate.h"

static bool refuse(weft_error* error, const char* path, weft_status status, const char* message)
{
    *error = (weft_error){.status = status};
    snprintf(error->file, sizeof(error->file), "%s", path);
    snprintf(error->message, sizeof(error->message), "%s", message);
    return false;
}

typedef struct extent
{
    double low[3], high[3];
    int vertices, triangles;
} extent;

static void take_line(const char* line, extent* e)
{
    double v[3];
    if (strncmp(line, "v ", 2) == 0 && sscanf(line + 2, "%lf %lf %lf", &v[0], &v[1], &v[2]) == 3)
    {
        for (int k = 0; k < 3; k++)
        {
            e->low[k] = e->vertices ? fmin(e->low[k], v[k]) : v[k];
            e->high[k] = e->vertices ? fmax(e->high[k], v[k]) : v[k];
        }
        e->vertices++;
    }
    if (strncmp(line, "f ", 2) == 0)
    {
        int corners = 0;
        for (const char* at = line + 1; *at; at++)
        {
            corners += (at[0] == ' ' || at[0] == '\t') && at[1] > ' ';
        }
        e->triangles += corners - 2;
    }
}

bool flat_mesh_read(const char* path, trial* t, int* triangles, weft_error* error)
{
    char line[4096];
    extent e = {0};
    FILE* file = fopen(path, "r");
    if (!file)
    {
        return refuse(error, path, WEFT_NOT_FOUND, "cannot be read: --mesh takes regular, irregular or an OBJ file");
    }
    while (fgets(line, sizeof(line), file))
    {
        take_line(line, &e);
    }
    fclose(file);
    if (e.vertices < 4 || e.triangles < 2)
    {
        return refuse(error, path, WEFT_BAD_INPUT, "has no mesh: vertices (`v`) and faces (`f`) are wanted");
    }
    double size[3];
    int flat = 0;
    for (int k = 0; k < 3; k++)
    {
        size[k] = e.high[k] - e.low[k];
        flat = size[k] < size[flat] ? k : flat;
    }
    int a = (flat + 1) % 3, b = (flat + 2) % 3, longer = size[a] >= size[b] ? a : b, other = a + b - longer;
    if (!(size[flat] <= 1e-6 * size[longer]) || !(size[other] > 0.01 * size[longer]))
    {
        return refuse(error, path, WEFT_BAD_INPUT,
                      "is no flat rectangle along two of its axes: experiments need a specimen of known shape");
    }
    t->mesh_size[0] = size[longer];
    t->mesh_size[1] = size[other];
    t->mesh_axes[0] = longer;
    t->mesh_axes[1] = other;
    memcpy(t->mesh_min, e.low, sizeof(e.low));
    *triangles = e.triangles;
    return true;
}

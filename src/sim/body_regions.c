// Regions of a sheet: faces that have a material of their own (weft_cloth_def.regions). Where several name a face the
// last one counts.
#include <string.h>

#include "sim/sim.h"

static weft_status region_wrong(const body* b, int index, weft_error* error, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: region %d %s", b->kind->name, b->name, index, what);
}

static weft_status region_check(const weft_cloth_def* def, const body* b, int index, weft_error* error)
{
    const weft_region* region = &def->regions[index];
    TRY(material_check(b, &region->material, def->vertex_mass, error));
    if (region->face_count <= 0)
    {
        return region_wrong(b, index, error, "has no face: select the vertices of whole faces, or leave it out");
    }
    for (int k = 0; k < region->face_count; k++)
    {
        if (region->faces[k] < 0 || region->faces[k] >= b->rest.face_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: region %d names face %d; faces run from 0 to %d",
                             b->kind->name, b->name, index, region->faces[k], b->rest.face_count - 1);
        }
    }
    return WEFT_OK;
}

weft_status regions_take(const weft_cloth_def* def, body* b, weft_error* error)
{
    if (def->region_count <= 0)
    {
        return WEFT_OK;
    }
    if (b->kind->form != MESH_SHEET)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: only sheets have regions; leave them out",
                         b->kind->name, b->name);
    }
    int* face = MEM_NEW(b->rest.face_count, int);
    b->regions = MEM_NEW(def->region_count, weft_material);
    b->triangle_region = MEM_NEW(b->rest.triangle_count, int);
    weft_status status = face && b->regions && b->triangle_region ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < def->region_count && status == WEFT_OK; k++)
    {
        status = region_check(def, b, k, error);
        b->regions[k] = def->regions[k].material;
        for (int f = 0; f < def->regions[k].face_count && status == WEFT_OK; f++)
        {
            face[def->regions[k].faces[f]] = k + 1;
        }
    }
    for (int t = 0; t < b->rest.triangle_count && status == WEFT_OK; t++)
    {
        b->triangle_region[t] = face[b->rest.triangle_face[t]] - 1;
    }
    b->region_count = def->region_count;
    mem_free(face);
    return status;
}

const weft_material* body_material(const body* b, int t)
{
    int region = b->triangle_region ? b->triangle_region[t] : -1;
    return region < 0 ? &b->material : &b->regions[region];
}

// The one with which a body has every kind of element that one of its regions has.
weft_material body_material_fullest(const body* b)
{
    weft_material m = b->material;
    for (int k = 0; k < b->region_count; k++)
    {
        double *most = &m.density, *own = &b->regions[k].density;
        m.bending = fmax(m.bending, b->regions[k].bending);
        for (int n = MATERIAL_BASIC; n < MATERIAL_NUMBERS; n++)
        {
            most[n] = fmax(most[n], own[n]);
        }
    }
    return m;
}

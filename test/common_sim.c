#include "common.h"

#include "common_sim.h"

weft_sim* test_grid_sim(const weft_sim_def* def, const grid_options* grid, const weft_cloth_def* cloth, mesh* out_mesh)
{
    weft_error error = {0};
    weft_sim* sim = NULL;
    if (mesh_from_grid(grid, out_mesh, &error) != WEFT_OK || weft_sim_create(def, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_cloth_def d = *cloth;
    d.rest_positions = out_mesh->position;
    d.positions = d.positions ? d.positions : out_mesh->position;
    d.vertex_count = out_mesh->vertex_count;
    d.face_start = out_mesh->face_start;
    d.face_vertices = out_mesh->face_vertex;
    d.face_count = out_mesh->face_count;
    if (weft_sim_add_cloth(sim, &d, NULL, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return sim;
}

int test_edge_vertices(const mesh* m, int bits, int* list)
{
    int count = 0;
    for (int i = 0; i < m->vertex_count; i++)
    {
        if (m->edge_mask[i] & bits)
        {
            list[count++] = i;
        }
    }
    return count;
}

weft_sim_def test_statics_def(void)
{
    weft_sim_def def = weft_sim_def_default();
    def.method = "newton";
    def.solver = "cholesky";
    def.time_step = 100.0;
    assert_int_equal(weft_sim_def_set(&def, "newton", "tolerance", 1e-10, NULL), WEFT_OK);
    assert_int_equal(weft_sim_def_set(&def, "newton", "iterations", 500, NULL), WEFT_OK);
    def.max_stretch = 1e9;
    return def;
}

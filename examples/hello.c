// A square of cotton, built from arrays, falls and swings from two of its corners for a second.
#include <math.h>
#include <stdio.h>
#include <weft/weft.h>

enum
{
    SIDE = 31, // vertices a side
    COUNT = SIDE * SIDE,
    QUADS = (SIDE - 1) * (SIDE - 1)
};

static weft_vec3 positions[COUNT];
static int quads[4 * QUADS], quad_start[QUADS + 1];

static void make_square(void)
{
    for (int i = 0; i < COUNT; i++)
    {
        positions[i] = (weft_vec3){(double)(i % SIDE) / (SIDE - 1), 1.0, (double)(i / SIDE) / (SIDE - 1)};
    }
    for (int q = 0; q < QUADS; q++)
    {
        int *c = quads + 4 * q, a = q / (SIDE - 1) * SIDE + q % (SIDE - 1);
        c[0] = a, c[1] = a + SIDE, c[2] = a + SIDE + 1, c[3] = a + 1;
        quad_start[q + 1] = 4 * (q + 1);
    }
}

int main(void)
{
    make_square();
    weft_error error = {0};
    weft_sim* sim = NULL;
    weft_sim_def settings = weft_sim_def_default();
    settings.time_step = 1.0 / 120.0;
    const int corners[2] = {0, SIDE - 1};
    weft_pin pin = {.vertices = corners, .vertex_count = 2, .fix = WEFT_FIX_POINT, .release = INFINITY};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = positions, cloth.vertex_count = COUNT;
    cloth.face_start = quad_start, cloth.face_vertices = quads, cloth.face_count = QUADS;
    cloth.pins = &pin, cloth.pin_count = 1;
    weft_status status = weft_sim_create(&settings, &sim, &error);
    status = status ? status : weft_sim_add_cloth(sim, &cloth, NULL, &error);
    for (int step = 0; step < 120 && status == WEFT_OK; step++)
    {
        status = weft_sim_step(sim, NULL, &error);
    }
    if (status != WEFT_OK)
    {
        fprintf(stderr, "%s\n", error.message);
        weft_sim_destroy(sim);
        return 1;
    }
    weft_sim_positions(sim, 0, positions);
    printf("after %g s the free edge hangs at y = %.3f m\n", weft_sim_time(sim), positions[COUNT - 1 - SIDE / 2].y);
    weft_sim_destroy(sim);
    return 0;
}

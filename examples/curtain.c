// A curtain of springs, built from arrays, steps 60 times a second of real time while somebody drags its hem for two
// seconds: a circle stands in for the mouse. `curtain [SECONDS]` prints where the hem is and what a step takes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <weft/weft.h>

enum
{
    SIDE = 41, // vertices a side
    COUNT = SIDE * SIDE,
    TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1)
};

static weft_vec3 positions[COUNT];
static int triangles[3 * TRIANGLES];

static weft_status make_curtain(weft_sim** sim, weft_error* error)
{
    for (int i = 0; i < COUNT; i++)
    {
        positions[i] = (weft_vec3){(double)(i % SIDE) / (SIDE - 1), 2.0 - (double)(i / SIDE) / (SIDE - 1), 0.0};
    }
    for (int t = 0; t < TRIANGLES; t++)
    {
        int *c = triangles + 3 * t, a = t / 2 / (SIDE - 1) * SIDE + t / 2 % (SIDE - 1);
        c[0] = t % 2 ? a + 1 : a, c[1] = a + SIDE, c[2] = t % 2 ? a + SIDE + 1 : a + 1;
    }
    const int corners[2] = {0, SIDE - 1};
    weft_pin pin = {.vertices = corners, .vertex_count = 2, .release = INFINITY};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.model = "hooke";
    cloth.positions = positions, cloth.vertex_count = COUNT;
    cloth.face_vertices = triangles, cloth.face_count = TRIANGLES;
    cloth.pins = &pin, cloth.pin_count = 1;
    weft_sim_def settings = weft_sim_def_default();
    settings.method = "local-global", settings.time_step = 1.0 / 60.0;
    weft_status status = weft_sim_create(&settings, sim, error);
    return status ? status : weft_sim_add_cloth(*sim, &cloth, NULL, error);
}

// Called before each step: takes hold of the vertex at first, leads it to `to`, and lets go where that is NULL.
static weft_status drag(weft_sim* sim, int vertex, const weft_vec3* to, weft_pin_id* grip, weft_error* error)
{
    weft_pin pin = {.vertices = &vertex, .vertex_count = 1, .release = INFINITY};
    weft_status status = to && !*grip ? weft_sim_pin(sim, 0, &pin, grip, error) : WEFT_OK;
    weft_pin_id held = *grip;
    *grip = to ? held : 0;
    return status || !held ? status : to ? weft_sim_move(sim, held, to, error) : weft_sim_unpin(sim, held, error);
}

int main(int argc, char** argv)
{
    int steps = (int)(60.0 * (argc > 1 ? atof(argv[1]) : 4.0)), hem = COUNT - 1 - SIDE / 2;
    weft_error error = {0};
    weft_sim* sim = NULL;
    weft_pin_id grip = 0;
    weft_status status = make_curtain(&sim, &error);
    double spent = 0.0;
    for (int k = 0; k < steps && status == WEFT_OK; k++)
    {
        weft_step_stats stats = {0};
        double t = k / 60.0;
        weft_vec3 mouse = {0.5, 1.3 - 0.3 * cos(3.0 * t), 0.4 * sin(3.0 * t)};
        status = drag(sim, hem, t < 2.0 ? &mouse : NULL, &grip, &error);
        status = status ? status : weft_sim_step(sim, &stats, &error);
        spent += stats.step_s;
        thrd_sleep(&(struct timespec){.tv_nsec = (long)(1e9 * fmax(0.0, 1.0 / 60.0 - stats.step_s))}, NULL);
    }
    status ? (void)fprintf(stderr, "%s\n", error.message) : weft_sim_positions(sim, 0, positions);
    weft_vec3 at = positions[hem];
    printf("after %d steps the hem is at %.4f %.4f %.4f; %.2f ms a step\n", steps, at.x, at.y, at.z,
           1e3 * spent / steps);
    weft_sim_destroy(sim);
    return status != WEFT_OK;
}

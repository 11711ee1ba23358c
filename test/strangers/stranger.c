/* Only the public headers, in C17: a triangle falls, a chain is solved with multigrid, two triangles collide. */
#include <stdio.h>

#include "weft/cache.h"
#include "weft/export.h"
#include "weft/collide.h"
#include "weft/render.h"
#include "weft/scene.h"
#include "weft/solver.h"
#include "weft/view.h"
#include "weft/weft.h"

int stranger_cpp(void);

/* Names that the library has inside as well; neither must meet the other. */
int mem_alloc, workers_create, decimal_parse;
int error_set(void);

int error_set(void)
{
    return 7 + mem_alloc + workers_create + decimal_parse;
}

static int falls(void)
{
    weft_sim_def def = weft_sim_def_default();
    weft_sim* sim = NULL;
    weft_cloth_def cloth = weft_cloth_def_default();
    const weft_vec3 positions[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    const int faces[] = {0, 2, 1};
    cloth.positions = positions;
    cloth.vertex_count = 3;
    cloth.face_vertices = faces;
    cloth.face_count = 1;
    weft_vec3 x[3], y[3];
    weft_obstacle_def obstacle = weft_obstacle_def_default();
    const weft_pin_key keys[] = {{.time = 0.0}, {.time = 1.0, .offset = {0, 2, 0}}};
    weft_exclusion exclusion = {.first = "cloth1", .second = "lid"};
    obstacle.name = "lid";
    obstacle.positions = positions;
    obstacle.vertex_count = 3;
    obstacle.face_vertices = faces;
    obstacle.face_count = 1;
    obstacle.keys = keys;
    obstacle.key_count = 2;
    if (weft_sim_create(&def, &sim, NULL) != WEFT_OK || weft_sim_add_cloth(sim, &cloth, NULL, NULL) != WEFT_OK ||
        weft_sim_add_obstacle(sim, &obstacle, NULL, NULL) != WEFT_OK ||
        weft_sim_exclude(sim, &exclusion, NULL) != WEFT_OK ||
        weft_sim_obstacle_positions(sim, 0, 0.5, y, NULL) != WEFT_OK || y[1].y != 1.0 ||
        weft_sim_step(sim, NULL, NULL) != WEFT_OK)
    {
        return 0;
    }
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
    return x[1].y < 0 && x[1].y > -1e-3;
}

enum
{
    LINKS = 500
};

/* Springs in a row, as a graph Laplacian with a little mass, and the stranger's own near kernel of 3 translations. */
static void fill_chain(int* row_start, int* column, double* values, double* kernel)
{
    int used = 0;
    for (int i = 0; i < LINKS; i++)
    {
        row_start[i] = used;
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < LINKS; j++, used++)
        {
            column[used] = j;
            for (int k = 0; k < 3; k++)
            {
                values[9 * used + 4 * k] = i == j ? 2.001 : -1.0;
            }
        }
        for (int k = 0; k < 3; k++)
        {
            kernel[3 * LINKS * k + 3 * i + k] = 1.0;
        }
    }
    row_start[LINKS] = used;
}

static int solves(void)
{
    static int row_start[LINKS + 1], column[3 * LINKS], aggregate[LINKS];
    static double values[27 * LINKS], kernel[9 * LINKS];
    static weft_vec3 x[LINKS];
    fill_chain(row_start, column, values, kernel);
    weft_system_def matrix = {.vertex_count = LINKS,
                              .row_start = row_start,
                              .column = column,
                              .values = values,
                              .kernel = kernel,
                              .kernel_count = 3};
    weft_solver_def def = weft_solver_def_default();
    weft_system* system = NULL;
    weft_solver* solver = NULL;
    weft_solve_stats stats;
    weft_error error;
    const char* name;
    double value;
    int count;
    def.solver = "sa-ppcg";
    def.sa.degree = 3;
    int good = weft_sa_set(&def.sa, "coarsest", 30, &error) == WEFT_OK && def.sa.coarsest == 30 &&
               weft_sa_set(&def.sa, "coarsest", -1, &error) == WEFT_BAD_INPUT &&
               weft_sa_get(&def.sa, 0, &name, &value) == WEFT_OK && value == def.sa.theta &&
               weft_system_create(&matrix, &system, &error) == WEFT_OK &&
               weft_solver_create(&def, &solver, &error) == WEFT_OK &&
               weft_solver_solve(solver, system, x, &stats) == WEFT_OK && stats.converged && stats.iterations > 0 &&
               stats.level_count > 1 && stats.levels[0].rows == LINKS && stats.levels[1].block_size == 3 &&
               stats.operator_complexity > 1.0 && stats.operator_complexity < 3.0 &&
               weft_solver_aggregates(solver, 0, aggregate, &count) == WEFT_OK && count == stats.levels[1].rows;
    weft_solver_destroy(solver);
    weft_system_destroy(system);
    return good;
}

/* A triangle goes through another. */
static int collides(void)
{
    const weft_vec3 start[] = {{0, 1, 0}, {0.2, 1, 0}, {0, 1, 0.2}, {-1, 0, -1}, {1, 0, -1}, {0, 0, 1}};
    weft_vec3 end[6];
    const int triangles[] = {0, 1, 2, 3, 4, 5};
    weft_collider_def def = weft_collider_def_default();
    weft_collider* collider = NULL;
    const weft_impact* impacts = NULL;
    const weft_near* near = NULL;
    weft_pairs pairs;
    int impact_count = 0, near_count = 0;
    for (int v = 0; v < 6; v++)
    {
        end[v] = start[v];
        end[v].y = v < 3 ? -0.25 : 0;
    }
    def.vertex_count = 6;
    def.triangles = triangles;
    def.triangle_count = 2;
    int good = weft_collider_create(&def, &collider, NULL) == WEFT_OK &&
               weft_collider_update(collider, start, end, 0.0, NULL) == WEFT_OK &&
               weft_collider_pairs(collider, &pairs, NULL) == WEFT_OK && pairs.vertex_face_count == 3 &&
               weft_collider_impacts(collider, &impacts, &impact_count, NULL) == WEFT_OK && impact_count == 3 &&
               impacts[0].time <= 0.8 && impacts[0].time > 0.79 &&
               weft_collider_near(collider, 0.3, &near, &near_count, NULL) == WEFT_OK && near_count >= 3 &&
               near[0].distance == 0.25;
    weft_collider_destroy(collider);
    return good;
}

int main(void)
{
    int good = falls() && solves() && collides() && error_set() == 7 && stranger_cpp();
    printf("strangers: %s\n", good ? "fine" : "broken");
    return good ? 0 : 1;
}

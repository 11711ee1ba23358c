// What an experiment is: a scene with a known answer. A row says what is compared and how well it must agree; `measure`
// builds the scene, brings it to rest or lets it move, and adds points of ours beside the closed form.
//
// Experiments see the library as any stranger does: scenes are texts (weft_scene_parse), measured by what
// include/weft hands out.
#ifndef WEFT_EXPERIMENT_H
#define WEFT_EXPERIMENT_H

#include <stdbool.h>

#include "weft/scene.h"

enum
{
    POINT_MAX = 24,
    OUTLINE_MAX = 200,
    RESOLUTIONS = 3,
    REASON_SIZE = 720
};

// What a measurement is taken with.
typedef struct trial
{
    const char* method;
    const char* model;   // NULL: the scene's own
    const char* bending; // NULL: the model's own
    const char* material_name;
    weft_material material;       // what the closed forms know; overrides reach the scene alone
    const char* mesh;             // "regular", "irregular", or an OBJ file that is flat
    int cells;                    // along the specimen's length
    int threads;                  // as weft_sim_def.worker_count
    const char* const* overrides; // [override_count] PATH=VALUE for the scene
    int override_count;
    double mesh_size[2]; // of an OBJ file, its extent in its own units
    double mesh_min[3];
    int mesh_axes[2]; // of it: those of the plane that it lies in, the longer one first
    void (*progress)(void* user, int step);
    void* user;
} trial;

typedef struct point
{
    double x;            // abscissa of the curve
    double ours, closed; // closed NaN: shown only
    double
        deviation; // relative; of quantities whose closed form is zero, relative to the scale that the experiment says
} point;

typedef struct result
{
    point points[POINT_MAX];
    int count;
    char failure[REASON_SIZE]; // why there are no further points; empty: all is measured
    bool refused;              // the scene was: its method and its model do not go together
    int steps;
    int substeps;
    int forced;             // substeps that stand although they were judged wrong
    int taken_over;         // steps in which `newton` took over from a method that went wrong
    char note[REASON_SIZE]; // what else is to be known of it; empty: nothing
    double published[2];    // least and largest of measured fabrics, in the unit of `ours`; both 0: none
    double mean;            // what is held against them; of experiments without a closed form also against the run's
                            // first mesh and resolution, at the point that is judged, in hundredths
    float outline[OUTLINE_MAX][2]; // [outline_count] of a draped specimen from above, m
    int outline_count;
} result;

typedef struct experiment
{
    const char *name, *summary;
    const char* closed_form;       // in words and symbols
    const char *x_title, *y_title; // of its curve, with units
    bool log_x, log_y;
    double bound;           // largest deviation at the finest resolution
    int cells[RESOLUTIONS]; // increasing
    bool grid_only;         // an OBJ file cannot stand for its specimen
    bool is_long;           // minutes: it runs only when it is asked for by name
    double disc, rim;       // m, radii of what holds a draped specimen and of the flat one; of a square half of its side
    bool is_square;
    void (*measure)(const trial* t, result* out);
} experiment;

extern const experiment* const experiments[];
extern const int experiment_count;
const experiment* experiment_find(const char* name); // NULL: there is none

void result_add(result* r, double x, double ours, double closed);                      // relative to the closed form
void result_add_scaled(result* r, double x, double ours, double closed, double scale); // relative to the scale
void result_show(result* r, double x, double ours); // a point of the curve that is not judged
// Whether what was measured lies among measured fabrics; without any it does not.
bool result_is_inside(const result* r);
void result_fail(result* r, const char* format, ...) __attribute__((format(printf, 2, 3))); // the first reason stays
// The judged point that is farthest off; NULL without one.
const point* result_worst(const result* r);

#endif

// Sheets that stretch and shear in their plane: under their own weight, pulled, sheared, in a picture frame. None of it
// bends; with one number a thread direction and no coupling between them all closed forms are elementary.
#include <math.h>

#include "validate/rig.h"

static const double side = 0.2; // m, of the specimen along x
enum
{
    LOADS = 4
};

static bool sheet_open(rig* r, const trial* t, double aspect, double degrees, result* out)
{
    static scene_text s;
    specimen sheet = {.length = side, .width = aspect * side, .cells = t->cells, .warp_degrees = degrees};
    scene_begin(&s, t, 0.05 * rig_pace(t->method), 0.0);
    scene_put(&s, "\"contact\": {\"enabled\": false},\n");
    scene_cloth(&s, t, &sheet);
    scene_put(&s, "}]");
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

static bool hold_left(rig* r)
{
    double low = rig_low(r, 0);
    return rig_pin(r, 0, low, low + 1e-6 * side);
}

// How much farther the right border is from the left one than at the start, over the length.
static double elongation(const rig* r)
{
    double high = rig_high(r, 0);
    return (rig_mean(r, 0, 0, high - 1e-6 * side, INFINITY) - high) / side;
}

// ---- own weight: gravity along the sheet, as in a centrifuge

static void measure_weight(const trial* t, double degrees, double stiffness, result* out)
{
    static const double loads[LOADS] = {0.003, 0.01, 0.03, 0.1};
    rig r;
    bool good = sheet_open(&r, t, 0.5, degrees, out) && hold_left(&r);
    for (int k = 0; k < LOADS && good; k++)
    {
        double gravity = loads[k] * stiffness / (t->material.density * side);
        good = rig_gravity(&r, gravity, 0, 0) && rig_settle(&r, loads[k] * side);
        if (good)
        {
            result_add(out, loads[k], elongation(&r), 0.5 * loads[k]);
        }
    }
    rig_close(&r);
}

static void measure_elongation(const trial* t, result* out)
{
    measure_weight(t, 0.0, t->material.stretch_warp, out);
}

static void measure_elongation_weft(const trial* t, result* out)
{
    measure_weight(t, 90.0, t->material.stretch_weft, out);
}

// ---- pulled at one border

static void measure_pull(const trial* t, double degrees, double stiffness, result* out)
{
    static const double loads[LOADS] = {0.003, 0.01, 0.03, 0.1};
    rig r;
    rig_load load = {0};
    bool good = sheet_open(&r, t, 0.5, degrees, out) && hold_left(&r);
    for (int k = 0; k < LOADS && good; k++)
    {
        good = rig_load_edge(&r, &load, RIG_RIGHT, (weft_vec3){loads[k] * stiffness, 0, 0}) &&
               rig_load_apply(&r, &load) && rig_settle(&r, loads[k] * side);
        if (good)
        {
            result_add(out, loads[k], elongation(&r), loads[k]);
        }
    }
    rig_load_free(&load);
    rig_close(&r);
}

static void measure_uniaxial(const trial* t, result* out)
{
    measure_pull(t, 0.0, t->material.stretch_warp, out);
}

static void measure_uniaxial_weft(const trial* t, result* out)
{
    measure_pull(t, 90.0, t->material.stretch_weft, out);
}

// ---- sheared by tractions on three borders, so that shear is the same everywhere

static void measure_shear(const trial* t, result* out)
{
    static const double loads[LOADS] = {0.001, 0.002, 0.005, 0.01};
    rig r;
    rig_load load = {0};
    bool good = sheet_open(&r, t, 1.0, 0.0, out) && hold_left(&r);
    for (int k = 0; k < LOADS && good; k++)
    {
        double traction = loads[k] * t->material.shear, high = rig_high(&r, 0);
        good = rig_load_edge(&r, &load, RIG_RIGHT, (weft_vec3){0, 0, traction}) &&
               rig_load_edge(&r, &load, RIG_FRONT, (weft_vec3){traction, 0, 0}) &&
               rig_load_edge(&r, &load, RIG_BACK, (weft_vec3){-traction, 0, 0}) && rig_load_apply(&r, &load) &&
               rig_settle(&r, loads[k] * side);
        if (good)
        {
            double aside = rig_mean(&r, 2, 0, high - 1e-6 * side, INFINITY);
            result_add(out, loads[k], aside / side, loads[k]);
        }
    }
    rig_load_free(&load);
    rig_close(&r);
}

// ---- picture frame: the border is sheared by bars that keep their lengths

static bool frame_pin(rig* r, weft_pin_id* id, int* list, int* count)
{
    weft_error error = {0};
    weft_pin pin = weft_pin_default();
    double x0 = rig_low(r, 0), x1 = rig_high(r, 0), z0 = rig_low(r, 2), z1 = rig_high(r, 2), room = 1e-6 * side;
    for (int k = 0; k < r->vertex_count; k++)
    {
        weft_vec3 p = r->start[k];
        if (p.x - x0 < room || x1 - p.x < room || p.z - z0 < room || z1 - p.z < room)
        {
            list[pin.vertex_count++] = k;
        }
    }
    pin.vertices = list;
    *count = pin.vertex_count;
    if (weft_sim_pin(r->sim, 0, &pin, id, &error) != WEFT_OK)
    {
        result_fail(r->out, "%s", error.message);
        return false;
    }
    return true;
}

// The bars along z turn by the angle, those along x stay level.
static bool frame_move(rig* r, weft_pin_id id, const int* list, int count, double angle)
{
    weft_error error = {0};
    for (int k = 0; k < count; k++)
    {
        weft_vec3 p = r->start[list[k]];
        r->last[k] = (weft_vec3){p.x + p.z * sin(angle), p.y, p.z * cos(angle)};
    }
    if (weft_sim_move(r->sim, id, r->last, &error) != WEFT_OK)
    {
        result_fail(r->out, "%s", error.message);
        return false;
    }
    return true;
}

enum
{
    FRAME_VERTICES = 65536
};

static void measure_picture_frame(const trial* t, result* out)
{
    static int list[FRAME_VERTICES];
    rig r;
    weft_pin_id id;
    int count;
    bool good = sheet_open(&r, t, 1.0, 0.0, out);
    if (good && r.vertex_count > FRAME_VERTICES)
    {
        result_fail(out, "the mesh has more than %d vertices", FRAME_VERTICES);
        good = false;
    }
    good = good && frame_pin(&r, &id, list, &count);
    for (int degrees = 5; degrees <= 40 && good; degrees += 5)
    {
        double angle = degrees * 3.14159265358979323846 / 180.0;
        good = frame_move(&r, id, list, count, angle) && rig_settle(&r, side);
        if (good)
        {
            weft_energy e = weft_sim_energy(r.sim);
            double area = side * (rig_high(&r, 2) - rig_low(&r, 2));
            result_add(out, degrees, (e.shear + e.stretch) / area, 0.5 * t->material.shear * pow(sin(angle), 2));
        }
    }
    rig_close(&r);
}

// ---- rows

#define MEMBRANE_ROW(row_name, words, form, x_words, y_words, function)                                                \
    {                                                                                                                  \
        .name = (row_name), .summary = (words), .closed_form = (form), .x_title = (x_words), .y_title = (y_words),     \
        .bound = 0.005, .cells = {8, 16, 32}, .measure = (function)                                                    \
    }

const experiment experiment_elongation =
    MEMBRANE_ROW("elongation", "a sheet hung by one border stretches under its weight, warp along", "rho g L / (2 k)",
                 "weight over stiffness, rho g L / k", "elongation / length", measure_elongation);
const experiment experiment_elongation_weft =
    MEMBRANE_ROW("elongation-weft", "the same, weft along", "rho g L / (2 k)", "weight over stiffness, rho g L / k",
                 "elongation / length", measure_elongation_weft);
const experiment experiment_uniaxial =
    MEMBRANE_ROW("uniaxial", "a sheet is pulled at one border, warp along", "F / (W k)",
                 "force over stiffness, F / (W k)", "elongation / length", measure_uniaxial);
const experiment experiment_uniaxial_weft =
    MEMBRANE_ROW("uniaxial-weft", "the same, weft along", "F / (W k)", "force over stiffness, F / (W k)",
                 "elongation / length", measure_uniaxial_weft);
const experiment experiment_shear =
    MEMBRANE_ROW("shear", "a sheet is sheared by forces along its borders", "gamma = tau / k_s, for small angles",
                 "force over stiffness, tau / k_s", "shear angle, rad", measure_shear);
const experiment experiment_picture_frame =
    MEMBRANE_ROW("picture-frame", "a sheet in a frame of four bars that is sheared: energy an area",
                 "k_s sin^2(angle) / 2", "angle, degrees", "energy, J/m²", measure_picture_frame);

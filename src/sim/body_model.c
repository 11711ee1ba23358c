// What a body is modelled by: the model that it names and its word for bending, refused where model, method and
// material do not go together. The word "auto" is settled here, and nowhere else: what follows sees what it stands for.
#include <string.h>

#include "sim/sim.h"

static weft_status wrong(weft_error* error, const body* b, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: %s", b->kind->name, b->name ? b->name : "?", what);
}

static weft_status take_connections(const weft_cloth_def* def, body* b, weft_error* error)
{
    const weft_connections* c = &def->connections;
    if (isnan(c->damper_stretch) || isnan(c->damper_shear) || isnan(c->bend_start) || c->damper_stretch == INFINITY ||
        c->damper_shear == INFINITY || c->bend_start == INFINITY)
    {
        return wrong(error, b,
                     "dampers (N s/m) and the start of bending (N/m) are finite; negative: from the material");
    }
    if (cloth_model_connections(b->model, c, &b->connections))
    {
        return WEFT_OK;
    }
    return b->model->connections
               ? error_set(error, WEFT_BAD_INPUT, NULL, 0,
                           "%s `%s`: there is no damper `%s`; expected projected, two-sided, plain or none",
                           b->kind->name, b->name, c->damper)
               : error_set(error, WEFT_BAD_INPUT, NULL, 0,
                           "%s `%s`: the model `%s` has no connections to choose a damper or a start of bending for; "
                           "try the model `choi-ko`, or leave them out",
                           b->kind->name, b->name, b->model->name);
}

// What a model does not take of a sheet as it is measured is refused, with the reason.
typedef struct measure_reason
{
    unsigned measure;
    const char *what, *why;
} measure_reason;

static const measure_reason measure_reasons[] = {
    {MEASURE_DIRECTIONS, "bending by warp and weft", "its elements bend alike in all directions"},
    {MEASURE_BIAS, "bending at the bias", "its springs lie along warp and weft, and a twist costs them nothing; leave `bias` out"},
    {MEASURE_BEYOND, "bending that changes at a curvature", "its moments are linear; take the model `baraff-witkin` with the bending \"curvature\""},
    {MEASURE_KNEE, "stretch with a knee", "its springs are linear; take the model `baraff-witkin`"},
    {MEASURE_LIMIT, "a strain limit", "its elements have no warp and weft whose length could be held; take the model `baraff-witkin`"},
    {MEASURE_CREASE, "creases", "its elements have no curvature that could stay; take the model `baraff-witkin` with the bending \"curvature\" or \"exact\""},
};

static weft_status measures_suit(const weft_sim* sim, const body* b, weft_error* error)
{
    weft_material m = body_material_fullest(b);
    unsigned asked = material_measures(&m), taken = b->model->measures;
    // Directors are found for moments that are linear; hinges have one angle, and no curvature to change at.
    taken &= b->bending && strcmp(b->bending, "curvature") != 0 ? ~(unsigned)MEASURE_BEYOND : ~0u;
    taken &= b->bending && strcmp(b->bending, "hinge") == 0 ? ~(unsigned)MEASURE_CREASE : ~0u;
    for (size_t k = 0; k < sizeof(measure_reasons) / sizeof(measure_reasons[0]); k++)
    {
        const measure_reason* r = &measure_reasons[k];
        if (asked & ~taken & r->measure)
        {
            return error_set(error, WEFT_UNSUPPORTED, NULL, 0, "%s `%s`: the model `%s`%s%s%s cannot have %s: %s", b->kind->name,
                             b->name, b->model->name, b->bending ? " with the bending \"" : "", b->bending ? b->bending : "",
                             b->bending ? "\"" : "", r->what, r->why);
        }
    }
    // Its directors are of the mesh as it was made: a cut that is mended in place would leave them behind.
    if (b->tear > 0.0 && b->bending && strcmp(b->bending, "exact") == 0)
    {
        return wrong(error, b,
                     "cloth that tears cannot bend by \"exact\"; take the bending \"curvature\", or leave `tear` out");
    }
    if ((asked & MEASURE_LIMIT) && !sim->method->method->holds_strain)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "%s `%s`: the method `%s` has no solve that could hold threads at a strain limit; take `implicit-euler`, or leave "
                         "`strain_limit` out",
                         b->kind->name, b->name, sim->method->method->name);
    }
    if ((asked & MEASURE_LIMIT) && b->tear > 0.0)
    {
        return wrong(error, b, "cloth that tears gives way instead of being held: leave `strain_limit` or `tear` out");
    }
    if ((asked & MEASURE_CREASE) && b->tear > 0.0)
    {
        return wrong(error, b, "a cut is mended in place, without what its folds have kept: leave `crease` or `tear` out");
    }
    return WEFT_OK;
}

static weft_status bending_suits(const weft_sim* sim, const body* b, weft_error* error)
{
    TRY(measures_suit(sim, b, error));
    return method_suits(sim, b, error);
}

static double side_sq(const body* b, int t, int k)
{
    int first = 3 * t + k, second = 3 * t + (k + 1) % 3;
    if (b->rest_uv)
    {
        double x = b->rest_uv[second].x - b->rest_uv[first].x, y = b->rest_uv[second].y - b->rest_uv[first].y;
        return x * x + y * y;
    }
    vec3 side = v3_sub(b->rest.position[b->rest.triangle[second]], b->rest.position[b->rest.triangle[first]]);
    return v3_dot(side, side);
}

// "auto" is no word for cloth with a triangle flatter than a fiftieth of its longest side: `exact` lets it turn over where
// cloth is pressed together (two dresses whose arms were bent kept 4 and 7 crossings in an armpit that `curvature` parts),
// and takes `newton` many times the iterations.
static bool has_flat_triangle(const body* b)
{
    const double flat = 0.02;
    bool found = false;
    for (int t = 0; t < b->rest.triangle_count && !found; t++)
    {
        double longest_sq = fmax(side_sq(b, t, 0), fmax(side_sq(b, t, 1), side_sq(b, t, 2)));
        found = !(2.0 * body_rest_area(b, t) >= flat * longest_sq);
    }
    return found;
}

weft_status body_choose_bending(const weft_sim* sim, body* b, weft_error* error)
{
    const char* const* words = cloth_model_stands_for(b->model, b->asked_bending);
    if (words && strcmp(words[0], "exact") == 0 && has_flat_triangle(b))
    {
        words++;
    }
    b->bending = words ? words[0] : b->asked_bending;
    weft_status status = bending_suits(sim, b, error);
    for (int k = 1; words && words[k] && status != WEFT_OK && status != WEFT_NO_MEMORY; k++)
    {
        b->bending = words[k];
        status = bending_suits(sim, b, error);
    }
    return status;
}

weft_status body_take_model(const weft_sim* sim, const weft_cloth_def* def, body* b, weft_error* error)
{
    b->model = cloth_model_find(def->model);
    if (!b->model)
    {
        return error_set(error, WEFT_NOT_FOUND, NULL, 0, "%s `%s`: there is no model `%s`; see `weft list models`",
                         b->kind->name, b->name, def->model);
    }
    TRY(model_suits(b, error));
    if (!cloth_model_bending(b->model, def->bending, &b->asked_bending))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: bending is not \"%s\" with the model `%s`%s%s%s",
                         b->kind->name, b->name, def->bending, b->model->name,
                         b->model->bendings ? "; try \"" : ", which has no choice",
                         b->model->bendings ? b->model->bendings[0] : "", b->model->bendings ? "\"" : "");
    }
    TRY(take_connections(def, b, error));
    return body_choose_bending(sim, b, error);
}

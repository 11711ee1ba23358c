// Bending by direction, and whether numbers of a sheet as it is measured can be.
//
// A woven sheet bends like an orthotropic plate without Poisson's effect, D12 = 0:
//
//     E = 1/2 (D11 kuu^2 + D22 kvv^2 + 4 D66 kuv^2)     an area,
//
// u along warp, v along weft. What is measured are strips, cut along warp, weft and at 45 degrees. The sides of a strip are free:
// it has a moment along itself alone, and takes the other curvatures that go with it for nothing, so that it shows the inverse
// of the compliance in its direction (c, s),
//
//     1 / B = c^4 / D11 + s^4 / D22 + c^2 s^2 / D66.
//
// Hence D11 = warp, D22 = weft and 1 / D66 = 4 / bias - 1 / warp - 1 / weft, which is positive, and the energy definite, where
// bias < 4 / (1 / warp + 1 / weft). Without a bias D66 = sqrt(D11 D22) / 2 (Huber 1923), which is the isotropic B / 2 where
// warp and weft are alike.
//
// A wide sheet that is bent along (p, q), with its sides held straight, has the plate's rigidity
// D11 p^4 + 4 D66 p^2 q^2 + D22 q^4 (Cooper 1960 has it for fabrics). Hinges, arcs and springs, which bend along one line
// each, have that one.
#include <stdio.h>

#include "material/material.h"

void bending_complete(weft_material* m)
{
    m->bending_weft = m->bending_weft > 0.0 ? m->bending_weft : m->bending;
    if (!(m->bending_bias > 0.0))
    {
        double roots = 1.0 / sqrt(m->bending) + 1.0 / sqrt(m->bending_weft);
        m->bending_bias = m->bending_weft == m->bending ? m->bending : 4.0 / (roots * roots);
    }
}

rigidity bending_rigidity(const weft_material* m)
{
    weft_material own = *m;
    bending_complete(&own);
    rigidity r = {own.bending, own.bending_weft, own.bending};
    if (own.bending_weft != own.bending || own.bending_bias != own.bending)
    {
        r.twist = 2.0 / (4.0 / own.bending_bias - 1.0 / own.bending - 1.0 / own.bending_weft);
    }
    return r;
}

bool material_has_directions(const weft_material* m)
{
    rigidity r = bending_rigidity(m);
    return r.weft != r.warp || r.twist != r.warp;
}

double bending_along(const weft_material* m, double p, double q)
{
    if (!material_has_directions(m))
    {
        return m->bending;
    }
    rigidity r = bending_rigidity(m);
    double pp = p * p, qq = q * q;
    return r.warp * pp * pp + 2.0 * r.twist * pp * qq + r.weft * qq * qq;
}

static const char* bending_wrong(const weft_material* m, char* out, size_t size)
{
    if (!(m->bending > 0.0) && (m->bending_weft > 0.0 || m->bending_bias > 0.0))
    {
        snprintf(out, size, "bending by warp, weft and bias needs all of them above zero; warp is %g N m", m->bending);
        return out;
    }
    double weft = m->bending_weft > 0.0 ? m->bending_weft : m->bending, most = 4.0 / (1.0 / m->bending + 1.0 / weft);
    if (m->bending_bias > 0.0 && !(m->bending_bias < most))
    {
        snprintf(out, size,
                 "bending is not positive definite: with %g N m along warp and %g along weft, a strip at 45 degrees has less than %g N m, "
                 "not %g; lower `bias`, or leave it out",
                 m->bending, weft, most, m->bending_bias);
        return out;
    }
    if ((m->bending_curvature > 0.0) != (m->bending_beyond > 0.0))
    {
        return "bending changes beyond a curvature: give `curvature` (1/m) and `beyond` (a share of the rigidity), both above zero";
    }
    return NULL;
}

static const char* knee_wrong(const char* thread, double soft, double knee, double stiff, char* out, size_t size)
{
    if ((knee > 0.0) != (stiff > 0.0))
    {
        snprintf(out, size, "stretch along %s with a knee has `soft` (N/m), `knee` (strain) and `stiff` (N/m), all above zero", thread);
        return out;
    }
    if (knee > 0.0 && !(stiff >= soft))
    {
        snprintf(out, size,
                 "stretch along %s is soft before the knee and stiff beyond it: %g N/m then %g N/m is the wrong order; swap them",
                 thread, soft, stiff);
        return out;
    }
    return NULL;
}

const char* material_measure_wrong(const weft_material* m, char* out, size_t size)
{
    const char* found = bending_wrong(m, out, size);
    found = found ? found : knee_wrong("warp", m->stretch_warp, m->knee_warp, m->stiff_warp, out, size);
    found = found ? found : knee_wrong("weft", m->stretch_weft, m->knee_weft, m->stiff_weft, out, size);
    if (!found && ((m->crease_curvature > 0.0) != (m->crease_share > 0.0) || m->crease_share > 1.0))
    {
        return "a crease has a `curvature` (1/m) above zero, and a `share` that stays, above 0 and at most 1";
    }
    return found;
}

unsigned material_measures(const weft_material* m)
{
    bool directions = m->bending_weft > 0.0 && m->bending_weft != m->bending;
    return (directions ? MEASURE_DIRECTIONS : 0u) | (m->bending_bias > 0.0 ? MEASURE_BIAS : 0u) |
           (m->bending_curvature > 0.0 ? MEASURE_BEYOND : 0u) |
           (m->knee_warp > 0.0 || m->knee_weft > 0.0 ? MEASURE_KNEE : 0u) |
           (m->strain_limit > 0.0 ? MEASURE_LIMIT : 0u) | (m->crease_curvature > 0.0 ? MEASURE_CREASE : 0u);
}

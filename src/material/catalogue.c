// Fabrics by name, and the conversion of bulk figures to those of a sheet.
//
// A sheet of thickness t of an isotropic material with Young's modulus E and Poisson ratio nu has
//     stretch  E t                     N/m   force over width and strain in a strip that may contract sideways
//     shear    E t / (2 (1 + nu))      N/m   G t, with the angle w_u . w_v of Baraff and Witkin's shear
//     bending  E t^3 / (12 (1 - nu^2)) N m   flexural rigidity of a plate
// Warp and weft do not couple in Baraff and Witkin's energies, so that a strip never contracts sideways and E t, not
// the plane-stress E t / (1 - nu^2), gives it its measured stiffness.
//
// Sources. [Li] is Li, Kaufman and Jiang 2021 (codimensional incremental potential contact), which gives E, thickness
// and nu of four fabrics. [Wang] is Wang, O'Brien and Ramamoorthi 2011 (data-driven elastic models for cloth): ten
// fabrics of 0.1 to 0.35 kg/m^2, interlock 0.187, denim 0.324, with mean bending from 1.9e-5 to 1.7e-4 N m. What
// neither gives is "chosen", and the row says why. Damping is chosen throughout: a thousandth of a second times each
// stiffness, as cotton's.
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "material/catalogue.h"

#define STRETCH(young, thickness) ((young) * (thickness))
#define SHEAR(young, thickness, poisson) ((young) * (thickness) / (2.0 * (1.0 + (poisson))))
#define BENDING(young, thickness, poisson)                                                                             \
    ((young) * (thickness) * (thickness) * (thickness) / (12.0 * (1.0 - (poisson) * (poisson))))

// Rows give the six numbers that every material has, in the order of the struct: density, warp, weft, shear, bending, damping. The
// others are zero: not measured.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define BULK(young, thickness, poisson, density)                                                                       \
    {                                                                                                                  \
        density, STRETCH(young, thickness), STRETCH(young, thickness), SHEAR(young, thickness, poisson),               \
            BENDING(young, thickness, poisson), 1e-3                                                                   \
    }

static const catalogue_row rows[] = {
    // The reference of Weft's own figures. 0.15 kg/m^2 is woven cotton; the stiffness is chosen so that the iterations
    // of the block-diagonal solver grow with the mesh as in the SA paper's Table 1.
    {"cotton",
     "woven cotton, the default: density of woven cotton; stiffness chosen, as the published solver figures use",
     {0.15, 5000.0, 5000.0, 500.0, 1e-5, 1e-3}},
    // [Li] E, thickness, nu. Density as cotton.
    {"cotton-soft", "cotton of Li et al. 2021 (E 0.821 MPa, 0.318 mm, nu 0.243); density of woven cotton",
     BULK(0.821e6, 0.318e-3, 0.243, 0.15)},
    // [Li] E, thickness, nu. Density chosen: the upper half of [Wang]'s range, as the thickest of the four.
    {"wool", "wool of Li et al. 2021 (E 0.170 MPa, 0.568 mm, nu 0.277); density chosen within Wang et al. 2011",
     BULK(0.170e6, 0.568e-3, 0.277, 0.25)},
    // [Li] E, thickness, nu. Density chosen: the middle of [Wang]'s range.
    {"wool-lycra",
     "wool-lycra of Li et al. 2021 (E 0.076 MPa, 0.328 mm, nu 0.071); density chosen within Wang et al. 2011",
     BULK(0.076e6, 0.328e-3, 0.071, 0.22)},
    // [Li] E, thickness, nu. Density chosen: the lower half of [Wang]'s range, as the thinnest of the four.
    {"polyester",
     "polyester of Li et al. 2021 (E 0.478 MPa, 0.252 mm, nu 0.381); density chosen within Wang et al. 2011",
     BULK(0.478e6, 0.252e-3, 0.381, 0.13)},
    // [Wang] density; bending the least of its means, as knits are limp. Stretch chosen: a tenth of cotton's, since
    // loops give before threads do; shear in cotton's proportion.
    {"interlock",
     "interlock knit: density 0.187 kg/m^2 and least bending of Wang et al. 2011; stretch chosen",
     {0.187, 500.0, 500.0, 50.0, 1.9e-5, 1e-3}},
    // [Wang] density; bending the largest of its means. Stretch chosen: cotton's threads, and about twice as many.
    {"denim",
     "denim: density 0.324 kg/m^2 and largest bending of Wang et al. 2011; stretch chosen",
     {0.324, 10000.0, 8000.0, 1000.0, 1.7e-4, 1e-3}},
    // Density the least of [Wang]. Bending chosen: the length (B / (rho g))^(1/3) over which it bends under its own
    // weight stays below cotton's, 15 mm against 19 mm. Stretch chosen: cotton's, shear less, as its threads slide.
    {"silk",
     "silk: least density of Wang et al. 2011; bending and stretch chosen, limper than cotton",
     {0.1, 5000.0, 5000.0, 200.0, 3e-6, 1e-3}},
    // Density and bending chosen: the middle of [Wang]'s ranges. Stretch chosen: flax gives less than cotton.
    {"linen",
     "linen: density and bending chosen in the middle of Wang et al. 2011; stretch chosen, above cotton's",
     {0.2, 8000.0, 8000.0, 500.0, 6e-5, 1e-3}},
    // Density and bending the largest of [Wang]. Stretch and shear chosen: a dense weave that hardly shears.
    {"canvas",
     "canvas: largest density and bending of Wang et al. 2011; stretch and shear chosen for a dense weave",
     {0.35, 15000.0, 15000.0, 3000.0, 1.7e-4, 1e-3}},
    // In neither source. All chosen: a hide of 1 mm weighs near 0.8 kg/m^2; it bends several times harder than the
    // stiffest fabric of [Wang], and has no threads, so that it shears like a solid sheet with nu near 0.3.
    {"leather",
     "leather of about 1 mm: all figures chosen, stiffer than any fabric of Wang et al. 2011",
     {0.8, 15000.0, 15000.0, 6000.0, 6e-4, 1e-3}},
};

enum
{
    ROW_COUNT = sizeof(rows) / sizeof(rows[0])
};

const catalogue_row* catalogue_rows(int* count)
{
    *count = ROW_COUNT;
    return rows;
}

weft_status weft_material_find(const char* name, weft_material* out, weft_error* error)
{
    WEFT_ASSERT(name && out);
    const char* names[ROW_COUNT];
    for (int k = 0; k < ROW_COUNT; k++)
    {
        if (strcmp(rows[k].name, name) == 0)
        {
            *out = rows[k].material;
            return WEFT_OK;
        }
        names[k] = rows[k].name;
    }
    const char* near = suggest_name(name, names, ROW_COUNT);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no material `%.60s`%s%s%s", name,
                     near ? ", did you mean `" : "; `weft list materials` names them", near ? near : "",
                     near ? "`?" : "");
}

weft_status weft_material_from_bulk(double young, double poisson, double thickness, double density, weft_material* out,
                                    weft_error* error)
{
    WEFT_ASSERT(out);
    // Written so that NaN fails too.
    if (!(young > 0.0) || !(thickness > 0.0) || !(density > 0.0))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "Young's modulus, thickness and density must be positive, not %g Pa, %g m and %g kg/m^3",
                         young, thickness, density);
    }
    if (!(poisson > -1.0) || !(poisson <= 0.5))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "the Poisson ratio of a solid is above -1 and at most 0.5, not %g", poisson);
    }
    weft_material sheet = {
        .density = density * thickness,
        .stretch_warp = STRETCH(young, thickness),
        .stretch_weft = STRETCH(young, thickness),
        .shear = SHEAR(young, thickness, poisson),
        .bending = BENDING(young, thickness, poisson),
        .damping = out->damping,
    };
    if (!isfinite(sheet.density) || !isfinite(sheet.stretch_warp) || !isfinite(sheet.bending))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "%g Pa, %g m and %g kg/m^3 give a sheet beyond all numbers; are the units SI?", young,
                         thickness, density);
    }
    *out = sheet;
    return WEFT_OK;
}

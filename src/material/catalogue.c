// Fabrics by name, and the conversion of bulk figures to those of a sheet.
//
// A sheet of thickness t of an isotropic material with Young's modulus E and Poisson ratio nu has
//     stretch  E t                     N/m   force over width and strain in a strip that may contract sideways
//     shear    E t / (2 (1 + nu))      N/m   G t, with the angle w_u . w_v of Baraff and Witkin's shear
//     bending  E t^3 / (12 (1 - nu^2)) N m   flexural rigidity of a plate
// Warp and weft do not couple in Baraff and Witkin's energies, so that a strip never contracts sideways and E t, not
// the plane-stress E t / (1 - nu^2), gives it its measured stiffness.
//
// Each row says where each of its numbers is from, in words that `weft list materials --sources` prints. [Li] is Li,
// Kaufman and Jiang 2021 (codimensional incremental potential contact), which gives E, thickness and nu of four
// fabrics. [Wang] is Wang, O'Brien and Ramamoorthi 2011 (data-driven elastic models for cloth): ten fabrics of 0.1 to
// 0.35 kg/m^2, interlock 0.187, denim 0.324, with mean bending from 1.9e-5 to 1.7e-4 N m. What neither gives is
// chosen. Drape coefficients are those of the literature for the kind of fabric; no number was made to meet them.
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "material/catalogue.h"

#define STRETCH(young, thickness) ((young) * (thickness))
#define SHEAR(young, thickness, poisson) ((young) * (thickness) / (2.0 * (1.0 + (poisson))))
#define BENDING(young, thickness, poisson)                                                                             \
    ((young) * (thickness) * (thickness) * (thickness) / (12.0 * (1.0 - (poisson) * (poisson))))

// Rows give the six numbers that every material has, in the order of the struct: density, warp, weft, shear, bending,
// damping. The others are zero: not measured.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define BULK(young, thickness, poisson, density)                                                                       \
    {                                                                                                                  \
        density, STRETCH(young, thickness), STRETCH(young, thickness), SHEAR(young, thickness, poisson),               \
            BENDING(young, thickness, poisson), 1e-3                                                                   \
    }

#define LI "Li et al. 2021: "
#define WANG "Wang et al. 2011: "
#define CHOSEN "chosen: "
#define COTTON_DENSITY "literature: woven cotton weighs about 0.15"
#define DAMPED CHOSEN "a thousandth of a second for every fabric, as for the solver figures"
#define BULK_STRETCH LI "E t, of Young's modulus and thickness"
#define BULK_SHEAR LI "E t / (2 (1 + nu)), of Young's modulus, thickness and Poisson's ratio"
#define BULK_BENDING LI "E t^3 / (12 (1 - nu^2)), a solid sheet of that thickness; woven cloth differs"
#define NO_DRAPE NULL, 0.0, 0.0

static const catalogue_row rows[] = {
    {"cotton",
     "woven cotton, the default: density of woven cotton; stiffness chosen, as the published solver figures use",
     {0.15, 5000.0, 5000.0, 500.0, 1e-5, 1e-3},
     {COTTON_DENSITY,
      CHOSEN "with it iterations of the block-diagonal solver grow with the mesh as in the SA paper's Table 1",
      CHOSEN "a tenth of stretch, for the same figures",
      CHOSEN "for the same figures; 618 measured fabrics have 1.39e-5 (warp) and 0.88e-5 (weft) in the median", DAMPED,
      "cotton", 60.0, 76.0}},
    {"cotton-soft",
     "cotton of Li et al. 2021 (E 0.821 MPa, 0.318 mm, nu 0.243); density of woven cotton",
     BULK(0.821e6, 0.318e-3, 0.243, 0.15),
     {COTTON_DENSITY, BULK_STRETCH, BULK_SHEAR, BULK_BENDING, DAMPED, "cotton", 60.0, 76.0}},
    {"wool",
     "wool of Li et al. 2021 (E 0.170 MPa, 0.568 mm, nu 0.277); density chosen within Wang et al. 2011",
     BULK(0.170e6, 0.568e-3, 0.277, 0.25),
     {CHOSEN "upper half of Wang et al. 2011, 0.1 to 0.35, as the thickest of the four of Li et al.", BULK_STRETCH,
      BULK_SHEAR, BULK_BENDING, DAMPED, "wool", 40.0, 70.0}},
    {"wool-lycra",
     "wool-lycra of Li et al. 2021 (E 0.076 MPa, 0.328 mm, nu 0.071); density chosen within Wang et al. 2011",
     BULK(0.076e6, 0.328e-3, 0.071, 0.22),
     {CHOSEN "middle of Wang et al. 2011, 0.1 to 0.35", BULK_STRETCH, BULK_SHEAR, BULK_BENDING, DAMPED, NO_DRAPE}},
    {"polyester",
     "polyester of Li et al. 2021 (E 0.478 MPa, 0.252 mm, nu 0.381); density chosen within Wang et al. 2011",
     BULK(0.478e6, 0.252e-3, 0.381, 0.13),
     {CHOSEN "lower half of Wang et al. 2011, 0.1 to 0.35, as the thinnest of the four of Li et al.", BULK_STRETCH,
      BULK_SHEAR, BULK_BENDING, DAMPED, NO_DRAPE}},
    {"interlock",
     "interlock knit: density 0.187 kg/m^2 and least bending of Wang et al. 2011; stretch chosen",
     {0.187, 500.0, 500.0, 50.0, 1.9e-5, 1e-3},
     {WANG "interlock", CHOSEN "a tenth of cotton's, as loops give before threads do",
      CHOSEN "a tenth of stretch, as cotton", WANG "the least of the means of ten fabrics, as knits are limp", DAMPED,
      NO_DRAPE}},
    {"denim",
     "denim: density 0.324 kg/m^2 and largest bending of Wang et al. 2011; stretch chosen",
     {0.324, 10000.0, 8000.0, 1000.0, 1.7e-4, 1e-3},
     {WANG "denim", CHOSEN "cotton's threads, about twice as many along warp", CHOSEN "a tenth of stretch, as cotton",
      WANG "the largest of the means of ten fabrics", DAMPED, "denim", 70.0, 90.0}},
    {"silk",
     "silk: least density of Wang et al. 2011; bending and stretch chosen, limper than cotton",
     {0.1, 5000.0, 5000.0, 200.0, 3e-6, 1e-3},
     {WANG "the least of ten fabrics", CHOSEN "cotton's", CHOSEN "less than cotton's, as its threads slide",
      CHOSEN "(B / (rho g))^(1/3), over which it bends under its own weight, is 15 mm, below cotton's 19 mm", DAMPED,
      "silk", 20.0, 40.0}},
    {"linen",
     "linen: density and bending chosen in the middle of Wang et al. 2011; stretch chosen, above cotton's",
     {0.2, 8000.0, 8000.0, 500.0, 6e-5, 1e-3},
     {CHOSEN "middle of Wang et al. 2011, 0.1 to 0.35", CHOSEN "above cotton's, as flax gives less", CHOSEN "cotton's",
      CHOSEN "middle of Wang et al. 2011, 1.9e-5 to 1.7e-4", DAMPED, NO_DRAPE}},
    {"canvas",
     "canvas: largest density and bending of Wang et al. 2011; stretch and shear chosen for a dense weave",
     {0.35, 15000.0, 15000.0, 3000.0, 1.7e-4, 1e-3},
     {WANG "the largest of ten fabrics", CHOSEN "a dense weave", CHOSEN "a dense weave that hardly shears",
      WANG "the largest of the means of ten fabrics", DAMPED, NO_DRAPE}},
    // It has no threads, so that it shears like a solid sheet with nu near 0.3.
    {"leather",
     "leather of about 1 mm: all figures chosen, stiffer than any fabric of Wang et al. 2011",
     {0.8, 15000.0, 15000.0, 6000.0, 6e-4, 1e-3},
     {CHOSEN "a hide of 1 mm weighs near 0.8", CHOSEN "above any fabric of Wang et al. 2011",
      CHOSEN "as a solid sheet with nu near 0.3, as it has no threads",
      CHOSEN "several times the stiffest fabric of Wang et al. 2011", DAMPED, "leather", 47.0, 70.0}},
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

static weft_status find_row(const char* name, const catalogue_row** out, weft_error* error)
{
    const char* names[ROW_COUNT];
    for (int k = 0; k < ROW_COUNT; k++)
    {
        if (strcmp(rows[k].name, name) == 0)
        {
            *out = &rows[k];
            return WEFT_OK;
        }
        names[k] = rows[k].name;
    }
    const char* near = suggest_name(name, names, ROW_COUNT);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no material `%.60s`%s%s%s", name,
                     near ? ", did you mean `" : "; `weft list materials` names them", near ? near : "",
                     near ? "`?" : "");
}

weft_status weft_material_find(const char* name, weft_material* out, weft_error* error)
{
    WEFT_ASSERT(name && out);
    const catalogue_row* row;
    weft_status status = find_row(name, &row, error);
    if (status == WEFT_OK)
    {
        *out = row->material;
    }
    return status;
}

weft_status weft_material_find_sources(const char* name, weft_material_sources* out, weft_error* error)
{
    WEFT_ASSERT(name && out);
    const catalogue_row* row;
    weft_status status = find_row(name, &row, error);
    if (status == WEFT_OK)
    {
        *out = row->sources;
    }
    return status;
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

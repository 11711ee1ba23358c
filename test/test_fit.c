// `weft fit`: sheets with known numbers, the material of simulated measurements, and sheets that are refused.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_manners.h"

// The number behind a key of the last output, `from` on; NaN: there is none.
static double value_of(const char* key)
{
    const char* at = strstr(manners_last.out, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? strtod(at + 1, NULL) : NAN;
}

static void assert_near(const char* key, double expected, double share)
{
    double ours = value_of(key);
    if (!(fabs(ours / expected - 1.0) <= share))
    {
        print_message("%s: %g, not %g, in:\n%s", key, ours, expected, manners_last.out);
    }
    assert_true(fabs(ours / expected - 1.0) <= share);
}

// Units of KES: gf is 9.80665 mN; shear is for a degree.
static void a_sheet_of_kes_is_read(void** state)
{
    (void)state;
    manners_put("kes.csv", "\xef\xbb\xbfquantity,value,unit\r\n"
                           "Fabric,worsted,\r\n# a comment\r\n"
                           "W,18.5,mg/cm2\r\nT,0.52,mm\r\n"
                           "B-1,0.12,gf\xc2\xb7"
                           "cm\xc2\xb2/cm\r\nB-2,0.08,gf.cm2/cm\r\n2HB-1,0.04,gf.cm/cm\r\n"
                           "\"G-1\",0.6,\"gf/cm.deg\"\r\nG-2,0.8,gf/cm deg\r\n"
                           "EMT-1,4,%\r\nLT-1,0.6,\r\nEMT-2,8,%\r\nWT-2,14,gf cm/cm2\r\n");
    assert_int_equal(manners_run("fit kes.csv"), 0);
    assert_near("\"density\"", 0.185, 1e-5);
    assert_near("\"warp\"", 0.12 * 9.80665e-5, 1e-5);
    assert_near("\"weft\"", 0.08 * 9.80665e-5, 1e-5);
    assert_near("\"shear\"", 0.7 * 0.980665 * 180.0 / 3.14159265358979, 1e-5);
    // Two lines with the end (4 %, 490.3 N/m) and the energy of linearity 0.6.
    double soft = value_of("\"soft\""), knee = value_of("\"knee\""), stiff = value_of("\"stiff\"");
    double end = soft * knee + stiff * (0.04 - knee), at = soft * knee;
    double work = 0.5 * at * knee + 0.5 * (at + end) * (0.04 - knee);
    assert_true(fabs(end / 490.3325 - 1.0) < 1e-4 && fabs(work / (0.5 * 0.6 * 0.04 * 490.3325) - 1.0) < 1e-4);
}

static void a_sheet_of_fast_is_read(void** state)
{
    (void)state;
    // Decimal commas where fields are parted by ";".
    manners_put("fast.csv", "Quantity;Direction;Value;Unit\nW;;168;g/m2\nC;warp;15,0;mm\nC;weft;14,5;mm\n"
                            "E5;warp;0,4;%\nE20;warp;1,1;%\nE100;warp;2,5;%\nEB5;;3,0;%\n");
    assert_int_equal(manners_run("fit fast.csv --base wool -o wool.json"), 0);
    assert_int_equal(manners_run("fit fast.csv --base wool"), 0);
    assert_near("\"warp\"", 5.56e-6, 2e-3); // as a laboratory's report of that sheet has it
    assert_near("\"weft\"", 5.02e-6, 2e-3);
    assert_near("\"shear\"", 123.0 / 3.0, 5e-3);
    assert_true(value_of("\"stiff\"") > value_of("\"soft\"") && value_of("\"knee\"") > 0.0);
    manners_assert_says("fit", manners_last.out, "\"wool\"");
}

static void points_give_their_curve_back(void** state)
{
    (void)state;
    char sheet[2048];
    int used = snprintf(sheet, sizeof(sheet), "quantity,direction,value,unit,at,at_unit\n");
    for (int k = 1; k <= 12; k++) // 800 N/m up to 3 %, 6000 beyond it; in no order
    {
        double e = 0.005 * (k * 5 % 13), f = 800 * fmin(e, 0.03) + 6000 * fmax(e - 0.03, 0.0);
        used += snprintf(sheet + used, sizeof(sheet) - (size_t)used, "extension,warp,%.10g,%%,%.10g,gf/cm\n", 100 * e,
                         f / 0.980665);
    }
    snprintf(sheet + used, sizeof(sheet) - (size_t)used, "extension,weft,2,%%,100,N/m\nextension,weft,4,%%,201,N/m\n");
    manners_put("curve.csv", sheet);
    assert_int_equal(manners_run("fit curve.csv"), 0);
    assert_near("\"soft\"", 800.0, 0.02);
    assert_near("\"knee\"", 0.03, 0.02);
    assert_near("\"stiff\"", 6000.0, 0.02);
    assert_near("\"stretch_weft\"", 5000.0, 0.01); // one number for what is nearly straight
}

// ---- a fabric that is simulated, measured and found again

static double number_after(const char* text, const char* key)
{
    const char* at = strstr(text, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

// The abscissa and ordinate of an experiment's first point.
static void measure(const char* experiment, double* x, double* ours)
{
    char line[256];
    snprintf(line, sizeof(line),
             "validate --experiments %s --material denim --mesh regular --cells 20 --threads 1 --json", experiment);
    assert_int_equal(manners_run(line), 0);
    const char* points = strstr(manners_last.out, "\"points\"");
    assert_non_null(points);
    *x = number_after(points, "\"x\":");
    *ours = number_after(points, "\"ours\":");
}

static void simulated_measurements_give_the_material_back(void** state)
{
    (void)state;
    double overhang, unused, load[3], strain[3];
    char sheet[1024];
    measure("d1388", &overhang, &unused);
    // Loads are what the machine set: forces over width, which the experiment's abscissa is over the stiffness.
    static const char* const pulled[] = {"uniaxial", "uniaxial-weft", "shear"};
    static const double denim[] = {10000.0, 8000.0, 1000.0};
    for (int k = 0; k < 3; k++)
    {
        measure(pulled[k], &load[k], &strain[k]);
        load[k] *= denim[k];
    }
    snprintf(sheet, sizeof(sheet),
             "quantity,direction,value,unit,at,at_unit\nweight,,324,g/m2,,\noverhang,,%.10g,mm,,\n"
             "extension,warp,%.10g,1,%.10g,N/m\nextension,weft,%.10g,%%,%.10g,gf/cm\nshear,,%.10g,N/m,,\n",
             1e3 * overhang, strain[0], load[0], 100 * strain[1], load[1] / 0.980665, load[2] / strain[2]);
    manners_put("denim.csv", sheet);
    assert_int_equal(manners_run("fit denim.csv"), 0);
    assert_near("\"density\"", 0.324, 0.02);
    assert_near("\"bending\"", 1.7e-4, 0.02);
    assert_near("\"stretch_warp\"", 10000.0, 0.02);
    assert_near("\"stretch_weft\"", 8000.0, 0.02);
    assert_near("\"shear\"", 1000.0, 0.02);
}

// ---- what is refused

// One sheet as laboratories and their programs save it: each is read to the same block.
static void sheets_as_they_are_saved_are_one(void** state)
{
    (void)state;
    static const char* const sheets[] = {
        "quantity,direction,value,unit\nweight,,150.5,g/m2\noverhang,warp,41,mm\noverhang,weft,37,mm\n",
        "quantity,direction,value,unit\rweight,,150.5,g/m2\roverhang,warp,41,mm\roverhang,weft,37,mm\r",
        "quantity\tdirection\tvalue\tunit\nweight\t\t150.5\tg/m2\noverhang\twarp\t41\tmm\noverhang\tweft\t37\tmm\n",
        "sep=;\r\n\r\nParameter;Direction;Mean;Units\r\nweight;;150,5;g/m\xb2\r\n;;;\r\noverhang;warp;41;mm\r\noverhang;weft;37;mm\r\n",
        "# gepr\xfc"
        "ft\n\"quantity\",\"direction\",\"value\",\"unit\"\n\"weight\",\"\",\"150,5\",\"g/m2\"\n\"overhang\",\"warp\",\"41\",\"mm\"\noverhang,weft,37,mm\n",
        "Quantity,Direction,Value\nWeight [g/m\xc2\xb2],,150.5\nOverhang (mm),warp,41\noverhang,weft,37 mm\n",
        "date,quantity,direction,value,unit,operator\n2024-01-02,weight,,150.5\xc2\xa0,g/m2,Anna\n,overhang (warp),,41,mm,\n,overhang (weft),,37,mm,\n",
    };
    char first[1024];
    for (size_t k = 0; k < sizeof(sheets) / sizeof(sheets[0]); k++)
    {
        manners_put("saved.csv", sheets[k]);
        assert_int_equal(manners_run("fit saved.csv"), 0);
        k == 0 ? snprintf(first, sizeof(first), "%s", manners_last.out) : 0;
        assert_string_equal(manners_last.out, first);
    }
    // Excel's "Unicode text".
    char wide[1024] = "\xff\xfe";
    size_t length = strlen(sheets[2]);
    for (size_t k = 0; k < length; k++)
    {
        wide[2 + 2 * k] = sheets[2][k];
        wide[3 + 2 * k] = 0;
    }
    manners_put_bytes("saved.csv", wide, 2 + 2 * length);
    assert_int_equal(manners_run("fit saved.csv"), 0);
    assert_string_equal(manners_last.out, first);
}

static void wrong_sheets_are_refused(void** state)
{
    (void)state;
    static const char* const sheets[][2] = {
        {"quantity,value,unit\nW,150,\n", ":2: W has no unit"},
        {"quantity,value,unit\nW,150,furlong\n", ":2: `furlong`"},
        {"quantity,value,unit\nB,-1,N m\n", ":2: `-1`"},
        {"quantity,value,unit\nB,much,N m\n", ":2: `much`"},
        {"quantity,value,unit\nweigth,150,g/m2\n", ":2: `weigth`"},
        {"quantity,direction,value,unit\nB,up,1,N m\n", ":2: `up`"},
        {"quantity,value\nW,150\n", ":2: W has no unit"},
        {"quantity,unit\nW,g/m2\n", ":1: the column `value`"},
        {"W,150,g/m2\n", ":1: `W`"},
        {"", "holds no measurement"},
        {"quantity,value,unit\nC,15,mm\n", ":2: a length"},
        {"quantity,value,unit\nextension,1,%\n", ":2: an extension"},
        {"quantity,value,unit,at,at_unit\nextension,1,%,5,\n", ":2: the load has no unit"},
        {"quantity,value,unit,at,at_unit\nextension,2,%,10,N/m\nextension,1,%,20,N/m\n", ":3: the load curve"},
        {"quantity,value,unit\nE5-1,2,%\nE20-1,1.5,%\n", ":3: the load curve"},
        {"quantity,value,unit\nB-1,1,uN m\nB-2,1,uN m\nB-3,3,uN m\n", ":4: bending"},
        {"quantity,value,unit\nB-3,3,uN m\n", ":2: bending"},
        {"quantity;value;unit\nW;1.150,5;g/m2\n", ":2: `1.150,5`"},
        {"quantity,value,unit\nW,\"1,150\",g/m2\n", ":2: `1,150`"},
        {"quantity,value,unit\nW,,g/m2\n", ":2: W has no value"},
        {"quantity,value,unit\nW,\"150,g/m2\n", ":2: quotes"},
        {"quantity,value,unit\nW,150 \xc2\xb1 2,g/m2\n", ":2: `150"},
        {"PK\3\4\24", "spreadsheet"},
    };
    for (size_t k = 0; k < sizeof(sheets) / sizeof(sheets[0]); k++)
    {
        manners_put("wrong.csv", sheets[k][0]);
        manners_refuses("fit wrong.csv", 2, sheets[k][1]);
    }
    manners_put_bytes("wrong.csv", "quantity,value\0,unit\n", 21);
    manners_refuses("fit wrong.csv", 2, ":1: holds bytes of zero");
    manners_refuses("fit", 2, "FILE.csv");
    manners_refuses("fit nowhere.csv", 2, "nowhere.csv");
    manners_refuses("fit . ", 2, "cannot be read");
    manners_refuses("fit /dev/zero", 2, "no ordinary file");
    manners_refuses("fit wrong.csv --base coton", 2, "cotton");
    manners_refuses("fit wrong.csv other.csv", 2, "other.csv");
    manners_refuses_json("fit wrong.csv --json", 2, "wrong.csv");
    manners_put("good.csv", "quantity,value,unit\nW,150,g/m2\n");
    manners_refuses("fit good.csv -o no/such/folder.json", 3, "folder.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_of_kes_is_read),       cmocka_unit_test(a_sheet_of_fast_is_read),
        cmocka_unit_test(points_give_their_curve_back), cmocka_unit_test(simulated_measurements_give_the_material_back),
        cmocka_unit_test(sheets_as_they_are_saved_are_one), cmocka_unit_test(wrong_sheets_are_refused),
    };
    return cmocka_run_group_tests(tests, manners_make_folder, manners_remove_folder);
}

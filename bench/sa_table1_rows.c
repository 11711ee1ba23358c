// The rows of table 1, made from the measured lines, beside the paper's numbers and our bars.
//
// A speed-up is a ratio of mean times of setup and solve. Where diag-pcg ran at some of the steps only there are two:
// its mean over sa-ppcg's mean of all steps (with all of its full setups), and over the steps of both (the machine was
// in the same mood). The lower one is held against the bar.
#include <math.h>
#include <string.h>

#include "bench/sa_table1.h"

// Table 1 of Tamstorf, Jones and McCormick 2015: speed-up over Diag-PCG and over PARDISO, by cells a side.
typedef struct paper_row
{
    int cells;
    struct
    {
        double diag, direct;
    } of[3]; // pinned, drooping, re-entrant
} paper_row;

static const paper_row paper_regular[] = {
    {30, {{0.39, 0.76}, {0.58, 0.72}, {0.55, 0.72}}},  {40, {{0.45, 1.06}, {0.63, 0.99}, {0.60, 0.95}}},
    {60, {{0.40, 1.31}, {0.50, 1.18}, {0.54, 1.17}}},  {80, {{0.43, 1.51}, {0.53, 1.35}, {0.50, 1.31}}},
    {100, {{0.54, 1.78}, {0.66, 1.57}, {0.72, 1.53}}}, {150, {{0.85, 2.23}, {1.03, 1.89}, {1.02, 1.86}}},
    {200, {{1.07, 2.29}, {1.35, 2.03}, {1.36, 2.01}}}, {300, {{2.23, 2.27}, {2.87, 2.07}, {2.67, 1.95}}},
    {400, {{3.89, 2.14}, {5.01, 1.95}, {4.87, 1.92}}}, {600, {{5.48, 2.21}, {7.10, 2.01}, {6.38, 1.76}}},
    {800, {{7.12, 2.26}, {9.28, 2.10}, {8.84, 1.96}}}, {1000, {{9.20, 2.40}, {11.64, 2.20}, {10.89, 2.04}}},
};
static const paper_row paper_irregular[] = {
    {30, {{0.43, 0.87}, {0.49, 0.80}, {0.51, 0.80}}},  {40, {{0.46, 1.17}, {0.52, 1.12}, {0.62, 1.04}}},
    {60, {{0.43, 1.61}, {0.46, 1.45}, {0.55, 1.39}}},  {80, {{0.46, 1.86}, {0.50, 1.65}, {0.56, 1.72}}},
    {100, {{0.56, 2.06}, {0.61, 1.87}, {0.67, 1.93}}}, {150, {{0.81, 2.49}, {0.87, 2.11}, {0.97, 2.20}}},
    {200, {{1.22, 2.61}, {1.19, 2.21}, {1.43, 2.32}}}, {300, {{2.32, 2.54}, {2.51, 2.21}, {2.36, 2.33}}},
    {400, {{3.78, 2.45}, {4.20, 2.18}, {4.22, 2.16}}}, {600, {{5.32, 2.49}, {5.98, 2.22}, {6.13, 2.21}}},
    {800, {{7.02, 2.56}, {7.84, 2.24}, {7.72, 2.19}}}, {1000, {{8.97, 2.73}, {9.82, 2.56}, {9.59, 2.47}}},
};

// What we ask of ourselves: at least, and what we aim at.
static const struct
{
    int cells;
    double bar, aim, cholmod;
} bars[] = {
    {100, 1.0, 2.0, NAN}, {200, 3.0, 6.0, 4.0}, {400, 6.0, 12.0, NAN}, {600, 9.0, 18.0, 8.0}, {1000, 12.0, 25.0, NAN}};

static void fill_paper(table1_row* row)
{
    const sa_case* c = &row->a.c;
    const paper_row* table = c->irregular ? paper_irregular : paper_regular;
    row->paper_diag = row->paper_direct = row->bar = row->aim = row->bar_cholmod = NAN;
    for (int scene = 0; scene < 3; scene++)
    {
        bool same = strcmp(c->scene, table1_scenes[scene]) == 0;
        for (size_t k = 0; same && k < sizeof(paper_regular) / sizeof(paper_regular[0]); k++)
        {
            if (table[k].cells == c->cells)
            {
                row->paper_diag = table[k].of[scene].diag;
                row->paper_direct = table[k].of[scene].direct;
            }
        }
        for (size_t k = 0; same && k < sizeof(bars) / sizeof(bars[0]); k++)
        {
            if (bars[k].cells == c->cells)
            {
                row->bar = bars[k].bar;
                row->aim = bars[k].aim;
                row->bar_cholmod = bars[k].cholmod;
            }
        }
    }
}

const char* table1_verdict(double value, double bar, double aim)
{
    if (isnan(value) || isnan(bar))
    {
        return isnan(bar) ? "" : "not measured";
    }
    return value >= aim ? "aim met" : value >= bar ? "met" : "MISSED";
}

bool table1_same_table(const table1_row* a, const table1_row* b)
{
    return a->a.c.irregular == b->a.c.irregular && strcmp(a->a.c.scene, b->a.c.scene) == 0;
}

// ---- means

static void fill_means(table1_row* row)
{
    for (int e = 0; e < ENTRANT_COUNT; e++)
    {
        row->seconds[e] = sa_course_spread(&row->course, e, "seconds", 0);
        row->setup[e] = sa_course_spread(&row->course, e, "setup_s", 0).mean;
        row->solve[e] = sa_course_spread(&row->course, e, "solve_s", 0).mean;
        row->iterations[e] = sa_course_spread(&row->course, e, "iterations", 0).mean;
        const sa_spread* s = &row->seconds[e];
        double first = NAN;
        for (int k = 0; k < row->a.count && isnan(first); k++)
        {
            first = sa_line_seconds(sa_course_line(&row->course, e, k));
        }
        row->later[e] = s->count > 1 ? (s->count * s->mean - first) / (s->count - 1) : s->mean;
    }
}

// By weft_solve_stats.refreshed: 0 full, 1 numbers, 2 numbers and the structure of coarse matrices, 4 numbers and those
// of the interpolation; 3, a hierarchy that is mended, is for second solves of a substep, which are not measured here.
static void fill_shares(table1_row* row)
{
    enum
    {
        KINDS = 5
    };
    int of[KINDS] = {0}, count = 0;
    for (int k = 0; k < row->a.count; k++)
    {
        double refreshed = results_number(sa_course_line(&row->course, ENTRANT_SA, k), "refreshed");
        if (refreshed >= 0.0 && refreshed < KINDS)
        {
            of[(int)refreshed]++;
            count++;
        }
    }
    row->full = count > 0 ? (double)of[0] / count : NAN;
    row->numeric = count > 0 ? (double)(of[1] + of[2] + of[4]) / count : NAN;
    row->restructured = count > 0 ? (double)of[2] / count : NAN;
    row->kept = count > 0 ? (double)of[3] / count : NAN;
}

// Time of a diag-pcg iteration over that of moving its bytes once, at the bandwidth measured right before it.
static void fill_floor(table1_row* row)
{
    double ratios[64];
    int count = 0;
    row->bandwidth = NAN;
    for (int k = 0; k < row->a.count && count < 64; k++)
    {
        double bandwidth = results_number(sa_course_line(&row->course, ENTRANT_TRIAD, k), "bytes_a_second");
        const char* line = sa_course_line(&row->course, ENTRANT_DIAG, k);
        double bytes = floor_iteration(results_number(line, "vertices"), results_number(line, "blocks"));
        double iteration = results_number(line, "solve_s") / results_number(line, "iterations");
        double ratio = iteration / (bytes / bandwidth);
        row->bandwidth = fmax(row->bandwidth, bandwidth);
        // Kept sorted: the median of a few.
        int at = count;
        for (; at > 0 && ratio < ratios[at - 1]; at--)
        {
            ratios[at] = ratios[at - 1];
        }
        ratios[at] = ratio;
        count += isfinite(ratio);
    }
    row->floor = count > 0 ? 0.5 * (ratios[(count - 1) / 2] + ratios[count / 2]) : NAN;
}

// ---- equal measures

static void fill_factors(table1_row* row)
{
    static const char* const fields[2][MEASURE_COUNT] = {{"sa_own", "sa_two", "sa_energy"},
                                                         {"diag_own", "diag_two", "diag_energy"}};
    for (int solver = 0; solver < 2; solver++)
    {
        for (int measure = 0; measure < MEASURE_COUNT; measure++)
        {
            double sum = 0.0;
            int count = 0;
            for (int k = 0; k < row->a.count; k++)
            {
                const char* line = sa_course_line(&row->course, ENTRANT_TRACE, k);
                sum += line ? results_number(line, fields[solver][measure]) / results_number(line, fields[solver][0])
                            : 0.0;
                count += line != NULL;
            }
            row->factor[solver][measure] = count > 0 ? sum / count : NAN;
        }
    }
}

// Mean seconds to a measure: the iterations of a solve are alike, its setup stays.
static double seconds_to(const table1_row* row, bool diag, table1_measure measure)
{
    int e = diag ? ENTRANT_DIAG : ENTRANT_SA;
    return row->setup[e] + row->solve[e] * row->factor[diag][measure];
}

static double speed_at(const table1_row* row, table1_measure measure)
{
    return seconds_to(row, true, measure) / seconds_to(row, false, measure);
}

// ---- auto

// The solvers that auto took, most often first is not worth the trouble: in the order in which they came.
static void fill_took(table1_row* row)
{
    row->auto_took[0] = 0;
    for (int k = 0; k < row->a.count; k++)
    {
        char name[32];
        sa_line_took(sa_course_line(&row->course, ENTRANT_AUTO, k), name);
        size_t length = strlen(row->auto_took);
        if (name[0] && !bench_has(row->auto_took, name))
        {
            snprintf(row->auto_took + length, sizeof(row->auto_took) - length, "%s%s", length > 0 ? "," : "", name);
        }
    }
}

// Against the best of all others; the first step is left out, in which direct solvers analyse and multigrid sets up.
static void fill_auto(table1_row* row)
{
    static const table1_entrant others[] = {ENTRANT_SA, ENTRANT_DIAG, ENTRANT_DIAG_PPCG, ENTRANT_CHOLESKY,
                                            ENTRANT_CHOLMOD};
    row->auto_ratio = NAN;
    row->auto_best[0] = 0;
    for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
    {
        double ratio = sa_course_ratio(&row->course, others[k], ENTRANT_AUTO, row->a.count > 1 ? 1 : 0);
        if (!isnan(ratio) && !(ratio >= row->auto_ratio))
        {
            row->auto_ratio = ratio;
            snprintf(row->auto_best, sizeof(row->auto_best), "%s", table1_names[others[k]]);
        }
    }
    fill_took(row);
}

// ---- all of it

void table1_row_fill(table1_row* row)
{
    row->vertices = sa_case_vertices(&row->a.c);
    fill_paper(row);
    fill_means(row);
    fill_shares(row);
    fill_floor(row);
    fill_factors(row);
    fill_auto(row);
    const sa_spread* s = row->seconds;
    row->speed_all = s[ENTRANT_DIAG].mean / s[ENTRANT_SA].mean;
    row->speed_common = sa_course_ratio(&row->course, ENTRANT_DIAG, ENTRANT_SA, 0);
    row->speed_median = s[ENTRANT_DIAG].median / s[ENTRANT_SA].median;
    row->speed_up = fmin(row->speed_all, row->speed_common);
    row->speed_cold = sa_course_ratio(&row->course, ENTRANT_DIAG, ENTRANT_COLD, 0);
    row->speed_cold = isnan(row->speed_cold) ? s[ENTRANT_DIAG].mean / s[ENTRANT_COLD].mean : row->speed_cold;
    row->speed_two = speed_at(row, MEASURE_TWO);
    row->speed_energy = speed_at(row, MEASURE_ENERGY);
    row->over_cholesky = row->later[ENTRANT_CHOLESKY] / s[ENTRANT_SA].mean;
    row->over_cholmod = row->later[ENTRANT_CHOLMOD] / s[ENTRANT_SA].mean;
}

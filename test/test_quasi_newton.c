// Quasi-Newton acceleration: its directions are those of the textbook's two loops, it goes back as it says, and turns
// end sooner by it.
#include "common.h"

#include <string.h>

#include "common_scene.h"
#include "sim/sim.h"
#include "step/quasi_newton.h"

enum
{
    VERTICES = 700, // more numbers than a chunk has, and no multiple of eight
    NUMBERS = 3 * VERTICES
};

// ---- a quadratic g = 1/2 v . H v - b . v, H tridiagonal, A its diagonal and a bit

typedef struct bowl
{
    double diagonal[NUMBERS], beside[NUMBERS], b[NUMBERS], A[NUMBERS];
} bowl;

static bowl bowl_make(uint64_t* n)
{
    bowl q;
    for (int k = 0; k < NUMBERS; k++)
    {
        q.diagonal[k] = test_random(n, 2.0, 3.0);
        q.beside[k] = k + 1 < NUMBERS ? test_random(n, -1.0, 0.0) : 0.0;
        q.b[k] = test_random(n, -1.0, 1.0);
        q.A[k] = test_random(n, 4.0, 6.0);
    }
    return q;
}

static void descend(const bowl* q, const double* v, double* r, double* F)
{
    for (int k = 0; k < NUMBERS; k++)
    {
        double left = k > 0 ? q->beside[k - 1] * v[k - 1] : 0.0;
        double right = k + 1 < NUMBERS ? q->beside[k] * v[k + 1] : 0.0;
        r[k] = q->b[k] - q->diagonal[k] * v[k] - left - right;
        F[k] = r[k] / q->A[k];
    }
}

static double dot(const double* a, const double* b)
{
    double sum = 0.0;
    for (int k = 0; k < NUMBERS; k++)
    {
        sum += a[k] * b[k];
    }
    return sum;
}

// ---- L-BFGS as books have it, with vectors (Nocedal and Wright 2006, algorithm 7.4)

typedef struct pairs
{
    double s[40][NUMBERS], y[40][NUMBERS];
    int count;
} pairs;

static void book_direction(const pairs* p, const bowl* q, const double* r, double* d)
{
    double alpha[40], scale = 1.0;
    int first = p->count > QUASI_WINDOW ? p->count - QUASI_WINDOW : 0;
    memcpy(d, r, NUMBERS * sizeof(double));
    for (int k = p->count - 1; k >= first; k--)
    {
        alpha[k] = dot(p->s[k], d) / dot(p->s[k], p->y[k]);
        for (int i = 0; i < NUMBERS; i++)
        {
            d[i] -= alpha[k] * p->y[k][i];
        }
    }
    if (p->count > 0)
    {
        const double* y = p->y[p->count - 1];
        double full = 0.0;
        for (int i = 0; i < NUMBERS; i++)
        {
            full += y[i] * y[i] / q->A[i];
        }
        scale = dot(p->s[p->count - 1], y) / full;
    }
    for (int i = 0; i < NUMBERS; i++)
    {
        d[i] *= scale / q->A[i];
    }
    for (int k = first; k < p->count; k++)
    {
        double beta = dot(p->y[k], d) / dot(p->s[k], p->y[k]);
        for (int i = 0; i < NUMBERS; i++)
        {
            d[i] += (alpha[k] - beta) * p->s[k][i];
        }
    }
}

static void test_directions_are_the_books(void** unused)
{
    (void)unused;
    static pairs p;
    static double r[NUMBERS], F[NUMBERS], d[NUMBERS];
    static vec3 v[VERTICES], last[VERTICES];
    uint64_t n = 5;
    bowl q = bowl_make(&n);
    quasi_newton quasi;
    assert_int_equal(quasi_newton_create(&quasi, VERTICES), WEFT_OK);
    quasi_newton_clear(&quasi);
    for (int turn = 0; turn < 14; turn++)
    {
        double *now = &v->x, *before = &last->x, worst = 0.0;
        descend(&q, now, r, F);
        book_direction(&p, &q, r, d);
        memcpy(last, v, sizeof(v));
        quasi_newton_mix(&quasi, NULL, cpu_best(), (const vec3*)r, (const vec3*)F, v);
        for (int i = 0; i < NUMBERS; i++)
        {
            worst = fmax(worst, fabs(now[i] - before[i] - d[i]));
        }
        assert_true(worst <= 1e-9 * sqrt(dot(d, d) / NUMBERS));
        assert_true(fabs(quasi.slope + dot(r, d)) <= 1e-9 * fabs(quasi.slope));
        static double after[NUMBERS];
        descend(&q, now, after, F);
        for (int i = 0; i < NUMBERS; i++)
        {
            p.s[p.count][i] = now[i] - before[i];
            p.y[p.count][i] = r[i] - after[i];
        }
        p.count++;
    }
    quasi_newton_finish(&quasi);
}

// Along a line g of the bowl is a parabola: with slopes at both ends known, half of the way is where it must not go
// beyond; the second time it goes where F alone leads.
static void test_retreats(void** unused)
{
    (void)unused;
    static double r[NUMBERS], F[NUMBERS];
    static vec3 v[VERTICES], from[VERTICES], far[VERTICES];
    uint64_t n = 6;
    bowl q = bowl_make(&n);
    quasi_newton quasi;
    assert_int_equal(quasi_newton_create(&quasi, VERTICES), WEFT_OK);
    quasi_newton_clear(&quasi);
    for (int turn = 0; turn < 3; turn++)
    {
        descend(&q, &v->x, r, F);
        memcpy(from, v, sizeof(v));
        quasi_newton_mix(&quasi, NULL, cpu_best(), (const vec3*)r, (const vec3*)F, v);
    }
    assert_true(quasi.mixed);
    static double there[NUMBERS], unused_F[NUMBERS];
    for (int i = 0; i < VERTICES; i++)
    {
        far[i] = v3_madd(from[i], 4.0, v3_sub(v[i], from[i])); // four times as far as it should go
    }
    quasi.slope *= 4.0;
    descend(&q, &far->x, there, unused_F);
    memcpy(v, far, sizeof(v));
    quasi_newton_retreat(&quasi, NULL, cpu_best(), (const vec3*)there, v);
    double share = (v[1].x - from[1].x) / (far[1].x - from[1].x);
    assert_true(share > 0.2 && share < 0.3); // the least along the line is near the end of one step
    for (int i = 0; i < VERTICES; i++)
    {
        assert_true(v3_length(v3_sub(v[i], v3_madd(from[i], share, v3_sub(far[i], from[i])))) < 1e-9);
    }
    quasi_newton_retreat(&quasi, NULL, cpu_best(), (const vec3*)there, v);
    assert_false(quasi.mixed);
    for (int i = 0; i < VERTICES; i++)
    {
        assert_true(v3_length(v3_sub(v[i], v3_add(from[i], ((const vec3*)F)[i]))) < 1e-12);
    }
    quasi_newton_finish(&quasi);
}

// ---- turns

static void swing(int acceleration, int turns, vec3* x)
{
    char text[700];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.0333333333333, \"model\": \"hooke\", \"method\": \"local-global\", \"frames\": 1,"
             " \"contact\": {\"enabled\": false}, \"local-global\": {\"iterations\": %d, \"acceleration\": %d},"
             " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 30}},"
             " \"material\": {\"base\": \"cotton\", \"stretch_warp\": 20, \"stretch_weft\": 20, \"shear\": 5},"
             " \"pins\": [{\"where\": {\"vertices\": [0, 30]}}]}]}",
             turns, acceleration);
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
}

static double apart(const vec3* a, const vec3* b)
{
    double sum = 0.0;
    for (int i = 0; i < 961; i++)
    {
        vec3 d = v3_sub(a[i], b[i]);
        sum += v3_dot(d, d);
    }
    return sqrt(sum / 961);
}

// The end of the step is nearer after an eighth of the plain turns.
static void test_an_eighth_of_the_turns(void** unused)
{
    (void)unused;
    static vec3 end[961], plain[961], fast[961];
    swing(3, 2000, end);
    swing(0, 240, plain);
    swing(3, 30, fast);
    printf("off the end after 240 plain turns: %.3g m, after 30 quasi-Newton: %.3g m\n", apart(plain, end),
           apart(fast, end));
    assert_true(apart(fast, end) < apart(plain, end));
    swing(0, 20000, plain);
    assert_true(apart(plain, end) < 1e-9); // and it is the same end
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions_are_the_books),
        cmocka_unit_test(test_retreats),
        cmocka_unit_test(test_an_eighth_of_the_turns),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}

// Acceleration of turns; see turns.h.
#include "step/turns.h"

#include <string.h>

static weft_status make_room(turns* t, const world* w)
{
    int count = w->model->vertex_count;
    if (t->kind == TURNS_QUASI_NEWTON && !t->quasi.v)
    {
        return quasi_newton_create(&t->quasi, count);
    }
    if ((t->kind == TURNS_CHEBYSHEV || t->kind == TURNS_ANDERSON) && !t->before)
    {
        TRY(anderson_create(&t->anderson, count, w->model->mass));
        t->before = MEM_NEW(count, vec3);
        return t->before ? WEFT_OK : WEFT_NO_MEMORY;
    }
    return WEFT_OK;
}

weft_status turns_begin(turns* t, const world* w, int kind)
{
    t->kind = kind;
    TRY(make_room(t, w));
    turns_clear(t);
    return WEFT_OK;
}

void turns_finish(turns* t)
{
    anderson_finish(&t->anderson);
    quasi_newton_finish(&t->quasi);
    mem_free(t->before);
    *t = (turns){0};
}

void turns_clear(turns* t)
{
    anderson_clear(&t->anderson);
    quasi_newton_clear(&t->quasi);
    t->omega = 1.0;
    t->mixed = false;
}

bool turns_are_mixed(const turns* t)
{
    return t->kind == TURNS_QUASI_NEWTON ? t->quasi.mixed : t->mixed;
}

typedef struct chebyshev
{
    world* w;
    turns* t;
    double omega; // 1: none
} chebyshev;

static void chebyshev_chunk(void* context, int begin, int end)
{
    const chebyshev* c = context;
    vec3 *v = c->w->v_next, *before = c->t->before;
    for (int i = begin; i < end; i++)
    {
        vec3 image = v3_add(v[i], c->w->dv[i]), last = before[i];
        before[i] = v[i];
        c->t->anderson.G[i] = image;
        v[i] = c->t->mixed ? v3_madd(last, c->omega, v3_sub(image, last)) : image;
    }
}

// Wang 2015: omega -> 4 / (4 - radius^2 omega).
static void chebyshev_mix(turns* t, world* w, double radius)
{
    bool first = t->omega == 1.0;
    chebyshev c = {w, t, first ? 2.0 / (2.0 - radius * radius) : 4.0 / (4.0 - radius * radius * t->omega)};
    parallel_for(w->pool, w->model->vertex_count, ROW_GRAIN, chebyshev_chunk, &c);
    t->omega = t->mixed ? c.omega : 1.0;
    t->mixed = true;
}

static void plain_chunk(void* context, int begin, int end)
{
    const world* w = context;
    for (int i = begin; i < end; i++)
    {
        w->v_next[i] = v3_add(w->v_next[i], w->dv[i]);
    }
}

void turns_mix(turns* t, world* w, double radius)
{
    switch (t->kind)
    {
    case TURNS_CHEBYSHEV:
        chebyshev_mix(t, w, radius);
        return;
    case TURNS_ANDERSON:
        anderson_mix(&t->anderson, w->pool, w->cpu, w->dv, w->v_next);
        t->mixed = t->anderson.filled > 0;
        return;
    case TURNS_QUASI_NEWTON:
        quasi_newton_mix(&t->quasi, w->pool, w->cpu, w->rhs, w->dv, w->v_next);
        return;
    default:
        parallel_for(w->pool, w->model->vertex_count, ROW_GRAIN, plain_chunk, w);
    }
}

void turns_retreat(turns* t, world* w)
{
    if (t->kind == TURNS_QUASI_NEWTON)
    {
        quasi_newton_retreat(&t->quasi, w->pool, w->cpu, w->rhs, w->v_next);
        return;
    }
    memcpy(w->v_next, t->anderson.G, (size_t)w->model->vertex_count * sizeof(vec3));
    turns_clear(t);
}

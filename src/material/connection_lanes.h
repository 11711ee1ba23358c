// A connection along a vector d of length l, eight abreast: springs between two vertices (connection_kernel.c) and
// threads of triangles (weave_kernel.c), whose d is a weighted sum of three. What it pulls with, and its blocks by d.
#ifndef WEFT_CONNECTION_LANES_H
#define WEFT_CONNECTION_LANES_H

#include "material/connection.h"
#include "math/wide_vec.h"

typedef struct link
{
    wide k, rest, c;
    wide length;
    wvec n, d;
    wide_mask taut;   // the spring acts
    wide_mask pushes; // it never goes slack
    wide_mask damped; // the damper acts
    wide_mask plain;
    wide gap;   // rate at which the length grows, per second
    wvec drift; // likewise of d
} link;

// Numbers of a connection that goes slack or does not, with a damper_form.
typedef struct link_rest
{
    wide k, length, c, form;
    wide_mask slack;
} link_rest;

WIDE_INLINE wide wv_length(wvec a)
{
    return wide_sqrt(wv_dot(a, a));
}

// What the damper sees over a step from a last state.
WIDE_INLINE void link_since(link* s, double h, wvec last, wide_mask slack)
{
    wide was = wv_length(last), inv_h = wide_set(1.0 / h);
    s->n = wv_select(s->length > 1e-150, s->n, wv_scale(wide_safe_inverse(was), last));
    wide now = wide_select(slack, wide_max(s->length, s->rest), s->length);
    wide then = wide_select(slack, wide_max(was, s->rest), was);
    s->gap = (now - then) * inv_h;
    s->drift = wv_scale(inv_h, wv_sub(s->d, last));
    s->damped = (s->plain & ((was > LENGTH_ROUNDED * s->rest) | ~slack)) | (~s->plain & s->taut);
}

WIDE_INLINE void link_ahead(link* s, double h)
{
    s->pushes |= ~s->taut & (s->length + h * s->gap > AHEAD_STRETCH * s->rest);
    s->taut |= s->pushes;
}

// `moved`: d at the start of the step where the motion has a last state, else the rate of d.
WIDE_INLINE link link_of(const link_rest* r, const element_motion* m, wvec d, wvec moved)
{
    link s = {.k = r->k, .rest = r->length, .c = r->c};
    wide_mask slack = r->slack;
    s.plain = r->form == (double)DAMPER_PLAIN;
    s.d = d;
    s.length = wv_length(s.d);
    s.n = wv_scale(wide_safe_inverse(s.length), s.d);
    s.taut = (s.length > LENGTH_ROUNDED * s.rest) | ~slack;
    s.pushes = ~slack;
    if (m->x_last)
    {
        link_since(&s, m->h, moved, slack);
    }
    else
    {
        s.drift = moved;
        s.gap = wv_dot(s.n, s.drift);
        m->ahead ? link_ahead(&s, m->h) : (void)0;
        s.damped = s.taut;
    }
    s.damped &= (r->form != (double)DAMPER_NONE) & ((r->form != (double)DAMPER_PROJECTED) | (s.gap > 0.0));
    return s;
}

// What it pulls d with: minus the gradient of its energy by d is minus this.
WIDE_INLINE wvec link_pull(const link* s)
{
    wide zero = wide_set(0.0), c = wide_select(s->damped, s->c, zero);
    wide extension = s->length - s->rest;
    extension = wide_select((extension > 0.0) | s->pushes, extension, zero);
    wide along = s->k * extension + wide_select(s->plain, zero, c * s->gap);
    return wv_madd(wv_scale(along, s->n), wide_select(s->plain, c, zero), s->drift);
}

// Its part of the linear system by d: the impulse, and the block outer n n^T + equal I.
typedef struct link_part
{
    wvec rhs;
    wide outer, equal;
} link_part;

WIDE_INLINE link_part link_evaluate(const link* s, const element_motion* m)
{
    wide zero = wide_set(0.0), h = wide_set(m->h), h2 = wide_set(m->h * m->h);
    wide share = 1.0 - s->rest * wide_safe_inverse(s->length);
    wide k = wide_select(s->taut, s->k, zero), c = wide_select(s->damped, s->c, zero);
    wide across = k * (m->exact ? share : wide_max(share, zero)), along = k - across;
    wvec f = wv_scale(h, link_pull(s));
    if (!m->x_last)
    {
        f = wv_madd(wv_madd(f, h2 * across, s->drift), h2 * along * s->gap, s->n);
    }
    return (link_part){f, h2 * along + wide_select(s->plain, zero, h * c),
                       h2 * across + wide_select(s->plain, h * c, zero)};
}

// The potential of the damper over a step from a last state, J, for lengths and ways of one connection.
static inline double link_dissipation(damper_form form, bool slack, double c_over_h, const double length[2], double L,
                                      double moved_sq)
{
    double was = length[0], now = length[1];
    if (form == DAMPER_PLAIN)
    {
        return slack && !(was > LENGTH_ROUNDED * L) ? 0.0 : c_over_h * moved_sq;
    }
    double gap = slack ? fmax(now, L) - fmax(was, L) : now - was;
    gap = form == DAMPER_PROJECTED ? fmax(gap, 0.0) : form == DAMPER_NONE ? 0.0 : gap;
    return c_over_h * gap * gap;
}

#endif

// The constant matrix of local/global methods and its factors; see global_step.h.
#include "step/global_step.h"

#include <string.h>

// Of the work that dissection wanted: where mends have made more of it, the matrix is dissected anew.
static const double worn_out = 1.5;

weft_status global_step_create(global_step* g, const model* m)
{
    return global_step_create_after(g, m, NULL, 0.0);
}

int* global_step_order(const global_step* g, int count, const int* from)
{
    int n = g->symbolic.vertex_count, at = 0, *order = MEM_NEW(n + count, int);
    for (int k = 0; k < n && order; k++)
    {
        order[at++] = g->symbolic.order[k];
        for (int c = 0; c < count; c++)
        {
            if (from[c] == g->symbolic.order[k])
            {
                order[at++] = n + c;
            }
        }
    }
    return order;
}

weft_status global_step_create_after(global_step* g, const model* m, const int* order, double flops)
{
    const bsr_pattern* pattern = &m->assembler.pattern;
    TRY(chol_symbolic_create(pattern, 1, order, &g->symbolic));
    if (order && g->symbolic.flops > worn_out * flops)
    {
        chol_symbolic_finish(&g->symbolic);
        TRY(chol_symbolic_create(pattern, 1, order = NULL, &g->symbolic));
    }
    g->dissected = order ? flops : g->symbolic.flops;
    g->values = MEM_NEW(pattern->block_count, double);
    g->held = MEM_NEW(m->vertex_count, uint8_t);
    g->factored = MEM_NEW(m->vertex_count, uint8_t);
    TRY(global_pins_create(&g->pins, m->vertex_count));
    return g->values && g->held && g->factored ? WEFT_OK : WEFT_NO_MEMORY;
}

void global_step_forget(global_step* g)
{
    for (int k = 0; k <= HALVINGS_MAX; k++)
    {
        g->factors[k].h = 0.0;
    }
    g->has_base = false;
}

void global_step_finish(global_step* g)
{
    for (int k = 0; k <= HALVINGS_MAX; k++)
    {
        chol_numeric_finish(&g->factors[k].numeric);
    }
    chol_symbolic_finish(&g->symbolic);
    mem_free(g->values);
    mem_free(g->held);
    mem_free(g->factored);
    global_pins_finish(&g->pins);
    *g = (global_step){0};
}

// ---- the matrix

static void find_slots(const assembler* a, const int* vertex, int arity, int* slot /* [arity * arity] */)
{
    for (int p = 0; p < arity; p++)
    {
        slot[p * arity + p] = a->pattern.diagonal[vertex[p]];
        for (int q = 0; q < p; q++)
        {
            bool below = vertex[p] > vertex[q], same = vertex[p] == vertex[q];
            int low = same ? slot[p * arity + p]
                           : bsr_pattern_find(&a->pattern, vertex[below ? p : q], vertex[below ? q : p]);
            int high = same ? low : a->mirror_of[low];
            slot[p * arity + q] = below ? low : high;
            slot[q * arity + p] = below ? high : low;
        }
    }
}

static void add_element(const assembler* a, const element_group* group, int e, double h, double* values)
{
    int arity = group->kind->arity, rows = group->kind->projection->row_count, slot[ARITY_MAX * ARITY_MAX];
    find_slots(a, group->vertices + (size_t)e * (size_t)arity, arity, slot);
    double weight[ROWS_MAX], S[ROWS_MAX * ARITY_MAX];
    group->kind->projection->rows(group, e, h, weight, S);
    for (int r = 0; r < rows; r++)
    {
        for (int k = 0; k < arity * arity; k++)
        {
            values[slot[k]] += weight[r] * S[arity * r + k / arity] * S[arity * r + k % arity];
        }
    }
}

void global_step_fill(global_step* g, const world* w)
{
    const model* m = w->model;
    const bsr_pattern* pattern = &m->assembler.pattern;
    double h = w->h;
    if (g->filled == h)
    {
        return;
    }
    g->filled = h;
    memset(g->values, 0, (size_t)pattern->block_count * sizeof(double));
    for (int i = 0; i < m->vertex_count; i++)
    {
        g->values[pattern->diagonal[i]] = m->mass[i];
    }
    for (int k = 0; k < m->groups.count; k++)
    {
        const element_group* group = &m->groups.list[k];
        for (int e = 0; e < group->count && group->kind->projection; e++)
        {
            add_element(&m->assembler, group, e, h, g->values);
        }
    }
    // Of a line or a plane, too: the nearest point of it is what the local step would find.
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* it = &w->grips[k];
        g->values[pattern->diagonal[it->vertex]] += h * it->damping + h * h * it->stiffness;
    }
}

void global_step_grip(global_step* g, const world* w)
{
    uint64_t hash = grips_hash(w);
    if (hash != g->gripped)
    {
        g->gripped = hash;
        g->filled = 0.0;
        global_step_forget(g);
    }
}

void global_step_blocks(global_step* g, world* w)
{
    const bsr_pattern* pattern = &w->model->assembler.pattern;
    global_step_fill(g, w);
    memset(w->values, 0, 9 * (size_t)pattern->block_count * sizeof(double));
    for (int s = 0; s < pattern->block_count; s++)
    {
        double* block = w->values + 9 * (size_t)s;
        block[0] = block[4] = block[8] = g->values[s];
    }
    w->A = (bsr_matrix){pattern, w->values};
}

typedef struct global_source
{
    const global_step* step;
    const bsr_pattern* pattern;
} global_source;

static const double* load(const void* context, const chol_entry* entry, double* buffer)
{
    const global_source* s = context;
    int column = s->pattern->column[entry->slot];
    bool held = s->step->factored[entry->vertex] || s->step->factored[column];
    *buffer = !held ? s->step->values[entry->slot] : entry->vertex == column ? 1.0 : 0.0;
    return buffer;
}

void global_step_rebase(global_step* g)
{
    global_step_forget(g);
    memcpy(g->factored, g->held, (size_t)g->symbolic.vertex_count);
    g->has_base = true;
    g->pins.count = 0;
}

void global_step_hold(global_step* g, const filter_record* filter, int count)
{
    memset(g->held, 0, (size_t)g->symbolic.vertex_count);
    for (int k = 0; k < count; k++)
    {
        g->held[filter[k].vertex] = filter[k].direction_count == 3;
    }
    if (!g->has_base || !global_pins_list(g) || (g->is_saved && g->pins.count > 0))
    {
        global_step_rebase(g);
    }
    g->is_saved = false;
}

void global_step_save(global_step* g)
{
    g->pins.count > 0 ? global_step_forget(g) : (void)0;
    g->is_saved = true;
}

weft_status global_step_factor(global_step* g, const world* w, bool* made, int* updates)
{
    global_factor* f = &g->factors[w->halved];
    *made = f->h != w->h;
    *updates = 0;
    if (*made)
    {
        if (!f->numeric.L)
        {
            TRY(chol_numeric_fit(&g->symbolic, 3, &f->numeric));
        }
        global_step_fill(g, w);
        global_source context = {g, &w->model->assembler.pattern};
        chol_source source = {load, &context};
        chol_engine engine = {w->pool, dense_kernels_for(w->cpu)};
        f->h = 0.0;
        TRY(chol_factor(&g->symbolic, &f->numeric, &source, &engine));
        f->h = w->h;
        f->made = ++g->made;
        g->pins.h = 0.0;
    }
    if (g->pins.count > 0)
    {
        global_step_fill(g, w);
        *updates = global_pins_update(g, w);
    }
    return WEFT_OK;
}

// ---- the solve

void global_step_backsolve(global_step* g, const world* w, const vec3* b, vec3* x)
{
    chol_engine engine = {w->pool, dense_kernels_for(w->cpu)};
    chol_solve(&g->symbolic, &g->factors[w->halved].numeric, &engine, &b->x, &x->x);
}

void global_step_clear_held(const global_step* g, vec3* x)
{
    for (int i = 0; i < g->symbolic.vertex_count; i++)
    {
        x[i] = g->held[i] ? v3(0, 0, 0) : x[i];
    }
}

// What is held does not couple with the rest: its rows are those of the identity.
void global_step_solve(global_step* g, const world* w, const vec3* b, vec3* x)
{
    vec3 loads[PINS_MAX];
    for (int k = 0; k < g->pins.count; k++)
    {
        loads[k] = b[g->pins.list[k].vertex];
    }
    global_step_backsolve(g, w, b, x);
    if (g->pins.count > 0)
    {
        global_pins_correct(g, w, loads, x);
    }
    global_step_clear_held(g, x);
}

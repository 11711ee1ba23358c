// Columns of L^-1; see chol_columns.h.
#include "solve/direct/chol_columns.h"

#include <string.h>

KERNELS_CHOICE(chol_column_kernels)

static int width_of(const chol_node* node)
{
    return node->pivot_tiles * TILE;
}

weft_status chol_paths_create(chol_paths* p, const chol_symbolic* s)
{
    p->node = MEM_NEW(s->vertex_count, int);
    p->depth = MEM_NEW(s->node_count, int);
    int* above = MEM_NEW(s->node_count, int); // nodes
    if (!p->node || !p->depth || !above)
    {
        mem_free(above);
        return WEFT_NO_MEMORY;
    }
    // Parents come after their children.
    for (int k = s->node_count - 1; k >= 0; k--)
    {
        const chol_node* node = &s->nodes[k];
        bool root = node->parent < 0;
        p->depth[k] = root ? 0 : p->depth[node->parent] + width_of(&s->nodes[node->parent]);
        above[k] = root ? 0 : above[node->parent] + 1;
        p->longest = int_max(p->longest, p->depth[k] + width_of(node));
        p->deepest = int_max(p->deepest, above[k] + 1);
        for (int rank = node->column_begin; rank < node->column_end; rank++)
        {
            p->node[s->order[rank]] = k;
        }
    }
    mem_free(above);
    return WEFT_OK;
}

void chol_paths_finish(chol_paths* p)
{
    mem_free(p->node);
    mem_free(p->depth);
    *p = (chol_paths){0};
}

// ---- a column

static int rank_in(const chol_symbolic* s, const chol_node* node, int vertex)
{
    int rank = node->column_begin;
    while (s->order[rank] != vertex)
    {
        rank++;
    }
    return rank - node->column_begin;
}

// What a node passes on to its parent's pivots and rows.
static void pass_on(const chol_symbolic* s, const chol_numeric* n, const chol_node* node)
{
    const chol_node* parent = &s->nodes[node->parent];
    const double* from = n->y + node->y;
    const int* position = s->position + node->row_begin;
    double *x = n->x + parent->x, *y = n->y + parent->y - width_of(parent);
    memset(x, 0, (size_t)width_of(parent) * sizeof(double));
    for (int i = 0; i < node->row_end - node->row_begin; i++)
    {
        (position[i] < width_of(parent) ? x : y)[position[i]] += from[i];
    }
}

void chol_column(const chol_paths* p, const chol_symbolic* s, chol_numeric* n, const chol_engine* engine, int vertex,
                 double* column)
{
    dense_sides one = {1, n->inverted, s->x_size, s->y_size};
    for (int k = p->node[vertex]; k >= 0; k = s->nodes[k].parent)
    {
        const chol_node* node = &s->nodes[k];
        memset(n->y + node->y, 0, (size_t)node->row_tiles * TILE * sizeof(double));
    }
    const chol_node* first = &s->nodes[p->node[vertex]];
    memset(n->x + first->x, 0, (size_t)width_of(first) * sizeof(double));
    n->x[first->x + (size_t)rank_in(s, first, vertex)] = 1.0;
    for (int k = p->node[vertex]; k >= 0; k = s->nodes[k].parent)
    {
        const chol_node* node = &s->nodes[k];
        front f = {n->L + node->L, NULL, node->pivot_tiles, node->row_tiles};
        engine->kernels->solve_pivots(&f, &one, n->x + node->x);
        engine->kernels->multiply_rows(&f, &one, n->x + node->x, n->y + node->y, 0, node->row_tiles);
        memcpy(column + p->depth[k], n->x + node->x, (size_t)width_of(node) * sizeof(double));
        node->parent >= 0 ? pass_on(s, n, node) : (void)0;
    }
}

// ---- two of them

int chol_columns_shared(const chol_paths* p, const chol_symbolic* s, int a, int b)
{
    int first = p->node[a], second = p->node[b];
    while (first != second && first >= 0 && second >= 0)
    {
        bool climb = first < second;
        first = climb ? s->nodes[first].parent : first;
        second = climb ? second : s->nodes[second].parent;
    }
    return first == second && first >= 0 ? p->depth[first] + width_of(&s->nodes[first]) : 0;
}

int chol_stretches(const chol_paths* p, const chol_symbolic* s, int vertex, chol_stretch* out)
{
    int count = 0;
    for (int k = p->node[vertex]; k >= 0; k = s->nodes[k].parent)
    {
        out[count++] = (chol_stretch){p->depth[k], width_of(&s->nodes[k]), s->nodes[k].x};
    }
    return count;
}

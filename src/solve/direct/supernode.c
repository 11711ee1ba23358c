// Symbolic Cholesky: elimination tree, supernodes, their rows, and where every number will lie.
//
// The tree and the column counts follow Liu (1990, "The role of elimination trees in sparse factorization"). Columns
// with the same rows form fundamental supernodes; a child then joins its parent where the model below says that one
// larger front, zeros included, costs less than two. A chain of small fronts becomes a few that keep the dense kernels
// busy.
#include <string.h>

#include "solve/direct/cholesky.h"

// Tree of columns or of supernodes under construction.
typedef struct tree
{
    int count;
    int* parent; // [count], -1: a root
} tree;

// Arrays of one analysis, by rank unless said otherwise.
typedef struct analysis
{
    const bsr_pattern* pattern;
    int count, block_size;
    int* order;    // [count] rank to vertex
    int* rank;     // [count] vertex to rank
    int* parent;   // [count] elimination tree
    int* size;     // [count] entries of the column of L, diagonal included
    int* node_of;  // [count] column to supernode
    int* scratch;  // [count]
    int* scratch2; // [count]
    int node_count;
    int* node_parent; // [node_count]
    int* node_width;  // [node_count] columns
    int* node_rows;   // [node_count] rows below
    int* merged_into; // [node_count] -1: survives
} analysis;

static void analysis_finish(analysis* a)
{
    mem_free(a->order);
    mem_free(a->rank);
    mem_free(a->parent);
    mem_free(a->size);
    mem_free(a->node_of);
    mem_free(a->scratch);
    mem_free(a->scratch2);
    mem_free(a->node_parent);
    mem_free(a->node_width);
    mem_free(a->node_rows);
    mem_free(a->merged_into);
}

static weft_status analysis_init(analysis* a, const bsr_pattern* pattern, int block_size, const int* order)
{
    int n = pattern->row_count;
    *a = (analysis){.pattern = pattern, .count = n, .block_size = block_size};
    int** arrays[] = {&a->order,    &a->rank,        &a->parent,     &a->size,      &a->node_of,    &a->scratch,
                      &a->scratch2, &a->node_parent, &a->node_width, &a->node_rows, &a->merged_into};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        *arrays[k] = MEM_NEW(n, int);
        if (!*arrays[k])
        {
            return WEFT_NO_MEMORY;
        }
    }
    if (order)
    {
        memcpy(a->order, order, (size_t)n * sizeof(int));
        return WEFT_OK;
    }
    return ordering_dissect(pattern, a->order);
}

static void analysis_rank_vertices(analysis* a)
{
    for (int k = 0; k < a->count; k++)
    {
        a->rank[a->order[k]] = k;
    }
}

// parent[k] is the first row below the diagonal of column k of L; shortcuts to the roots keep the walks short.
static void analysis_find_tree(analysis* a)
{
    const bsr_pattern* p = a->pattern;
    int* shortcut = a->scratch;
    for (int k = 0; k < a->count; k++)
    {
        a->parent[k] = -1;
        shortcut[k] = -1;
        int vertex = a->order[k];
        for (int slot = p->row_start[vertex]; slot < p->row_start[vertex + 1]; slot++)
        {
            int j = a->rank[p->column[slot]];
            while (j < k)
            {
                int next = shortcut[j];
                shortcut[j] = k;
                if (next == -1)
                {
                    a->parent[j] = k;
                    break;
                }
                j = next;
            }
        }
    }
}

// Visits children before parents, in increasing order of the roots and of each node's children.
// position[k] is when k is visited; first and next are scratch of [count].
static void tree_postorder(const tree* t, int* first, int* next, int* position)
{
    int roots = -1;
    for (int k = 0; k < t->count; k++)
    {
        first[k] = -1;
    }
    for (int k = t->count - 1; k >= 0; k--)
    {
        int* head = t->parent[k] >= 0 ? &first[t->parent[k]] : &roots;
        next[k] = *head;
        *head = k;
    }
    int visited = 0;
    int k = roots;
    while (k != -1)
    {
        // Down to a leaf; a node's list is emptied, so that it is visited when we come back to it.
        while (first[k] != -1)
        {
            int child = first[k];
            first[k] = -1;
            k = child;
        }
        position[k] = visited++;
        k = next[k] != -1 ? next[k] : t->parent[k];
    }
}

// Renumbers the columns in postorder: fill stays the same and supernodes become neighbours.
static void analysis_postorder(analysis* a)
{
    int* position = a->node_of;
    tree t = {a->count, a->parent};
    tree_postorder(&t, a->scratch, a->scratch2, position);
    for (int k = 0; k < a->count; k++)
    {
        a->scratch[position[k]] = a->order[k];
        a->scratch2[position[k]] = a->parent[k] >= 0 ? position[a->parent[k]] : -1;
    }
    memcpy(a->order, a->scratch, (size_t)a->count * sizeof(int));
    memcpy(a->parent, a->scratch2, (size_t)a->count * sizeof(int));
    analysis_rank_vertices(a);
}

// Row k of L holds the columns on the paths from the entries of row k of A up to k.
static void analysis_count_columns(analysis* a)
{
    const bsr_pattern* p = a->pattern;
    int* mark = a->scratch;
    for (int k = 0; k < a->count; k++)
    {
        mark[k] = k;
        a->size[k] = 1;
        int vertex = a->order[k];
        for (int slot = p->row_start[vertex]; slot < p->row_start[vertex + 1]; slot++)
        {
            for (int j = a->rank[p->column[slot]]; j < k && mark[j] != k; j = a->parent[j])
            {
                mark[j] = k;
                a->size[j]++;
            }
        }
    }
}

// A column joins the one before it when that is its only child and has the same rows.
static void analysis_find_nodes(analysis* a)
{
    int* child_count = a->scratch;
    memset(child_count, 0, (size_t)a->count * sizeof(int));
    for (int k = 0; k < a->count; k++)
    {
        if (a->parent[k] >= 0)
        {
            child_count[a->parent[k]]++;
        }
    }
    for (int k = 0; k < a->count; k++)
    {
        bool joins = k > 0 && a->parent[k - 1] == k && child_count[k] == 1 && a->size[k - 1] == a->size[k] + 1;
        if (!joins)
        {
            a->node_width[a->node_count] = 0;
            a->merged_into[a->node_count] = -1;
            a->node_count++;
        }
        int node = a->node_count - 1;
        a->node_of[k] = node;
        a->node_width[node]++;
        a->node_rows[node] = a->size[k] - 1;
    }
    for (int k = 0; k < a->count; k++)
    {
        // The last column of a node overwrites the others.
        a->node_parent[a->node_of[k]] = a->parent[k] >= 0 ? a->node_of[a->parent[k]] : -1;
    }
}

static int tiles_of(int unknowns)
{
    return (unknowns + TILE - 1) / TILE;
}

// Time of a front in tile products: the arithmetic, the assembly of U, a start. The result hardly depends on the two
// weights: assembly 1 to 6 and start 20 to 100 gave the same time within 10 % on a 201 x 201 grid of cloth.
static double front_cost(const analysis* a, int width, int rows)
{
    const double assembly = 1.0, start = 20.0;
    double w = tiles_of(width * a->block_size), r = tiles_of(rows * a->block_size);
    return w * w * w / 6.0 + w * w * r / 2.0 + w * r * (r + 1.0) / 2.0 + assembly * r * (r + 1.0) / 2.0 + start;
}

// Bottom-up: a child joins its parent when the joint front costs less than the two. Columns of both then share the rows
// of the parent.
static void analysis_merge_nodes(analysis* a)
{
    for (int child = 0; child < a->node_count; child++)
    {
        int parent = a->node_parent[child];
        if (parent < 0)
        {
            continue;
        }
        int width = a->node_width[child] + a->node_width[parent];
        double apart = front_cost(a, a->node_width[child], a->node_rows[child]) +
                       front_cost(a, a->node_width[parent], a->node_rows[parent]);
        if (front_cost(a, width, a->node_rows[parent]) <= apart)
        {
            a->merged_into[child] = parent;
            a->node_width[parent] = width;
        }
    }
}

// Survivors get numbers without gaps: a->size then holds their parents, a->merged_into their widths, and a->node_of the
// numbers. Returns how many there are.
static int analysis_number_survivors(analysis* a)
{
    // Parents come after children, so going down every node finds its survivor at its parent.
    int* survivor = a->node_rows;
    int* number = a->scratch;
    for (int node = a->node_count - 1; node >= 0; node--)
    {
        survivor[node] = a->merged_into[node] < 0 ? node : survivor[a->merged_into[node]];
    }
    int count = 0;
    for (int node = 0; node < a->node_count; node++)
    {
        if (survivor[node] == node)
        {
            int parent = a->node_parent[node];
            a->size[count] = parent >= 0 ? survivor[parent] : -1;
            a->merged_into[count] = a->node_width[node];
            number[node] = count++;
        }
    }
    for (int k = 0; k < count; k++)
    {
        a->size[k] = a->size[k] >= 0 ? number[a->size[k]] : -1;
    }
    for (int k = 0; k < a->count; k++)
    {
        a->node_of[k] = number[survivor[a->node_of[k]]];
    }
    return count;
}

// Columns of each node side by side, in increasing order: descendants stay before ancestors. position is the place of
// each survivor among the nodes.
static void analysis_order_columns(analysis* a, const int* position)
{
    int* next_rank = a->scratch2;
    int begin = 0;
    for (int node = 0; node < a->node_count; node++)
    {
        next_rank[node] = begin;
        begin += a->node_width[node];
    }
    for (int k = 0; k < a->count; k++)
    {
        a->size[next_rank[position[a->node_of[k]]]++] = a->order[k];
    }
    memcpy(a->order, a->size, (size_t)a->count * sizeof(int));
    analysis_rank_vertices(a);
    int column = 0;
    for (int node = 0; node < a->node_count; node++)
    {
        for (int k = 0; k < a->node_width[node]; k++)
        {
            a->node_of[column++] = node;
        }
    }
}

// Final numbers: surviving nodes in postorder. Sets node_of, order, rank, node_parent and node_width for them.
static void analysis_renumber(analysis* a)
{
    int count = analysis_number_survivors(a);
    int* position = a->scratch;
    tree t = {count, a->size};
    tree_postorder(&t, a->scratch2, a->node_parent, position);
    for (int k = 0; k < count; k++)
    {
        a->node_width[position[k]] = a->merged_into[k];
        a->node_parent[position[k]] = a->size[k] >= 0 ? position[a->size[k]] : -1;
    }
    a->node_count = count;
    analysis_order_columns(a, position);
}

static void nodes_init(const analysis* a, chol_symbolic* s)
{
    int column = 0;
    for (int k = 0; k < s->node_count; k++)
    {
        chol_node* node = &s->nodes[k];
        node->column_begin = column;
        node->column_end = column += a->node_width[k];
        node->parent = a->node_parent[k];
        node->first_child = node->next_child = -1;
    }
    for (int k = s->node_count - 1; k >= 0; k--)
    {
        chol_node* node = &s->nodes[k];
        if (node->parent >= 0)
        {
            node->next_child = s->nodes[node->parent].first_child;
            s->nodes[node->parent].first_child = k;
        }
    }
}

// Rows come in increasing order because they are visited so. With s->rows unset the walk only counts, in row_end and
// entry_end; set, it fills.
static void nodes_walk_rows(const analysis* a, chol_symbolic* s, int* mark)
{
    const bsr_pattern* p = a->pattern;
    for (int node = 0; node < s->node_count; node++)
    {
        mark[node] = -1;
    }
    for (int k = 0; k < a->count; k++)
    {
        int own = a->node_of[k];
        int vertex = a->order[k];
        for (int slot = p->row_start[vertex]; slot < p->row_start[vertex + 1]; slot++)
        {
            int j = a->rank[p->column[slot]];
            if (j > k)
            {
                continue;
            }
            for (int node = a->node_of[j]; node != own && mark[node] != k; node = s->nodes[node].parent)
            {
                mark[node] = k;
                if (s->rows)
                {
                    s->rows[s->nodes[node].row_end] = k;
                }
                s->nodes[node].row_end++;
            }
            chol_node* node = &s->nodes[a->node_of[j]];
            if (s->rows)
            {
                int b = s->block_size;
                int below = node->pivot_tiles * TILE + (node->row_end - 1 - node->row_begin) * b;
                s->entries[node->entry_end] = (chol_entry){
                    .slot = slot,
                    .vertex = vertex,
                    .row = k < node->column_end ? (k - node->column_begin) * b : below,
                    .col = (j - node->column_begin) * b,
                };
            }
            node->entry_end++;
        }
    }
}

// From counts to begins; false when a sum does not fit.
static bool nodes_place(chol_symbolic* s, int64_t* row_count)
{
    int64_t rows = 0, entries = 0;
    for (int k = 0; k < s->node_count; k++)
    {
        chol_node* node = &s->nodes[k];
        int64_t row_begin = rows, entry_begin = entries;
        rows += node->row_end;
        entries += node->entry_end;
        if (rows * s->block_size > INT32_MAX || entries > INT32_MAX)
        {
            return false;
        }
        node->pivot_tiles = tiles_of((node->column_end - node->column_begin) * s->block_size);
        node->row_tiles = tiles_of(node->row_end * s->block_size);
        node->row_begin = node->row_end = (int)row_begin;
        node->entry_begin = node->entry_end = (int)entry_begin;
    }
    *row_count = rows;
    s->entry_count = (int)entries;
    return true;
}

// Where a node's rows are in its parent's front: both lists increase, so one pass finds all.
static void node_find_positions(const chol_symbolic* s, const chol_node* node)
{
    if (node->parent < 0)
    {
        return;
    }
    const chol_node* parent = &s->nodes[node->parent];
    int b = s->block_size;
    int below = parent->row_begin;
    for (int k = node->row_begin; k < node->row_end; k++)
    {
        int row = s->rows[k];
        int first = (row - parent->column_begin) * b;
        if (row >= parent->column_end)
        {
            while (s->rows[below] != row)
            {
                below++;
            }
            first = parent->pivot_tiles * TILE + (below - parent->row_begin) * b;
        }
        for (int d = 0; d < b; d++)
        {
            s->position[k * b + d] = first + d;
        }
    }
}

static double node_flops(const chol_node* node)
{
    double w = node->pivot_tiles * TILE, r = node->row_tiles * TILE;
    return w * w * w / 3.0 + w * w * r + w * r * r;
}

static void nodes_place_numbers(chol_symbolic* s)
{
    for (int k = 0; k < s->node_count; k++)
    {
        chol_node* node = &s->nodes[k];
        node->L = s->factor_size;
        node->x = s->x_size;
        node->y = s->y_size;
        node->flops = node_flops(node);
        s->flops += node->flops;
        s->factor_size +=
            slab_triangle(node->pivot_tiles) + (size_t)node->pivot_tiles * (size_t)node->row_tiles * TILE_SIZE;
        s->x_size += (size_t)node->pivot_tiles * TILE;
        s->y_size += (size_t)node->row_tiles * TILE;
        for (int column = node->column_begin; column < node->column_end; column++)
        {
            s->place[column] = node->x + (size_t)(column - node->column_begin) * (size_t)s->block_size;
        }
        node_find_positions(s, node);
    }
}

static weft_status nodes_create(const analysis* a, chol_symbolic* s)
{
    s->node_count = a->node_count;
    s->nodes = MEM_NEW(s->node_count, chol_node);
    s->place = MEM_NEW(a->count, size_t);
    int* mark = MEM_NEW(s->node_count, int);
    weft_status status = WEFT_NO_MEMORY;
    int64_t row_count = 0;
    if (!s->nodes || !s->place || !mark)
    {
        goto cleanup;
    }
    nodes_init(a, s);
    nodes_walk_rows(a, s, mark);
    if (!nodes_place(s, &row_count))
    {
        goto cleanup;
    }
    s->rows = MEM_NEW(row_count, int);
    s->position = MEM_NEW(row_count * s->block_size, int);
    s->entries = MEM_NEW(s->entry_count, chol_entry);
    if (s->rows && s->position && s->entries)
    {
        nodes_walk_rows(a, s, mark);
        nodes_place_numbers(s);
        status = WEFT_OK;
    }
cleanup:
    mem_free(mark);
    return status;
}

static weft_status pattern_copy(const bsr_pattern* from, bsr_pattern* out)
{
    *out = (bsr_pattern){.row_count = from->row_count, .block_count = from->block_count};
    out->row_start = MEM_NEW(from->row_count + 1, int);
    out->column = MEM_NEW(from->block_count, int);
    if (!out->row_start || !out->column)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(out->row_start, from->row_start, ((size_t)from->row_count + 1) * sizeof(int));
    memcpy(out->column, from->column, (size_t)from->block_count * sizeof(int));
    return WEFT_OK;
}

static weft_status symbolic_build(analysis* a, const bsr_pattern* pattern, const int* order, chol_symbolic* out)
{
    TRY(pattern_copy(pattern, &out->pattern));
    TRY(analysis_init(a, pattern, out->block_size, order));
    analysis_rank_vertices(a);
    analysis_find_tree(a);
    analysis_postorder(a);
    analysis_count_columns(a);
    analysis_find_nodes(a);
    analysis_merge_nodes(a);
    analysis_renumber(a);
    TRY(nodes_create(a, out));
    TRY(chol_plan(out));
    out->order = a->order;
    a->order = NULL;
    return WEFT_OK;
}

weft_status chol_symbolic_create(const bsr_pattern* pattern, int block_size, const int* order, chol_symbolic* out)
{
    *out = (chol_symbolic){.vertex_count = pattern->row_count, .block_size = block_size};
    analysis a = {0};
    weft_status status = symbolic_build(&a, pattern, order, out);
    analysis_finish(&a);
    if (status != WEFT_OK)
    {
        chol_symbolic_finish(out);
    }
    return status;
}

void chol_symbolic_finish(chol_symbolic* s)
{
    mem_free(s->pattern.row_start);
    mem_free(s->pattern.column);
    mem_free(s->order);
    mem_free(s->place);
    mem_free(s->nodes);
    mem_free(s->rows);
    mem_free(s->position);
    mem_free(s->entries);
    mem_free(s->tasks);
    mem_free(s->top);
    *s = (chol_symbolic){0};
}

double chol_symbolic_bytes(const chol_symbolic* s)
{
    double rows = s->node_count > 0 ? s->nodes[s->node_count - 1].row_end : 0;
    return (double)s->vertex_count * (2 * sizeof(int) + sizeof(size_t)) + (double)s->pattern.block_count * sizeof(int) +
           (double)s->node_count * (sizeof(chol_node) + sizeof(chol_task) + sizeof(int)) +
           rows * (1 + s->block_size) * sizeof(int) + (double)s->entry_count * sizeof(chol_entry);
}

// Which pairs a scene does not want: two obstacles, bodies that ignore each other, vertices that ignore a body.
#include <stdlib.h>

#include "collide/broad.h"

static int compare_keys(const void* a, const void* b)
{
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static uint64_t body_key(int a, int b)
{
    return (uint64_t)int_min(a, b) << 32 | (uint64_t)int_max(a, b);
}

static weft_status copy_excluded(cull_rules* rules, const weft_collider_def* def, weft_error* error)
{
    rules->excluded = MEM_NEW(def->excluded_body_count, uint64_t);
    if (!rules->excluded)
    {
        return WEFT_NO_MEMORY;
    }
    rules->excluded_count = def->excluded_body_count;
    for (int k = 0; k < def->excluded_body_count; k++)
    {
        int a = def->excluded_bodies[2 * k], b = def->excluded_bodies[2 * k + 1];
        if (a < 0 || a >= def->body_count || b < 0 || b >= def->body_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "excluded_bodies %d: bodies %d and %d; they run from 0 to body_count - 1 = %d", k, a, b,
                             def->body_count - 1);
        }
        rules->excluded[k] = body_key(a, b);
    }
    qsort(rules->excluded, (size_t)rules->excluded_count, sizeof(uint64_t), compare_keys);
    return WEFT_OK;
}

// A list of bodies for each vertex.
static weft_status copy_excluded_vertices(cull_rules* rules, const weft_collider_def* def, weft_error* error)
{
    if (def->excluded_vertex_count == 0)
    {
        return WEFT_OK;
    }
    rules->vertex_start = MEM_NEW(def->vertex_count + 2, int);
    rules->vertex_body = MEM_NEW(def->excluded_vertex_count, int);
    if (!rules->vertex_start || !rules->vertex_body)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < def->excluded_vertex_count; k++)
    {
        int v = def->excluded_vertices[2 * k], b = def->excluded_vertices[2 * k + 1];
        if (v < 0 || v >= def->vertex_count || b < 0 || b >= def->body_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "excluded_vertices %d: vertex %d, body %d; there are %d vertices and %d bodies", k, v, b,
                             def->vertex_count, def->body_count);
        }
        rules->vertex_start[v + 2]++;
    }
    for (int v = 0; v < def->vertex_count; v++)
    {
        rules->vertex_start[v + 2] += rules->vertex_start[v + 1];
    }
    for (int k = 0; k < def->excluded_vertex_count; k++)
    {
        int v = def->excluded_vertices[2 * k];
        rules->vertex_body[rules->vertex_start[v + 1]++] = def->excluded_vertices[2 * k + 1];
    }
    return WEFT_OK;
}

static weft_status copy_bodies(cull_rules* rules, const weft_collider_def* def, weft_error* error)
{
    rules->body = MEM_NEW(def->vertex_count, int);
    rules->passive = MEM_NEW(def->body_count, uint8_t);
    if (!rules->body || !rules->passive)
    {
        return WEFT_NO_MEMORY;
    }
    for (int b = 0; b < def->body_count; b++)
    {
        rules->passive[b] = def->passive && def->passive[b];
    }
    for (int v = 0; v < def->vertex_count; v++)
    {
        rules->body[v] = def->body ? def->body[v] : 0;
        if (rules->body[v] < 0 || rules->body[v] >= def->body_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "vertex %d is of body %d; bodies run from 0 to body_count - 1 = %d", v, rules->body[v],
                             def->body_count - 1);
        }
    }
    return WEFT_OK;
}

static weft_status copy_seams(cull_rules* rules, const weft_collider_def* def)
{
    rules->seam = def->seam ? MEM_NEW(def->vertex_count, int) : NULL;
    for (int v = 0; v < def->vertex_count && rules->seam; v++)
    {
        rules->seam[v] = def->seam[v];
    }
    return rules->seam || !def->seam ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status check_one_body(const cull_rules* rules, const int* corner, int arity, int count, const char* what,
                                  weft_error* error)
{
    for (int f = 0; f < count; f++)
    {
        for (int c = 1; c < arity; c++)
        {
            int a = corner[arity * f], b = corner[arity * f + c];
            if (rules->body[a] != rules->body[b])
            {
                return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                                 "%s %d joins the bodies %d and %d (vertices %d and %d)", what, f, rules->body[a],
                                 rules->body[b], a, b);
            }
        }
    }
    return WEFT_OK;
}

weft_status cull_rules_init(cull_rules* rules, const weft_collider_def* def, weft_error* error)
{
    TRY(copy_bodies(rules, def, error));
    TRY(check_one_body(rules, def->triangles, 3, def->triangle_count, "triangle", error));
    TRY(check_one_body(rules, def->edges, 2, def->edge_count, "edge", error));
    TRY(copy_excluded(rules, def, error));
    TRY(copy_excluded_vertices(rules, def, error));
    TRY(copy_seams(rules, def));
    bool any = rules->excluded_count > 0 || rules->vertex_start || rules->seam;
    for (int b = 0; b < def->body_count; b++)
    {
        any = any || rules->passive[b];
    }
    if (!any)
    {
        cull_rules_finish(rules);
    }
    return WEFT_OK;
}

void cull_rules_finish(cull_rules* rules)
{
    mem_free(rules->body);
    mem_free(rules->passive);
    mem_free(rules->excluded);
    mem_free(rules->vertex_start);
    mem_free(rules->vertex_body);
    mem_free(rules->seam);
    *rules = (cull_rules){0};
}

bool cull_bodies_wanted(const cull_rules* rules, int a, int b)
{
    bool a_passive = a == BODY_PASSIVE || (a >= 0 && rules->passive[a]);
    bool b_passive = b == BODY_PASSIVE || (b >= 0 && rules->passive[b]);
    if (a_passive && b_passive)
    {
        return false;
    }
    if (a < 0 || b < 0 || rules->excluded_count == 0)
    {
        return true;
    }
    uint64_t key = body_key(a, b);
    return !bsearch(&key, rules->excluded, (size_t)rules->excluded_count, sizeof(uint64_t), compare_keys);
}

// Whether one of the vertices ignores the body.
static bool ignores(const cull_rules* rules, const int* vertex, int count, int body)
{
    for (int c = 0; c < count; c++)
    {
        for (int k = rules->vertex_start[vertex[c]]; k < rules->vertex_start[vertex[c] + 1]; k++)
        {
            if (rules->vertex_body[k] == body)
            {
                return true;
            }
        }
    }
    return false;
}

// Whether two features meet in a seam.
static bool are_sewn(const cull_rules* rules, const int* a, int a_count, const int* b, int b_count)
{
    for (int k = 0; k < a_count * b_count; k++)
    {
        int seam = rules->seam[a[k / b_count]];
        if (seam >= 0 && seam == rules->seam[b[k % b_count]])
        {
            return true;
        }
    }
    return false;
}

bool cull_features_wanted(const cull_rules* rules, const int* a, int a_count, const int* b, int b_count)
{
    int a_body = rules->body[a[0]], b_body = rules->body[b[0]];
    if (!cull_bodies_wanted(rules, a_body, b_body))
    {
        return false;
    }
    if (rules->seam && are_sewn(rules, a, a_count, b, b_count))
    {
        return false;
    }
    return !rules->vertex_start || (!ignores(rules, a, a_count, b_body) && !ignores(rules, b, b_count, a_body));
}

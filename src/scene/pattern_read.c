// Sewing patterns in the JSON of GarmentCode (Korosteleva and Sorkine-Hornung 2023), specification of 2023 and 2024:
//
//     {"pattern": {"panels": {NAME: {"translation", "rotation", "vertices": [[x, y], ...],
//                                    "edges": [{"endpoints": [a, b], "curvature": ...}, ...]}},
//                  "stitches": [[{"panel", "edge"}, {"panel", "edge"}], ...]},
//      "properties": {"units_in_meter": 100, "curvature_coords": "relative"}}
//
// Rotations are degrees about the fixed axes x, then y, then z. Control points of curves are relative to their edge:
// along it, and to its left. Keys that do not change the shape (labels, parameters) are not looked at.
#include "scene/pattern_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mesh/panel.h"
#include "scene/scene_data.h"

enum
{
    PANELS_MAX = 10000,
    CORNERS_MAX = 1000,
    STITCHES_MAX = 100000
};

typedef struct pattern_reader
{
    const char* path;
    weft_error* error;
    double scale;  // metres for one unit
    bool absolute; // control points are coordinates
} pattern_reader;

static weft_status wrong(const pattern_reader* r, const tree_node* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

static weft_status wrong(const pattern_reader* r, const tree_node* node, const char* format, ...)
{
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(r->error, WEFT_BAD_INPUT, r->path, node ? node->line : 0, "%s", message);
}

static weft_status no_memory(const pattern_reader* r)
{
    return error_set(r->error, WEFT_NO_MEMORY, r->path, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
}

// A member of this kind; owner and key are for messages.
static weft_status member(const pattern_reader* r, const tree_node* owner, const char* key, tree_kind kind,
                          const tree_node** out)
{
    *out = tree_member(owner, key);
    if (!*out)
    {
        return wrong(r, owner, "expected \"%s\" here, as GarmentCode's patterns have it", key);
    }
    return (*out)->kind == kind
               ? WEFT_OK
               : wrong(r, *out, "\"%s\" is %s; expected %s", key, tree_kind_text((*out)->kind), tree_kind_text(kind));
}

// `count` numbers of a list.
static weft_status numbers(const pattern_reader* r, const tree_node* node, const char* what, int count, double* out)
{
    if (node->kind != TREE_ARRAY || node->child_count != count)
    {
        return wrong(r, node, "%s is a list of %d numbers", what, count);
    }
    int k = 0;
    for (const tree_node* child = node->first; child; child = child->next)
    {
        if (child->kind != TREE_NUMBER || !isfinite(child->number))
        {
            return wrong(r, child, "%s is a list of %d numbers; this is %s", what, count, tree_kind_text(child->kind));
        }
        out[k++] = child->number;
    }
    return WEFT_OK;
}

// A whole number from 0 to count - 1.
static weft_status place(const pattern_reader* r, const tree_node* node, const char* what, int count, int* out)
{
    if (!node || node->kind != TREE_NUMBER || node->number != floor(node->number) || !(node->number >= 0.0) ||
        !(node->number < count))
    {
        return wrong(r, node, "there is no such %s; they run from 0 to %d", what, count - 1);
    }
    *out = (int)node->number;
    return WEFT_OK;
}

// ---- edges

static vec2 from_relative(vec2 a, vec2 b, const double* relative)
{
    double dx = b.x - a.x, dy = b.y - a.y;
    return (vec2){a.x + relative[0] * dx - relative[1] * dy, a.y + relative[0] * dy + relative[1] * dx};
}

static weft_status control_read(const pattern_reader* r, const tree_node* node, const pattern_panel* panel,
                                const pattern_edge* e, vec2* out)
{
    double x[2];
    TRY(numbers(r, node, "a control point", 2, x));
    *out = r->absolute ? (vec2){r->scale * x[0], r->scale * x[1]}
                       : from_relative(panel->corner[e->from], panel->corner[e->to], x);
    return WEFT_OK;
}

static weft_status arc_read(const pattern_reader* r, const tree_node* params, const pattern_panel* panel,
                            pattern_edge* e)
{
    const tree_node *radius = params->first, *large = radius ? radius->next : NULL, *left = large ? large->next : NULL;
    bool good = left && radius->kind == TREE_NUMBER;
    for (const tree_node* k = large; k && good; k = k->next)
    {
        good = k->kind == TREE_BOOL || k->kind == TREE_NUMBER;
    }
    if (!good)
    {
        return wrong(r, params,
                     "the params of a circle are its radius, whether the arc is the larger one, and to "
                     "which side it goes: [r, 0, 1]");
    }
    vec2 a = panel->corner[e->from], b = panel->corner[e->to];
    double chord = hypot(b.x - a.x, b.y - a.y);
    e->kind = CURVE_ARC;
    e->radius = r->scale * radius->number;
    e->large = large->kind == TREE_BOOL ? large->truth : large->number != 0.0;
    e->left = left->kind == TREE_BOOL ? left->truth : left->number != 0.0;
    return e->radius >= 0.4999 * chord
               ? WEFT_OK
               : wrong(r, radius, "a circle of radius %g does not reach both ends of its edge, which are %g apart",
                       radius->number, chord / r->scale);
}

static weft_status curvature_read(const pattern_reader* r, const tree_node* node, const pattern_panel* panel,
                                  pattern_edge* e)
{
    if (node->kind == TREE_ARRAY) // as files had it before 2023
    {
        e->kind = CURVE_QUADRATIC;
        return control_read(r, node, panel, e, &e->control[0]);
    }
    if (node->kind != TREE_OBJECT)
    {
        return wrong(r, node, "\"curvature\" is %s; expected {\"type\": ..., \"params\": ...}",
                     tree_kind_text(node->kind));
    }
    const tree_node *type, *params;
    TRY(member(r, node, "type", TREE_STRING, &type));
    TRY(member(r, node, "params", TREE_ARRAY, &params));
    if (strcmp(type->string, "circle") == 0)
    {
        return arc_read(r, params, panel, e);
    }
    bool cubic = strcmp(type->string, "cubic") == 0;
    if (!cubic && strcmp(type->string, "quadratic") != 0)
    {
        return wrong(r, type, "unknown curve `%.40s`; there are quadratic, cubic and circle", type->string);
    }
    if (params->child_count != (cubic ? 2 : 1))
    {
        return wrong(r, params, "a %s curve has %d control point%s, not %d", type->string, cubic ? 2 : 1,
                     cubic ? "s" : "", params->child_count);
    }
    e->kind = cubic ? CURVE_CUBIC : CURVE_QUADRATIC;
    TRY(control_read(r, params->first, panel, e, &e->control[0]));
    return cubic ? control_read(r, params->last, panel, e, &e->control[1]) : WEFT_OK;
}

static weft_status edge_read(const pattern_reader* r, const tree_node* node, const pattern_panel* panel,
                             pattern_edge* e)
{
    const tree_node* ends;
    if (node->kind != TREE_OBJECT)
    {
        return wrong(r, node, "an edge is %s; expected {\"endpoints\": [a, b]}", tree_kind_text(node->kind));
    }
    e->line = node->line;
    TRY(member(r, node, "endpoints", TREE_ARRAY, &ends));
    if (ends->child_count != 2)
    {
        return wrong(r, ends, "an edge has two endpoints, not %d", ends->child_count);
    }
    TRY(place(r, ends->first, "vertex of the panel", panel->corner_count, &e->from));
    TRY(place(r, ends->last, "vertex of the panel", panel->corner_count, &e->to));
    vec2 a = panel->corner[e->from], b = panel->corner[e->to];
    if (hypot(a.x - b.x, a.y - b.y) < 1e-6)
    {
        return wrong(r, ends, "an edge of panel `%.60s` has no length: its ends are one point", panel->name);
    }
    const tree_node* curvature = tree_member(node, "curvature");
    return curvature && curvature->kind != TREE_NULL ? curvature_read(r, curvature, panel, e) : WEFT_OK;
}

static weft_status edges_read(const pattern_reader* r, const tree_node* node, pattern_panel* panel)
{
    if (node->child_count < 2 || node->child_count > CORNERS_MAX)
    {
        return wrong(r, node, "panel `%.60s` has %d edges; expected 2 to %d", panel->name, node->child_count,
                     CORNERS_MAX);
    }
    panel->edge = MEM_NEW(node->child_count, pattern_edge);
    if (!panel->edge)
    {
        return no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(edge_read(r, child, panel, &panel->edge[panel->edge_count++]));
    }
    for (int k = 0; k < panel->edge_count; k++)
    {
        const pattern_edge *e = &panel->edge[k], *next = &panel->edge[(k + 1) % panel->edge_count];
        if (e->to != next->from)
        {
            return error_set(r->error, WEFT_BAD_INPUT, r->path, next->line,
                             "panel `%.60s` is no closed loop: edge %d ends at vertex %d, and the next one starts at "
                             "vertex %d; put its edges in order",
                             panel->name, k, e->to, next->from);
        }
    }
    return WEFT_OK;
}

// ---- panels

static weft_status corners_read(const pattern_reader* r, const tree_node* node, pattern_panel* panel)
{
    if (node->child_count < 2 || node->child_count > CORNERS_MAX)
    {
        return wrong(r, node, "panel `%.60s` has %d vertices; expected 2 to %d", panel->name, node->child_count,
                     CORNERS_MAX);
    }
    panel->corner = MEM_NEW(node->child_count, vec2);
    if (!panel->corner)
    {
        return no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        double x[2];
        TRY(numbers(r, child, "a vertex of a panel", 2, x));
        if (fabs(r->scale * x[0]) > 0.25 * PANEL_SIZE_MAX || fabs(r->scale * x[1]) > 0.25 * PANEL_SIZE_MAX)
        {
            return wrong(r, child,
                         "a vertex of panel `%.60s` is more than %g m from its origin: is units_in_meter right?",
                         panel->name, 0.25 * PANEL_SIZE_MAX);
        }
        panel->corner[panel->corner_count++] = (vec2){r->scale * x[0], r->scale * x[1]};
    }
    return WEFT_OK;
}

static weft_status panel_read(const pattern_reader* r, const tree_node* node, pattern_panel* panel)
{
    const tree_node *part, *edges;
    double x[3] = {0}, degrees[3] = {0};
    panel->line = node->key_line ? node->key_line : node->line;
    panel->name = mem_strdup(node->key);
    if (!panel->name)
    {
        return no_memory(r);
    }
    if (node->kind != TREE_OBJECT)
    {
        return wrong(r, node, "panel `%.60s` is %s; expected an object", node->key, tree_kind_text(node->kind));
    }
    if ((part = tree_member(node, "translation")))
    {
        TRY(numbers(r, part, "a translation", 3, x));
    }
    if ((part = tree_member(node, "rotation")))
    {
        TRY(numbers(r, part, "a rotation", 3, degrees));
    }
    panel->translation = v3_scale(r->scale, v3(x[0], x[1], x[2]));
    mat3 rotation = rotation_from_degrees(v3(degrees[0], degrees[1], degrees[2]));
    memcpy(panel->rotation, rotation.m, sizeof(panel->rotation));
    TRY(member(r, node, "vertices", TREE_ARRAY, &part));
    TRY(corners_read(r, part, panel));
    TRY(member(r, node, "edges", TREE_ARRAY, &edges));
    return edges_read(r, edges, panel);
}

static weft_status panels_read(const pattern_reader* r, const tree_node* node, sewing_pattern* p)
{
    if (node->child_count < 1 || node->child_count > PANELS_MAX)
    {
        return wrong(r, node, "the pattern has %d panels; expected 1 to %d", node->child_count, PANELS_MAX);
    }
    p->panel = MEM_NEW(node->child_count, pattern_panel);
    if (!p->panel)
    {
        return no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(panel_read(r, child, &p->panel[p->panel_count++]));
    }
    return WEFT_OK;
}

// ---- stitches

static weft_status side_read(const pattern_reader* r, const tree_node* node, const sewing_pattern* p, pattern_side* out)
{
    const tree_node *name, *edge;
    if (node->kind != TREE_OBJECT)
    {
        return wrong(r, node, "a side of a stitch is %s; expected {\"panel\": NAME, \"edge\": NUMBER}",
                     tree_kind_text(node->kind));
    }
    TRY(member(r, node, "panel", TREE_STRING, &name));
    TRY(member(r, node, "edge", TREE_NUMBER, &edge));
    out->panel = -1;
    for (int k = 0; k < p->panel_count; k++)
    {
        out->panel = strcmp(p->panel[k].name, name->string) == 0 ? k : out->panel;
    }
    if (out->panel < 0)
    {
        return wrong(r, name, "a stitch names the panel `%.60s`, which the pattern does not have", name->string);
    }
    const pattern_panel* panel = &p->panel[out->panel];
    if (place(r, edge, "edge", panel->edge_count, &out->edge) != WEFT_OK)
    {
        return wrong(r, edge, "a stitch names edge %g of panel `%.60s`; its edges run from 0 to %d", edge->number,
                     panel->name, panel->edge_count - 1);
    }
    return WEFT_OK;
}

static weft_status stitch_read(const pattern_reader* r, const tree_node* node, const sewing_pattern* p,
                               pattern_stitch* s)
{
    s->line = node->line;
    const tree_node* word = node->kind == TREE_ARRAY ? tree_at(node, 2) : NULL;
    if (node->kind != TREE_ARRAY || node->child_count < 2 || node->child_count > 3 ||
        (word && word->kind != TREE_STRING))
    {
        return wrong(r, node, "a stitch is a list of two sides: [{\"panel\", \"edge\"}, {\"panel\", \"edge\"}]");
    }
    s->alike = word && strcmp(word->string, "right_wrong") == 0;
    TRY(side_read(r, node->first, p, &s->side[0]));
    TRY(side_read(r, node->first->next, p, &s->side[1]));
    if (s->side[0].panel == s->side[1].panel && s->side[0].edge == s->side[1].edge)
    {
        return wrong(r, node, "edge %d of panel `%.60s` is sewn to itself", s->side[0].edge,
                     p->panel[s->side[0].panel].name);
    }
    return WEFT_OK;
}

static weft_status pattern_stitches_read(const pattern_reader* r, const tree_node* node, sewing_pattern* p)
{
    if (node->kind != TREE_ARRAY || node->child_count > STITCHES_MAX)
    {
        return wrong(r, node, "\"stitches\" is a list of at most %d stitches", STITCHES_MAX);
    }
    p->stitch = MEM_NEW(int_max(node->child_count, 1), pattern_stitch);
    if (!p->stitch)
    {
        return no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(stitch_read(r, child, p, &p->stitch[p->stitch_count++]));
    }
    return WEFT_OK;
}

// ---- the file

static weft_status properties_read(pattern_reader* r, const tree_node* root)
{
    const tree_node* properties = tree_member(root, "properties");
    const tree_node* unit = properties ? tree_member(properties, "units_in_meter") : NULL;
    const tree_node* coords = properties ? tree_member(properties, "curvature_coords") : NULL;
    r->scale = 0.01;
    if (unit && (unit->kind != TREE_NUMBER || !(unit->number >= 1e-3 && unit->number <= 1e6)))
    {
        return wrong(r, unit, "\"units_in_meter\" is how many units of the file make a metre: 100 for centimetres");
    }
    r->scale = unit ? 1.0 / unit->number : r->scale;
    r->absolute = coords && coords->kind == TREE_STRING && strcmp(coords->string, "absolute") == 0;
    return WEFT_OK;
}

static weft_status root_read(pattern_reader* r, const tree_node* root, sewing_pattern* p)
{
    const tree_node *body, *panels;
    TRY(properties_read(r, root));
    TRY(member(r, root, "pattern", TREE_OBJECT, &body));
    TRY(member(r, body, "panels", TREE_OBJECT, &panels));
    TRY(panels_read(r, panels, p));
    const tree_node* stitches = tree_member(body, "stitches");
    return stitches ? pattern_stitches_read(r, stitches, p) : WEFT_OK;
}

weft_status pattern_read(const char* path, sewing_pattern* out, weft_error* error)
{
    *out = (sewing_pattern){.file = mem_strdup(path)};
    pattern_reader r = {.path = path, .error = error};
    tree t = {0};
    tree_node* root = NULL;
    char* text = NULL;
    size_t size = 0;
    weft_status status = out->file ? text_read(path, &text, &size, error) : no_memory(&r);
    status = status == WEFT_OK ? tree_parse(&t, path, text, size, &root, error) : status;
    status = status == WEFT_OK ? root_read(&r, root, out) : status;
    mem_free(text);
    tree_finish(&t);
    status == WEFT_OK ? (void)0 : pattern_finish(out);
    return status;
}

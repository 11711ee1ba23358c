// weft check: reads and validates everything that a run would, and runs nothing.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "weft/scene.h"

enum
{
    WARNINGS_MAX = 100,
    NOTE_SIZE = 1024
};

typedef struct check_options
{
    const char* scene;
    const char* overrides[OVERRIDES_MAX];
    int override_count;
    bool json;
    bool schema; // print it, and look at no scene
} check_options;

// Warnings that the library logs on the way; each once, though the simulation may repeat what the loader said.
typedef struct check_warnings
{
    bool json;
    char* text[WARNINGS_MAX];
    int count;
} check_warnings;

static void warnings_add(const char* message, void* user)
{
    check_warnings* warnings = user;
    for (int k = 0; k < warnings->count; k++)
    {
        if (strcmp(warnings->text[k], message) == 0)
        {
            return;
        }
    }
    if (!warnings->json)
    {
        fprintf(stderr, "weft: warning: %s\n", message);
    }
    char* copy = warnings->count < WARNINGS_MAX ? malloc(strlen(message) + 1) : NULL;
    if (copy)
    {
        warnings->text[warnings->count++] = strcpy(copy, message);
    }
}

static void warnings_finish(check_warnings* warnings)
{
    weft_set_log(NULL, NULL);
    for (int k = 0; k < warnings->count; k++)
    {
        free(warnings->text[k]);
    }
}

// ---- where bodies lie and what cloth weighs

typedef struct body_extent
{
    weft_vec3 min, max; // m
    double mass;        // of cloth, kg
} body_extent;

// Of the vertices that triangles have (all of them where there is no triangle): what lies around somewhere says nothing of
// the size. of [count] is the vertex that each place shows.
static void extent_set(const weft_vec3* x, int count, const int* of, const unsigned char* used, body_extent* out)
{
    bool first = true;
    for (int v = 0; v < count; v++)
    {
        if (used[of[v]])
        {
            out->min = first ? x[v] : (weft_vec3){fmin(out->min.x, x[v].x), fmin(out->min.y, x[v].y), fmin(out->min.z, x[v].z)};
            out->max = first ? x[v] : (weft_vec3){fmax(out->max.x, x[v].x), fmax(out->max.y, x[v].y), fmax(out->max.z, x[v].z)};
            first = false;
        }
    }
}

// Room for one body after the other.
typedef struct measure_room
{
    weft_vec3* x;        // [vertices] of the outputs
    int* of;             // [vertices] the vertex that each shows
    unsigned char* used; // [vertices]
    int* triangles;      // [3 * triangles]
    int vertices, triangle_count;
} measure_room;

static void room_mark(measure_room* room, int triangle_count, int vertex_count)
{
    memset(room->used, triangle_count == 0, (size_t)vertex_count);
    for (size_t k = 0; k < 3 * (size_t)triangle_count; k++)
    {
        room->used[room->triangles[k]] = 1;
    }
}

static weft_status measure_cloths(const weft_sim* sim, measure_room* room, body_extent* out)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < weft_sim_cloth_count(sim) && status == WEFT_OK; k++)
    {
        weft_sim_positions(sim, k, room->x);
        weft_sim_output_vertices(sim, k, room->of);
        weft_sim_triangles(sim, k, room->triangles);
        room_mark(room, weft_sim_triangle_count(sim, k), weft_sim_vertex_count(sim, k));
        extent_set(room->x, weft_sim_output_count(sim, k), room->of, room->used, &out[k]);
        status = weft_sim_mass(sim, k, &out[k].mass);
    }
    return status;
}

// At time 0: where its motion and its first sample put it.
static weft_status measure_obstacles(weft_sim* sim, measure_room* room, body_extent* out, weft_error* error)
{
    for (int k = 0; k < room->vertices; k++)
    {
        room->of[k] = k;
    }
    for (int k = 0; k < weft_sim_obstacle_count(sim); k++)
    {
        weft_status status = weft_sim_obstacle_positions(sim, k, 0.0, room->x, error);
        if (status != WEFT_OK)
        {
            return status;
        }
        weft_sim_obstacle_triangles(sim, k, room->triangles);
        room_mark(room, weft_sim_obstacle_triangle_count(sim, k), weft_sim_obstacle_vertex_count(sim, k));
        extent_set(room->x, weft_sim_obstacle_vertex_count(sim, k), room->of, room->used, &out[k]);
    }
    return WEFT_OK;
}

static void room_finish(measure_room* room)
{
    free(room->x);
    free(room->of);
    free(room->used);
    free(room->triangles);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static bool room_make(const weft_sim* sim, measure_room* room)
{
    *room = (measure_room){.vertices = 1, .triangle_count = 1};
    for (int k = 0; k < weft_sim_cloth_count(sim); k++)
    {
        room->vertices = larger(room->vertices, larger(weft_sim_vertex_count(sim, k), weft_sim_output_count(sim, k)));
        room->triangle_count = larger(room->triangle_count, weft_sim_triangle_count(sim, k));
    }
    for (int k = 0; k < weft_sim_obstacle_count(sim); k++)
    {
        room->vertices = larger(room->vertices, weft_sim_obstacle_vertex_count(sim, k));
        room->triangle_count = larger(room->triangle_count, weft_sim_obstacle_triangle_count(sim, k));
    }
    room->x = malloc((size_t)room->vertices * sizeof(*room->x));
    room->of = malloc((size_t)room->vertices * sizeof(*room->of));
    room->used = malloc((size_t)room->vertices);
    room->triangles = malloc(3 * (size_t)room->triangle_count * sizeof(*room->triangles));
    return room->x && room->of && room->used && room->triangles;
}

// Cloths, then obstacles; *out is for the caller to free, also after a failure.
static weft_status measure_bodies(weft_sim* sim, body_extent** out, weft_error* error)
{
    size_t count = (size_t)weft_sim_cloth_count(sim) + (size_t)weft_sim_obstacle_count(sim);
    measure_room room;
    *out = calloc(count + 1, sizeof(**out));
    weft_status status = WEFT_NO_MEMORY;
    if (room_make(sim, &room) && *out)
    {
        status = measure_cloths(sim, &room, *out);
        status = status == WEFT_OK ? measure_obstacles(sim, &room, *out + weft_sim_cloth_count(sim), error) : status;
    }
    room_finish(&room);
    return status;
}

// ---- as text

static void print_settings(const weft_scene* scene)
{
    const weft_sim_def* def = weft_scene_sim_def(scene);
    printf("%s: %d frames of %d steps of %g s, %g frames a second\n", weft_scene_name(scene), weft_scene_frames(scene),
           weft_scene_steps_per_frame(scene), def->time_step, weft_scene_frame_rate(scene));
    printf("method %s, solver %s%s%s, tolerance %g, kernels %s\n", def->method, def->solver,
           def->preconditioner ? " with preconditioner " : "", def->preconditioner ? def->preconditioner : "",
           def->tolerance, def->kernels);
}

static void print_extent(const body_extent* body)
{
    printf("  from [%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g] m, ", body->min.x, body->min.y, body->min.z, body->max.x,
           body->max.y, body->max.z);
}

static void print_friction(const char* indent, double friction, double static_friction, double unsaid)
{
    printf("%sfriction ", indent);
    if (friction < 0.0)
    {
        printf("of what it touches (else %g)", unsaid);
        return;
    }
    printf("%g", friction);
    if (static_friction >= 0.0)
    {
        printf(" (%g at rest)", static_friction);
    }
}

// null where it is not said; at rest the same where that is not said.
static void put_friction(double friction, double static_friction)
{
    if (friction < 0.0)
    {
        printf("\"friction\":null,\"static_friction\":null,");
        return;
    }
    printf("\"friction\":%.17g,\"static_friction\":%.17g,", friction,
           static_friction >= 0.0 ? static_friction : friction);
}

// ---- what a sheet has beside that, as it is measured; 0: not given

typedef struct measure
{
    const char *key, *text, *unit;
    size_t offset;
} measure;

static const measure measures[] = {
    {"bending_weft", "bending along weft", "N m", offsetof(weft_material, bending_weft)},
    {"bending_bias", "bending at the bias", "N m", offsetof(weft_material, bending_bias)},
    {"bending_curvature", "bending changes at a curvature of", "1/m", offsetof(weft_material, bending_curvature)},
    {"bending_beyond", "and is", "times as stiff beyond it", offsetof(weft_material, bending_beyond)},
    {"knee_warp", "the knee of warp is at a strain of", "", offsetof(weft_material, knee_warp)},
    {"stiff_warp", "stretch of warp beyond it", "N/m", offsetof(weft_material, stiff_warp)},
    {"knee_weft", "the knee of weft is at a strain of", "", offsetof(weft_material, knee_weft)},
    {"stiff_weft", "stretch of weft beyond it", "N/m", offsetof(weft_material, stiff_weft)},
    {"strain_limit", "threads are stretched by at most", "", offsetof(weft_material, strain_limit)},
    {"crease_curvature", "creases stay beyond a curvature of", "1/m", offsetof(weft_material, crease_curvature)},
    {"crease_share", "of which", "stays", offsetof(weft_material, crease_share)},
};

static double measure_of(const weft_material* m, size_t k)
{
    return *(const double*)((const char*)m + measures[k].offset);
}

static void print_measures(const weft_material* m)
{
    for (size_t k = 0; k < sizeof(measures) / sizeof(measures[0]); k++)
    {
        if (measure_of(m, k) > 0.0)
        {
            printf("  %s %g%s%s\n", measures[k].text, measure_of(m, k), measures[k].unit[0] ? " " : "", measures[k].unit);
        }
    }
}

static void put_measures(const weft_material* m)
{
    for (size_t k = 0; k < sizeof(measures) / sizeof(measures[0]); k++)
    {
        if (measure_of(m, k) > 0.0)
        {
            printf(",\"%s\":%.17g", measures[k].key, measure_of(m, k));
        }
    }
}

static void print_cloth(const weft_scene_cloth* cloth, const char* bending, const body_extent* body, double unsaid)
{
    const weft_material* m = &cloth->material;
    bool lines = cloth->segment_count > 0;
    printf("%s %s (%s): vertices %d, %s %d, %s %d, pinned vertices %d in %d sets, forces %d\n", cloth->kind,
           cloth->name, cloth->source, cloth->vertex_count, lines ? "lines" : "faces", cloth->face_count,
           lines ? "segments" : "triangles", lines ? cloth->segment_count : cloth->triangle_count, cloth->pinned_count,
           cloth->pin_count, cloth->force_count);
    if (cloth->tetrahedron_count > 0)
    {
        printf("  the surface of %d tetrahedra\n", cloth->tetrahedron_count);
    }
    print_extent(body);
    printf("mass %.4g kg\n", body->mass);
    bool other = cloth->bending && strcmp(cloth->bending, bending) != 0;
    printf("  %s%s%s%s%s%s: ", cloth->model, bending ? ", bending " : "", bending ? bending : "", other ? " (" : "",
           other ? cloth->bending : "", other ? ")" : "");
    for (int k = 0; k < cloth->value_count; k++)
    {
        const weft_scene_value* v = &cloth->values[k];
        printf("%s%s %g %s", k > 0 ? ", " : "", v->name, v->value, v->unit);
    }
    if (cloth->value_count == 0)
    {
        printf("%g %s, stretch %g and %g N/m, shear %g N/m, bending %g N m, damping %g s", m->density,
               cloth->density_unit, m->stretch_warp, m->stretch_weft, m->shear, m->bending, m->damping);
    }
    putchar('\n');
    print_measures(m);
    print_friction("  ", cloth->friction, cloth->static_friction, unsaid);
    printf(", %s %g m\n", cloth->has_radius ? "radius" : "thickness",
           cloth->thickness / (cloth->has_radius ? 2.0 : 1.0));
    for (int k = 0; k < cloth->setting_count; k++)
    {
        const weft_choice* c = &cloth->settings[k];
        printf("%s%s.%s %g%s", k == 0 ? "  of its own: " : ", ", c->method, c->name, c->value,
               k + 1 == cloth->setting_count ? "\n" : "");
    }
}

static void print_tie(const weft_tied* t)
{
    printf("tie of %s to %s: %d %s, %.4g to %.4g m away", t->cloth, t->to, t->point_count,
           t->edges ? "points of edges" : "vertices", t->nearest, t->farthest);
    if (t->near_count > 0)
    {
        printf("; contact leaves %d alone, which lie upon it", t->near_count);
    }
    printf("\n");
}

// Where contact and a tie work against each other. False: nowhere.
static bool tie_doubt(const weft_scene* scene, const weft_tied* t, char* out, size_t size)
{
    snprintf(
        out, size,
        "%d vertices of `%s` are not tied and start closer than %.4g m to `%s`, upon which others of it are tied, "
        "which "
        "contact leaves alone: the cloths can cross there; start a little apart, or add {\"pair\": [\"%s\", \"%s\"]} "
        "to contact.exclude",
        t->loose_count, t->cloth, t->kept, t->to, t->cloth, t->to);
    return t->loose_count > 0 && weft_scene_sim_def(scene)->contact;
}

static void print_obstacle(const weft_scene_obstacle* o, const body_extent* body, double unsaid)
{
    printf("obstacle %s (%s): vertices %d, triangles %d, %s, ", o->name, o->shape ? o->shape : o->obj, o->vertex_count,
           o->triangle_count, o->is_closed ? "closed" : "open");
    if (o->sample_count > 0)
    {
        printf("deforms by %d samples of %s, %g a second%s", o->sample_count, o->deform, o->deform_rate,
               o->deform_loop ? ", again and again" : "");
        if (o->deform_error >= 0.0)
        {
            printf(", %.2g m off between them", o->deform_error);
        }
        fputs(o->key_count > 0 ? ", and " : "", stdout);
    }
    if (o->key_count > 0)
    {
        printf("moves by %d keys", o->key_count);
    }
    puts(o->sample_count + o->key_count > 0 ? "" : "still");
    print_extent(body);
    print_friction("", o->friction, o->static_friction, unsaid);
    printf(", thickness %g m", o->thickness);
    if (o->deviation > 0.0)
    {
        printf(", triangles within %.3g m of the shape", o->deviation);
    }
    printf("\n");
}

static void print_text(const weft_scene* scene, const weft_sim* sim, const body_extent* bodies)
{
    double unsaid = weft_scene_sim_def(scene)->friction;
    print_settings(scene);
    weft_scene_cloth cloth;
    for (int k = 0; weft_scene_cloth_at(scene, k, &cloth) == WEFT_OK; k++)
    {
        print_cloth(&cloth, weft_sim_cloth_bending(sim, k), bodies++, unsaid);
    }
    weft_scene_obstacle obstacle;
    for (int k = 0; weft_scene_obstacle_at(scene, k, &obstacle) == WEFT_OK; k++)
    {
        print_obstacle(&obstacle, bodies++, unsaid);
    }
    for (int k = 0; k < weft_sim_tie_count(sim); k++)
    {
        weft_tied tied = weft_sim_tie_at(sim, k);
        print_tie(&tied);
    }
    for (int k = 0; k < weft_sim_tie_count(sim); k++)
    {
        char note[NOTE_SIZE];
        weft_tied tied = weft_sim_tie_at(sim, k);
        if (tie_doubt(scene, &tied, note, sizeof(note)))
        {
            printf("note: %s\n", note);
        }
    }
    for (int k = 0; weft_scene_warning(scene, k); k++)
    {
        printf("note: %s\n", weft_scene_warning(scene, k));
    }
    printf("the scene is sound\n");
}

// ---- as JSON

static void put_pair(const char* key, const char* value)
{
    printf("\"%s\":", key);
    if (value)
    {
        put_json_string(value);
    }
    else
    {
        printf("null");
    }
    putchar(',');
}

static void put_extent(const body_extent* body)
{
    printf("\"min\":[%.17g,%.17g,%.17g],\"max\":[%.17g,%.17g,%.17g],", body->min.x, body->min.y, body->min.z,
           body->max.x, body->max.y, body->max.z);
}

static void put_cloth(const weft_scene_cloth* cloth, const char* bending, const body_extent* body)
{
    const weft_material* m = &cloth->material;
    putchar('{');
    put_pair("name", cloth->name);
    put_pair("kind", cloth->kind);
    put_pair("obj", cloth->obj);
    put_pair("model", cloth->model);
    put_pair("bending", bending);
    printf("\"vertices\":%d,\"faces\":%d,\"triangles\":%d,\"segments\":%d,\"tetrahedra\":%d,\"pins\":%d,\"pinned\":%d,"
           "\"forces\":%d,",
           cloth->vertex_count, cloth->face_count, cloth->triangle_count, cloth->segment_count,
           cloth->tetrahedron_count, cloth->pin_count, cloth->pinned_count, cloth->force_count);
    put_extent(body);
    put_friction(cloth->friction, cloth->static_friction);
    printf("\"mass\":%.17g,\"thickness\":%.17g,", body->mass, cloth->thickness);
    for (int k = 0; k < cloth->setting_count; k++)
    {
        const weft_choice* c = &cloth->settings[k];
        printf("%s\"%s.%s\":%.17g%s", k == 0 ? "\"settings\":{" : ",", c->method, c->name, c->value,
               k + 1 == cloth->setting_count ? "}," : "");
    }
    if (cloth->value_count > 0)
    {
        for (int k = 0; k < cloth->value_count; k++)
        {
            printf("%s\"%s\":%.17g", k > 0 ? "," : "\"material\":{", cloth->values[k].name, cloth->values[k].value);
        }
        printf("}}");
        return;
    }
    printf("\"material\":{\"density\":%.17g,\"stretch_warp\":%.17g,\"stretch_weft\":%.17g,\"shear\":%.17g,"
           "\"bending\":%.17g,\"damping\":%.17g",
           m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending, m->damping);
    put_measures(m);
    printf("}}");
}

static void put_obstacle(const weft_scene_obstacle* o, const body_extent* body)
{
    putchar('{');
    put_pair("name", o->name);
    put_pair("shape", o->shape);
    put_pair("obj", o->obj);
    put_pair("deform", o->deform);
    put_extent(body);
    put_friction(o->friction, o->static_friction);
    printf("\"vertices\":%d,\"faces\":%d,\"triangles\":%d,\"closed\":%s,\"deviation\":%.17g,"
           "\"thickness\":%.17g,\"keys\":%d,\"samples\":%d,\"sample_rate\":%.17g,\"sample_loop\":%s,",
           o->vertex_count, o->face_count, o->triangle_count, o->is_closed ? "true" : "false", o->deviation,
           o->thickness, o->key_count, o->sample_count, o->sample_count > 0 ? o->deform_rate : 0.0,
           o->deform_loop ? "true" : "false");
    printf(o->deform_error >= 0.0 ? "\"sample_error\":%.17g}" : "\"sample_error\":null}", o->deform_error);
}

static void put_tie(const weft_tied* t)
{
    putchar('{');
    put_pair("cloth", t->cloth);
    put_pair("to", t->to);
    put_pair("by", t->edges ? "edges" : "vertices");
    printf("\"points\":%d,\"near\":%d,\"loose\":%d,\"nearest\":%.17g,\"farthest\":%.17g}", t->point_count,
           t->near_count, t->loose_count, t->nearest, t->farthest);
}

static void put_warnings(const weft_scene* scene, const weft_sim* sim, const check_warnings* warnings)
{
    const char* comma = "";
    for (int k = 0; weft_scene_warning(scene, k); k++, comma = ",")
    {
        fputs(comma, stdout);
        put_json_string(weft_scene_warning(scene, k));
    }
    for (int k = 0; k < warnings->count; k++, comma = ",")
    {
        fputs(comma, stdout);
        put_json_string(warnings->text[k]);
    }
    for (int k = 0; k < weft_sim_tie_count(sim); k++)
    {
        char note[NOTE_SIZE];
        weft_tied tied = weft_sim_tie_at(sim, k);
        if (tie_doubt(scene, &tied, note, sizeof(note)))
        {
            fputs(comma, stdout);
            put_json_string(note);
            comma = ",";
        }
    }
}

static void print_json(const weft_scene* scene, const weft_sim* sim, const body_extent* bodies,
                       const check_warnings* warnings)
{
    const weft_sim_def* def = weft_scene_sim_def(scene);
    putchar('{');
    put_pair("scene", weft_scene_name(scene));
    put_pair("method", def->method);
    put_pair("solver", def->solver);
    put_pair("preconditioner", def->preconditioner);
    put_pair("variant", def->solver_variant);
    put_pair("kernels", def->kernels);
    printf("\"time_step\":%.17g,\"steps_per_frame\":%d,\"frames\":%d,\"frame_rate\":%.17g,\"cloth\":[", def->time_step,
           weft_scene_steps_per_frame(scene), weft_scene_frames(scene), weft_scene_frame_rate(scene));
    weft_scene_cloth cloth;
    for (int k = 0; weft_scene_cloth_at(scene, k, &cloth) == WEFT_OK; k++)
    {
        fputs(k > 0 ? "," : "", stdout);
        put_cloth(&cloth, weft_sim_cloth_bending(sim, k), bodies++);
    }
    printf("],\"obstacles\":[");
    weft_scene_obstacle obstacle;
    for (int k = 0; weft_scene_obstacle_at(scene, k, &obstacle) == WEFT_OK; k++)
    {
        fputs(k > 0 ? "," : "", stdout);
        put_obstacle(&obstacle, bodies++);
    }
    printf("],\"ties\":[");
    for (int k = 0; k < weft_sim_tie_count(sim); k++)
    {
        weft_tied tied = weft_sim_tie_at(sim, k);
        fputs(k > 0 ? "," : "", stdout);
        put_tie(&tied);
    }
    printf("],\"warnings\":[");
    put_warnings(scene, sim, warnings);
    printf("]}\n");
}

// ---- the command

static bool is_json(int argc, char** argv)
{
    for (int k = 1; k < argc; k++)
    {
        if (strcmp(argv[k], "--json") == 0)
        {
            return true;
        }
    }
    return false;
}

static int read_override(option_scan* scan, check_options* o)
{
    const char* value = option_value(scan);
    if (!value)
    {
        return report_usage("check", o->json, "--set needs PATH=VALUE");
    }
    if (o->override_count == OVERRIDES_MAX)
    {
        return report_usage("check", o->json, "more than %d times --set", OVERRIDES_MAX);
    }
    o->overrides[o->override_count++] = value;
    return EXIT_DONE;
}

static int read_options(int argc, char** argv, check_options* o)
{
    *o = (check_options){.json = is_json(argc, argv)};
    option_scan scan = {.command = "check", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        int status = EXIT_DONE;
        if (!scan.name && o->scene)
        {
            status = report_usage("check", o->json, "one scene at a time: `%s` and `%s`", o->scene, scan.value);
        }
        else if (!scan.name)
        {
            o->scene = scan.value;
        }
        else if (option_is(&scan, "--set"))
        {
            status = read_override(&scan, o);
        }
        else if (option_is(&scan, "--schema"))
        {
            o->schema = true;
        }
        else if (!option_is(&scan, "--json"))
        {
            status = report_usage("check", o->json, "unknown option `%s`", scan.name);
        }
        if (status != EXIT_DONE)
        {
            return status;
        }
    }
    return o->scene || o->schema
               ? EXIT_DONE
               : report_usage("check", o->json, "which scene? give a file or a name from `weft list scenes`");
}

// For editors: with the settings of all methods of this build.
static int print_schema(void)
{
    size_t size = weft_scene_schema(NULL, 0) + 1;
    char* text = malloc(size);
    if (!text)
    {
        weft_error error = {.status = WEFT_NO_MEMORY, .message = "no memory for the schema"};
        return report_error(&error, false);
    }
    weft_scene_schema(text, size);
    fputs(text, stdout);
    free(text);
    return EXIT_DONE;
}

static int check_scene(const check_options* o, const check_warnings* warnings)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_status status = weft_scene_load(o->scene, o->overrides, o->override_count, &scene, &error);
    if (status == WEFT_OK)
    {
        // Making the simulation checks what only it can: model and method together, solver, shapes of triangles.
        status = weft_scene_build_sim(scene, 1, &sim, &error);
    }
    weft_untangling untangled = {0};
    status = status == WEFT_OK ? weft_scene_start(scene, sim, &untangled, &error) : status;
    status == WEFT_OK ? report_untangling(sim, &untangled) : (void)0;
    body_extent* bodies = NULL;
    status = status == WEFT_OK ? measure_bodies(sim, &bodies, &error) : status;
    int code = EXIT_DONE;
    if (status != WEFT_OK)
    {
        error.status = status;
        // What is noted may be why: coordinates in millimetres, or a mesh in pieces.
        for (int k = 0; scene && !o->json && weft_scene_warning(scene, k); k++)
        {
            fprintf(stderr, "weft: note: %s\n", weft_scene_warning(scene, k));
        }
        code = report_error(&error, o->json);
    }
    else if (o->json)
    {
        print_json(scene, sim, bodies, warnings);
    }
    else
    {
        print_text(scene, sim, bodies);
    }
    free(bodies);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return code;
}

int command_check(int argc, char** argv)
{
    check_options options;
    int status = read_options(argc, argv, &options);
    if (status != EXIT_DONE)
    {
        return status;
    }
    if (options.schema)
    {
        return print_schema();
    }
    check_warnings warnings = {.json = options.json};
    weft_set_log(warnings_add, &warnings);
    status = check_scene(&options, &warnings);
    warnings_finish(&warnings);
    return status;
}

// One simulation that is played: loads scenes and switches methods from where bodies are.
#include <stdlib.h>
#include <string.h>

#include "stage.h"

// ---- shapes

static void take_cloth(const stage* s, int id, shape* out)
{
    weft_scene_cloth info = {0};
    (void)weft_scene_cloth_at(s->loaded, id, &info);
    *out = (shape){.cloth = id, .vertex_count = weft_sim_output_count(s->sim, id), .radius = 0.5 * info.thickness};
    out->triangle_count = weft_sim_triangle_count(s->sim, id);
    out->segment_count = weft_sim_segment_count(s->sim, id);
    out->kind = info.segment_count > 0 ? SHAPE_STRANDS : info.tetrahedron_count > 0 ? SHAPE_SOLID : SHAPE_SHEET;
    out->x = grab_memory((size_t)out->vertex_count, sizeof(weft_vec3));
    out->triangles = grab_memory(3 * (size_t)out->triangle_count, sizeof(int));
    out->segments = grab_memory(2 * (size_t)out->segment_count, sizeof(int));
    weft_sim_positions(s->sim, id, out->x);
    weft_sim_triangles(s->sim, id, out->triangles);
    weft_sim_segments(s->sim, id, out->segments);
}

// Positions come out as the mesh was given, triangles as it was welded: of a mesh with seams each vertex has one output
// that shows it.
static void use_outputs(const stage* s, shape* out)
{
    int* shown = grab_memory((size_t)out->vertex_count, sizeof(int));
    int* output = grab_memory((size_t)out->vertex_count, sizeof(int));
    weft_sim_output_vertices(s->sim, out->cloth, shown);
    for (int k = out->vertex_count - 1; k >= 0; k--)
    {
        output[shown[k]] = k;
    }
    for (int k = 0; k < 3 * out->triangle_count; k++)
    {
        out->triangles[k] = output[out->triangles[k]];
    }
    for (int k = 0; k < 2 * out->segment_count; k++)
    {
        out->segments[k] = output[out->segments[k]];
    }
    free(shown);
    free(output);
}

static void take_obstacle(const stage* s, int id, shape* out)
{
    *out = (shape){.kind = SHAPE_OBSTACLE, .cloth = id, .vertex_count = weft_sim_obstacle_vertex_count(s->sim, id)};
    out->triangle_count = weft_sim_obstacle_triangle_count(s->sim, id);
    out->x = grab_memory((size_t)out->vertex_count, sizeof(weft_vec3));
    out->triangles = grab_memory(3 * (size_t)out->triangle_count, sizeof(int));
    out->segments = grab_memory(1, sizeof(int));
    (void)weft_sim_obstacle_positions(s->sim, id, weft_sim_time(s->sim), out->x, NULL);
    weft_sim_obstacle_triangles(s->sim, id, out->triangles);
}

static void take_shapes(stage* s)
{
    int cloths = weft_sim_cloth_count(s->sim), obstacles = weft_sim_obstacle_count(s->sim);
    picture* p = &s->picture;
    for (int k = 0; k < p->shape_count; k++)
    {
        shape_finish(&p->shapes[k]);
    }
    free(p->shapes);
    p->shape_count = cloths + obstacles;
    p->shapes = grab_memory((size_t)p->shape_count, sizeof(shape));
    for (int k = 0; k < p->shape_count; k++)
    {
        shape* out = &p->shapes[k];
        k < cloths ? take_cloth(s, k, out) : take_obstacle(s, k - cloths, out);
        k < cloths ? use_outputs(s, out) : (void)0;
        out->rest = memory_copy(out->x, (size_t)out->vertex_count * sizeof(weft_vec3));
    }
    p->vertex_count = weft_sim_vertex_count(s->sim, -1);
    p->generation++;
}

void stage_look_again(stage* s)
{
    picture* p = &s->picture;
    for (int k = 0; k < p->shape_count; k++)
    {
        shape* at = &p->shapes[k];
        if (at->kind != SHAPE_OBSTACLE)
        {
            weft_sim_positions(s->sim, at->cloth, at->x);
        }
        else if (!weft_sim_obstacle_is_still(s->sim, at->cloth))
        {
            (void)weft_sim_obstacle_positions(s->sim, at->cloth, weft_sim_time(s->sim), at->x, NULL);
        }
    }
    p->time = weft_sim_time(s->sim);
    p->steps = (int)weft_sim_step_count(s->sim);
}

// ---- loading

static bool refuse(stage* s, const weft_error* error)
{
    snprintf(s->picture.message, sizeof(s->picture.message), "%.80s%s%.160s", error->file, error->file[0] ? ": " : "",
             error->message);
    return false;
}

// The simulation of a scene with that method; iterations 0: the scene's own.
static bool build(stage* s, const play_scene* scene, const char* method, int iterations, weft_scene** loaded,
                  weft_sim** sim)
{
    weft_error error = {0};
    char texts[2][64];
    const char* overrides[5] = {"model=hooke", "time_step=0.016666666666666666", "steps_per_frame=1", texts[0],
                                texts[1]};
    snprintf(texts[0], sizeof(texts[0]), "method=%s", method ? method : "local-global");
    snprintf(texts[1], sizeof(texts[1]), "local-global.iterations=%d", iterations);
    int first = scene->text ? 0 : method ? 3 : 4, count = (iterations > 0 ? 5 : 4) - first;
    weft_status status = scene->text ? weft_scene_parse(scene->name, scene->text, overrides, count, loaded, &error)
                                     : weft_scene_load(scene->name, overrides + first, count, loaded, &error);
    status = status ? status : weft_scene_create_sim(*loaded, s->threads, sim, &error);
    if (status != WEFT_OK)
    {
        weft_scene_destroy(*loaded);
        return refuse(s, &error);
    }
    return true;
}

static void use(stage* s, const play_scene* scene, weft_scene* loaded, weft_sim* sim)
{
    weft_sim_destroy(s->sim);
    weft_scene_destroy(s->loaded);
    s->scene = scene, s->loaded = loaded, s->sim = sim;
    picture* p = &s->picture;
    const weft_sim_def* def = weft_scene_sim_def(loaded);
    snprintf(p->scene, sizeof(p->scene), "%.60s", weft_scene_name(loaded));
    snprintf(p->method, sizeof(p->method), "%.30s", def->method);
    p->iterations = (int)weft_sim_def_get(def, "local-global", "iterations");
    p->time_step = def->time_step;
    p->message[0] = '\0';
}

static bool has_wind(const stage* s)
{
    return length(weft_scene_sim_def(s->loaded)->air.wind) > 0.0;
}

bool stage_load(stage* s, const play_scene* scene, const char* method, int iterations)
{
    weft_scene* loaded = NULL;
    weft_sim* sim = NULL;
    if (!build(s, scene, method, iterations, &loaded, &sim))
    {
        return false;
    }
    use(s, scene, loaded, sim);
    s->grip = 0;
    s->picture.pin_count = 0, s->picture.has_grip = false;
    const weft_air* air = &weft_scene_sim_def(loaded)->air;
    s->picture.windy = has_wind(s);
    s->picture.weightless = false;
    s->air = *air;
    s->air.density = air->density > 0.0 ? air->density : 1.2;
    s->air.wind = s->picture.windy ? air->wind : (weft_vec3){3.0, 0.0, 2.0};
    s->air.gust = fmax(air->gust, 0.5);
    take_shapes(s);
    stage_look_again(s);
    memset(s->picture.step_ms, 0, sizeof(s->picture.step_ms));
    return true;
}

bool stage_reset(stage* s)
{
    char method[32];
    snprintf(method, sizeof(method), "%s", s->picture.method);
    return s->scene && stage_load(s, s->scene, method, s->picture.iterations);
}

// Positions, velocities and clock of the simulation that was there go on in another one.
static void carry_over(const weft_sim* from, weft_sim* to)
{
    for (int k = 0; k < weft_sim_cloth_count(from); k++)
    {
        int count = weft_sim_output_count(from, k);
        weft_vec3* x = grab_memory(2 * (size_t)count, sizeof(weft_vec3));
        int* shown = grab_memory((size_t)count, sizeof(int));
        weft_vec3* given = grab_memory(2 * (size_t)count, sizeof(weft_vec3));
        weft_sim_positions(from, k, x);
        weft_sim_velocities(from, k, x + count);
        weft_sim_output_vertices(from, k, shown);
        for (int i = 0; i < count; i++)
        {
            given[shown[i]] = x[i], given[count + shown[i]] = x[count + i];
        }
        (void)weft_sim_set_state(to, k, given, given + count);
        free(x);
        free(shown);
        free(given);
    }
    (void)weft_sim_set_step_count(to, weft_sim_step_count(from));
}

static weft_pin_id pin_again(const weft_sim* from, weft_pin_id id, weft_sim* to)
{
    weft_cloth_id cloth = 0;
    weft_pin_id out = 0;
    weft_pin pin = weft_pin_default();
    pin.vertex_count = weft_sim_pin_vertices(from, id, &cloth, &pin.vertices);
    return pin.vertex_count > 0 && weft_sim_pin(to, cloth, &pin, &out, NULL) == WEFT_OK ? out : 0;
}

// Pins that came and went: those of the hand, those that were left, and those of the scene that were let go.
static void carry_pins(stage* s, weft_sim* to)
{
    s->grip = pin_again(s->sim, s->grip, to);
    s->picture.has_grip = s->grip != 0;
    for (int k = 0; k < s->picture.pin_count; k++)
    {
        s->left[k] = pin_again(s->sim, s->left[k], to);
    }
    for (int cloth = 0; cloth < weft_sim_cloth_count(to); cloth++)
    {
        for (int k = 0; k < weft_sim_cloth_pin_count(to, cloth); k++)
        {
            if (!weft_sim_has_pin(s->sim, weft_sim_cloth_pin(s->sim, cloth, k)))
            {
                (void)weft_sim_unpin(to, weft_sim_cloth_pin(to, cloth, k), NULL);
            }
        }
    }
}

// Edits do not outlast the simulation that they were made to.
static bool rebuild(stage* s, const char* method, int iterations)
{
    weft_scene* loaded = NULL;
    weft_sim* sim = NULL;
    if (!build(s, s->scene, method, iterations, &loaded, &sim))
    {
        return false;
    }
    carry_over(s->sim, sim);
    carry_pins(s, sim);
    use(s, s->scene, loaded, sim);
    s->picture.windy != has_wind(s) ? stage_wind(s, s->picture.windy) : (void)0;
    s->picture.weightless ? stage_gravity(s, false) : (void)0;
    return true;
}

// Explicit halves fly apart at the steps of frames.
static bool suits_frames(const char* method)
{
    return strcmp(method, "explicit") != 0 && strcmp(method, "imex") != 0 && strcmp(method, "imex2") != 0;
}

bool stage_next_method(stage* s)
{
    const char *names[16], *summary;
    int count = 0, now = 0;
    for (; count < 16 && weft_list(WEFT_LIST_METHODS, count, &names[count], &summary) == WEFT_OK; count++)
    {
        now = strcmp(names[count], s->picture.method) == 0 ? count : now;
    }
    for (int k = 1; k < count; k++)
    {
        const char* next = names[(now + k) % count];
        if (suits_frames(next) && rebuild(s, next, s->picture.iterations))
        {
            return true;
        }
    }
    return false; // the message says why
}

bool stage_set_iterations(stage* s, int iterations)
{
    char method[32];
    snprintf(method, sizeof(method), "%s", s->picture.method);
    return rebuild(s, method, iterations < 1 ? 1 : iterations > 200 ? 200 : iterations);
}

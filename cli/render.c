// `weft render`: a picture of one frame of a run, a sheet of several, or a film of all of them through ffmpeg.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/render.h"

enum
{
    SIZE_LIMIT = 16384,      // pixels a side
    FINE_TRIANGLES = 500000, // more are drawn with fewer samples a pixel, in half the time
    FRAMING_FRAMES = 24,     // frames that a picture's framing looks at; a film or a contact sheet looks at all
    STILLS_MAX = 400         // of a contact sheet
};

// ---- messages

int render_report(weft_status status, weft_error* error)
{
    error->status = status;
    if (!error->message[0])
    {
        snprintf(error->message, sizeof(error->message), "%s", weft_status_text(status));
    }
    return report_error(error, false);
}

// ---- options

static bool ends_with(const char* text, const char* ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length > end && strcmp(text + length - end, ending) == 0;
}

static bool parse_point(const char* text, weft_vec3* out)
{
    double values[3];
    for (int k = 0; k < 3; k++)
    {
        char* end;
        values[k] = strtod(text, &end);
        if (end == text || *end != (k < 2 ? ',' : '\0') || !isfinite(values[k]))
        {
            return false;
        }
        text = end + 1;
    }
    *out = (weft_vec3){values[0], values[1], values[2]};
    return true;
}

static bool parse_size(const char* text, int* width, int* height)
{
    char first[16];
    const char* cross = strchr(text, 'x');
    if (!cross || (size_t)(cross - text) >= sizeof(first))
    {
        return false;
    }
    memcpy(first, text, (size_t)(cross - text));
    first[cross - text] = '\0';
    return parse_int(first, 16, SIZE_LIMIT, width) && parse_int(cross + 1, 16, SIZE_LIMIT, height);
}

static bool parse_degrees(const char* text, double* radians)
{
    double degrees;
    if (!parse_double(text, &degrees) || !(degrees >= 1.0 && degrees <= 170.0))
    {
        return false;
    }
    *radians = degrees * 3.14159265358979323846 / 180.0;
    return true;
}

static bool set_show(render_options* o, const char* value)
{
    static const char* const names[] = {
        [SHOW_STRAIN] = "strain",           [SHOW_LEVELS] = "levels",         [SHOW_AGGREGATES] = "aggregates",
        [SHOW_STRENGTH] = "strength",       [SHOW_COMPONENTS] = "components", [SHOW_PATTERN] = "pattern",
        [SHOW_CONNECTIONS] = "connections", [SHOW_CROSSINGS] = "crossings"};
    for (show k = SHOW_STRAIN; k <= SHOW_CROSSINGS; k++)
    {
        if (strcmp(value, names[k]) == 0)
        {
            o->show = k;
            return true;
        }
    }
    return false;
}

static bool set_output(render_options* o, const char* value)
{
    o->output = value;
    o->film = ends_with(value, ".mp4");
    return o->film || ends_with(value, ".png");
}

// Options that take a value; each knows what it expects.
typedef enum valued
{
    OPTION_OUTPUT,
    OPTION_FRAME,
    OPTION_STILLS,
    OPTION_SIZE,
    OPTION_SHOW,
    OPTION_LEVEL,
    OPTION_THETA,
    OPTION_CAMERA,
    OPTION_TARGET,
    OPTION_FOV,
    OPTION_COUNT
} valued;

static const struct
{
    const char *name, *expected;
} valued_options[OPTION_COUNT] = {
    [OPTION_OUTPUT] = {"-o", "a name that ends in .png or .mp4"},
    [OPTION_FRAME] = {"--frame", "a frame's number, from 0"},
    [OPTION_STILLS] = {"--stills", "a number of stills from 1 to 400"},
    [OPTION_SIZE] = {"--size", "WxH in pixels, like 1280x720, each from 16 to 16384"},
    [OPTION_SHOW] = {"--show",
                     "`strain`, `levels`, `aggregates`, `strength`, `components`, `pattern`, `connections` or "
                     "`crossings`"},
    [OPTION_LEVEL] = {"--level", "a level of detail or of the multigrid, from 0, the finest"},
    [OPTION_THETA] = {"--theta", "a number from 0 to below 1"},
    [OPTION_CAMERA] = {"--camera", "x,y,z in metres"},
    [OPTION_TARGET] = {"--target", "x,y,z in metres"},
    [OPTION_FOV] = {"--fov", "degrees from 1 to 170"},
};

static bool option_set(render_options* o, valued option, const char* value)
{
    switch (option)
    {
    case OPTION_OUTPUT:
        return set_output(o, value);
    case OPTION_FRAME:
        return parse_int(value, 0, INT32_MAX - 1, &o->frame);
    case OPTION_STILLS:
        return parse_int(value, 1, STILLS_MAX, &o->stills);
    case OPTION_SIZE:
        return o->has_size = parse_size(value, &o->width, &o->height);
    case OPTION_SHOW:
        return set_show(o, value);
    case OPTION_LEVEL:
        return parse_int(value, 0, INT32_MAX - 1, &o->level);
    case OPTION_THETA:
        return parse_double(value, &o->theta) && o->theta >= 0.0 && o->theta < 1.0;
    case OPTION_CAMERA:
        return o->has_camera = parse_point(value, &o->camera);
    case OPTION_TARGET:
        return o->has_target = parse_point(value, &o->target);
    case OPTION_FOV:
        return parse_degrees(value, &o->fov);
    default:
        return false;
    }
}

static valued option_find(const option_scan* scan)
{
    valued option = 0;
    while (option < OPTION_COUNT && !option_is(scan, valued_options[option].name))
    {
        option++;
    }
    return option;
}

// One word of the command line, or an option and its value.
static int parse_one(option_scan* scan, render_options* o)
{
    if (!scan->name)
    {
        if (o->dir)
        {
            return report_usage("render", false, "one folder was expected, %s is a second one", scan->value);
        }
        o->dir = scan->value;
        return EXIT_DONE;
    }
    o->edges = o->edges || option_is(scan, "--edges");
    o->ground = o->ground && !option_is(scan, "--no-ground");
    if (option_is(scan, "--edges") || option_is(scan, "--no-ground"))
    {
        return EXIT_DONE;
    }
    valued option = option_find(scan);
    if (option == OPTION_COUNT)
    {
        return report_usage("render", false, "unknown option %s", scan->name);
    }
    const char* value = option_value(scan);
    if (!value || !option_set(o, option, value))
    {
        return report_usage("render", false, "%s needs %s", valued_options[option].name,
                            valued_options[option].expected);
    }
    return EXIT_DONE;
}

// Options that do not go together.
static int check_options(const render_options* o)
{
    if (!o->dir)
    {
        return report_usage("render", false, "the folder of a run was expected");
    }
    if (o->film && o->frame >= 0)
    {
        return report_usage("render", false, "--frame makes a picture, %s a film of all frames: give one of them",
                            o->output);
    }
    if (o->stills > 0 && (o->film || o->frame >= 0))
    {
        return report_usage("render", false, "--stills makes one picture of several frames, %s: give one of them",
                            o->film ? "a .mp4 is a film of all" : "--frame one of a single frame");
    }
    bool matrix = o->show >= SHOW_AGGREGATES;
    if (o->stills > 0 && matrix)
    {
        return report_usage("render", false, "--stills goes with pictures of the cloth and with --show strain");
    }
    if (o->film && matrix)
    {
        return report_usage("render", false,
                            "--show aggregates, strength, components, pattern, connections and crossings make "
                            "pictures; -o needs a .png");
    }
    if (o->level >= 0 && o->show > SHOW_AGGREGATES)
    {
        return report_usage("render", false, "--level goes with cloth, --show strain, levels and aggregates");
    }
    if (o->show == SHOW_LEVELS && (o->film || o->stills > 0))
    {
        return report_usage("render", false, "--show levels makes a picture of one frame; for %s give --level alone",
                            o->film ? "a film" : "stills");
    }
    if (o->theta >= 0.0 && o->show != SHOW_AGGREGATES && o->show != SHOW_STRENGTH)
    {
        return report_usage("render", false, "--theta goes with --show aggregates or --show strength");
    }
    return EXIT_DONE;
}

static int parse_options(int argc, char** argv, render_options* o)
{
    *o = (render_options){.frame = -1, .width = 1280, .height = 720, .ground = true, .level = -1, .theta = -1.0};
    option_scan scan = {.command = "render", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        int code = parse_one(&scan, o);
        if (code != EXIT_DONE)
        {
            return code;
        }
    }
    return check_options(o);
}

// ---- the run

static void mesh_take(weft_render_mesh* mesh, const weft_cache_body* body, bool edges)
{
    mesh->vertex_count = body->vertex_count;
    mesh->triangles = body->triangles;
    mesh->triangle_count = body->triangle_count;
    mesh->face_start = edges ? body->face_start : NULL;
    mesh->face_vertices = edges ? body->face_vertices : NULL;
    mesh->face_count = edges ? body->face_count : 0;
}

static weft_status picture_allocate(picture* p, const render_options* o)
{
    p->edges = o->edges;
    p->meshes = calloc((size_t)p->body_count, sizeof(*p->meshes));
    p->positions = calloc((size_t)p->body_count, sizeof(*p->positions));
    p->strain = calloc((size_t)p->body_count, sizeof(*p->strain));
    p->tubes = calloc((size_t)p->body_count, sizeof(*p->tubes));
    p->boxes = calloc((size_t)p->body_count, sizeof(*p->boxes));
    p->extremes = malloc((size_t)p->body_count * sizeof(*p->extremes));
    p->rgb = malloc(3 * (size_t)o->width * (size_t)o->height);
    if (!p->meshes || !p->positions || !p->strain || !p->tubes || !p->boxes || !p->extremes || !p->rgb)
    {
        return WEFT_NO_MEMORY;
    }
    size_t vertices = 0;
    int used[2] = {0, 0}; // colours of cloths and of obstacles
    for (int k = 0; k < p->body_count; k++)
    {
        const weft_cache_body* body = weft_cache_body_at(p->cache, k);
        int last = weft_cache_topology_count(p->cache, k) - 1; // the largest
        size_t count = (size_t)weft_cache_topology_at(p->cache, k, last)->vertex_count;
        bool strain = o->show == SHOW_STRAIN && !body->obstacle && !body->lines;
        vertices += count;
        p->boxes[k] = weft_box_empty();
        p->extremes[k] = extremes_empty();
        p->positions[k] = malloc((count + 1) * sizeof(weft_vec3));
        p->strain[k] = strain ? malloc((count + 1) * sizeof(double)) : NULL;
        if (!p->positions[k] || (strain && !p->strain[k]))
        {
            return WEFT_NO_MEMORY;
        }
        weft_render_mesh mesh = weft_render_mesh_default();
        mesh.role = body->obstacle ? WEFT_MESH_OBSTACLE : WEFT_MESH_CLOTH;
        weft_render_mesh_palette(&mesh, used[body->obstacle]++);
        mesh.positions = p->positions[k];
        mesh.scalars = p->strain[k];
        mesh_take(&mesh, body, o->edges);
        p->meshes[k] = mesh;
    }
    bool ranked = o->show == SHOW_STRAIN;
    p->sorted = ranked ? malloc((vertices + 1) * sizeof(double)) : NULL;
    return p->sorted || !ranked ? WEFT_OK : WEFT_NO_MEMORY;
}

static void picture_finish(picture* p)
{
    for (int k = 0; k < p->body_count; k++)
    {
        free(p->positions ? p->positions[k] : NULL);
        free(p->strain ? p->strain[k] : NULL);
        p->tubes ? lines_finish(&p->tubes[k]) : (void)0;
    }
    free(p->tubes);
    free(p->meshes);
    free(p->positions);
    free(p->strain);
    free(p->boxes);
    free(p->extremes);
    free(p->sorted);
    free(p->rgb);
    weft_renderer_destroy(p->renderer);
    weft_cache_close(p->cache);
}

weft_status picture_load(picture* p, int frame, weft_error* error)
{
    for (int k = 0; k < p->body_count; k++)
    {
        weft_status status = weft_cache_read_frame(p->cache, k, frame, p->positions[k], error);
        const weft_cache_body* body = weft_cache_topology_at(p->cache, k, weft_cache_topology_of(p->cache, k, frame));
        if (!weft_cache_present(p->cache, k, frame))
        {
            p->meshes[k].vertex_count = p->meshes[k].triangle_count = p->meshes[k].face_count = 0;
        }
        else if (status == WEFT_OK && body->lines)
        {
            status = lines_draw(p, k, body) ? WEFT_OK : WEFT_NO_MEMORY;
        }
        else if (body->triangles != p->meshes[k].triangles || p->meshes[k].vertex_count == 0) // cloth tore, or came
        {
            mesh_take(&p->meshes[k], body, p->edges);
        }
        if (status == WEFT_OK && p->strain[k])
        {
            status = weft_render_strain(body->rest, p->positions[k], body->vertex_count, body->triangles,
                                        body->triangle_count, p->strain[k]);
        }
        if (status != WEFT_OK)
        {
            return status;
        }
    }
    return WEFT_OK;
}

static int compare_doubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The largest strain, and the one that a hundredth of the vertices exceed: a few at a pin shall not darken the rest.
static void picture_rank_strain(const picture* p, double* most, double* usual)
{
    size_t count = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        for (int v = 0; p->strain[k] && v < p->meshes[k].vertex_count; v++)
        {
            if (isfinite(p->strain[k][v]))
            {
                p->sorted[count++] = p->strain[k][v];
            }
        }
    }
    if (count > 0)
    {
        qsort(p->sorted, count, sizeof(double), compare_doubles);
        *most = fmax(*most, p->sorted[count - 1]);
        *usual = fmax(*usual, p->sorted[(count - 1) - (count - 1) / 100]);
    }
}

// The next round number whose quarters are short too.
static double round_up(double value)
{
    double unit = pow(10.0, floor(log10(fmax(value, 1e-5))));
    const double steps[] = {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};
    int k = 0;
    while (k < 10 && steps[k] * unit < value * (1.0 - 1e-9))
    {
        k++;
    }
    return steps[k] * unit;
}

// ---- the view

// A camera and colours for all frames, not for one.
static bool takes_whole_run(const render_options* o)
{
    return o->film || o->stills > 0;
}

// Evenly spread frames that the camera takes in besides a picture's own.
static int framing_frames(const picture* p, const render_options* o)
{
    if (o->show == SHOW_AGGREGATES)
    {
        return 0; // it shows the frame's matrix, not a moment of a film
    }
    return takes_whole_run(o) || p->frame_count < FRAMING_FRAMES ? p->frame_count : FRAMING_FRAMES;
}

// The bounds of the bodies: of all frames for a film or a contact sheet; for a picture of evenly spread ones, always
// the same, and its own.
static weft_status picture_survey(picture* p, const render_options* o, int frame, weft_error* error)
{
    int looks = framing_frames(p, o);
    double most = 0.0, usual = 0.0; // strain
    for (int look = 0; look <= looks; look++)
    {
        bool own = look == looks; // last, so that its positions are the ones that stay loaded
        int at = own ? frame : looks > 1 ? (int)((int64_t)look * (p->frame_count - 1) / (looks - 1)) : 0;
        weft_status status = picture_load(p, at, error);
        if (status != WEFT_OK)
        {
            return status;
        }
        framing_look(p);
        if (o->show == SHOW_STRAIN && (takes_whole_run(o) || own))
        {
            picture_rank_strain(p, &most, &usual);
        }
    }
    p->view.scalar_max = round_up(usual);
    bool capped = most > p->view.scalar_max;
    snprintf(p->legend, sizeof(p->legend), capped ? "STRAIN %% (MAX %.3g)" : "STRAIN %%", 100.0 * most);
    return WEFT_OK;
}

static weft_status picture_aim(picture* p, const render_options* o)
{
    weft_view* view = &p->view;
    framing f;
    if (!framing_choose(p, o->ground, &f))
    {
        return WEFT_NO_MEMORY;
    }
    view->fov = o->fov > 0.0 ? o->fov : view->fov;
    framing_view(&f, (double)o->width / o->height, view);
    view->ground_height = fmin(view->ground_height, f.lowest);
    if (f.floor >= 0)
    {
        view->ground_height = p->boxes[f.floor].max.y;
        p->meshes[f.floor].triangle_count = p->meshes[f.floor].face_count = 0;
    }
    view->eye = o->has_camera ? o->camera : view->eye;
    p->camera_is_given = o->has_camera;
    view->target = o->has_target ? o->target : view->target;
    view->ground = o->ground;
    view->legend = o->show == SHOW_STRAIN ? p->legend : NULL;
    view->legend_scale = 100.0;
    framing_finish(&f);
    return WEFT_OK;
}

// ---- a picture

static int64_t picture_triangles(const picture* p)
{
    int64_t sum = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        sum += p->meshes[k].triangle_count;
    }
    return sum;
}

weft_status picture_draw(picture* p, weft_error* error)
{
    cutaway c;
    weft_status status = cutaway_make(p, &c);
    if (status == WEFT_OK)
    {
        status = weft_renderer_draw(p->renderer, &p->view, c.meshes, p->body_count, p->rgb, error);
    }
    cutaway_finish(&c);
    return status;
}

int render_write(const weft_canvas* canvas, const render_options* o, const char* stem, int frame)
{
    size_t size = strlen(o->dir) + strlen(stem) + 64;
    char* name = malloc(size);
    if (!name)
    {
        return render_report(WEFT_NO_MEMORY, &(weft_error){0});
    }
    char number[16] = "";
    if (frame >= 0)
    {
        snprintf(number, sizeof(number), "-%04d", frame);
    }
    snprintf(name, size, "%s/%s%s.png", o->dir, stem, number);
    const char* path = o->output ? o->output : name;
    weft_error error = {0};
    weft_status status = weft_png_write(path, canvas->rgb, canvas->width, canvas->height, &error);
    int code = status == WEFT_OK ? EXIT_DONE : render_report(status, &error);
    if (code == EXIT_DONE)
    {
        printf("%s\n", path);
    }
    free(name);
    return code;
}

static int render_picture(picture* p, const render_options* o, int frame)
{
    weft_error error = {0};
    weft_status status = picture_draw(p, &error);
    weft_canvas canvas = {p->rgb, o->width, o->height};
    return status == WEFT_OK ? render_write(&canvas, o, "frame", frame) : render_report(status, &error);
}

// ---- the command

// A scene or a name that is no folder: say what makes the folder.
static void explain_missing_run(const char* dir, weft_error* error)
{
    size_t used = strlen(error->message), room = sizeof(error->message) - used;
    if (ends_with(dir, ".json"))
    {
        const char* slash = strrchr(dir, '/');
        const char* name = slash ? slash + 1 : dir;
        snprintf(error->message + used, room,
                 "; this is a scene: run it first, `weft run %.200s`, then `weft render %.*s-run`", dir,
                 (int)strnlen(name, 200) - (int)strlen(".json"), name);
        return;
    }
    snprintf(error->message + used, room, "; run the scene first, `weft run SCENE`, then `weft render SCENE-run`");
}

// Opens the run and settles which frame is drawn.
static int open_run(picture* p, const render_options* o, int* frame)
{
    weft_error error = {0};
    weft_status status = weft_cache_open(o->dir, &p->cache, &error);
    if (status != WEFT_OK)
    {
        struct stat info;
        if (stat(o->dir, &info) != 0 || !S_ISDIR(info.st_mode))
        {
            explain_missing_run(o->dir, &error);
        }
        return render_report(status, &error);
    }
    p->frame_count = weft_cache_frame_count(p->cache);
    if (p->frame_count == 0)
    {
        snprintf(error.message, sizeof(error.message), "no frame of %s is finished yet; try again later", o->dir);
        return render_report(WEFT_BAD_INPUT, &error);
    }
    *frame = o->frame >= 0 ? o->frame : p->frame_count - 1;
    if (*frame >= p->frame_count)
    {
        return report_usage("render", false, "--frame %d: %s has the frames 0 to %d", *frame, o->dir,
                            p->frame_count - 1);
    }
    p->body_count = weft_cache_body_count(p->cache);
    bool coarser = o->level > 0 && o->show <= SHOW_STRAIN;
    status = coarser ? weft_cache_coarsen(p->cache, o->level, NULL, &error) : WEFT_OK;
    return status == WEFT_OK ? EXIT_DONE : render_report(status, &error);
}

int picture_prepare(picture* p, const render_options* o, int frame)
{
    weft_error error = {0};
    p->view = weft_view_default();
    weft_status status = picture_allocate(p, o);
    status = status == WEFT_OK ? picture_survey(p, o, frame, &error) : status;
    status = status == WEFT_OK ? picture_aim(p, o) : status;
    if (status != WEFT_OK)
    {
        return render_report(status, &error);
    }
    int supersample = o->film || picture_triangles(p) > FINE_TRIANGLES ? 1 : 2;
    status = weft_renderer_create(o->width, o->height, supersample, &p->renderer, &error);
    if (status != WEFT_OK)
    {
        render_report(status, &error);
        return status == WEFT_BAD_INPUT ? EXIT_INPUT : EXIT_MACHINE; // no driver: the machine's fault, not the caller's
    }
    return EXIT_DONE;
}

static int render_run(picture* p, render_options* o)
{
    int frame = 0;
    int code = open_run(p, o, &frame);
    if (code != EXIT_DONE)
    {
        return code;
    }
    if (o->show == SHOW_LEVELS)
    {
        return render_levels(p, o, frame);
    }
    if (o->show >= SHOW_AGGREGATES)
    {
        const char* lines = lines_first(p->cache);
        if (lines && o->show != SHOW_CROSSINGS)
        {
            return report_usage("render", false, "`%s` is made of lines, which pictures of the matrix do not show yet",
                                lines);
        }
        return o->show == SHOW_STRENGTH      ? render_strength(p, o, frame)
               : o->show == SHOW_PATTERN     ? render_pattern(p, o, frame)
               : o->show == SHOW_CONNECTIONS ? render_connections(p, o, frame)
               : o->show == SHOW_CROSSINGS   ? render_crossings(p, o, frame)
                                             : render_aggregates(p, o, frame);
    }
    if (o->stills > 0)
    {
        return render_stills(p, o);
    }
    // The film's format halves the colours both ways.
    o->width += o->film ? o->width % 2 : 0;
    o->height += o->film ? o->height % 2 : 0;
    code = picture_prepare(p, o, frame);
    if (code != EXIT_DONE)
    {
        return code;
    }
    return o->film ? render_film(p, o) : render_picture(p, o, frame);
}

int command_render(int argc, char** argv)
{
    render_options options;
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_DONE)
    {
        return code;
    }
    picture p = {0};
    code = render_run(&p, &options);
    picture_finish(&p);
    return code;
}

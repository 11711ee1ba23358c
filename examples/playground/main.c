// The playground's options, window and loop.
#include <SDL.h>
#include <stdlib.h>
#include <string.h>

#include "playground.h"

static const char usage[] =
    "playground [SCENE] [--method NAME] [--iterations N] [--threads N] [--size WxH]\n"
    "           [--frames N] [--events FILE] [--screenshot FILE.png]\n"
    "\n"
    "Drag cloth, strands and solids with the mouse. SCENE is one of those of the keys 1 to 9\n"
    "(curtain, flag, sheet, brush, foam-ball, bar, stack, hammock, washing-line), a scene file,\n"
    "or a scene that ships (weft list scenes). H in the window shows the keys.\n"
    "\n"
    "--threads N       that a step uses, 1 unless said; 0: one a core\n"
    "--frames N        one step a frame, however long it takes, and an end after N: the same picture every time\n"
    "--events FILE     mouse and keys from a file, by frame: lines as `10 down 640 200`, `11 move 640 300`,\n"
    "                  `40 up`, `50 key m`, `60 wheel 2`, `70 right 100 100`\n"
    "--screenshot FILE the last frame; the key S writes playground-1.png and so on, or FILE where this is given\n";

typedef struct options
{
    const char *scene, *method, *events, *screenshot;
    int iterations, threads, frames, width, height;
} options;

// ---- options

static bool read_number(const char* text, int least, int* out)
{
    char* end;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return *text && !*end && value >= least && value <= 1000000;
}

static bool read_option(const char* name, const char* value, options* o)
{
    char rest;
    const struct
    {
        const char* name;
        const char** to;
    } texts[] = {{"--method", &o->method}, {"--events", &o->events}, {"--screenshot", &o->screenshot}};
    for (int k = 0; k < 3; k++)
    {
        if (strcmp(name, texts[k].name) == 0)
        {
            *texts[k].to = value;
            return true;
        }
    }
    if (strcmp(name, "--size") == 0)
    {
        return sscanf(value, "%dx%d%c", &o->width, &o->height, &rest) == 2 && o->width >= 64 && o->height >= 64 &&
               o->width <= 8192 && o->height <= 8192;
    }
    return strcmp(name, "--iterations") == 0 ? read_number(value, 1, &o->iterations)
           : strcmp(name, "--threads") == 0  ? read_number(value, 0, &o->threads)
           : strcmp(name, "--frames") == 0   ? read_number(value, 1, &o->frames)
                                             : false;
}

// 0: go on; else the exit status plus one.
static int read_options(int argc, char** argv, options* o)
{
    for (int k = 1; k < argc; k++)
    {
        if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0)
        {
            fputs(usage, stdout);
            return 1;
        }
        if (argv[k][0] != '-' && !o->scene)
        {
            o->scene = argv[k];
        }
        else if (k + 1 >= argc || !read_option(argv[k], argv[k + 1], o))
        {
            fprintf(stderr, "playground: `%s`: no such option, or not such a value\n\n%s", argv[k], usage);
            return 3;
        }
        else
        {
            k++;
        }
    }
    return 0;
}

// ---- the window

static SDL_Window* try_window(const options* o, int profile, int samples, SDL_GLContext* context)
{
    SDL_GL_ResetAttributes();
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, profile);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, profile == SDL_GL_CONTEXT_PROFILE_ES ? 0 : 3);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 24);
    SDL_GL_SetAttribute(SDL_GL_MULTISAMPLEBUFFERS, samples > 0);
    SDL_GL_SetAttribute(SDL_GL_MULTISAMPLESAMPLES, samples);
    SDL_Window* window = SDL_CreateWindow("Weft playground", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, o->width,
                                          o->height, SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE);
    *context = window ? SDL_GL_CreateContext(window) : NULL;
    if (window && !*context)
    {
        SDL_DestroyWindow(window);
        return NULL;
    }
    return window;
}

// The best that there is: smooth edges or none, OpenGL 3.3 or ES 3.0.
static SDL_Window* open_window(const options* o, SDL_GLContext* context)
{
    const int tries[][2] = {{SDL_GL_CONTEXT_PROFILE_CORE, 4},
                            {SDL_GL_CONTEXT_PROFILE_ES, 4},
                            {SDL_GL_CONTEXT_PROFILE_CORE, 0},
                            {SDL_GL_CONTEXT_PROFILE_ES, 0}};
    for (int k = 0; k < 4; k++)
    {
        SDL_Window* window = try_window(o, tries[k][0], tries[k][1], context);
        if (window)
        {
            return window;
        }
    }
    fprintf(stderr, "playground: no window with OpenGL 3 can be opened: %s\n", SDL_GetError());
    return NULL;
}

// ---- the loop

static void save(const game* g, const options* o, int number)
{
    char own[64];
    weft_error error = {0};
    snprintf(own, sizeof(own), "playground-%d.png", number);
    const char* path = o->screenshot ? o->screenshot : own;
    uint8_t* rgb = grab_memory(3 * (size_t)g->camera.width * (size_t)g->camera.height, 1);
    painter_read(g->camera.width, g->camera.height, rgb);
    weft_status status = weft_png_write(path, rgb, g->camera.width, g->camera.height, &error);
    free(rgb);
    status ? (void)fprintf(stderr, "playground: %s\n", error.message) : (void)printf("%s\n", path);
    fflush(stdout);
}

static void set_title(const picture* p, SDL_Window* window)
{
    char title[128];
    snprintf(title, sizeof(title), "Weft playground: %s, %s%s", p->scene, p->method, p->paused ? ", paused" : "");
    if (p->generation > 0 && strcmp(title, SDL_GetWindowTitle(window)) != 0)
    {
        SDL_SetWindowTitle(window, title);
    }
}

static void look(game* g, SDL_Window* window)
{
    player_look(g->player, &g->picture);
    SDL_GL_GetDrawableSize(window, &g->camera.width, &g->camera.height);
    set_title(&g->picture, window);
    g->camera.shift = (double)HUD_WIDTH / g->camera.width;
    if (g->framed != g->picture.generation)
    {
        g->framed = g->picture.generation;
        camera_frame(&g->camera, &g->picture);
    }
    g->quits = g->quits || (g->picture.generation == 0 && g->picture.message[0]); // the scene cannot be had
}

// Where nothing waits for the screen. Drawing by software shares the processor with steps: they get the larger part.
static void rest(Uint64 spent, const options* o, const painter* painter)
{
    Uint64 pause = spent < 10 ? 16 - spent : painter_is_software(painter) ? (spent < 100 ? spent : 100) : 0;
    o->frames == 0 ? SDL_Delay((Uint32)pause) : (void)0;
}

static void loop(game* g, const options* o, SDL_Window* window, painter* painter, event_list* events)
{
    int saved = 0;
    SDL_GL_SetSwapInterval(o->frames > 0 ? 0 : 1);
    for (int frame = 0; !g->quits && (o->frames == 0 || frame < o->frames); frame++)
    {
        Uint64 start = SDL_GetTicks64();
        SDL_Event event;
        events ? events_push(events, frame) : (void)0;
        while (SDL_PollEvent(&event))
        {
            game_event(g, &event);
        }
        look(g, window);
        if (g->picture.generation == 0)
        {
            SDL_Delay(1); // it is being loaded
            continue;
        }
        painter_draw(painter, &g->camera, &g->picture, g->scene, g->help);
        if (g->screenshots > saved)
        {
            save(g, o, ++saved);
        }
        if (o->screenshot && frame + 1 == o->frames)
        {
            save(g, o, 0);
        }
        SDL_GL_SwapWindow(window);
        rest(SDL_GetTicks64() - start, o, painter);
    }
}

// What a script can look at.
static void report(const picture* p)
{
    double sum = 0.0, farthest = 0.0;
    int count = 0;
    for (int k = 0; k < HISTORY; k++)
    {
        sum += p->step_ms[k];
        count += p->step_ms[k] > 0.0;
    }
    for (int k = 0; k < p->shape_count; k++)
    {
        const shape* s = &p->shapes[k];
        for (int v = 0; v < s->vertex_count && s->kind != SHAPE_OBSTACLE; v++)
        {
            farthest = fmax(farthest, length(sub(s->x[v], s->rest[v])));
        }
    }
    p->message[0] ? (void)fprintf(stderr, "playground: %s\n", p->message) : (void)0;
    if (p->generation == 0)
    {
        return;
    }
    printf("%s, %s: %d vertices, %d steps, %.2f ms a step, moved by up to %.4f m%s\n", p->scene, p->method,
           p->vertex_count, p->steps, count > 0 ? sum / count : 0.0, farthest, p->has_grip ? ", held" : "");
}

static const play_scene* find_scene(game* g, const char* name)
{
    for (int k = 0; k < play_scene_count(); k++)
    {
        if (!name || strcmp(name, play_scenes[k].name) == 0)
        {
            return &play_scenes[k];
        }
    }
    g->own = (play_scene){.name = name};
    return &g->own;
}

static int play(const options* o, event_list* events)
{
    SDL_GLContext context = NULL;
    SDL_Window* window = open_window(o, &context);
    painter* painter = window ? painter_create() : NULL;
    bool good = painter != NULL;
    if (good)
    {
        game g = {.player = player_create(o->frames == 0, o->threads), .held.cloth = -1, .help = true};
        game_load(&g, find_scene(&g, o->scene), o->method, o->iterations);
        loop(&g, o, window, painter, events);
        report(&g.picture);
        good = g.picture.generation > 0;
        player_destroy(g.player);
        picture_finish(&g.picture);
    }
    painter_destroy(painter);
    context ? SDL_GL_DeleteContext(context) : (void)0;
    window ? SDL_DestroyWindow(window) : (void)0;
    return good ? 0 : 1;
}

int main(int argc, char** argv)
{
    options o = {.threads = 1, .width = 1280, .height = 720};
    int end = read_options(argc, argv, &o);
    if (end)
    {
        return end - 1;
    }
    event_list* events = o.events ? events_read(o.events) : NULL;
    if (o.events && !events)
    {
        return 1;
    }
    if (SDL_Init(SDL_INIT_VIDEO) != 0)
    {
        fprintf(stderr, "playground: %s\n", SDL_GetError());
        events_destroy(events);
        return 1;
    }
    int status = play(&o, events);
    events_destroy(events);
    SDL_Quit();
    return status;
}

// The playground: a window in which one drags cloth, strands and solids. It sees only Weft's public headers and SDL2.
//
//     main.c     options, window, the loop        scenes.c   the scenes of keys 1 to 9
//     input.c    mouse and keys                   stage.c    one simulation: loads it, switches methods
//     events.c   events from a file               hand.c     drags, pins, wind, and steps of it
//     camera.c   orbit, rays, picking             player.c   steps it on a thread of its own
//     paint.c    OpenGL; shaders.c, gl.c          picture.c  what the window knows of it
//     skin.c     what is drawn of a body          hud.c      text and the bar of milliseconds
#ifndef PLAYGROUND_H
#define PLAYGROUND_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <weft/render.h>
#include <weft/scene.h>
#include <weft/weft.h>

// ---- vectors

static inline weft_vec3 add(weft_vec3 a, weft_vec3 b)
{
    return (weft_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline weft_vec3 sub(weft_vec3 a, weft_vec3 b)
{
    return (weft_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline weft_vec3 scaled(double s, weft_vec3 a)
{
    return (weft_vec3){s * a.x, s * a.y, s * a.z};
}

static inline double dot(weft_vec3 a, weft_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline weft_vec3 cross(weft_vec3 a, weft_vec3 b)
{
    return (weft_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double length(weft_vec3 a)
{
    return sqrt(dot(a, a));
}

static inline weft_vec3 unit(weft_vec3 a)
{
    return scaled(1.0 / fmax(length(a), 1e-30), a);
}

void* grab_memory(size_t count, size_t size); // zeroed; ends the program where there is none
void* memory_copy(const void* from, size_t size);

// ---- scenes

typedef enum pattern
{
    PLAIN,
    STRIPES,
    CHECKS
} pattern;

typedef struct play_scene
{
    const char* name;
    const char* text; // a scene file's, or NULL: `name` is a file or a scene that ships
    pattern pattern;
    int color; // of its first body, in Weft's palette
} play_scene;

extern const play_scene play_scenes[]; // the last one has no name
int play_scene_count(void);

// ---- one body as others see it

typedef enum shape_kind
{
    SHAPE_SHEET,
    SHAPE_STRANDS,
    SHAPE_SOLID,
    SHAPE_OBSTACLE
} shape_kind;

typedef struct shape
{
    shape_kind kind;
    int cloth;           // its id; of obstacles theirs
    weft_vec3 *x, *rest; // [vertex_count] now, and when the scene began
    int vertex_count;
    int* triangles; // [3 * triangle_count]
    int triangle_count;
    int* segments; // [2 * segment_count]
    int segment_count;
    double radius; // m, of strands
} shape;

enum
{
    HISTORY = 120, // steps in the bar
    PINS_MAX = 64
};

// All that the window shows of a stage.
typedef struct picture
{
    int generation; // one more for each scene that was loaded
    char scene[64], method[32], message[256];
    shape* shapes; // [shape_count] cloths, then obstacles
    int shape_count, vertex_count, iterations;
    double time, time_step;  // s
    double step_ms[HISTORY]; // the last ones, oldest first
    double speed;            // seconds of the scene in a second; 1 when steps are fast enough
    bool paused, windy, weightless, has_grip;
    weft_vec3 grip;           // where the hand is
    weft_vec3 pins[PINS_MAX]; // [pin_count] that were left behind
    int pin_count;
    int steps, contacts;
} picture;

void picture_copy(picture* to, const picture* from); // positions only where the generation is the same
void picture_finish(picture* p);
void shape_finish(shape* s);
bool shape_is_floor(const shape* s); // which is drawn as the ground

// ---- a stage: a scene that is played

typedef struct stage stage;

stage* stage_create(int threads); // 0: one a core
void stage_destroy(stage* s);
// A scene from its start. method NULL: the scene's own. False: it cannot be had, message says why, and what was there
// stays.
bool stage_load(stage* s, const play_scene* scene, const char* method, int iterations);
bool stage_reset(stage* s);
bool stage_next_method(stage* s); // the next one that can move what is there, from where it is
bool stage_set_iterations(stage* s, int iterations);
void stage_grab(stage* s, int cloth, int vertex);
void stage_drag(stage* s, weft_vec3 to);
void stage_drop(stage* s, bool leave); // leave: the pin stays
void stage_let_all_go(stage* s);
void stage_wind(stage* s, bool on);
void stage_gravity(stage* s, bool on);
bool stage_step(stage* s);
const picture* stage_picture(const stage* s);

// ---- a player: a stage on a thread

typedef enum order_kind
{
    ORDER_LOAD,
    ORDER_RESET,
    ORDER_METHOD,
    ORDER_ITERATIONS,
    ORDER_GRAB,
    ORDER_DRAG,
    ORDER_DROP,
    ORDER_LEAVE,
    ORDER_LET_GO,
    ORDER_WIND,
    ORDER_GRAVITY,
    ORDER_PAUSE,
    ORDER_STEP,
    ORDER_QUIT
} order_kind;

typedef struct order
{
    order_kind kind;
    const play_scene* scene;
    const char* method;
    int number, vertex;
    weft_vec3 to;
} order;

typedef struct player player;

player* player_create(bool threaded, int workers); // without a thread player_look takes one step each time
void player_destroy(player* p);                    // waits for the step under way
void player_order(player* p, order what);          // never waits for a step
void player_look(player* p, picture* out);

// ---- camera

typedef struct camera
{
    weft_vec3 target;
    double yaw, pitch, distance; // rad, m
    double fov;                  // rad, vertical
    double ground;               // m
    int width, height;
    double shift; // of the middle to the right, where text covers the left; in half widths
} camera;

typedef struct ray
{
    weft_vec3 from, to; // unit
} ray;

typedef struct pick
{
    int cloth, vertex; // cloth -1: nothing is there
    weft_vec3 at;
} pick;

void camera_frame(camera* c, const picture* p);
weft_vec3 camera_eye(const camera* c);
ray camera_ray(const camera* c, double x, double y); // through a pixel
pick camera_pick(const camera* c, const picture* p, double x, double y);
weft_vec3 camera_slide(const camera* c, weft_vec3 at, double x, double y); // where the pixel's ray is as deep as `at`
bool camera_pixel(const camera* c, weft_vec3 at, double* x, double* y);    // false: behind the eye
void camera_matrix(const camera* c, float out[16]);                        // column by column

// ---- drawing

typedef struct skin
{
    int* source; // [vertex_count] vertex of the shape
    int vertex_count;
    int* triangles; // [3 * triangle_count]
    int triangle_count;
    float* attributes; // [9 * vertex_count] position, normal, place at rest
    weft_vec3* tubes;  // [WEFT_TUBE_VERTICES * segment_count] of strands
} skin;

void skin_init(skin* k, const shape* s);
void skin_update(skin* k, const shape* s); // attributes, from the positions
void skin_finish(skin* k);

typedef struct painter painter;

painter* painter_create(void); // of the current OpenGL context; NULL: it cannot, and standard error says why
void painter_destroy(painter* p);
bool painter_is_software(const painter* p); // no graphics processor draws
void painter_draw(painter* p, const camera* c, const picture* what, const play_scene* scene, bool help);
void painter_read(int width, int height, uint8_t* rgb); // [3 * width * height], top row first

enum
{
    HUD_WIDTH = 300, // pixels
    HUD_HEIGHT = 420
};

// Text and bars over the picture, into pixels of brightness and cover.
typedef struct hud
{
    uint8_t *rgb, *rgba; // [3 or 4 * width * height]
    int width, height;
} hud;

void hud_draw(hud* h, int width, int height, const picture* p, bool help);
void hud_finish(hud* h);

// ---- input

typedef struct game
{
    player* player;
    camera camera;
    picture picture;
    const play_scene* scene;
    play_scene own; // of the command line
    pick held;      // cloth -1: nothing
    bool orbits, help, quits;
    int framed;      // generation that the camera was framed for
    int screenshots; // asked for by key
    double mouse_x, mouse_y;
} game;

union SDL_Event;
void game_event(game* g, const union SDL_Event* event);
void game_load(game* g, const play_scene* scene, const char* method, int iterations);

typedef struct event_list event_list;

event_list* events_read(const char* path);     // NULL: standard error says why
void events_push(event_list* list, int frame); // those of the frame, into SDL's queue
void events_destroy(event_list* list);

#endif

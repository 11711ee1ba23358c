// What the files of `weft render` share: its options, the run at hand, pictures of matrices.
#ifndef WEFT_CLI_RENDER_H
#define WEFT_CLI_RENDER_H

#include <stdbool.h>

#include "cli/cli.h"
#include "weft/cache.h"
#include "weft/render.h"

typedef enum show
{
    SHOW_CLOTH,
    SHOW_STRAIN,
    SHOW_LEVELS,
    SHOW_AGGREGATES,
    SHOW_STRENGTH,
    SHOW_COMPONENTS,
    SHOW_PATTERN,
    SHOW_CONNECTIONS,
    SHOW_CROSSINGS
} show;

typedef struct render_options
{
    const char* dir;
    const char* output; // NULL: DIR/frame-KKKK.png, or named after what is shown
    int frame;          // -1: the last
    int width, height;  // of what is drawn at once: a panel where a picture has several
    bool has_size;      // by the user, of the whole picture
    bool edges, ground, film;
    int stills; // of a contact sheet; 0: none
    show show;
    int level;    // of the aggregates or the levels; -1: a panel for each. Else of detail; -1: as simulated
    double theta; // -1: the default
    bool has_camera, has_target;
    weft_vec3 camera, target;
    double fov; // rad; 0: the default
} render_options;

enum
{
    DIRECTIONS = 54 // all over the sphere
};

// Of many points, those that lie farthest in each direction: about their convex hull.
typedef struct extremes
{
    weft_vec3 points[DIRECTIONS];
    double reach[DIRECTIONS]; // along the direction; -infinity: there is no point
} extremes;

extremes extremes_empty(void);

// A body of lines as it is drawn.
typedef struct tubes
{
    const int* segments; // of the topology that the arrays have room for; NULL: none
    weft_vec3* points;
    int* triangles;
    double radius; // m
} tubes;

// The run, and room for one frame of it.
typedef struct picture
{
    weft_cache* cache;
    int body_count, frame_count;
    weft_render_mesh* meshes; // [body_count]
    weft_vec3** positions;    // [body_count][vertex_count]
    double** strain;          // [body_count][vertex_count], or entries NULL
    tubes* tubes;             // [body_count] of lines
    bool edges;               // are drawn
    weft_box* boxes;          // [body_count] over the frames that framing looks at
    extremes* extremes;       // [body_count] the same
    double facing[2];         // area of cloth that looks to the right and to the left, summed over those frames
    double* sorted;           // [vertices of all bodies], or NULL: room to rank the strain
    char legend[64];
    weft_view view;
    bool camera_is_given; // by the user: nothing is cut open for it
    weft_renderer* renderer;
    uint8_t* rgb; // [3 * width * height]
} picture;

// Makes the mesh of a body of lines from its positions; false: no memory.
bool lines_draw(picture* p, int k, const weft_cache_body* body);
void lines_finish(tubes* t);                      // zeroed is fine
const char* lines_first(const weft_cache* cache); // the first body of lines; NULL: there is none

// Adds the frame that is loaded to the bounds of all bodies and to what their cloth faces.
void framing_look(picture* p);

// What the camera takes in.
typedef struct framing
{
    weft_vec3* points; // [count]
    int count;
    int floor; // body that becomes the ground, -1: none
    bool from_left;
    double lowest; // of obstacles that the box leaves out, m; infinity: none
} framing;

// From the bodies' boxes and extremes; without a ground no body becomes it. False: no memory.
bool framing_choose(const picture* p, bool ground, framing* out);
// Aims the camera.
void framing_view(const framing* f, double aspect, weft_view* view);
void framing_finish(framing* f);

// The meshes as they are drawn: where obstacles hide the cloth, without those of their triangles that stand before it.
typedef struct cutaway
{
    weft_render_mesh* meshes; // [count]
    int** triangles;          // [count] of meshes that are cut, or NULL
    int count;
} cutaway;

weft_status cutaway_make(const picture* p, cutaway* out); // for the frame that is loaded; NO_MEMORY
void cutaway_finish(cutaway* c);                          // half-made is fine

// The message of a failure; returns the exit status.
int render_report(weft_status status, weft_error* error);

// Loads a frame, aims the camera, makes the renderer: all that comes before drawing, at the size of the options.
int picture_prepare(picture* p, const render_options* o, int frame);
weft_status picture_load(picture* p, int frame, weft_error* error); // positions of another frame
weft_status picture_draw(picture* p, weft_error* error);

// Writes to the options' output or DIR/STEM-KKKK.png, with a frame below 0 DIR/STEM.png, and prints the name.
int render_write(const weft_canvas* canvas, const render_options* o, const char* stem, int frame);

// Draws all frames into the options' output; returns the exit status. Stops cleanly when interrupted.
int render_film(picture* p, const render_options* o);

// ---- several drawings in one picture
enum
{
    LABEL_SIZE = 128
};

// Makes the run ready for the index-th drawing, loads a frame or sets colours, and writes its label [LABEL_SIZE].
typedef weft_status panel_fn(picture* p, int index, void* context, char* label, weft_error* error);

typedef struct panels
{
    int count;
    int width, height; // of each; --size is that of the whole picture, and one drawing alone is a plain picture's
    panel_fn* set;
    void* context;
    const char* stem;            // of the file, as render_write has it
    int first_frame, name_frame; // loaded before the first drawing; in the file's name, -1: none
} panels;

// All that is left to do once the run is open; returns the exit status.
int render_panels(picture* p, const render_options* o, const panels* job);

// A panel for each level of detail; returns the exit status.
int render_levels(picture* p, const render_options* o, int frame);

// A contact sheet of the options' stills; returns the exit status.
int render_stills(picture* p, const render_options* o);

// ---- the matrix of a frame
typedef struct frame_matrix
{
    weft_scene* scene;
    weft_sim* sim;
    weft_system* system; // of the step that follows the frame; vertices of all cloths, one cloth after the other
    int body_count;
    int** vertices; // [body_count][vertices of the run's body] vertex of the system that each of them shows; obstacles:
                    // NULL
} frame_matrix;

// Builds the simulation from the run's scene and puts it into the cached frame; velocities are the differences between
// frames. A matrix that failed is to be finished too.
weft_status frame_matrix_create(const char* dir, weft_cache* cache, int frame, frame_matrix* out, weft_error* error);
// The component of each vertex of the system, -1 where it is held; component has room for all.
weft_status frame_matrix_components(const frame_matrix* m, int* component, int* count, weft_error* error);
void frame_matrix_finish(frame_matrix* m);

// ---- pictures of matrices; both return the exit status
int render_strength(picture* p, const render_options* o, int frame);
int render_aggregates(picture* p, const render_options* o, int frame); // or components
int render_pattern(picture* p, const render_options* o, int frame);
int render_connections(picture* p, const render_options* o, int frame);
int render_crossings(picture* p, const render_options* o, int frame);

#endif

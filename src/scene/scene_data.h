// What a scene file says, checked and with every default filled in; and the helpers that read it from a tree.
#ifndef WEFT_SCENE_DATA_H
#define WEFT_SCENE_DATA_H

#include "math/vec.h"
#include "mesh/mesh.h"
#include "mesh/sewing_pattern.h"
#include "scene/tree.h"
#include "sim/body_kind.h"
#include "weft/scene.h"

// ---- the scene

// A point in time of a motion. Angles stay in degrees, so that writing the scene loses nothing.
typedef struct scene_key
{
    double time;  // s
    vec3 offset;  // m
    double angle; // degrees
} scene_key;

// Of pins and obstacles.
typedef struct scene_motion
{
    scene_key* keys; // [key_count] or NULL: none
    int key_count;
    vec3 axis, center;
} scene_motion;

typedef struct scene_pin
{
    int* vertices; // [vertex_count] ascending
    int vertex_count;
    weft_fix fix;
    vec3 direction; // of a line, or a plane's normal
    scene_motion motion;
    double release; // s, or infinity
    vec3* samples;  // [sample_count * vertex_count] m, in the world; NULL: none
    int sample_count;
    double sample_rate, sample_start; // 1/s, s
    double* weights;                  // [vertex_count] 0 to 1, or NULL: all are held
    double stiffness;                 // 1/s^2, of weights in between
    const char* follow;               // name of an obstacle, or NULL
    const tree_node* follow_node;     // where it stands in the file
} scene_pin;

// Edges with both ends among the vertices: elastic, or pressed.
typedef struct scene_band
{
    int* vertices; // [vertex_count] ascending
    int vertex_count;
    double rest_scale, stiffness; // stiffness in N
} scene_band;

typedef struct scene_fold
{
    int* vertices; // [vertex_count] ascending
    int vertex_count;
    double angle; // degrees
} scene_fold;

// Faces of a cloth with a material of their own.
typedef struct scene_region
{
    int* faces; // [face_count]
    int face_count;
    weft_material material;
} scene_region;

// Coefficients in motion and at rest; negative: not said, or at rest the same.
typedef struct scene_friction
{
    double kinetic, resting;
} scene_friction;

// Faces of an obstacle with friction or thickness of their own.
typedef struct scene_skin
{
    int* faces; // [face_count]
    int face_count;
    bool rubs; // it says its friction, be it that of what it touches
    scene_friction friction;
    double thickness; // m; negative: not said
} scene_skin;

typedef struct scene_force
{
    int* vertices; // [vertex_count] ascending
    int vertex_count;
    vec3 force; // N a vertex
} scene_force;

typedef struct scene_transform
{
    vec3 translate; // m
    vec3 rotate;    // degrees about the fixed axes x, then y, then z
    double scale;
} scene_transform;

// An OBJ file, as a scene asks for it.
typedef struct scene_obj
{
    const char* file;   // as the scene names it; NULL: none
    const char* object; // or NULL: all
    double scale, weld;
} scene_obj;

// What "scale" of an OBJ file and "transform" come to.
typedef struct scene_place
{
    bool turns, changes;
    mat3 rotation;
    double scale;
    vec3 translate;
} scene_place;

// What of a cloth is sewn to what.
typedef struct scene_stitches
{
    stitch_pairs pairs;  // vertices of the mesh
    weft_thread* thread; // [thread_count] points of edges, likewise
    int thread_count, thread_capacity;
    double start; // s, when the gaps begin to close
    double close; // s, how long that takes
} scene_stitches;

// A body that is simulated: cloth, or another kind.
typedef struct scene_cloth
{
    const char* name;
    const body_kind* kind;
    const tree_node* node; // where it stands in the file
    const char* source;    // of the mesh: a file, or what it is made as: "grid", "ball", ...
    bool is_grid;
    grid_options grid;
    scene_obj obj;
    scene_transform transform;
    rest_kind rest;
    double uv_scale;
    vec3 warp;       // in the mesh's own frame, before the transform
    vec3 world_warp; // after it
    const char* model;
    const char* bending;
    weft_connections connections;
    weft_material material;
    vec3 velocity;
    double vertex_mass; // 0: density times area
    double tear;        // N/m; 0: it does not
    scene_friction friction;
    double thickness;
    scene_pin* pins; // [pin_count]
    int pin_count;
    scene_force* forces; // [force_count]
    int force_count;
    scene_region* regions; // [region_count]
    int region_count;
    scene_band* bands; // [band_count]
    int band_count;
    scene_fold* folds; // [fold_count]
    int fold_count;
    scene_stitches stitches;
    weft_choice* settings; // [setting_count] of methods, instead of the scene's
    int setting_count;
    mesh mesh;           // at the start, after the transform
    vec3* rest_position; // [mesh.vertex_count] the mesh where another file says how it starts; NULL: as it starts
    vec2* rest_uv;       // [face_start[face_count]] metres, or NULL
} scene_cloth;

// How a mesh deforms: the samples of a PC2 file, of a sequence of OBJ files, or of an animation of its own file.
typedef struct scene_deform
{
    const char* pc2;       // file as the scene names it, or NULL
    const char* sequence;  // with one %d or %0Nd, or NULL
    const char* abc;       // Alembic archive as the scene names it, or NULL
    bool animates;         // by an animation of the glTF file
    const char* animation; // its name; NULL: by number
    int animation_number;
    int first, last;  // numbers of the sequence's files
    double rate;      // samples a second of the scene
    double start;     // s
    double speed;     // seconds of samples in a second of the scene
    double offset;    // s of samples, which lie before start
    bool loop;        // the first sample follows the last
    int loop_count;   // samples of a file in a period, as the scene says; 0: it does not
    int sample_count; // 0: does not deform
    double clip_step; // s of the animation between samples
    double clip_gap;  // s from its last key to its first, where it repeats
    double error;     // m, of an animation, half-way between samples; negative: not known
} scene_deform;

typedef struct scene_obstacle
{
    const char* name;
    const tree_node* node;
    bool is_shape;
    shape_options shape;
    vec3 rotate; // of a box, degrees
    scene_obj obj;
    bool is_gltf;              // obj.file is a glTF
    bool is_abc;               // obj.file is an Alembic archive
    bool deforms;              // the scene says how
    scene_transform transform; // of a mesh
    scene_friction friction;
    double thickness;
    scene_motion motion;
    scene_deform deform;
    const tree_node* deform_node;
    mesh mesh; // in place, floats, split
    mesh_defects defects;
    scene_skin* regions; // [region_count]
    int region_count;
} scene_obstacle;

typedef struct scene_exclusion
{
    const char *first, *second;
    const tree_node* node;
    int* vertices; // [vertex_count] or NULL: all
    int vertex_count;
} scene_exclusion;

typedef struct scene_tie
{
    const char *cloth, *to;
    const tree_node* node;
    int* vertices; // [vertex_count] of `cloth`, or NULL: all
    int vertex_count;
    bool edges; // by edges instead of vertices
} scene_tie;

struct weft_scene
{
    tree tree;    // owns strings that the fields below point to
    char* file;   // path, or the name of a scene that ships
    char* folder; // that paths are relative to, with its last slash; empty: the working folder
    char* name;   // without folder and ending
    const char* description;
    weft_sim_def def; // without workers
    int frames, steps_per_frame;
    const char* model; // of cloths that do not say
    bool model_named;  // otherwise a method may have its own
    const char* bending;
    weft_connections connections;
    double thickness; // of cloths and obstacles that do not say
    int start;        // "initial_contact", one of start_way
    int* layers;      // [layer_count] bodies from the skin outwards: cloths, then obstacles
    int layer_count;
    const tree_node* solver_node; // for messages; NULL when the file does not say
    const tree_node* start_node;  // likewise
    scene_cloth* cloths;          // [cloth_count] kind by kind, as the table has them
    int cloth_count;
    scene_obstacle* obstacles; // [obstacle_count]
    int obstacle_count;
    scene_exclusion* exclusions; // [exclusion_count]
    int exclusion_count;
    scene_tie* ties; // [tie_count]
    int tie_count;
    char** warnings; // [warning_count]
    int warning_count, warning_capacity;
    char* json; // canonical text
};

// An error that names no file of its own belongs to a place in the scene; node may be NULL.
void scene_error_place(const weft_scene* scene, const tree_node* node, weft_error* error);
weft_status scene_warn(weft_scene* scene, const char* format, ...) __attribute__((format(printf, 2, 3)));

// ---- reading fields
typedef struct scene_reader
{
    weft_scene* scene;
    weft_error* error; // may be NULL
} scene_reader;

// An error at a value, or at a key: file, line and column, or the override that put it there; then the path.
weft_status read_error(const scene_reader* r, const tree_node* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
weft_status read_error_key(const scene_reader* r, const tree_node* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
weft_status read_no_memory(const scene_reader* r);
// What was expected, what was found, and a value that would do where examples.c or a method has one.
weft_status read_wrong_kind(const scene_reader* r, const tree_node* node, const char* expected);
// A name that is none of `names`: the nearest one, or all of them. what: "cloth", ...
weft_status read_unknown_name(const scene_reader* r, const tree_node* node, const char* what, const char* name,
                              const char* const* names, int count);

typedef struct example_row
{
    const char* pattern; // see examples.c
    const char* example; // as JSON
    const char* unit;    // or what it is; NULL: neither
} example_row;

typedef struct example
{
    char text[160];   // as JSON
    const char* unit; // as above
} example;

bool example_find(const tree_node* node, example* out); // false: there is none
const example_row* example_rows(int* count);            // all but those of methods, for tests

typedef enum field_kind
{
    FIELD_NUMBER, // double
    FIELD_INT,    // int
    FIELD_VEC3,   // vec3
    FIELD_STRING, // const char*
    FIELD_NODE    // const tree_node*: read by its own function
} field_kind;

// One key of an object, and where its value goes.
typedef struct field
{
    const char* key;
    field_kind kind;
    size_t offset;  // in the struct that read_fields fills
    double minimum; // of numbers and integers
    double maximum; // 0 with minimum 0: any number
    bool above;     // the minimum itself is excluded
} field;

// Limits of a field, to be written after its offset.
#define ANY_NUMBER 0.0, 0.0, false
#define POSITIVE 0.0, HUGE_VAL, true
#define NOT_NEGATIVE 0.0, HUGE_VAL, false

// Fills `out` from an object; keys that are absent leave it alone; unknown keys are errors with a suggestion.
weft_status read_fields(const scene_reader* r, const tree_node* node, const field* fields, int count, void* out);
#define FIELD_COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

weft_status read_number(const scene_reader* r, const tree_node* node, const field* limits, double* out);
weft_status read_int(const scene_reader* r, const tree_node* node, const field* limits, int* out);
weft_status read_vec3(const scene_reader* r, const tree_node* node, vec3* out);
weft_status read_direction(const scene_reader* r, const tree_node* node, vec3* out); // not zero
weft_status read_truth(const scene_reader* r, const tree_node* node, int* out);      // 0 or 1
weft_status read_string(const scene_reader* r, const tree_node* node, const char** out);
// One of some words; *out is its index.
weft_status read_choice(const scene_reader* r, const tree_node* node, const char* const* words, int count, int* out);
weft_status read_array(const scene_reader* r, const tree_node* node); // checks that it is one

// ---- parts of a scene, each in its own file
struct gltf_body;
// Applies one PATH=VALUE to the tree.
weft_status override_apply(const scene_reader* r, tree_node* root, const char* text);
weft_status scene_read(const scene_reader* r, const tree_node* root);
weft_status material_read(const scene_reader* r, const tree_node* node, const body_kind* kind, weft_material* out);
// The mesh of a body, in place, checked; and what "transform", "warp" and "rest" make of it.
weft_status scene_mesh_build(const scene_reader* r, scene_cloth* cloth, const tree_node* node);
weft_status grid_read(const scene_reader* r, const tree_node* node, grid_options* out);
// Meshes from {"solid": ...} and {"brush": ...}, before the transform.
weft_status solid_mesh(const scene_reader* r, const tree_node* node, mesh* out);
weft_status brush_mesh(const scene_reader* r, const tree_node* node, mesh* out);
weft_status pin_samples_read(const scene_reader* r, const tree_node* node, const scene_cloth* cloth, scene_pin* pin);
// "weights" and "fade" of a pin, either may be NULL; the latter adds vertices to it. Before its samples are read.
weft_status pin_weights_read(const scene_reader* r, const tree_node* weights, const tree_node* fade, const mesh* m,
                             scene_pin* pin);
weft_status pins_check(const scene_reader* r); // the obstacles that they follow, once all are read
weft_status pins_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
// Faces that a region names by "where", "object" or "faces"; item is mem_free'd by the caller.
typedef struct face_list
{
    int* item; // [count]
    int count;
} face_list;
// An object or group of the mesh's file, by its name.
weft_status mesh_object_find(const scene_reader* r, const tree_node* node, const mesh* m, int* out);
weft_status region_faces_read(const scene_reader* r, const tree_node* node, const mesh* m, face_list* out);
// Regions of an obstacle, once its mesh is there.
weft_status skins_read(const scene_reader* r, const tree_node* node, scene_obstacle* o);
void skins_finish(scene_obstacle* o);
// What they make of each vertex: [vertex_count] each, mem_free'd by the caller, or NULL where no region says it.
typedef struct skin_maps
{
    double *thickness, *friction, *resting;
} skin_maps;
bool skins_map(const scene_obstacle* o, skin_maps* out); // false: no memory
void skin_maps_finish(skin_maps* maps);
weft_status regions_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
void regions_finish(scene_cloth* cloth);
weft_status forces_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
weft_status bands_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
weft_status folds_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
// {"corner": ...} where {"where": {"corner": ...}} was meant.
weft_status check_where(const scene_reader* r, const tree_node* node);
// Any of the nodes may be NULL; errors that belong to none of them are put to `owner`.
weft_status motion_read(const scene_reader* r, const tree_node* path, const tree_node* axis, const tree_node* center,
                        const tree_node* owner, scene_motion* out);
// A name of a cloth or obstacle: from its node, or PREFIXn without one. Unique.
weft_status name_read(const scene_reader* r, const tree_node* node, const tree_node* owner, const char* prefix,
                      const char** out);
weft_status transform_read(const scene_reader* r, const tree_node* node, scene_transform* out);
mat3 rotation_from_degrees(vec3 degrees); // about the fixed axes x, then y, then z
scene_place place_make(const scene_transform* transform, double obj_scale);
void place_mesh(const scene_place* place, mesh* m);
char* scene_file_path(const weft_scene* scene, const char* file); // mem_free'd by the caller; NULL: no memory
// A mesh error that names no file of its own belongs to the place in the scene that asked for the mesh.
weft_status mesh_error(const scene_reader* r, const tree_node* node, weft_status status, const weft_error* reason);
// The mesh of an obstacle from its file, in place, not split. *body is the caller's to destroy; NULL: no glTF.
weft_status obstacle_mesh_read(const scene_reader* r, const tree_node* node, scene_obstacle* o,
                               struct gltf_body** body);
weft_status obstacles_read(const scene_reader* r, const tree_node* node);
weft_status shape_read(const scene_reader* r, const tree_node* node, shape_options* out, vec3* rotate);
weft_status friction_read(const scene_reader* r, const tree_node* node, scene_friction* out); // node may be NULL
weft_status contact_read_settings(const scene_reader* r, const tree_node* node); // what bodies that do not say have
weft_status layers_read(const scene_reader* r, const tree_node* node);
weft_status contact_read_exclusions(const scene_reader* r, const tree_node* node);
weft_status contact_doubt(const scene_reader* r); // notes about thicknesses that the meshes do not go with
weft_status ties_read(const scene_reader* r, const tree_node* node);

// ---- bodies from glTF files: scene_gltf.c
// Where what a file lacks was named; any may be NULL.
typedef struct gltf_nodes
{
    const tree_node *file, *object, *animation;
} gltf_nodes;
weft_status animation_read(const scene_reader* r, const tree_node* node, scene_deform* d);
// The mesh of the obstacle, in place, not split; *out, which may be NULL after an error, is the caller's.
weft_status gltf_obstacle_read(const scene_reader* r, const gltf_nodes* nodes, scene_obstacle* o,
                               struct gltf_body** out);
weft_status gltf_obstacle_open(const weft_scene* scene, const scene_obstacle* o, struct gltf_body** out,
                               weft_error* error);
// How many samples, and how far they are from the animation. rate_node may be NULL: four a frame.
weft_status animation_sample(const scene_reader* r, const tree_node* rate_node, scene_obstacle* o, struct gltf_body* b);
void animation_pose(struct gltf_body* b, const scene_deform* d, int sample, vec3* out); // in the file's unit

// ---- bodies from Alembic archives: scene_abc.c
struct abc_body;
weft_status abc_obstacle_read(const scene_reader* r, const gltf_nodes* nodes, scene_obstacle* o);
// Of the archive that deforms an obstacle, which has as many points as the mesh.
weft_status abc_deform_open(const weft_scene* scene, const scene_obstacle* o, struct abc_body** out, weft_error* error);
weft_status abc_deform_read(const scene_reader* r, const tree_node* node, scene_obstacle* o);

// ---- deforming meshes
// What all kinds of samples have: before the mesh is read, as an animation is read with it.
weft_status deform_read_keys(const scene_reader* r, const tree_node* node, scene_obstacle* o);
// The rest; body is that of a glTF file, else NULL.
weft_status deform_read(const scene_reader* r, const tree_node* node, scene_obstacle* o, struct gltf_body* body);
// What reads samples for a simulation; it may outlive the scene. read and release are the simulation's callbacks.
typedef struct deform_source deform_source;
// A PC2 file that a scene names: as many points as the mesh has vertices, whole, and not empty.
struct pc2;
weft_status sample_file_check(const struct pc2* cache, const char* path, const char* mesh, int vertex_count,
                              weft_error* error);
// A file that is not there was named by the scene; what is wrong inside it stands there.
weft_status sample_file_error(const scene_reader* r, const tree_node* node, weft_status status,
                              const weft_error* reason);
weft_status deform_source_create(const weft_scene* scene, const scene_obstacle* o, deform_source** out,
                                 weft_error* error);
weft_status deform_source_read(void* source, int sample, weft_vec3* out, weft_error* error);
void deform_source_destroy(void* source); // NULL is fine

// Hands a cloth to a simulation. bare: as it is at the start, without velocity, forces, tearing; pins stand still.
weft_status scene_cloth_add(const weft_scene* scene, const scene_cloth* cloth, bool bare, weft_sim* sim,
                            weft_error* error);
weft_status scene_obstacle_add(const weft_scene* scene, const scene_obstacle* o, weft_sim* sim, weft_error* error);
// "start" of a body, once its mesh is there: where its vertices are at the start, as another OBJ file has them.
weft_status start_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
// The same from an array [mesh.vertex_count]; the mesh as it was becomes the rest shape. False: no memory.
bool scene_cloth_start(scene_cloth* cloth, const vec3* positions);
// "stitch" of a cloth, once its mesh is there; node may be NULL.
weft_status stitches_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
// Notes of what is more likely a mistake; not WEFT_OK: no memory.
weft_status scene_cloth_doubt(weft_scene* scene, const scene_cloth* cloth);
weft_status scene_parts_doubt(weft_scene* scene); // of all cloths, once their ties are known
// Vertices that a "where" selects, ascending; *out is mem_free'd by the caller. Nothing selected is an error.
weft_status selection_read(const scene_reader* r, const tree_node* node, const mesh* m, int** out, int* out_count);
// The canonical text; mem_free'd by the caller. NULL: no memory.
char* scene_write(const weft_scene* scene);

// ---- settings of methods: scene_methods.c
enum
{
    METHODS_MAX = 24 // that have settings
};

struct writer;
struct time_method;
const struct time_method* scene_method_at(int index); // of those that have some; NULL: there are no more
weft_status scene_method_read(const scene_reader* r, const tree_node* node, const struct time_method* method);
void scene_methods_write(struct writer* w, const weft_sim_def* def);
// "settings" of a body: blocks by the name of methods, as in the scene.
weft_status scene_choices_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth);
void scene_choices_write(struct writer* w, const scene_cloth* cloth);
bool scene_method_example(const char* path, example* out);
size_t scene_schema_write(const char* shipped, char* out, size_t size); // as weft_scene_schema

#endif

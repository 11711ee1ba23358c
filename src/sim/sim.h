// The simulation: bodies as the user gave them, the world as it is simulated, and the map between both.
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "mesh/mesh.h"
#include "sim/body_kind.h"
#include "step/step.h"
#include "weft/weft.h"

typedef enum stitch_state
{
    STITCH_OPEN,   // drawn in, until it closes
    STITCH_CLOSED, // its vertices are one
    STITCH_HELD    // drawn in, and no surface would come of closing it: its thread stays
} stitch_state;

// One body that is simulated: a cloth, or what else the table of kinds has. Scene vertices [first, first + count) are
// its vertices in an order that keeps neighbours near.
struct body
{
    char* name;
    const body_kind* kind;
    mesh rest; // faces, and triangles or segments, in the user's order, positions at rest
    int first;
    int scene_count;   // vertices that the scene has of it: rest.vertex_count, less those that seams have made one
    int* scene_vertex; // [rest.vertex_count] of the user's vertex; vertices of a closed seam share one
    int* user_vertex;  // [scene_count] of the scene's vertex first + k; of a seam the smallest
    int output_count;
    int* outputs;   // [output_count] user's vertex, or NULL: all
    int topology;   // how often its mesh has changed since it came
    int came_with;  // vertices that it had then; those that were torn off follow, and so they do in the outputs
    int* torn_from; // [torn_count] the earlier vertex that each was torn off from
    int torn_count;
    int* torn_face_start; // [torn_count + 1] places in torn_face
    int* torn_face;       // faces that each took with it, when it was torn off
    bool flat_rest;       // the rest shape is a uv map: rest angles are zero
    weft_material material;
    weft_material* regions; // [region_count]
    int region_count;
    int* triangle_region; // [rest.triangle_count] of each, -1: the body's material; NULL without regions
    struct crease* crease; // [rest.triangle_count] what each has kept of its folds; NULL: it does not crease
    const cloth_model* model;
    const char* asked_bending; // one of the model's words, NULL: it has none
    const char* bending;       // what that stands for: never "auto"
    connection_options connections;
    double vertex_mass;
    double tear;    // N/m, 0: it does not
    double* chosen; // [WEFT_SETTING_MAX] settings of methods, NAN: the simulation's; NULL: all are
    friction friction;
    double thickness;
    vec3* start;    // [vertex_count] m, when it was added
    vec3* sewn;     // [vertex_count] m, at the last tie of its kin that was an edit; NULL: there was none
    double added;   // s, when that was
    vec3* velocity; // [vertex_count] m/s, likewise, or NULL
    vec2* rest_uv;  // [3 * triangle_count] rest shape of each triangle
    double typical_area; // m^2, the mean of them
    weft_pin* pins; // copies
    int pin_count;
    weft_pin_id first_pin;     // id of the first of them; the others' follow
    unsigned char* pins_taken; // [pin_count] 1: let go, or among the edits' by now
    weft_force* forces;
    int force_count;
    weft_band* bands; // copies
    int band_count;
    weft_fold* folds; // copies
    int fold_count;
    int* stitch; // [2 * stitch_count] pairs of vertices that are sewn to each other
    int stitch_count;
    weft_thread* thread; // [thread_count] points of edges that are sewn, and stay threads
    int thread_count;
    double stitch_start, stitch_close; // s
    int* seam; // [rest.vertex_count] the smallest vertex that each is sewn to, or itself; NULL: nothing is
    int* one;  // likewise, of closed seams alone: they are one vertex of the scene, and triangles name the smallest
    int* upon; // likewise, of seams that cannot be one, and lie upon each other from the start
    uint8_t* sewing;      // [stitch_count] a stitch_state of each
    int joined;           // how many of these are closed
    bool lifted;          // it weighs nothing now, as its gaps close or a body grows in it
    bool removed;         // has no vertices any more
    unsigned char* given; // [given_size] its def as bytes, where it was added to a scene that ran; else NULL
    size_t given_size;
};

// How contact has an obstacle thinner than it is, while it grows into what crossed it at the start (growth.c).
typedef struct obstacle_growth
{
    vec3* thin;        // [vertex_count] m, NULL: it does not grow
    double from, time; // s, when it began, and how long it takes
    int* lifts;        // [lift_count] bodies that weigh nothing meanwhile: they would fall off it
    int lift_count;
} obstacle_growth;

// One obstacle. Its vertices are no unknowns: they follow those of all cloths, in the user's order, where contact wants
// one array for the whole scene.
typedef struct obstacle
{
    char* name;
    mesh mesh; // split; floats, before deformation and motion
    int first; // of its vertices among those of all obstacles
    friction friction;
    double thickness;
    double* vertex_thickness;         // [vertex_count] m, or NULL: the same everywhere
    struct friction* vertex_friction; // [vertex_count], or NULL
    motion motion;
    int sample_count; // 0: does not deform
    double sample_rate, sample_start, sample_offset;
    bool sample_loop;
    float* samples; // [3 * sample_count * vertex_count] or NULL: read_sample
    weft_sample_fn* read_sample;
    void* user;
    void (*release)(void* user);
    vec3* held[2];        // [vertex_count] the last two samples that were needed
    int held_sample[2];   // -1: none
    uint64_t fingerprint; // of the samples
    obstacle_growth growth;
    bool removed; // as in body
    unsigned char* given;
    size_t given_size;
} obstacle;

// A body by its place in its list, which it keeps; its number, cloths and then obstacles, changes when cloths come.
typedef struct body_ref
{
    bool is_obstacle;
    int index;
} body_ref;

// A pair that contact leaves alone. One of a body that was removed stays in the list, and does nothing.
typedef struct exclusion
{
    body_ref first, second;
    int* vertices; // [vertex_count] or NULL: all
    int vertex_count;
} exclusion;

// One point that is tied, in vertices of the user; both cloths are bodies.
typedef struct seam_point
{
    int body, to;
    tie tie;
} seam_point;

// The points of one call of weft_sim_tie.
typedef struct seam
{
    int body, to;
    int first, count; // in seam_points
    bool edges;
} seam;

// A pin of weft_sim_pin, or one of a body that was moved.
typedef struct edited_pin
{
    weft_pin_id id;
    int body;
    weft_pin pin;  // a copy
    vec3* start;   // [pin.vertex_count] m, when it was pinned
    double pinned; // s, when that was
} edited_pin;

// What edits need to know of the scene as given, and what they have added to it (edits.h).
typedef struct edits
{
    bool begun;                     // the simulation has been edited
    bool loading;                   // edits of a checkpoint come in: names are looked at when all are there
    uint64_t scene;                 // fingerprint before that
    int body_count, obstacle_count; // likewise
    int exclusion_count, seam_count;
    edited_pin* pins; // [pin_count] by id
    int pin_count, pin_capacity;
    int pin_ids; // given out so far, to pins of bodies too
} edits;

// What step control, history and solver know of a body: of the cluster that it was stepped in. It is an item of a
// checkpoint, too.
typedef struct body_control
{
    int32_t cluster; // the same for bodies that were in one
    int32_t halvings, calm, waits, tries, history_filled;
    double past_h[HISTORY_MAX];   // s
    double solver[SOLVER_MEMORY]; // what `auto` has learnt
} body_control;

// How the bodies are stepped: all at once, by the simulation's own world, or in clusters (cluster.h).
typedef struct clusters
{
    struct cluster** list; // [count] by their first bodies; none: all at once
    int count;
    body_control* control; // [control_count] of the bodies
    int control_count, control_capacity;
    bool apart;  // how to go on is in `control`; else the world says it
    int* before; // [control_count] clusters before the step under way, and whether `apart`
    int before_capacity;
    bool apart_before;
    int* home;                  // [scratch_count] scratch: the first body of the cluster of each body, -1: none
    int* order;                 // [scratch_count] scratch
    struct box3 *wide, *narrow; // [scratch_count] scratch
    int* where;                 // [2 * scratch_count] of each body its place in the list, and in that cluster; -1: none
    int scratch_count;
    int* feature_first[3]; // [bodies + 1] of the scene's numbering, see cluster_state.c
} clusters;

// Of tearing, kept from step to step: [capacity] each.
typedef struct tear_scratch
{
    vec3* still;
    double (*force)[6];
    double* area;
    uint8_t* held;
    int capacity;
} tear_scratch;

// Tears since the model was built, which has been mended (tear_mend.h).
typedef struct mend_log
{
    int* size; // [count] vertices that each mend was about
    int count, capacity;
    bool stale; // a mend has failed: the model is to be built anew
} mend_log;

struct weft_sim
{
    weft_sim_def def; // gravity and air as they are now
    const method_row* method;
    weft_progress_fn* look; // NULL: nobody does
    void* look_user;
    char* solver_name;
    char* preconditioner;
    char* solver_variant;
    body* bodies;
    int body_count, body_capacity;
    obstacle* obstacles;
    int obstacle_count, obstacle_capacity;
    int obstacle_vertices; // of all of them
    exclusion* exclusions;
    int exclusion_count, exclusion_capacity;
    seam_point* seam_points;
    int seam_point_count, seam_point_capacity;
    seam* seams;
    int seam_count, seam_capacity;
    workers* pool;
    cpu_kind cpu;
    model model;
    world world;
    weft_squeezed* squeezed; // [squeezed_capacity] of the last step
    int squeezed_capacity;
    bool built;
    edits edits;
    weft_sim* whole; // of a cluster: what it is a part of; else NULL
    clusters clusters;
    tear_scratch tearing;
    mend_log mends;
    int part_from, part_until; // ticks of the step under way: see step_parts.c
    struct routes* routes; // what is in the way of threads; NULL until it is asked for
};

// Builds model and world from the bodies; does nothing when that is done.
weft_status sim_build(weft_sim* sim, weft_error* error);
void sim_unbuild(weft_sim* sim); // frees all that sim_build makes, whole or half; the bodies stay
weft_status sim_build_contact(weft_sim* sim, weft_error* error);
// After a tear: in place of the contact that there is.
weft_status sim_mend_contact(weft_sim* sim, const torn_vertices* torn, weft_error* error);
double body_rest_area(const body* b, int t); // m^2, of a triangle
weft_status sim_build_particles(const weft_sim* sim, contact* c);
double sim_contact_reach(const weft_sim* sim, const body* b);   // m, from its vertices: nothing farther feels it
weft_status sim_build_solver(weft_sim* sim, weft_error* error); // of the world
void sim_model_masses(weft_sim* sim);                           // from the bodies
void sim_drop_contact(weft_sim* sim);
void sim_weigh(weft_sim* sim); // weight and constant forces of the model, from masses, gravity and bodies
weft_status sim_build_pins(const weft_sim* sim, pin_set* out, weft_error* error); // of bodies and edits; out is zero
const char* sim_follower(const weft_sim* sim, const char* obstacle); // a cloth of which a pin follows it; NULL: none
weft_status sim_obstacles_at(void* user, double time, vec3* out,
                             weft_error* error); // an obstacles_fn of the simulation
void sim_model_finish(model* m);
void body_finish(body* b);
weft_status body_append(weft_sim* sim, const weft_cloth_def* def, weft_error* error); // as the last one
void sim_wear(weft_sim* sim);    // after a step that stands: what is bent too far is kept
weft_status crease_take(body* b); // the mesh and the regions are there
weft_status regions_take(const weft_cloth_def* def, body* b, weft_error* error);      // the mesh is there
const weft_material* body_material(const body* b, int t);                             // of a triangle
weft_material body_material_fullest(const body* b);
weft_status material_check(const body* b, const weft_material* m, double vertex_mass, weft_error* error);
// Bands and folds (body_lines.c).
weft_status body_lines_take(const weft_cloth_def* def, body* b, weft_error* error);
void body_lines_finish(body* b);
// Rest angles by hinge, of scene's vertices, [hinge_count], to be freed; *out NULL: there are none.
weft_status body_lines_folds(const body* b, int vertex_count, const hinge* hinges, int hinge_count, double** out);
weft_status body_lines_append(const body* b, int vertex_count, const cloth_shape* shape, element_groups* groups);

// Checked copies of what a cloth is to have. A pin that fails is half done, and to be finished.
weft_status pin_copy(const body* b, const weft_pin* from, weft_pin* to, weft_error* error);
void pin_finish(weft_pin* pin);
void edited_pin_finish(edited_pin* e);
weft_status forces_copy(const body* b, const weft_force* from, int count, weft_force** out, weft_error* error);
void forces_free(weft_force* forces, int count);
void sim_settings_default(weft_sim_def* def); // of methods
weft_status sim_settings_check(const weft_sim_def* def, weft_error* error);
weft_status body_take_settings(const weft_cloth_def* def, body* b, weft_error* error);
double body_setting(const weft_sim* sim, const body* b, int index); // its own, or the simulation's
void sim_settings_of_bodies(const weft_sim* sim, double* out);      // [WEFT_SETTING_MAX] what counts for all together
const char* air_check(const weft_air* air); // what is wrong with it, as a sentence; NULL: nothing
weft_status body_take_stitches(const weft_cloth_def* def, body* b, weft_error* error); // join.c
// Its model, when mesh, material and regions are there (body_model.c).
weft_status body_take_model(const weft_sim* sim, const weft_cloth_def* def, body* b, weft_error* error);
// What the asked bending stands for with the method, the material and the regions that are there now; refused where they
// do not go together.
weft_status body_choose_bending(const weft_sim* sim, body* b, weft_error* error);
// Whether the method can move a cloth of that model; a sentence says what it lacks, and what to take instead.
weft_status method_suits(const weft_sim* sim, const body* b, weft_error* error);
// Whether the model makes elements of what the body is made of; likewise.
weft_status model_suits(const body* b, weft_error* error);

// ---- what is left alone and what is tied
// Names and vertices; first and second are those of bodies that are there.
weft_status exclusion_check(const weft_sim* sim, const weft_exclusion* e, body_ref* first, body_ref* second,
                            weft_error* error);
weft_status exclusion_append(weft_sim* sim, const weft_exclusion* e, weft_error* error); // as the last one
bool exclusion_put(weft_sim* sim, exclusion e); // likewise, with a copy of its vertices; false: there is no memory
void exclusions_cut(weft_sim* sim, int count);  // drops the last ones
// Whether a vertex of one body, -1: all of it, is left alone with the other; bodies by number.
bool sim_is_excluded(const weft_sim* sim, int body, int vertex, int other);
weft_status seams_build(weft_sim* sim); // ties of the model, once the order of vertices is known
void seams_cut(weft_sim* sim, int count);
// Of each cloth the smallest number of those that ties join with it, directly or by others. kin is [body_count].
void seams_kin(const weft_sim* sim, int* kin);
const vec3* body_sewn(const body* b); // [vertex_count] where it was tied

// A copy of the name, or of PREFIXn without one; refused when it is no file name or taken.
weft_status name_take(const weft_sim* sim, const char* name, const char* prefix, char** out, weft_error* error);
bool names_differ(const weft_sim* sim); // of all bodies that are there

// Coefficients of a body or of what no body says; false: they are not finite, or less at rest than in motion.
friction body_friction(const body* b); // as contact has it now
bool friction_take(double motion, double rest, friction* out);
#define FRICTION_WRONG "friction is finite, and at rest not less than in motion"

// ---- obstacles that grow into what crossed them at the start (growth.c)
void growth_finish(obstacle_growth* g); // zeroed is fine
void obstacle_grow(obstacle* o, obstacle_growth how); // which is taken over
weft_status sim_grown_at(void* user, double time, vec3* out, weft_error* error); // an obstacles_fn: as contact has them
bool sim_grows(const void* user, int number, double time);                       // a body, by number
bool growth_lifts(const weft_sim* sim, int index);                               // a body of the simulation, now
weft_status growth_save(const weft_sim* sim, section_writer* out, weft_error* error);
// Of each obstacle, [obstacle_count], to be taken or freed.
weft_status growth_load(const weft_sim* sim, obstacle_growth** out, sections* from, weft_error* error);
void growth_take(weft_sim* sim, obstacle_growth* list);
void growth_free(const weft_sim* sim, obstacle_growth* list); // NULL is fine

// ---- bodies by number: cloths, then obstacles
int sim_body_number(const weft_sim* sim, body_ref ref);
const char* sim_body_name(const weft_sim* sim, int number);

// ---- obstacles
void obstacle_finish(obstacle* o);
weft_status obstacle_append(weft_sim* sim, const weft_obstacle_def* def, weft_error* error); // as the last one
void obstacles_number(weft_sim* sim); // their first vertices, and how many there are in all
bool obstacle_is_still(const obstacle* o);
// out is [mesh.vertex_count]; rounded to floats.
weft_status obstacle_positions(obstacle* o, double time, vec3* out, weft_error* error);
weft_status obstacle_sample(obstacle* o, int sample, vec3* out, weft_error* error); // before keys move it
// All obstacles, one after the other; out is [obstacle_vertices].
weft_status obstacles_at(weft_sim* sim, double time, vec3* out, weft_error* error);

// The cloth and the user's index of a scene vertex, for messages.
void sim_locate(const weft_sim* sim, int scene_vertex, const body** out_body, int* out_vertex);

#endif

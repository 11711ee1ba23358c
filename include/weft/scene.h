/// Scene files: JSON with comments, checked, turned into a simulation.
#ifndef WEFT_SCENE_H
#define WEFT_SCENE_H

#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_scene weft_scene;

/// Reads and validates a scene file, or a scene that ships by its name. overrides are PATH=VALUE strings
/// ("time_step=0.001", "cells=50", "cloth.0.material.bending=1e-4", "solver=cholesky").
WEFT_API weft_status weft_scene_load(const char* name_or_path, const char* const* overrides, int override_count,
                                     weft_scene** out, weft_error* error);
/// The same from a text in memory. name stands for the file in messages, and meshes are looked for in its folder.
WEFT_API weft_status weft_scene_parse(const char* name, const char* text, const char* const* overrides,
                                      int override_count, weft_scene** out, weft_error* error);
WEFT_API void weft_scene_destroy(weft_scene* scene); ///< NULL is fine

/// Builds the simulation and starts it: weft_scene_build_sim, then weft_scene_start. worker_count as in weft_sim_def.
WEFT_API weft_status weft_scene_create_sim(const weft_scene* scene, int worker_count, weft_sim** out,
                                           weft_error* error);

/// The same without a look at how the bodies lie: for a simulation whose state comes from a checkpoint.
WEFT_API weft_status weft_scene_build_sim(const weft_scene* scene, int worker_count, weft_sim** out, weft_error* error);

/// What untangling has done.
typedef struct weft_untangling
{
    int crossings;     ///< that there were; 0: nothing was done
    int rounds;
    double farthest;   ///< m, the longest way of a vertex; that is `vertex` of cloth `body`, -1: none
    int body, vertex;
    double max_strain; ///< of the triangle's side that is stretched most, afterwards
    int settles;       ///< 1: nothing was moved, the steps part what crosses
} weft_untangling;

/// Where bodies cross: BAD_INPUT with the pairs, or with "initial_contact": "resolve" weft_sim_untangle, with "settle"
/// weft_sim_settle. Nothing in scenes without contact. out may be NULL.
WEFT_API weft_status weft_scene_start(const weft_scene* scene, weft_sim* sim, weft_untangling* out, weft_error* error);
/// Moves cloth from where it is to where nothing crosses, on positions rounded to float: out of closed obstacles, and from
/// other cloth and itself, by the shorter way as far as that can be told; and by micrometres what touches exactly. Pinned vertices stay,
/// velocities too. After all bodies were added; those that come later are edits. The same bits on any number of threads. BAD_INPUT lists what
/// crosses when pins cross by themselves, or when some rounds did not help; positions are then as they were. out may be NULL.
///
/// A simulation from arrays starts where its caller has put the bodies, to the bit: nothing but this call moves them before the first
/// step. It cannot be done unasked: when bodies are added it is not known which others follow, and the first step may go on from a state
/// that was put in (weft_sim_set_state, a checkpoint), of which touches are part. The scene's start knows that all is there.
WEFT_API weft_status weft_sim_untangle(weft_sim* sim, weft_untangling* out, weft_error* error);
/// Marks what crosses, so that steps part it: cloth inside a body comes out by the shortest way to its own side, cloth that
/// crosses cloth or an open surface is drawn back by its smaller piece, or the curve of intersection shrinks. Until a pair is
/// apart it counts as left of the start (weft_step_stats.unsettled); no other crossing appears. layers is [layer_count] bodies from the
/// skin outwards, cloths, then obstacles, each once: what of one is on the wrong side of another comes over, crossing or not. May be
/// NULL with 0. Nothing is moved at once. After all bodies were added. out may be NULL.
WEFT_API weft_status weft_sim_settle(weft_sim* sim, const int* layers, int layer_count, weft_untangling* out, weft_error* error);

/// Start from weft_dress_def_default().
typedef struct weft_dress_def
{
    int worker_count;       ///< as in weft_sim_def
    const char* pose;       ///< an OBJ file with the first obstacle's vertices in another pose, in which the garments fit; NULL: none
    weft_progress_fn* look; ///< called after each step, with the stage "dress"; not zero gives up with CANCELLED. May be NULL
    void* user;
    uint32_t cookie;        ///< proves that the default was used; do not set
} weft_dress_def;

WEFT_API weft_dress_def weft_dress_def_default(void);

/// What dressing has done.
typedef struct weft_dressing
{
    int crossings;     ///< of cloth and bodies as the scene gives them
    double thinned;    ///< how thin the bodies began, for the garment that wanted it most: 0 not at all, 1 as thin as can be
    int steps;
    int left;          ///< pairs that cross in the end: 0 when it went well
    double max_strain; ///< of the triangle's side that is stretched most, in the end
} weft_dressing;

/// Puts the cloths of a scene on its obstacles: these shrink to their middle, so far that the cloth is outside of them, and grow
/// into it while it steps with contact, without weight or friction, to where they are at time 0. Cloths that the scene names in
/// `layers` are put on in that order, the others after them, all together; pins stay where they are. The cloths then start where they came
/// out, rounded to float, with the rest shape that they had. The same bits on any number of threads. NOT_CONVERGED with the pairs in words
/// when some still cross: the cloths start there all the same. On other failures the scene is as it was. BAD_INPUT for what
/// cannot be put on: bodies that are no sheets, stitches, ties. out may be NULL.
WEFT_API weft_status weft_scene_dress(weft_scene* scene, const weft_dress_def* def, weft_dressing* out, weft_error* error);

WEFT_API int weft_scene_frames(const weft_scene* scene);
WEFT_API int weft_scene_steps_per_frame(const weft_scene* scene);
WEFT_API double weft_scene_frame_rate(const weft_scene* scene); ///< frames a second: 1 / (time_step * steps_per_frame)
WEFT_API const char* weft_scene_name(const weft_scene* scene);  ///< file name without folder and ending

/// A number of a body's material, as scene files call it.
typedef struct weft_scene_value
{
    const char *name, *unit;
    double value;
} weft_scene_value;

/// One cloth of a scene, as it starts. Strings are the scene's.
typedef struct weft_scene_cloth
{
    const char* name;
    const char* kind; ///< a name from weft_list(WEFT_LIST_BODIES, ...)
    const char* obj;  ///< the OBJ file, as the scene names it; NULL: another source
    const char* source; ///< the file, or what the mesh is made as: "grid", "ball", ...
    int vertex_count, face_count, triangle_count;
    int segment_count; ///< of kinds made of lines: faces are polylines then, and there are no triangles
    int tetrahedron_count; ///< of kinds made of tetrahedra: faces and triangles are their surface
    int pin_count;    ///< entries of "pins"
    int pinned_count; ///< different vertices that some pin holds
    int force_count;  ///< entries of "forces"
    weft_material material;
    const char* density_unit; ///< of the material: kg/m^2 of cloth
    weft_scene_value values[6]; ///< [value_count] the material of kinds that have other keys than cloth
    int value_count;            ///< 0: cloth
    int has_radius;             ///< 1: scene files give its radius, half of the thickness
    const char* model;
    const char* bending;              ///< as the scene names it; weft_sim_cloth_bending has what "auto" stands for. NULL: the model has no choice
    double friction, static_friction; ///< of contact; negative: not said, or at rest the same
    double thickness;                 ///< m
    const weft_choice* settings;      ///< [setting_count] of methods, instead of the scene's; until the scene is destroyed
    int setting_count;
} weft_scene_cloth;

/// The index-th cloth; NOT_FOUND past the end.
WEFT_API weft_status weft_scene_cloth_at(const weft_scene* scene, int index, weft_scene_cloth* out);
/// One obstacle of a scene.
typedef struct weft_scene_obstacle
{
    const char* name;
    const char* shape;     ///< "sphere", ...; NULL: a mesh
    const char* obj;       ///< the OBJ or glTF file, as the scene names it; NULL: a shape
    int vertex_count, face_count, triangle_count;
    int is_closed;         ///< 1: every edge has exactly two triangles, in opposite directions
    double deviation;      ///< of a shape: largest distance between its surface and its triangles, m
    double friction, static_friction; ///< negative: not said, or at rest the same
    double thickness;                 ///< m
    int key_count;         ///< of its motion; 0: none
    int sample_count;      ///< of its deformation; 0: none
    const char* deform;    ///< PC2 file, OBJ sequence or glTF file, as the scene names it; NULL: none
    double deform_rate;    ///< samples a second
    int deform_loop;       ///< 1: the first sample follows the last
    double deform_error;   ///< of an animation: largest distance from it half-way between samples, m; negative: none
} weft_scene_obstacle;

/// The index-th obstacle; NOT_FOUND past the end.
WEFT_API weft_status weft_scene_obstacle_at(const weft_scene* scene, int index, weft_scene_obstacle* out);
/// The settings that the simulation is made with, without workers.
WEFT_API const weft_sim_def* weft_scene_sim_def(const weft_scene* scene);

/// Every default written out; running it again from the run's folder gives the same bits. Owned by the scene. Meshes
/// from OBJ files are named as the run's folder holds them (NAME.obj), samples of deforming ones likewise (NAME.motion.pc2).
WEFT_API const char* weft_scene_json(const weft_scene* scene);

/// Notes of the load ("material converted: ..."); NULL past the end. Warnings about meshes go to the log hook.
WEFT_API const char* weft_scene_warning(const weft_scene* scene, int index);

/// The JSON Schema of scene files, with the settings of all methods. Writes as much as fits into out [size], a zero behind it, and
/// returns the length of all. out may be NULL where size is 0.
WEFT_API size_t weft_scene_schema(char* out, size_t size);
/// The text of a scene that ships, a static string; NULL: no such scene.
WEFT_API const char* weft_scene_text(const char* name);

#ifdef __cplusplus
}
#endif
#endif

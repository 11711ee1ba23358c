/// A run's folder: scene.json, NAME.obj, NAME.pc2, stats.jsonl, checkpoint.weft.
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include "weft/inspect.h"
#include "weft/scene.h"
#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/// ---- writing

typedef enum weft_cache_mode
{
    WEFT_CACHE_NEW,    ///< EXISTS when the folder holds a run
    WEFT_CACHE_FORCE,  ///< replaces a run that is there
    WEFT_CACHE_RESUME  ///< cuts caches and stats back to the checkpoint and puts the simulation there
} weft_cache_mode;

typedef struct weft_cache_writer weft_cache_writer;

/// Makes the folder, writes scene.json, NAME.obj and frame 0 (or resumes). steps_per_frame decides what a frame is. Bodies that
/// come and go while the simulation runs are in the frames that end with them: docs/run-folder.md.
WEFT_API weft_status weft_cache_writer_create(const char* dir, weft_cache_mode mode, const char* scene_json,
                                              int steps_per_frame, weft_sim* sim, weft_cache_writer** out,
                                              weft_error* error);
/// 1: the folder has a checkpoint, from which WEFT_CACHE_RESUME goes on; 0: it would start over.
WEFT_API int weft_cache_has_checkpoint(const char* dir);
/// Puts a simulation that the same scene has just built (weft_scene_build_sim) into the state of the folder's checkpoint, and only
/// reads the folder: from there it goes on as the run would, to the bit. steps_per_frame as the run has it.
WEFT_API weft_status weft_cache_load_checkpoint(const char* dir, int steps_per_frame, weft_sim* sim, weft_error* error);
/// Before the first step: the fields of the simulation (weft_sim_field_at), and what the method does with elements where that
/// varies (weft_sim_elements), are written for every frame, too. A run that was
/// started with them and is resumed has them by itself; BAD_INPUT when it was started without.
WEFT_API weft_status weft_cache_writer_fields(weft_cache_writer* writer, const weft_sim* sim, weft_error* error);
WEFT_API int weft_cache_writer_has_fields(const weft_cache_writer* writer); ///< 0: none are written
/// After each step: a line of stats; at the end of a frame also positions and checkpoint.
WEFT_API weft_status weft_cache_writer_step(weft_cache_writer* writer, weft_sim* sim, const weft_step_stats* stats,
                                            weft_error* error);
WEFT_API weft_status weft_cache_writer_destroy(weft_cache_writer* writer, weft_error* error); ///< NULL is fine

/// ---- reading

typedef struct weft_cache weft_cache;

/// One body of a run: its topology in the user's order. Pointers live as long as the cache.
typedef struct weft_cache_body
{
    const char* name;
    int obstacle;               ///< 1: an obstacle, 0: cloth
    int still;                  ///< 1: NAME.obj is its place in every frame; there is no NAME.pc2
    int solid;                  ///< 1: faces and triangles are the surface of tetrahedra, which NAME.ele has
    double thickness;           ///< m, as the run says, of lines twice their radius; 0: it does not
    int from, until;            ///< frames [from, until) in which the body is there; until is INT_MAX where it stays
    int vertex_count;
    const weft_vec3* rest;      ///< [vertex_count]
    int face_count;
    const int* face_start;      ///< [face_count + 1]
    const int* face_vertices;
    int triangle_count;
    const int* triangles;       ///< [3 * triangle_count] as simulated: of vertices that are one (`same`) they name the first
    const int* triangle_corners; ///< [3 * triangle_count] corner of all faces that each is, in the order of the faces; NULL: each its own
    int lines;                  ///< 1: NAME.obj has l lines: faces are open polylines, and segments stand for triangles
    int segment_count;
    const int* segments;        ///< [2 * segment_count] as simulated
    int texcoord_count;
    const double* texcoords;    ///< [2 * texcoord_count] u, v; NULL: none
    const int* face_texcoords;  ///< [face_start[face_count]] -1: this corner has none; NULL: no corner has one
    const int* origin;          ///< [vertex_count] vertex of the topology before this one that each follows; NULL: the first
    const int* same;            ///< [vertex_count] the first vertex that each is one with, where vertices were welded; NULL: none were
    weft_names objects, groups, materials; ///< of the OBJ file: o, g, usemtl
    const char* const* libraries; ///< [library_count] mtllib of the OBJ file
    int library_count;
} weft_cache_body;

/// Opens a run's folder (also while the run goes on). NOT_FOUND / BAD_INPUT with a sentence otherwise.
WEFT_API weft_status weft_cache_open(const char* dir, weft_cache** out, weft_error* error);
WEFT_API void weft_cache_close(weft_cache* cache); ///< NULL is fine
WEFT_API const char* weft_cache_dir(const weft_cache* cache);  ///< as it was opened
WEFT_API int weft_cache_frame_count(const weft_cache* cache); ///< complete in every body
WEFT_API int weft_cache_body_count(const weft_cache* cache);
WEFT_API const weft_cache_body* weft_cache_body_at(const weft_cache* cache, int body);
WEFT_API weft_status weft_cache_read_frame(weft_cache* cache, int body, int frame, weft_vec3* out, weft_error* error);
/// Vertices [first, first + count) of it, count -1: all from there on; for frames that are not to be held whole.
WEFT_API weft_status weft_cache_read_points(weft_cache* cache, int body, int frame, int first, int count,
                                            weft_vec3* out, weft_error* error);

/// Whether a body is there in a frame: bodies may come and go. Where it is not, weft_cache_read_frame, _topology_of and
/// _read_field give what it had, or will have, in the nearest frame in which it is there.
WEFT_API int weft_cache_present(const weft_cache* cache, int body, int frame);

/// A cloth that tears has several topologies, from 0; weft_cache_body_at is topology 0. In folders without frames.jsonl, 1.
WEFT_API int weft_cache_topology_count(const weft_cache* cache, int body);
WEFT_API const weft_cache_body* weft_cache_topology_at(const weft_cache* cache, int body, int topology);
/// The topology of a frame. weft_cache_read_frame gives as many positions as it has vertices.
WEFT_API int weft_cache_topology_of(const weft_cache* cache, int body, int frame);
WEFT_API int weft_cache_topology_start(const weft_cache* cache, int body, int topology); ///< its first frame

/// Shows sheets at a coarser level of detail from now on: level 0 as they were simulated, 1, 2, ... with about a third, on grids a quarter, of the
/// vertices each, which keep their places. Bodies then have one topology, the last, and no fields; views of before are not to be used any
/// more. Sheets that have fewer levels show their coarsest. *levels, may be NULL: how many coarse ones there are. BAD_INPUT: fewer than
/// `level`, and all is as it was simulated.
WEFT_API weft_status weft_cache_coarsen(weft_cache* cache, int level, int* levels, weft_error* error);

/// Numbers for vertices that a method writes beside the positions (aggregate, component, level, ...): NAME.FIELD.field.
typedef struct weft_cache_field
{
    const char* name;
    int categories; ///< 1: whole numbers that name classes; 0: amounts
    int constant;   ///< 1: the same in every frame
} weft_cache_field;
WEFT_API int weft_cache_field_count(const weft_cache* cache, int body);
WEFT_API const weft_cache_field* weft_cache_field_at(const weft_cache* cache, int body, int field);
/// out is [vertex_count of the topology of that frame]
WEFT_API weft_status weft_cache_read_field(weft_cache* cache, int body, int field, int frame, float* out,
                                           weft_error* error);
/// Writes such a file whole: sample_count 1 (constant) or one a frame, from the first on in which the body is there, each [vertex_count of the first topology]; torn-off
/// copies show what their origin does. The name has 1 to 100 letters, no dot and no slash.
WEFT_API weft_status weft_cache_field_write(const char* dir, const char* body, const char* field, int categories,
                                            int vertex_count, int sample_count, const float* values, weft_error* error);

/// Elements of stretch and shear of a body, of which a run with fields tells what the method does with them: springs, and
/// triangles, which may have several: NAME.connections.elements.
typedef struct weft_cache_elements
{
    int count;
    const int* vertices;        ///< [3 * count] of the first topology; the third is -1 for a connection of two
    const unsigned char* turns; ///< [count] 0, 1, 2: warp, weft and shear of one triangle are told apart by it
} weft_cache_elements;
enum
{
    WEFT_CACHE_ELEMENT_UNKNOWN = 3 ///< beside weft_element_state: before the first step, and after a tear
};
WEFT_API const weft_cache_elements* weft_cache_elements_of(const weft_cache* cache, int body); ///< NULL: the run has none
/// What the last substep before a frame has made of each; out is [count].
WEFT_API weft_status weft_cache_read_elements(weft_cache* cache, int body, int frame, unsigned char* out,
                                              weft_error* error);

WEFT_API double weft_cache_frame_rate(const weft_cache* cache); ///< frames a second

/// Total energy in J at the end of each frame, from stats.jsonl; NaN where it is not known, as for frame 0 and in folders
/// that Weft did not write. energies is [frame_count].
WEFT_API weft_status weft_cache_energies(const char* dir, int frame_count, double* energies);

/// What stats.jsonl lists as squeezed at the end of each frame, in the frame's last step. A file that is missing, and lines
/// that are damaged, list nothing. Only NO_MEMORY fails; out is then NULL.
typedef struct weft_cache_squeezed weft_cache_squeezed;
WEFT_API weft_status weft_cache_squeezed_read(const char* dir, const weft_cache* cache, weft_cache_squeezed** out,
                                              weft_error* error);
/// How many pairs the frame has; *pairs is [that], with bodies as the cache counts them, and lives as long as the list.
WEFT_API int weft_cache_squeezed_at(const weft_cache_squeezed* squeezed, int frame, const weft_squeezed** pairs);
/// Of any two bodies of which a step lists a pair, in this frame or before, the first: how many, and *pairs as above.
WEFT_API int weft_cache_squeezed_until(const weft_cache_squeezed* squeezed, int frame, const weft_squeezed** pairs);
/// The pairs of the frame that are left of the start, as above. -1: frame 0 of a run that settles, all crossings of which are the start's.
WEFT_API int weft_cache_unsettled_at(const weft_cache_squeezed* squeezed, int frame, const weft_squeezed** pairs);
/// 1: the run started with crossings that its steps part, or may have.
WEFT_API int weft_cache_settles(const weft_cache_squeezed* squeezed);
/// What could not be read, in a sentence; NULL: all was.
WEFT_API const char* weft_cache_squeezed_note(const weft_cache_squeezed* squeezed);
WEFT_API void weft_cache_squeezed_destroy(weft_cache_squeezed* squeezed); ///< NULL is fine

/// What explains crossings of a frame.
typedef struct weft_squeezed_list
{
    int pair_count;
    const weft_squeezed* pairs;  ///< [pair_count] of the frame's last step
    int closed_count;
    const weft_squeezed* closed; ///< [closed_count] of every two bodies that were listed so far, one pair or more
} weft_squeezed_list;

/// Takes explained crossings out of inspections. docs/inspect.md states the rule.
typedef struct weft_squeezed_split weft_squeezed_split;
/// Triangles and segments of the bodies are not copied, and must outlive the split. NO_MEMORY: out is NULL.
WEFT_API weft_status weft_squeezed_split_create(const weft_inspect_body* bodies, int body_count, weft_squeezed_split** out);
/// `found` must list all its crossings (weft_inspect_def.pair_limit). What the list explains is taken out of it and counted in
/// *squeezed; found->pairs is then the split's, until the next frame or the end. positions [bodies][vertex_count] are those that
/// were inspected: vertices at one place to the bit, as along a closed seam, are one to the list.
WEFT_API weft_status weft_squeezed_split_frame(weft_squeezed_split* split, const weft_squeezed_list* list,
                                               const weft_vec3* const* positions, weft_inspection* found, int64_t* squeezed);
WEFT_API void weft_squeezed_split_destroy(weft_squeezed_split* split); ///< NULL is fine

/// Whether all is there that should be. Opening does not ask for it, so that pictures of a damaged run are possible.
/// Bodies: BAD_INPUT when scene.json is damaged or names a body whose files are missing.
WEFT_API weft_status weft_cache_check_bodies(const char* dir, const weft_cache* cache, weft_error* error);
/// Samples: BAD_INPUT when a NAME.pc2 holds fewer than its header counts, or when bodies have different numbers of them (in a
/// run's folder by more than one: a run that goes on, or was killed, may be between two bodies).
WEFT_API weft_status weft_cache_check_samples(const char* dir, const weft_cache* cache, weft_error* error);

#ifdef __cplusplus
}
#endif
#endif

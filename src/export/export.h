// One file a format; all of them get the same job: bodies, frames and axes are chosen already.
#ifndef WEFT_EXPORT_ROOM_H
#define WEFT_EXPORT_ROOM_H

#include "core/core.h"
#include "math/vec.h"
#include "weft/export.h"

enum
{
    EXPORT_PATH = 4096 // bytes of a path
};

typedef struct export_job
{
    weft_cache* cache;
    const weft_export_def* def;
    int body_count;
    int* body; // [body_count] as the cache counts
    int frame_count;
    double frame_rate;
    vec3* positions; // [vertices of the largest topology] for the format to use
    vec3* scratch;   // likewise, for export_positions_last
    int most; // vertices of the largest topology
    bool cancelled;
} export_job;

// `body` is an index into the job's bodies, `k` counts the frames of the export, both from 0.

const char* export_body_name(const export_job* job, int body);
bool export_is_still(const export_job* job, int body);       // the body stands still in every frame
bool export_present(const export_job* job, int body, int k); // else positions are those of the nearest frame
int export_frame(const export_job* job, int k);              // frame of the run that is frame k of the export
int export_number(const export_job* job, int k);             // what names of files and time codes call it
double export_code_rate(const export_job* job);              // such numbers a second
double export_time(const export_job* job, int k);            // s: number by rate, in parts of a run the run's
// The topology of a body in an exported frame, and the last one that is exported.
const weft_cache_body* export_topology(const export_job* job, int body, int k);
const weft_cache_body* export_last_topology(const export_job* job, int body);
bool export_changes(const export_job* job, int body);           // the topology does, within the exported frames
bool export_changes_at(const export_job* job, int body, int k); // from frame k - 1 to k; frame 0 does
// Positions of an exported frame, turned to the wanted axes: in its own topology; or in the last one, where each
// torn-off copy follows its origin until the split. out is [vertex_count of that topology]. BAD_INPUT: a value is not
// finite. CANCELLED once progress has asked to stop.
weft_status export_positions(export_job* job, int body, int k, vec3* out, weft_error* error);
weft_status export_positions_last(export_job* job, int body, int k, vec3* out, weft_error* error);
vec3 export_turn(const export_job* job, vec3 x);  // directions
vec3 export_place(const export_job* job, vec3 x); // positions: turned and scaled
// The corners of a box that holds both, where no value is NaN; fmin and fmax would be calls.
static inline vec3 export_lower(vec3 a, vec3 b)
{
    return v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static inline vec3 export_upper(vec3 a, vec3 b)
{
    return v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
// The same piece by piece, which stays in the CPU's caches: `put` gets them in order, from vertex `begin` on.
typedef void export_piece_fn(void* context, const vec3* points, int begin, int count);
weft_status export_pieces(export_job* job, int body, int k, export_piece_fn* put, void* context, weft_error* error);
weft_status export_pieces_last(export_job* job, int body, int k, export_piece_fn* put, void* context,
                               weft_error* error);
// After each frame (or body and frame); total may be any scale.
void export_progress(export_job* job, int done, int total);

// Whether two of a body's texture coordinates are at one place.
static inline bool export_same_place(const weft_cache_body* body, int s, int t)
{
    const double *a = body->texcoords + 2 * (size_t)s, *b = body->texcoords + 2 * (size_t)t;
    return s == t || (a[0] == b[0] && a[1] == b[1]);
}

// texcoord is [vertex_count], the texture coordinate of each vertex, -1 where no face has it. False: a vertex has
// several, or a corner has none. The body has face_texcoords.
bool export_vertex_texcoords(const weft_cache_body* body, int* texcoord);

// ---- beside positions: derived.c
// Of vertices; x is [vertex_count] in the export's axes, as out is.
void export_normals(const export_job* job, const weft_cache_body* body, const vec3* x, vec3* out);
// Units of length a second, in the export's axes; uses the job's scratch.
weft_status export_velocities(export_job* job, int body, int k, vec3* out, weft_error* error);
// Numbers of vertices; none with --plain. positions are those of frame k; uses the job's scratch.
int export_field_count(const export_job* job, int body);
const char* export_field_name(const export_job* job, int body, int field);
enum
{
    FIELD_NAME = 128
};
// Letters, digits and lines alone, which every format takes.
const char* export_field_word(const export_job* job, int body, int field, char word[FIELD_NAME]);
weft_status export_field(export_job* job, int body, int k, int field, const vec3* positions, double* out,
                         weft_error* error);
void export_color(const export_job* job, int body, float out[3]); // as pictures have it

// A turn and a move in the export's axes: x -> q x q* + t.
typedef struct export_pose
{
    double q[4]; // w, x, y, z
    vec3 t;
} export_pose;
vec3 export_pose_apply(const export_pose* pose, vec3 x);
// [frame_count] how the body's rest shape comes to each frame, for the caller to free; NULL: it stands still, is no
// obstacle, or changes its shape. Uses the job's positions.
weft_status export_rigid(export_job* job, int body, export_pose** out, weft_error* error);

// ---- names that faces have
// One of the three: objects, groups, materials.
enum
{
    LAYER_OBJECT,
    LAYER_GROUP,
    LAYER_MATERIAL,
    LAYER_COUNT
};
const weft_names* export_layer(const weft_cache_body* body, int layer);
// The topology whose names hold for all exported frames: the first one. NULL: the number of faces changes on the way,
// as in folders that no run of Weft made.
const weft_cache_body* export_names_for_all(const export_job* job, int body);
extern const char* const export_layer_word[LAYER_COUNT]; // "object", ...

// The faces of each name, in order. Zeroed: none.
typedef struct export_faces
{
    int* start; // [names + 1] places in `face`
    int* face;
} export_faces;
weft_status export_faces_make(const weft_names* names, int face_count, export_faces* out, weft_error* error);
void export_faces_finish(export_faces* faces);

// Faces that have all three names in common, in the order in which each is first met. There is one at least.
typedef struct export_set
{
    int name[LAYER_COUNT]; // -1: none
    int face_count;
} export_set;
typedef struct export_sets
{
    export_set* set; // [count]
    int count, capacity;
    int* face; // [face_count] set of each face; NULL: all are of the first
} export_sets;
weft_status export_sets_make(const weft_cache_body* body, export_sets* out, weft_error* error);
void export_sets_finish(export_sets* sets);

// ---- names and bytes of files
// FOLDER/NAME + ending, or FOLDER/NAME.0012 + ending with the number of the run's frame. IO: the path is too long.
weft_status export_path(const char* folder, const char* name, const char* ending, char path[EXPORT_PATH],
                        weft_error* error);
weft_status export_frame_path(const export_job* job, const char* folder, int body, int k, const char* ending,
                              char path[EXPORT_PATH], weft_error* error);
// Arrays in large pieces, without a call a number. Little endian, or big.
void export_put_ints(whole_file* file, const int* values, int64_t count);
void export_put_ints_big(whole_file* file, const int* values, int64_t count);
void export_put_floats(whole_file* file, const double* values, int64_t count);
void export_put_floats_big(whole_file* file, const double* values, int64_t count);
// A row of values as 3 count floats: what export_put_floats takes of points.
static inline const double* export_flat(const vec3* points)
{
    return &points->x;
}

// Text, buffered, whatever the locale. Errors show when the file is closed.
typedef struct export_text
{
    whole_file* file;
    int used;
    char buffer[1 << 16];
} export_text;

void export_text_put(export_text* text, const char* words);
void export_text_name(export_text* text, const char* name); // of a body: a line feed in it would end the line
void export_text_int(export_text* text, int value);
void export_text_number(export_text* text, double value); // finite; 9 digits, which is every float; below 1e-30 it is 0
void export_text_quoted(export_text* text, const char* words); // in quotation marks, as JSON and USD have them
void export_text_clean(const char* words, char* out); // [strlen(words) + 5] as quoted, without the marks
void export_text_flush(export_text* text);                     // at the end
static inline void export_text_char(export_text* text, char c)
{
    if (text->used == (int)sizeof(text->buffer))
    {
        export_text_flush(text);
    }
    text->buffer[text->used++] = c;
}

// The last topology in its rest shape, turned, as an OBJ file: what a point cache moves. One object, as programs read
// each as a mesh of its own. Uses the job's positions.
weft_status export_mesh_write(export_job* job, int body, const char* path, weft_error* error);

// ---- point caches: one topology, the last; beside each stands NAME.obj, and a body that stands still is that alone
typedef weft_status export_body_fn(export_job* job, int body, whole_file* file, weft_error* error);
weft_status export_body_file(export_job* job, int body, export_body_fn* put, const char* path, weft_error* error);
weft_status export_point_caches(export_job* job, const char* folder, const char* ending, export_body_fn* put,
                                weft_error* error);

// ---- sequences: NAME.0012 + ending for frame 12 of the run; a body that stands still is NAME + ending, once
typedef weft_status export_frame_fn(export_job* job, int body, int k, const char* path, weft_error* error);
weft_status export_sequence(export_job* job, const char* folder, const char* ending, export_frame_fn* write,
                            weft_error* error);

typedef weft_status export_fn(export_job* job, const char* target, weft_error* error);

typedef struct export_format
{
    const char *name, *summary;
    const char* ending; // of its files: ".abc"
    bool folder;        // the target is a folder that appears whole; run gets the name of a temporary one, which exists
    bool binary;        // numbers are not text: `weft bench export` measures it
    export_fn* run;
    // Of folders, may be NULL: writes one file of that ending, of one body and, where it holds one frame, one frame.
    export_fn* run_file;
    bool file_is_frame;
} export_format;

// By index from 0; NULL after the last.
const export_format* export_format_at(int index);

// ---- what an export may write to
bool export_has_ending(const char* target, const char* ending); // whatever the case
bool export_holds_run(const char* folder);
// EXISTS: the target would replace a file in the folder of a run, of any, that is no earlier export.
weft_status export_check_file(const export_job* job, const export_format* format, const char* target,
                              weft_error* error);
// BAD_INPUT: the target ends as files of another format do.
weft_status export_check_ending(const export_format* format, const char* target, weft_error* error);

// ---- folder targets: made beside the target under another name, then put in its place
// Checks the target, makes the temporary folder and writes its name.
weft_status export_folder_begin(const char* target, bool force, char temporary[EXPORT_PATH], weft_error* error);
// Adds the list of its files, puts it in place and counts.
weft_status export_folder_end(const char* temporary, const char* target, const export_job* job,
                              weft_export_stats* stats, weft_error* error);
void export_folder_abandon(const char* temporary);

export_fn export_pc2, export_pc2_file, export_mdd, export_mdd_file, export_obj, export_obj_file, export_ply,
    export_ply_file, export_abc, export_vtp, export_vtp_file, export_gltf, export_usda, export_usdc, export_usdz;

#endif

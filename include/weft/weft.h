/// Weft: cloth simulation from arrays. Files are in weft/scene.h and weft/cache.h, pictures in weft/render.h, the
/// linear solver alone in weft/solver.h.
///
///     weft_sim_def def = weft_sim_def_default();
///     weft_sim* sim;
///     if (weft_sim_create(&def, &sim, NULL) == WEFT_OK) ...
///     weft_cloth_def cloth = weft_cloth_def_default();
///     cloth.positions = ...; weft_sim_add_cloth(sim, &cloth, &id, NULL);
///     weft_sim_step(sim, NULL, NULL);
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include "weft/collide.h"
#include "weft/solver.h"
#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// ---- settings

/// One material serves every method. SI units of surfaces.
/// Of strands and volumes fewer numbers count, in other units.
typedef struct weft_material
{
    double density;        ///< kg/m^2; of strands kg/m, of volumes kg/m^3
    double stretch_warp;   ///< N/m; of strands EA in N, of volumes Young's modulus in Pa
    double stretch_weft;   ///< N/m
    double shear;          ///< N/m
    double bending;        ///< N m, of sheets along warp; of strands EI in N m^2
    double damping;        ///< s, times each stiffness
    /// Of sheets as they are measured; 0: not given, and the sheet is what the numbers above say.
    double bending_weft;      ///< N m along weft; 0: as along warp
    double bending_bias;      ///< N m of a strip cut at 45 degrees, below 4 / (1 / warp + 1 / weft); 0: what warp and weft give
    double bending_curvature; ///< 1/m, from which on moments grow by another share of the rigidities; 0: they are linear
    double bending_beyond;    ///< that share: 0.5 is half as stiff from there on
    double knee_warp;         ///< strain of warp threads at which stretch_warp ends; 0: it has no end
    double knee_weft;         ///< likewise of weft
    double stiff_warp;        ///< N/m beyond the knee, not less than stretch_warp
    double stiff_weft;        ///< likewise of weft
    double strain_limit;      ///< of warp and weft at the end of every step: 0.05 is 5 %; 0: none
    double crease_curvature;  ///< 1/m: what is bent further than this stays bent, in part; 0: it does not
    double crease_share;      ///< of what is further, that stays: above 0, at most 1
} weft_material;

/// The catalogue's material of that name (weft_list(WEFT_LIST_MATERIALS, ...)). NOT_FOUND suggests the nearest.
WEFT_API weft_status weft_material_find(const char* name, weft_material* out, weft_error* error);

/// Where each number of a material of the catalogue is from: who measured it, or that it was chosen, and why.
typedef struct weft_material_sources
{
    const char* density;
    const char* stretch;
    const char* shear;
    const char* bending;
    const char* damping;
    const char* drape_of; ///< kind of fabric of which drape coefficients were published; NULL: of none that we know of
    double drape_low;     ///< %, the least of them (Cusick's test, a specimen of 30 cm on a disc of 18 cm); 0 without any
    double drape_high;    ///< %, the largest
} weft_material_sources;

/// Of a material of the catalogue. NOT_FOUND as weft_material_find.
WEFT_API weft_status weft_material_find_sources(const char* name, weft_material_sources* out, weft_error* error);
/// Isotropic sheet: Young's modulus (Pa), Poisson ratio, thickness (m), volume density (kg/m^3); damping stays as it is.
WEFT_API weft_status weft_material_from_bulk(double young, double poisson, double thickness, double density,
                                             weft_material* out, weft_error* error);

typedef enum weft_fix
{
    WEFT_FIX_POINT, ///< the vertex stays where the pin says
    WEFT_FIX_LINE,  ///< it moves only along `direction`
    WEFT_FIX_PLANE  ///< it moves only across `direction`, the plane's normal
} weft_fix;

/// One key of a motion, of pins and obstacles: at `time` the set is turned by `angle` about the axis and then moved.
typedef struct weft_pin_key
{
    double time;      ///< s, increasing
    weft_vec3 offset; ///< m
    double angle;     ///< rad
} weft_pin_key;

/// Start from weft_pin_default().
typedef struct weft_pin
{
    const int* vertices; ///< [vertex_count] of the cloth, user's order
    int vertex_count;
    weft_fix fix;
    weft_vec3 direction; ///< of a line or a plane's normal; any length but zero
    const weft_pin_key* keys; ///< [key_count] or NULL: a still pin. Linear between keys, held before and after.
    int key_count;
    weft_vec3 axis;   ///< of the turn; zero: none
    weft_vec3 center; ///< a point on that axis
    double release;   ///< s; from then on the pin is gone; infinity: never
    const weft_vec3* samples; ///< [sample_count * vertex_count] m, where each vertex is to be, or NULL: where it starts. Keys move
                              ///< what the samples give.
    int sample_count;         ///< sample k is taken at sample_start + k / sample_rate, linear between, held before and after
    double sample_rate;       ///< samples a second
    double sample_start;      ///< s
    const char* follow;       ///< an obstacle: each vertex keeps its place relative to the face that is nearest when it is pinned
                              ///< (its distance turns with the face), and keys move it from there. Not with samples. NULL: none
    const double* weights;    ///< [vertex_count] from 0, free, to 1, held; or NULL: all are held. A vertex of weight w in between is
                              ///< drawn to its place by a spring of stiffness * w / (1 - w) times its mass, N/m, critically damped
    double stiffness;         ///< 1/s^2, of weights in between; above zero
} weft_pin;

WEFT_API weft_pin weft_pin_default(void); ///< no vertices, a still point that is never released; stiffness 1e4

/// A constant force on each of some vertices.
typedef struct weft_force
{
    const int* vertices; ///< [vertex_count]
    int vertex_count;
    weft_vec3 force;     ///< N a vertex
} weft_force;

/// Of models whose elements are connections of two vertices: "choi-ko" and "hooke".
typedef struct weft_connections
{
    const char* damper;    ///< "projected": along a connection while it lengthens, "two-sided": along it, "plain": all relative
                           ///< motion of its ends, "none". NULL: the model's own
    double damper_stretch; ///< N s/m of a stretch connection, half of it at borders; negative: damping times its stiffness
    double damper_shear;   ///< N s/m of a shear connection, likewise
    double bend_start;     ///< N/m, stiffness with which a bend spring of "choi-ko" starts; negative: from the material
} weft_connections;

/// Faces of a sheet that have a material of their own. Where several regions name a face the last one counts; an edge between
/// two has the mean of both.
typedef struct weft_region
{
    const int* faces; ///< [face_count] of the cloth's faces
    int face_count;
    weft_material material;
} weft_region;

/// An elastic band along edges of a sheet: those of which both ends are among the vertices. It is sewn on at rest_scale of
/// their lengths, and gathers the cloth as far as that gives way.
typedef struct weft_band
{
    const int* vertices; ///< [vertex_count]
    int vertex_count;
    double rest_scale;   ///< of the edges' lengths at rest; above zero
    double stiffness;    ///< N, the tension at twice its own length; above zero
} weft_band;

/// A pressed fold of a sheet: inner edges of which both ends are among the vertices have that angle at rest.
typedef struct weft_fold
{
    const int* vertices; ///< [vertex_count]
    int vertex_count;
    double angle;        ///< rad: 0 flat, positive where both sides lean towards the faces' normals; at most 170 degrees
} weft_fold;

/// A setting of a method that one body has of its own.
typedef struct weft_choice
{
    const char *method, *name; ///< as weft_setting_at has them
    double value;
} weft_choice;

/// A cloth, or a body of another kind. Start from weft_cloth_def_default(). All arrays are copied.
typedef struct weft_cloth_def
{
    const char* name;            ///< unique; becomes a file name. NULL: cloth1, cloth2, ...
    const char* kind;            ///< a name from weft_list(WEFT_LIST_BODIES, ...), or NULL: cloth
    const weft_vec3* positions;  ///< [vertex_count] m, at the start; also the rest shape unless rest_uv is given
    int vertex_count;
    const int* face_start;       ///< [face_count + 1], or NULL: all faces are triangles, all lines segments
    const int* face_vertices;    ///< polygons; quads and more are simulated as triangles. Of kinds made of lines: open polylines
    int face_count;
    const int* tetrahedra;       ///< [4 * tetrahedron_count] of kinds made of tetrahedra, each with a positive volume; else NULL.
    int tetrahedron_count;       ///< Faces are then not looked at: the surface follows
    const weft_vec3* rest_positions; ///< [vertex_count] rest shape, or NULL: positions
    const weft_vec2* rest_uv;    ///< flat rest shape in metres, one for each entry of face_vertices, or NULL
    weft_vec3 warp;              ///< direction of the warp in the rest shape, projected into each triangle
    const weft_vec3* velocities; ///< [vertex_count] m/s or NULL for zero
    weft_material material;
    const weft_region* regions;  ///< [region_count] of sheets, or NULL
    int region_count;
    const char* model;           ///< a name from weft_list(WEFT_LIST_MODELS, ...)
    const char* bending;         ///< of "baraff-witkin": "exact" (a material property, on any mesh), "curvature" (on grids), "hinge" (as the SA paper's
                                 ///< tables), or "auto": "exact" where method and cloth can have it, else "curvature", which cloth with flat triangles keeps. NULL: the model's own, "auto"
    weft_connections connections; ///< of models that have them; others refuse what is not the default
    const int* outputs;          ///< [output_count] vertex that each vertex of the outputs shows (welded duplicates), or NULL
    int output_count;            ///< 0 when outputs is NULL
    double vertex_mass;          ///< kg a vertex instead of density times area, length or volume; 0: not used
    double tear;                 ///< N/m: where the membrane force is larger, sheets tear; 0: they do not. Outputs then show all
                                 ///< vertices, and new ones come behind them
    double friction;             ///< coefficient. Of a pair the geometric mean of both counts; negative: what it touches says, and
                                 ///< where neither does the simulation's
    double static_friction;      ///< coefficient at rest; negative: the same
    double thickness;            ///< distance that it keeps from cloth, m: the mean of both counts
    const weft_pin* pins;        ///< [pin_count]
    int pin_count;
    const weft_force* forces;    ///< [force_count]
    int force_count;
    const int* stitches;         ///< [2 * stitch_count] pairs of vertices of a sheet that are sewn to each other: the gap between them, as it
    int stitch_count;            ///< is at the start, closes, and then they are one. Sewn cloth is flat at rest and does not tear
    const weft_thread* threads;  ///< [thread_count] likewise of points on edges: their gaps close to 1.25 thicknesses, and stay
    int thread_count;
    const weft_band* bands;      ///< [band_count] of sheets, or NULL
    int band_count;
    const weft_fold* folds;      ///< [fold_count] of sheets of "baraff-witkin", or NULL; of several that name an edge the last counts
    int fold_count;              ///< Cloth with bands or folds does not tear
    double stitch_start;         ///< s, when the gaps begin to close
    double stitch_close;         ///< s, how long that takes; positive where there are stitches or threads
    const weft_choice* settings; ///< [setting_count] of methods, instead of the simulation's; NULL: none. Of bodies that are stepped
    int setting_count;           ///< together, as they touch or are tied, the largest counts, or 0 where it means as many as it takes
    weft_labels labels;          ///< of the mesh, for the files of a run; those of solids are left out
} weft_cloth_def;

WEFT_API weft_cloth_def weft_cloth_def_default(void); ///< cotton, friction not said, thickness 1 mm

/// Fills out [vertex_count] with the positions of one sample. The same sample must always be the same.
typedef weft_status weft_sample_fn(void* user, int sample, weft_vec3* out, weft_error* error);

/// A body that cloth does not move: still, moved by keys, deforming by samples, or deforming and then moved. Its place is a
/// function of time alone. Coordinates are rounded to float at every time, so that what is simulated, saved and inspected
/// is one thing.
/// Start from weft_obstacle_def_default(). All arrays are copied.
typedef struct weft_obstacle_def
{
    const char* name;            ///< unique among cloths and obstacles; becomes a file name. NULL: obstacle1, obstacle2, ...
    const weft_vec3* positions;  ///< [vertex_count] m. With samples only the shape that polygons are cut into triangles by and
                                 ///< that NAME.obj of a run shows: where the body is, the samples say at every time
    int vertex_count;
    const int* face_start;       ///< [face_count + 1], or NULL: all faces are triangles
    const int* face_vertices;    ///< polygons; closed or open, edges of any number of faces, faces without area are all fine;
                                 ///< a corner twice is refused
    int face_count;
    const int* outputs;          ///< [output_count] vertex that each vertex of a run's files shows (welded duplicates): that of its
                                 ///< number or a lower one; or NULL
    int output_count;            ///< at least vertex_count; 0 when outputs is NULL
    weft_labels labels;          ///< of the mesh, for the files of a run
    double friction;             ///< coefficient, with static_friction as in weft_cloth_def
    double static_friction;
    double thickness;            ///< distance that cloth keeps, m
    const double* vertex_thickness;       ///< [vertex_count] m, in place of thickness, linear over faces; NULL: it is the same everywhere
    const double* vertex_friction;        ///< [vertex_count] in place of friction, likewise; negative: not said. NULL: friction everywhere
    const double* vertex_static_friction; ///< [vertex_count] beside vertex_friction; negative: the same. NULL: the same everywhere
    const weft_pin_key* keys;    ///< [key_count] or NULL: does not move. Linear between keys, held before and after.
    int key_count;
    weft_vec3 axis;              ///< of the turn; zero: none
    weft_vec3 center;            ///< a point on that axis
    int sample_count;            ///< 0: does not deform. Sample k is taken at sample_start + k / sample_rate, linear between, held
                                 ///< before and after; keys move what the samples give.
    double sample_rate;          ///< samples a second
    double sample_start;         ///< s
    double sample_offset;        ///< s, from 0 on: what sample_start finds is already this far on its way
    int sample_loop;             ///< 1: after the last sample comes the first again, 1 / sample_rate later
    const weft_vec3* samples;    ///< [sample_count * vertex_count], or NULL: read_sample. With sample_count above 0 exactly one
                                 ///< of the two is set, with 0 both are ignored
    weft_sample_fn* read_sample; ///< called when a sample is needed, at most two are kept: by weft_sim_add_obstacle and whatever
                                 ///< asks where the obstacle is, always on the thread of that call. NULL: samples
    void* user;                  ///< for read_sample
    void (*release)(void* user); ///< called once: when the simulation is destroyed, the obstacle removed or refused; may be NULL
} weft_obstacle_def;

WEFT_API weft_obstacle_def weft_obstacle_def_default(void); ///< friction not said, thickness 1 mm, still

/// Pairs of bodies that contact leaves alone: features (vertices, edges, faces) of the first with those of the second.
typedef struct weft_exclusion
{
    const char *first, *second; ///< names; the same twice: a cloth with itself. One at least is a cloth.
    const int* vertices;        ///< [vertex_count] of the first body: only features that contain one of them; NULL: all
    int vertex_count;
} weft_exclusion;

/// Points of one cloth that follow another, or itself: a patch or a button sewn on, a belt, a hem. Each vertex is tied to the nearest
/// face (where the cloths start, or are when it is an edit) that it does not belong to, at the place over that face where it is: tied points move together,
/// and the distance from the face turns with it. docs/methods.md says how.
typedef struct weft_tie
{
    const char *cloth, *to; ///< names of cloths; may be the same
    const int* vertices;    ///< [vertex_count] of the first, user's order; NULL: all
    int vertex_count;
    int edges; ///< 1: instead of the vertices the edges between two of them, each by its point nearest to an edge of `to`
} weft_tie;

/// Air around all cloth: pressure on each triangle by its normal velocity relative to the wind, friction by the rest.
typedef struct weft_air
{
    double density;      ///< kg/m^3; 0 (the default): no air
    double drag;         ///< coefficient of the normal part, 1/2 density drag area |u_n| u_n
    double friction;     ///< coefficient of the tangential part, 1/2 density friction area |u_t| u_t
    weft_vec3 wind;      ///< m/s
    double gust;         ///< relative strength of gusts, 0: steady wind
    double gust_period;  ///< s
    double gust_length;  ///< m
    double slip;         ///< coefficient of a tangential part by the normal velocity, 1/2 density slip area |u_n| u_t; 0: none
} weft_air;

enum
{
    WEFT_SETTING_MAX = 64 ///< settings of all methods together, at most
};

/// A number that can be chosen for a method. Strings are static.
typedef struct weft_setting
{
    const char *method, *name;
    const char* unit;        ///< NULL: none
    const char* summary;
    int whole;               ///< 1: an integer
    double value;            ///< the default
    double minimum, maximum; ///< maximum INFINITY: there is none
    int above;               ///< 1: the minimum itself is excluded
} weft_setting;

/// Start from weft_sim_def_default(); every field is then valid.
typedef struct weft_sim_def
{
    weft_vec3 gravity;      ///< m/s^2
    double time_step;       ///< s
    const char* method;     ///< a name from weft_list(WEFT_LIST_METHODS, ...)
    const char* solver;     ///< a name from weft_list(WEFT_LIST_SOLVERS, ...)
    const char* preconditioner; ///< a name from weft_list(WEFT_LIST_PRECONDITIONERS, ...); NULL for the solver's own
    const char* solver_variant; ///< of `mpcg`: "original" or "corrected"; NULL: corrected
    double tolerance;       ///< of the linear solver, relative; 1e-4 by default, see docs/performance.md#tolerance
    int max_iterations;     ///< of the linear solver; 0: its own limit
    weft_sa_def sa;         ///< of the solvers with multigrid
    double settings[WEFT_SETTING_MAX]; ///< of the methods, by index of weft_setting_at: weft_sim_def_set
    int max_halvings;       ///< of a step that goes wrong, 0..10
    double max_stretch;     ///< a step in which a thread grows by more than this factor is halved
    double max_strain;      ///< a step that ends with a thread longer by more than this share, and longer than before, is halved; 0: none is
    weft_air air;
    int contact;            ///< 1: cloth meets obstacles, cloth and itself; 0: it passes through everything
    double friction;        ///< coefficient of pairs of bodies that do not say
    double static_friction; ///< likewise at rest; negative: the same
    double particle_distance;  ///< vertices of sheets that are closer than this share of the spacing of their mesh push each other apart like springs, in the solve; 0: they do not
    double particle_stiffness; ///< of these, N/m a pair; negative: by masses
    double particle_damping;   ///< likewise, N s/m; negative: a tenth of critical
    int worker_count;       ///< 1: no threads are made; 0: one a core
    weft_task_hooks tasks;  ///< zero for the built-in pool
    const char* kernels;    ///< "auto", "base", "avx2", "avx512"
    uint32_t cookie;        ///< proves that the default was used; do not set. Without it the process ends: weft/types.h
} weft_sim_def;

/// ---- results

typedef struct weft_energy
{
    double kinetic, stretch, shear, bend, gravity, total; ///< J
} weft_energy;

enum
{
    WEFT_STAGE_MAX = 16,
    WEFT_COUNTER_MAX = 16
};

/// A number that the time method counts in a step, such as `newton_iterations`.
typedef struct weft_counter
{
    const char* name; ///< static; also its key in stats.jsonl
    double value;
} weft_counter;

/// At the end of the step this edge passes through this face: bodies or pins have closed on the cloth. Or it has passed
/// within the step, where a body went over the cloth whole and nothing around it crosses at the end. So have two segments of
/// lines, which cross for an instant only: the second is then a face whose last two vertices are the same. How near lines come to each
/// other is no crossing.
typedef struct weft_squeezed
{
    int body[2]; ///< cloths, then obstacles: of the edge, of the face
    int edge[2];
    int face[3]; ///< the user's vertices in these bodies
} weft_squeezed;

typedef struct weft_step_stats
{
    int64_t step;         ///< counted from 1
    double time;          ///< s, at the end of the step
    int iterations;       ///< of the linear solver, all solves of the step: those of cloths that are stepped apart add up
    int solves;           ///< linear solves, likewise
    int rescued;          ///< of them those that the solver gave up and a direct solve took over
    const char* solver;   ///< name of the one that ran last (for auto: the one chosen); static. Of cloths apart: the largest cluster's, as all that is of the last solve
    int counter_count;
    weft_counter counters[WEFT_COUNTER_MAX]; ///< of the method, and of the one that it falls back on; weft_step_counter finds one
    int substeps;         ///< accepted; 1 when nothing was halved. Of cloths apart: the most
    int rejected;         ///< substeps thrown away
    int forced;           ///< substeps that stand although they were judged wrong: nothing better was found, or the step's work was spent
    double residual;      ///< of the last solve
    double rate;          ///< of the last solve; NaN without iterations
    int level_count;      ///< of the last solve's multigrid; 0 without
    double operator_complexity; ///< of the last solve's multigrid; NaN without
    int components;       ///< of the last solve with `decomposed:NAME`: parts solved each by itself; 0 with other solvers
    double row_products;  ///< rows of matrices times vectors in all iterations of all solves
    double setup_s, solve_s, step_s;
    int stage_count;
    const char* stage_name[WEFT_STAGE_MAX];
    double stage_s[WEFT_STAGE_MAX];
    weft_energy energy;
    double max_stretch;   ///< largest |w_u| or |w_v| of a triangle, 1 at rest
    int constraints;      ///< vertices with a prescribed direction, and ties
    int contacts;         ///< vertices that touch obstacles and springs between cloths, or collisions after the solve if more
    int last_resort;      ///< vertices that only a rigid zone could keep from crossing
    int squeezed;         ///< pairs that bodies or pins have closed on
    const weft_squeezed* squeezed_pairs; ///< [squeezed], until the next step
    int unsettled;        ///< pairs that crossed at the start and are not apart yet (weft_sim_settle)
    const weft_squeezed* unsettled_pairs; ///< [unsettled], until the next step
    int limited;          ///< threads, warp and weft of triangles, with a strain limit
    int overstretched;    ///< of these, beyond it at the end of the step: pins or bodies leave them no other way
} weft_step_stats;

/// ---- the simulation

typedef struct weft_sim weft_sim;

/// What a step is doing. Counts are those of the step, or of the cloths that are stepped together just now.
typedef struct weft_progress
{
    int64_t step;      ///< under way, counted from 1; 0: the start
    double done;       ///< 0 to 1, of the step's time
    const char* stage; ///< that begins: "detect", "solve", ...; static
    int substeps, rejected, solves;
    int rounds, crossings; ///< of untangling, which is step 0 and its stage "untangle": done so far, and left
} weft_progress;

/// Not zero: the step is given up.
typedef int weft_progress_fn(void* user, const weft_progress* progress);
typedef int weft_cloth_id; ///< 0, 1, ... in the order of adding

WEFT_API weft_sim_def weft_sim_def_default(void);
/// The index-th setting of all methods together, from 0; NOT_FOUND past the last.
WEFT_API weft_status weft_setting_at(int index, weft_setting* out);
/// weft_sim_def_set(&def, "newton", "tolerance", 1e-7, NULL). NOT_FOUND: there is no such setting; BAD_INPUT: not within its limits.
WEFT_API weft_status weft_sim_def_set(weft_sim_def* def, const char* method, const char* setting, double value,
                                      weft_error* error);
WEFT_API double weft_sim_def_get(const weft_sim_def* def, const char* method, const char* setting); ///< NAN: no such one
WEFT_API weft_status weft_sim_create(const weft_sim_def* def, weft_sim** out, weft_error* error);
WEFT_API void weft_sim_destroy(weft_sim* sim); ///< NULL is fine
/// Before the first step, or as an edit (see there) after it: its positions are then where it is now. out may be NULL, and is
/// left alone on failure.
WEFT_API weft_status weft_sim_add_cloth(weft_sim* sim, const weft_cloth_def* def, weft_cloth_id* out,
                                        weft_error* error);
typedef int weft_obstacle_id; ///< 0, 1, ... in the order of adding
/// Before the first step, or as an edit (see there) after it; times of keys and samples are the simulation's. All samples (of very many an even choice) are read once and checked here. out
/// may be NULL, and is left alone on failure.
WEFT_API weft_status weft_sim_add_obstacle(weft_sim* sim, const weft_obstacle_def* def, weft_obstacle_id* out,
                                           weft_error* error);
/// After the bodies that it names; after the first step it is an edit (see there). NOT_FOUND suggests the nearest name. Arrays are
/// copied. Lasts as long as the bodies.
WEFT_API weft_status weft_sim_exclude(weft_sim* sim, const weft_exclusion* exclusion, weft_error* error);
/// After the cloths that it names; after the first step it is an edit (see there), which ties them where they are now. Points that lie
/// upon the other cloth get an exclusion with it (weft_sim_exclude). NOT_FOUND suggests the nearest name; BAD_INPUT when a point lies beside
/// the other cloth, or, of an edit, is tied to it already. Arrays are copied. Lasts as long as the cloths, which cannot be removed.
WEFT_API weft_status weft_sim_tie(weft_sim* sim, const weft_tie* tie, weft_error* error);
/// While a step runs, look is called at the start of each stage and solve, on the thread that steps; it must not touch the
/// simulation. What it gives up fails with CANCELLED. NULL: nobody looks. Results do not depend on it.
WEFT_API void weft_sim_watch(weft_sim* sim, weft_progress_fn* look, void* user);
/// One time step. On failure the state is that before the step, or, where cloth tears in it, that of its last look for
/// tears, and the step can be tried again, which then goes on from there; error (may be NULL) names step and vertex.
/// What multigrid keeps from solve to solve is then dropped.
WEFT_API weft_status weft_sim_step(weft_sim* sim, weft_step_stats* stats, weft_error* error); ///< stats may be NULL

/// What the method counted under that name; 0 when it counts no such thing.
WEFT_API double weft_step_counter(const weft_step_stats* stats, const char* name);

WEFT_API int weft_sim_cloth_count(const weft_sim* sim);
WEFT_API int weft_sim_vertex_count(const weft_sim* sim, weft_cloth_id cloth); ///< -1: of all cloths
WEFT_API const char* weft_sim_cloth_name(const weft_sim* sim, weft_cloth_id cloth);
WEFT_API const char* weft_sim_cloth_bending(const weft_sim* sim, weft_cloth_id cloth); ///< what "auto" stands for with it; NULL: its model has no choice
WEFT_API int64_t weft_sim_step_count(const weft_sim* sim);
WEFT_API double weft_sim_time(const weft_sim* sim);
WEFT_API double weft_sim_time_step(const weft_sim* sim);
WEFT_API const char* weft_sim_kernels(const weft_sim* sim); ///< "base", "avx2" or "avx512"
WEFT_API weft_energy weft_sim_energy(weft_sim* sim);
/// kg, of what moves; before the first step, too, and then without making the system: WEFT_NO_MEMORY.
WEFT_API weft_status weft_sim_mass(const weft_sim* sim, weft_cloth_id cloth, double* out);
WEFT_API int weft_sim_output_count(const weft_sim* sim, weft_cloth_id cloth); ///< vertex_count unless outputs were given
/// User's order; out is [weft_sim_output_count].
WEFT_API void weft_sim_positions(const weft_sim* sim, weft_cloth_id cloth, weft_vec3* out);
WEFT_API void weft_sim_velocities(const weft_sim* sim, weft_cloth_id cloth, weft_vec3* out);
/// The cloth's vertex that each vertex of the outputs shows; out is [weft_sim_output_count].
WEFT_API void weft_sim_output_vertices(const weft_sim* sim, weft_cloth_id cloth, int* out);
/// What a body is drawn of, as it collides: triangles of sheets and of the surface of solids, segments of strands; the others are none.
/// Vertices are the cloth's, in the user's order; out is [3 * weft_sim_triangle_count], [2 * weft_sim_segment_count].
WEFT_API int weft_sim_triangle_count(const weft_sim* sim, weft_cloth_id cloth);
WEFT_API void weft_sim_triangles(const weft_sim* sim, weft_cloth_id cloth, int* out);
WEFT_API int weft_sim_segment_count(const weft_sim* sim, weft_cloth_id cloth);
WEFT_API void weft_sim_segments(const weft_sim* sim, weft_cloth_id cloth, int* out);
/// Where all cloths' positions and velocities are kept, in the simulation's own order: nothing is copied. Both are [vertex_count], until the
/// next step, edit or weft_sim_set_state, and not to be written.
typedef struct weft_sim_arrays
{
    const weft_vec3 *positions, *velocities;
    int vertex_count;
} weft_sim_arrays;
WEFT_API weft_status weft_sim_borrow(weft_sim* sim, weft_sim_arrays* out, weft_error* error);
/// Where in them each vertex of a cloth is, once weft_sim_borrow has succeeded; the same until the next edit, tear or seam that
/// closes (weft_sim_generation), whose vertices then share a place. out is [weft_sim_vertex_count], the user's order.
WEFT_API void weft_sim_places(const weft_sim* sim, weft_cloth_id cloth, int* out);
/// Replaces the state of a cloth; either array [vertex_count] may be NULL.
WEFT_API weft_status weft_sim_set_state(weft_sim* sim, weft_cloth_id cloth, const weft_vec3* positions,
                                        const weft_vec3* velocities);
/// Puts the clock to the end of that step, counted from 0: pins and gusts go on from there. Positions stay.
WEFT_API weft_status weft_sim_set_step_count(weft_sim* sim, int64_t step_count);
/// Forgets what the checkpoint of a run's folder does not hold (numbers of multigrid's hierarchies), so that this simulation and one
/// that resumes from there go on with the same bits. A run's folder does this at each checkpoint.
WEFT_API void weft_sim_checkpoint(weft_sim* sim);

/// ---- edits: between steps, before the first one or after. An edit that is refused, or finds no memory, says why and changes
/// nothing. Edits are part of the state: a checkpoint has them, and a simulation of the same scene that resumes from it is
/// edited alike. The scene is what there is at the first step or the first of these edits. Ids that name nothing (any more) are
/// NOT_FOUND.

WEFT_API weft_status weft_sim_set_gravity(weft_sim* sim, weft_vec3 gravity, weft_error* error); ///< m/s^2
/// All of the air: density 0 takes it away.
WEFT_API weft_status weft_sim_set_wind(weft_sim* sim, const weft_air* air, weft_error* error);
WEFT_API weft_status weft_sim_set_material(weft_sim* sim, weft_cloth_id cloth, const weft_material* material,
                                           weft_error* error);
/// Takes the place of all constant forces on the cloth, its weft_cloth_def's too; force_count 0: none.
WEFT_API weft_status weft_sim_set_force(weft_sim* sim, weft_cloth_id cloth, const weft_force* forces, int force_count,
                                        weft_error* error);

typedef int weft_pin_id; ///< 1, 2, ... in the order in which pins come, with a cloth or by weft_sim_pin; none is used twice
/// Pins that the cloth came with: those of its weft_cloth_def, or of its `pins` in the scene file, in that order, moved and let go
/// ones too. 0 for one that was removed.
WEFT_API int weft_sim_cloth_pin_count(const weft_sim* sim, weft_cloth_id cloth);
WEFT_API weft_pin_id weft_sim_cloth_pin(const weft_sim* sim, weft_cloth_id cloth, int index);
WEFT_API int weft_sim_has_pin(const weft_sim* sim, weft_pin_id pin); ///< 0: there is none, or it was let go
/// The number of vertices that a pin holds, 0 where there is none; *vertices are the cloth's, in the order of weft_sim_move's
/// targets, until the next edit. cloth may be NULL.
WEFT_API int weft_sim_pin_vertices(const weft_sim* sim, weft_pin_id pin, weft_cloth_id* cloth, const int** vertices);
/// Pins vertices where they are now. Keys, samples and release are in the simulation's time, as of any pin: a motion that begins
/// now has its first key at weft_sim_time. out may be NULL, and is left alone on failure.
WEFT_API weft_status weft_sim_pin(weft_sim* sim, weft_cloth_id cloth, const weft_pin* pin, weft_pin_id* out,
                                  weft_error* error);
/// Takes the pin's vertices from where they are to targets [vertex_count of the pin] (m) within the next step, where they then
/// stay: drag with the mouse. From now on that takes the place of its keys, samples and what it follows; lines and planes stay free along
/// themselves. A pin that was moved before is moved again without memory being asked for.
WEFT_API weft_status weft_sim_move(weft_sim* sim, weft_pin_id pin, const weft_vec3* targets, weft_error* error);
WEFT_API weft_status weft_sim_unpin(weft_sim* sim, weft_pin_id pin, weft_error* error);

/// Takes a body out. Other bodies keep their ids; this one's names nothing from now on, is counted by weft_sim_cloth_count and
/// its kin as a body without vertices; another body may have its name. Pins of a cloth go with it. BAD_INPUT for the last cloth and
/// for cloth with ties; likewise for an obstacle that pins follow.
WEFT_API weft_status weft_sim_remove_cloth(weft_sim* sim, weft_cloth_id cloth, weft_error* error);
WEFT_API weft_status weft_sim_remove_obstacle(weft_sim* sim, weft_obstacle_id obstacle, weft_error* error);
WEFT_API int weft_sim_has_cloth(const weft_sim* sim, weft_cloth_id cloth); ///< 0: there is none, or it was removed
WEFT_API int weft_sim_has_obstacle(const weft_sim* sim, weft_obstacle_id obstacle);
/// Of the model: 1 at first, one more with each edit that makes it anew (bodies, ties, exclusions, materials, air that comes or goes). 0: it is
/// not built yet.
WEFT_API int weft_sim_generation(const weft_sim* sim);

/// What solver, contact and method know of each vertex beside its motion, for pictures. `aggregate`: with multigrid, the aggregate of
/// the vertex on the finest level; -1 where there is none, as before the first step. `contact`: N, the normal
/// force on the vertex, with methods that have a matrix. Then those of the method.
typedef struct weft_sim_field
{
    const char* name;
    int categories; ///< 1: whole numbers that name classes; 0: amounts
} weft_sim_field;
WEFT_API int weft_sim_field_count(const weft_sim* sim);
WEFT_API const weft_sim_field* weft_sim_field_at(const weft_sim* sim, int field);
/// out is [weft_sim_output_count].
WEFT_API weft_status weft_sim_field_values(const weft_sim* sim, weft_cloth_id cloth, int field, float* out);

typedef enum weft_element_role
{
    WEFT_ELEMENT_STRETCH, ///< also of elements that have stretch and shear
    WEFT_ELEMENT_SHEAR,
    WEFT_ELEMENT_BEND,
    WEFT_ELEMENT_LOAD ///< air
} weft_element_role;

/// What a method does with an element in a substep. Those that do not split take implicitly what is not slack.
typedef enum weft_element_state
{
    WEFT_ELEMENT_IMPLICIT,
    WEFT_ELEMENT_EXPLICIT,
    WEFT_ELEMENT_SLACK ///< it has neither force nor blocks
} weft_element_state;

enum
{
    WEFT_ELEMENT_VERTEX_MAX = 6
};

/// A spring, a triangle, a pair of triangles, a tetrahedron.
typedef struct weft_element
{
    int vertex_count;
    int vertices[WEFT_ELEMENT_VERTEX_MAX]; ///< in the user's order over all cloths, one after the other
    const char* kind;                      ///< static: "spring", "connection", "membrane", ...
    weft_element_role role;
    weft_element_state state;
} weft_element;

/// All elements, with what the last substep has made of them, or the system that weft_sim_system has built since. Returns how
/// many there are, 0 before the first of either; out is [capacity], and gets no more than that.
WEFT_API int weft_sim_elements(const weft_sim* sim, weft_element* out, int capacity);

/// The linear system that the next step would solve first, unfiltered, in the user's order.
WEFT_API weft_status weft_sim_system(weft_sim* sim, weft_system** out, weft_error* error);

WEFT_API int weft_sim_obstacle_count(const weft_sim* sim);
WEFT_API const char* weft_sim_obstacle_name(const weft_sim* sim, weft_obstacle_id obstacle);
WEFT_API int weft_sim_obstacle_vertex_count(const weft_sim* sim, weft_obstacle_id obstacle);
WEFT_API int weft_sim_obstacle_triangle_count(const weft_sim* sim, weft_obstacle_id obstacle);
/// As it collides; out is [3 * weft_sim_obstacle_triangle_count].
WEFT_API void weft_sim_obstacle_triangles(const weft_sim* sim, weft_obstacle_id obstacle, int* out);
WEFT_API int weft_sim_obstacle_is_still(const weft_sim* sim, weft_obstacle_id obstacle); ///< 1: neither keys nor samples
/// At any time, s (weft_sim_time: now). out is [weft_sim_obstacle_vertex_count]. Fails only when a sample cannot be read.
WEFT_API weft_status weft_sim_obstacle_positions(weft_sim* sim, weft_obstacle_id obstacle, double time, weft_vec3* out,
                                                 weft_error* error);
WEFT_API int weft_sim_exclusion_count(const weft_sim* sim);
/// The index-th, in the order of weft_sim_exclude, those of removed bodies too; what it points to lives as long as the simulation.
WEFT_API weft_exclusion weft_sim_exclusion_at(const weft_sim* sim, int index);

/// What weft_sim_tie has made.
typedef struct weft_tied
{
    const char *cloth, *to; ///< live as long as the simulation
    int edges;              ///< 1: points of edges, 0: vertices
    int point_count;
    int near_count;         ///< points that contact with `to` leaves alone, because they lie upon it
    int loose_count;        ///< vertices of `cloth` that lie as close and are neither tied nor excluded
    double kept;            ///< m, the distance that contact keeps between the two cloths
    double nearest, farthest; ///< m, distances of the points from their faces
} weft_tied;

WEFT_API int weft_sim_tie_count(const weft_sim* sim);
WEFT_API weft_tied weft_sim_tie_at(const weft_sim* sim, int index); ///< in the order of weft_sim_tie

/// All bodies in one collider (weft/collide.h), less the exclusions: vertices of the cloths in the order of adding, each in
/// the user's order, then those of the obstacles. Body k of the collider is cloth k, then obstacle k - cloth_count. The caller
/// destroys it; it does not see what is added later. worker_count, task hooks and kernels are those of the simulation, with a
/// pool of its own; pair_limit is the default. out is NULL on failure.
WEFT_API weft_status weft_sim_create_collider(weft_sim* sim, weft_collider** out, weft_error* error);
/// Of all bodies at present: after one was added it is more than a collider that was made before has, and as cloths come before
/// obstacles the order has changed too. Make the collider after the last body.
WEFT_API int weft_sim_collider_vertex_count(const weft_sim* sim);
/// Present positions in that order; out is [weft_sim_collider_vertex_count] as it is now. Fails only when a sample cannot be
/// read.
WEFT_API weft_status weft_sim_collider_positions(weft_sim* sim, weft_vec3* out, weft_error* error);

/// ---- names

typedef enum weft_list_kind
{
    WEFT_LIST_METHODS,
    WEFT_LIST_SOLVERS,
    WEFT_LIST_MODELS,
    WEFT_LIST_MATERIALS,
    WEFT_LIST_SCENES,
    WEFT_LIST_FORMATS,
    WEFT_LIST_BODIES, ///< kinds of bodies
    WEFT_LIST_PRECONDITIONERS ///< of the solver `mpcg`
} weft_list_kind;

/// The index-th name and its one-line summary, of which either may be NULL; NOT_FOUND past the end. Strings are static.
WEFT_API weft_status weft_list(weft_list_kind kind, int index, const char** name, const char** summary);

#ifdef __cplusplus
}
#endif
#endif

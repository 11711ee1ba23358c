"""The C interface by ctypes: made from include/weft by script/python-interface, not to be edited."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int64,
                    c_size_t, c_uint8, c_uint32, c_void_p)

FUNCTIONS = {}  # name -> (result, arguments)

WEFT_OK = 0
WEFT_BAD_INPUT = 1
WEFT_NOT_FOUND = 2
WEFT_UNSUPPORTED = 3
WEFT_NO_MEMORY = 4
WEFT_IO = 5
WEFT_DISK_FULL = 6
WEFT_NOT_DEFINITE = 7
WEFT_NOT_CONVERGED = 8
WEFT_NOT_FINITE = 9
WEFT_EXISTS = 10
WEFT_CANCELLED = 11
FUNCTIONS["weft_status_text"] = (c_char_p, [c_int])


class weft_error(Structure):
    _fields_ = [
        ("status", c_int),
        ("file", c_char * 512),
        ("line", c_int),
        ("column", c_int),
        ("message", c_char * 1024),
    ]


class weft_vec2(Structure):
    _fields_ = [
        ("x", c_double),
        ("y", c_double),
    ]


class weft_vec3(Structure):
    _fields_ = [
        ("x", c_double),
        ("y", c_double),
        ("z", c_double),
    ]


class weft_thread(Structure):
    _fields_ = [
        ("vertex", c_int * 2 * 2),
        ("ratio", c_double * 2),
    ]


class weft_names(Structure):
    _fields_ = [
        ("names", POINTER(c_char_p)),
        ("count", c_int),
        ("faces", POINTER(c_int)),
    ]


class weft_labels(Structure):
    _fields_ = [
        ("objects", weft_names),
        ("groups", weft_names),
        ("materials", weft_names),
        ("libraries", POINTER(c_char_p)),
        ("library_count", c_int),
        ("texcoords", POINTER(weft_vec2)),
        ("texcoord_count", c_int),
        ("face_texcoords", POINTER(c_int)),
        ("face_outputs", POINTER(c_int)),
    ]


class weft_allocator(Structure):
    _fields_ = [
        ("alloc", CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_void_p)),
        ("free", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("user", c_void_p),
    ]


FUNCTIONS["weft_set_allocator"] = (None, [POINTER(weft_allocator)])
weft_log_fn = CFUNCTYPE(None, c_char_p, c_void_p)
FUNCTIONS["weft_set_log"] = (None, [weft_log_fn, c_void_p])


class weft_task_hooks(Structure):
    _fields_ = [
        ("run", CFUNCTYPE(None, c_int, CFUNCTYPE(None, c_void_p, c_int), c_void_p, c_void_p)),
        ("user", c_void_p),
    ]


FUNCTIONS["weft_version"] = (c_char_p, [])


class weft_system_def(Structure):
    _fields_ = [
        ("vertex_count", c_int),
        ("row_start", POINTER(c_int)),
        ("column", POINTER(c_int)),
        ("values", POINTER(c_double)),
        ("b", POINTER(weft_vec3)),
        ("z", POINTER(weft_vec3)),
        ("filter", POINTER(c_double)),
        ("kernel", POINTER(c_double)),
        ("kernel_count", c_int),
        ("positions", POINTER(weft_vec3)),
        ("tie_count", c_int),
        ("tie_start", POINTER(c_int)),
        ("tie_unknown", POINTER(c_int)),
        ("tie_value", POINTER(c_double)),
        ("element_vertices", c_int),
    ]


class weft_system(Structure):
    pass


FUNCTIONS["weft_system_create"] = (c_int, [POINTER(weft_system_def), POINTER(POINTER(weft_system)), POINTER(weft_error)])
FUNCTIONS["weft_system_destroy"] = (None, [POINTER(weft_system)])
FUNCTIONS["weft_system_vertex_count"] = (c_int, [POINTER(weft_system)])
FUNCTIONS["weft_system_tie_count"] = (c_int, [POINTER(weft_system)])
FUNCTIONS["weft_system_read"] = (c_int, [c_char_p, POINTER(POINTER(weft_system)), POINTER(weft_error)])
FUNCTIONS["weft_system_write"] = (c_int, [POINTER(weft_system), c_char_p, c_int, POINTER(weft_error)])
FUNCTIONS["weft_vector_write"] = (c_int, [POINTER(weft_vec3), c_int, c_char_p, POINTER(weft_error)])


class weft_sa_def(Structure):
    _fields_ = [
        ("theta", c_double),
        ("distance", c_int),
        ("vectors", c_int),
        ("relax", c_int),
        ("filter", c_double),
        ("lanczos", c_int),
        ("margin", c_double),
        ("degree", c_int),
        ("lower", c_double),
        ("coarsest", c_int),
        ("precision", c_int),
        ("reuse", c_int),
        ("smoother", c_int),
    ]


class weft_solver_def(Structure):
    _fields_ = [
        ("solver", c_char_p),
        ("preconditioner", c_char_p),
        ("variant", c_char_p),
        ("tolerance", c_double),
        ("max_iterations", c_int),
        ("worker_count", c_int),
        ("tasks", weft_task_hooks),
        ("kernels", c_char_p),
        ("sa", weft_sa_def),
        ("cookie", c_uint32),
    ]


WEFT_LEVEL_MAX = 16


class weft_level_stats(Structure):
    _fields_ = [
        ("rows", c_int),
        ("block_size", c_int),
        ("blocks", c_int),
    ]


class weft_solve_stats(Structure):
    _fields_ = [
        ("solver", c_char_p),
        ("iterations", c_int),
        ("converged", c_int),
        ("residual", c_double),
        ("residual2", c_double),
        ("rate", c_double),
        ("setup_s", c_double),
        ("solve_s", c_double),
        ("bytes", c_double),
        ("bytes_held", c_double),
        ("level_count", c_int),
        ("levels", weft_level_stats * 16),
        ("refreshed", c_int),
        ("escalations", c_int),
        ("operator_complexity", c_double),
        ("components", c_int),
        ("row_products", c_double),
    ]


class weft_solver(Structure):
    pass


FUNCTIONS["weft_solver_def_default"] = (weft_solver_def, [])
FUNCTIONS["weft_sa_get"] = (c_int, [POINTER(weft_sa_def), c_int, POINTER(c_char_p), POINTER(c_double)])
FUNCTIONS["weft_sa_set"] = (c_int, [POINTER(weft_sa_def), c_char_p, c_double, POINTER(weft_error)])
FUNCTIONS["weft_solver_create"] = (c_int, [POINTER(weft_solver_def), POINTER(POINTER(weft_solver)), POINTER(weft_error)])
FUNCTIONS["weft_solver_solve"] = (c_int, [POINTER(weft_solver), POINTER(weft_system), POINTER(weft_vec3), POINTER(weft_solve_stats)])
FUNCTIONS["weft_solver_aggregates"] = (c_int, [POINTER(weft_solver), c_int, POINTER(c_int), POINTER(c_int)])
FUNCTIONS["weft_solver_components"] = (c_int, [POINTER(weft_solver), POINTER(c_int), POINTER(c_int)])
FUNCTIONS["weft_solver_drop"] = (None, [POINTER(weft_solver)])
FUNCTIONS["weft_solver_destroy"] = (None, [POINTER(weft_solver)])


class weft_connection(Structure):
    _fields_ = [
        ("i", c_int),
        ("j", c_int),
        ("strength", c_double),
    ]


FUNCTIONS["weft_system_strength"] = (c_int, [POINTER(weft_system), c_int, c_double, POINTER(weft_connection), c_int, POINTER(c_int)])
FUNCTIONS["weft_system_energy_error"] = (c_int, [POINTER(weft_system), POINTER(weft_vec3), POINTER(c_double), POINTER(weft_error)])
WEFT_VERTEX_FACE = 0
WEFT_EDGE_EDGE = 1


class weft_ccd(Structure):
    _fields_ = [
        ("collides", c_int),
        ("time", c_double),
        ("exact", c_int),
    ]


FUNCTIONS["weft_ccd_query"] = (c_int, [c_int, POINTER(weft_vec3), POINTER(weft_vec3), POINTER(weft_ccd)])


class weft_collider_def(Structure):
    _fields_ = [
        ("vertex_count", c_int),
        ("triangles", POINTER(c_int)),
        ("triangle_count", c_int),
        ("edges", POINTER(c_int)),
        ("edge_count", c_int),
        ("body", POINTER(c_int)),
        ("body_count", c_int),
        ("passive", POINTER(c_uint8)),
        ("excluded_bodies", POINTER(c_int)),
        ("excluded_body_count", c_int),
        ("excluded_vertices", POINTER(c_int)),
        ("excluded_vertex_count", c_int),
        ("seam", POINTER(c_int)),
        ("pair_limit", c_int),
        ("worker_count", c_int),
        ("tasks", weft_task_hooks),
        ("kernels", c_char_p),
        ("cookie", c_uint32),
    ]


class weft_collider(Structure):
    pass


FUNCTIONS["weft_collider_def_default"] = (weft_collider_def, [])
FUNCTIONS["weft_collider_create"] = (c_int, [POINTER(weft_collider_def), POINTER(POINTER(weft_collider)), POINTER(weft_error)])
FUNCTIONS["weft_collider_destroy"] = (None, [POINTER(weft_collider)])
FUNCTIONS["weft_collider_edges"] = (POINTER(c_int), [POINTER(weft_collider), POINTER(c_int)])
FUNCTIONS["weft_collider_update"] = (c_int, [POINTER(weft_collider), POINTER(weft_vec3), POINTER(weft_vec3), c_double, POINTER(weft_error)])


class weft_pair(Structure):
    _fields_ = [
        ("first", c_int),
        ("second", c_int),
    ]


class weft_pairs(Structure):
    _fields_ = [
        ("vertex_face", POINTER(weft_pair)),
        ("vertex_face_count", c_int),
        ("edge_edge", POINTER(weft_pair)),
        ("edge_edge_count", c_int),
    ]


FUNCTIONS["weft_collider_pairs"] = (c_int, [POINTER(weft_collider), POINTER(weft_pairs), POINTER(weft_error)])


class weft_near(Structure):
    _fields_ = [
        ("kind", c_int),
        ("first", c_int),
        ("second", c_int),
        ("vertex", c_int * 4),
        ("weight", c_double * 4),
        ("normal", weft_vec3),
        ("distance", c_double),
    ]


FUNCTIONS["weft_collider_near"] = (c_int, [POINTER(weft_collider), c_double, POINTER(POINTER(weft_near)), POINTER(c_int), POINTER(weft_error)])


class weft_impact(Structure):
    _fields_ = [
        ("kind", c_int),
        ("first", c_int),
        ("second", c_int),
        ("vertex", c_int * 4),
        ("time", c_double),
        ("exact", c_int),
    ]


FUNCTIONS["weft_collider_impacts"] = (c_int, [POINTER(weft_collider), POINTER(POINTER(weft_impact)), POINTER(c_int), POINTER(weft_error)])


class weft_material(Structure):
    _fields_ = [
        ("density", c_double),
        ("stretch_warp", c_double),
        ("stretch_weft", c_double),
        ("shear", c_double),
        ("bending", c_double),
        ("damping", c_double),
        ("bending_weft", c_double),
        ("bending_bias", c_double),
        ("bending_curvature", c_double),
        ("bending_beyond", c_double),
        ("knee_warp", c_double),
        ("knee_weft", c_double),
        ("stiff_warp", c_double),
        ("stiff_weft", c_double),
        ("strain_limit", c_double),
        ("crease_curvature", c_double),
        ("crease_share", c_double),
    ]


FUNCTIONS["weft_material_find"] = (c_int, [c_char_p, POINTER(weft_material), POINTER(weft_error)])


class weft_material_sources(Structure):
    _fields_ = [
        ("density", c_char_p),
        ("stretch", c_char_p),
        ("shear", c_char_p),
        ("bending", c_char_p),
        ("damping", c_char_p),
        ("drape_of", c_char_p),
        ("drape_low", c_double),
        ("drape_high", c_double),
    ]


FUNCTIONS["weft_material_find_sources"] = (c_int, [c_char_p, POINTER(weft_material_sources), POINTER(weft_error)])
FUNCTIONS["weft_material_from_bulk"] = (c_int, [c_double, c_double, c_double, c_double, POINTER(weft_material), POINTER(weft_error)])
WEFT_FIX_POINT = 0
WEFT_FIX_LINE = 1
WEFT_FIX_PLANE = 2


class weft_pin_key(Structure):
    _fields_ = [
        ("time", c_double),
        ("offset", weft_vec3),
        ("angle", c_double),
    ]


class weft_pin(Structure):
    _fields_ = [
        ("vertices", POINTER(c_int)),
        ("vertex_count", c_int),
        ("fix", c_int),
        ("direction", weft_vec3),
        ("keys", POINTER(weft_pin_key)),
        ("key_count", c_int),
        ("axis", weft_vec3),
        ("center", weft_vec3),
        ("release", c_double),
        ("samples", POINTER(weft_vec3)),
        ("sample_count", c_int),
        ("sample_rate", c_double),
        ("sample_start", c_double),
        ("follow", c_char_p),
        ("weights", POINTER(c_double)),
        ("stiffness", c_double),
    ]


FUNCTIONS["weft_pin_default"] = (weft_pin, [])


class weft_force(Structure):
    _fields_ = [
        ("vertices", POINTER(c_int)),
        ("vertex_count", c_int),
        ("force", weft_vec3),
    ]


class weft_connections(Structure):
    _fields_ = [
        ("damper", c_char_p),
        ("damper_stretch", c_double),
        ("damper_shear", c_double),
        ("bend_start", c_double),
    ]


class weft_region(Structure):
    _fields_ = [
        ("faces", POINTER(c_int)),
        ("face_count", c_int),
        ("material", weft_material),
    ]


class weft_band(Structure):
    _fields_ = [
        ("vertices", POINTER(c_int)),
        ("vertex_count", c_int),
        ("rest_scale", c_double),
        ("stiffness", c_double),
    ]


class weft_fold(Structure):
    _fields_ = [
        ("vertices", POINTER(c_int)),
        ("vertex_count", c_int),
        ("angle", c_double),
    ]


class weft_choice(Structure):
    _fields_ = [
        ("method", c_char_p),
        ("name", c_char_p),
        ("value", c_double),
    ]


class weft_cloth_def(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_char_p),
        ("positions", POINTER(weft_vec3)),
        ("vertex_count", c_int),
        ("face_start", POINTER(c_int)),
        ("face_vertices", POINTER(c_int)),
        ("face_count", c_int),
        ("tetrahedra", POINTER(c_int)),
        ("tetrahedron_count", c_int),
        ("rest_positions", POINTER(weft_vec3)),
        ("rest_uv", POINTER(weft_vec2)),
        ("warp", weft_vec3),
        ("velocities", POINTER(weft_vec3)),
        ("material", weft_material),
        ("regions", POINTER(weft_region)),
        ("region_count", c_int),
        ("model", c_char_p),
        ("bending", c_char_p),
        ("connections", weft_connections),
        ("outputs", POINTER(c_int)),
        ("output_count", c_int),
        ("vertex_mass", c_double),
        ("tear", c_double),
        ("friction", c_double),
        ("static_friction", c_double),
        ("thickness", c_double),
        ("pins", POINTER(weft_pin)),
        ("pin_count", c_int),
        ("forces", POINTER(weft_force)),
        ("force_count", c_int),
        ("stitches", POINTER(c_int)),
        ("stitch_count", c_int),
        ("threads", POINTER(weft_thread)),
        ("thread_count", c_int),
        ("bands", POINTER(weft_band)),
        ("band_count", c_int),
        ("folds", POINTER(weft_fold)),
        ("fold_count", c_int),
        ("stitch_start", c_double),
        ("stitch_close", c_double),
        ("settings", POINTER(weft_choice)),
        ("setting_count", c_int),
        ("labels", weft_labels),
    ]


FUNCTIONS["weft_cloth_def_default"] = (weft_cloth_def, [])
weft_sample_fn = CFUNCTYPE(c_int, c_void_p, c_int, POINTER(weft_vec3), POINTER(weft_error))


class weft_obstacle_def(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("positions", POINTER(weft_vec3)),
        ("vertex_count", c_int),
        ("face_start", POINTER(c_int)),
        ("face_vertices", POINTER(c_int)),
        ("face_count", c_int),
        ("outputs", POINTER(c_int)),
        ("output_count", c_int),
        ("labels", weft_labels),
        ("friction", c_double),
        ("static_friction", c_double),
        ("thickness", c_double),
        ("vertex_thickness", POINTER(c_double)),
        ("vertex_friction", POINTER(c_double)),
        ("vertex_static_friction", POINTER(c_double)),
        ("keys", POINTER(weft_pin_key)),
        ("key_count", c_int),
        ("axis", weft_vec3),
        ("center", weft_vec3),
        ("sample_count", c_int),
        ("sample_rate", c_double),
        ("sample_start", c_double),
        ("sample_offset", c_double),
        ("sample_loop", c_int),
        ("samples", POINTER(weft_vec3)),
        ("read_sample", weft_sample_fn),
        ("user", c_void_p),
        ("release", CFUNCTYPE(None, c_void_p)),
    ]


FUNCTIONS["weft_obstacle_def_default"] = (weft_obstacle_def, [])


class weft_exclusion(Structure):
    _fields_ = [
        ("first", c_char_p),
        ("second", c_char_p),
        ("vertices", POINTER(c_int)),
        ("vertex_count", c_int),
    ]


class weft_tie(Structure):
    _fields_ = [
        ("cloth", c_char_p),
        ("to", c_char_p),
        ("vertices", POINTER(c_int)),
        ("vertex_count", c_int),
        ("edges", c_int),
    ]


class weft_air(Structure):
    _fields_ = [
        ("density", c_double),
        ("drag", c_double),
        ("friction", c_double),
        ("wind", weft_vec3),
        ("gust", c_double),
        ("gust_period", c_double),
        ("gust_length", c_double),
        ("slip", c_double),
    ]


WEFT_SETTING_MAX = 64


class weft_setting(Structure):
    _fields_ = [
        ("method", c_char_p),
        ("name", c_char_p),
        ("unit", c_char_p),
        ("summary", c_char_p),
        ("whole", c_int),
        ("value", c_double),
        ("minimum", c_double),
        ("maximum", c_double),
        ("above", c_int),
    ]


class weft_sim_def(Structure):
    _fields_ = [
        ("gravity", weft_vec3),
        ("time_step", c_double),
        ("method", c_char_p),
        ("solver", c_char_p),
        ("preconditioner", c_char_p),
        ("solver_variant", c_char_p),
        ("tolerance", c_double),
        ("max_iterations", c_int),
        ("sa", weft_sa_def),
        ("settings", c_double * 64),
        ("max_halvings", c_int),
        ("max_stretch", c_double),
        ("max_strain", c_double),
        ("air", weft_air),
        ("contact", c_int),
        ("friction", c_double),
        ("static_friction", c_double),
        ("particle_distance", c_double),
        ("particle_stiffness", c_double),
        ("particle_damping", c_double),
        ("worker_count", c_int),
        ("tasks", weft_task_hooks),
        ("kernels", c_char_p),
        ("cookie", c_uint32),
    ]


class weft_energy(Structure):
    _fields_ = [
        ("kinetic", c_double),
        ("stretch", c_double),
        ("shear", c_double),
        ("bend", c_double),
        ("gravity", c_double),
        ("total", c_double),
    ]


WEFT_STAGE_MAX = 16
WEFT_COUNTER_MAX = 16


class weft_counter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("value", c_double),
    ]


class weft_squeezed(Structure):
    _fields_ = [
        ("body", c_int * 2),
        ("edge", c_int * 2),
        ("face", c_int * 3),
    ]


class weft_step_stats(Structure):
    _fields_ = [
        ("step", c_int64),
        ("time", c_double),
        ("iterations", c_int),
        ("solves", c_int),
        ("rescued", c_int),
        ("solver", c_char_p),
        ("counter_count", c_int),
        ("counters", weft_counter * 16),
        ("substeps", c_int),
        ("rejected", c_int),
        ("forced", c_int),
        ("residual", c_double),
        ("rate", c_double),
        ("level_count", c_int),
        ("operator_complexity", c_double),
        ("components", c_int),
        ("row_products", c_double),
        ("setup_s", c_double),
        ("solve_s", c_double),
        ("step_s", c_double),
        ("stage_count", c_int),
        ("stage_name", c_char_p * 16),
        ("stage_s", c_double * 16),
        ("energy", weft_energy),
        ("max_stretch", c_double),
        ("constraints", c_int),
        ("contacts", c_int),
        ("last_resort", c_int),
        ("squeezed", c_int),
        ("squeezed_pairs", POINTER(weft_squeezed)),
        ("unsettled", c_int),
        ("unsettled_pairs", POINTER(weft_squeezed)),
        ("limited", c_int),
        ("overstretched", c_int),
    ]


class weft_sim(Structure):
    pass


class weft_progress(Structure):
    _fields_ = [
        ("step", c_int64),
        ("done", c_double),
        ("stage", c_char_p),
        ("substeps", c_int),
        ("rejected", c_int),
        ("solves", c_int),
        ("rounds", c_int),
        ("crossings", c_int),
    ]


weft_progress_fn = CFUNCTYPE(c_int, c_void_p, POINTER(weft_progress))
FUNCTIONS["weft_sim_def_default"] = (weft_sim_def, [])
FUNCTIONS["weft_setting_at"] = (c_int, [c_int, POINTER(weft_setting)])
FUNCTIONS["weft_sim_def_set"] = (c_int, [POINTER(weft_sim_def), c_char_p, c_char_p, c_double, POINTER(weft_error)])
FUNCTIONS["weft_sim_def_get"] = (c_double, [POINTER(weft_sim_def), c_char_p, c_char_p])
FUNCTIONS["weft_sim_create"] = (c_int, [POINTER(weft_sim_def), POINTER(POINTER(weft_sim)), POINTER(weft_error)])
FUNCTIONS["weft_sim_destroy"] = (None, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_add_cloth"] = (c_int, [POINTER(weft_sim), POINTER(weft_cloth_def), POINTER(c_int), POINTER(weft_error)])
FUNCTIONS["weft_sim_add_obstacle"] = (c_int, [POINTER(weft_sim), POINTER(weft_obstacle_def), POINTER(c_int), POINTER(weft_error)])
FUNCTIONS["weft_sim_exclude"] = (c_int, [POINTER(weft_sim), POINTER(weft_exclusion), POINTER(weft_error)])
FUNCTIONS["weft_sim_tie"] = (c_int, [POINTER(weft_sim), POINTER(weft_tie), POINTER(weft_error)])
FUNCTIONS["weft_sim_watch"] = (None, [POINTER(weft_sim), weft_progress_fn, c_void_p])
FUNCTIONS["weft_sim_step"] = (c_int, [POINTER(weft_sim), POINTER(weft_step_stats), POINTER(weft_error)])
FUNCTIONS["weft_step_counter"] = (c_double, [POINTER(weft_step_stats), c_char_p])
FUNCTIONS["weft_sim_cloth_count"] = (c_int, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_vertex_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_cloth_name"] = (c_char_p, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_cloth_bending"] = (c_char_p, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_step_count"] = (c_int64, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_time"] = (c_double, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_time_step"] = (c_double, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_kernels"] = (c_char_p, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_energy"] = (weft_energy, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_mass"] = (c_int, [POINTER(weft_sim), c_int, POINTER(c_double)])
FUNCTIONS["weft_sim_output_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_positions"] = (None, [POINTER(weft_sim), c_int, POINTER(weft_vec3)])
FUNCTIONS["weft_sim_velocities"] = (None, [POINTER(weft_sim), c_int, POINTER(weft_vec3)])
FUNCTIONS["weft_sim_output_vertices"] = (None, [POINTER(weft_sim), c_int, POINTER(c_int)])
FUNCTIONS["weft_sim_triangle_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_triangles"] = (None, [POINTER(weft_sim), c_int, POINTER(c_int)])
FUNCTIONS["weft_sim_segment_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_segments"] = (None, [POINTER(weft_sim), c_int, POINTER(c_int)])


class weft_sim_arrays(Structure):
    _fields_ = [
        ("positions", POINTER(weft_vec3)),
        ("velocities", POINTER(weft_vec3)),
        ("vertex_count", c_int),
    ]


FUNCTIONS["weft_sim_borrow"] = (c_int, [POINTER(weft_sim), POINTER(weft_sim_arrays), POINTER(weft_error)])
FUNCTIONS["weft_sim_places"] = (None, [POINTER(weft_sim), c_int, POINTER(c_int)])
FUNCTIONS["weft_sim_set_state"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_vec3), POINTER(weft_vec3)])
FUNCTIONS["weft_sim_set_step_count"] = (c_int, [POINTER(weft_sim), c_int64])
FUNCTIONS["weft_sim_checkpoint"] = (None, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_set_gravity"] = (c_int, [POINTER(weft_sim), weft_vec3, POINTER(weft_error)])
FUNCTIONS["weft_sim_set_wind"] = (c_int, [POINTER(weft_sim), POINTER(weft_air), POINTER(weft_error)])
FUNCTIONS["weft_sim_set_material"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_material), POINTER(weft_error)])
FUNCTIONS["weft_sim_set_force"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_force), c_int, POINTER(weft_error)])
FUNCTIONS["weft_sim_cloth_pin_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_cloth_pin"] = (c_int, [POINTER(weft_sim), c_int, c_int])
FUNCTIONS["weft_sim_has_pin"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_pin_vertices"] = (c_int, [POINTER(weft_sim), c_int, POINTER(c_int), POINTER(POINTER(c_int))])
FUNCTIONS["weft_sim_pin"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_pin), POINTER(c_int), POINTER(weft_error)])
FUNCTIONS["weft_sim_move"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_vec3), POINTER(weft_error)])
FUNCTIONS["weft_sim_unpin"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_error)])
FUNCTIONS["weft_sim_remove_cloth"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_error)])
FUNCTIONS["weft_sim_remove_obstacle"] = (c_int, [POINTER(weft_sim), c_int, POINTER(weft_error)])
FUNCTIONS["weft_sim_has_cloth"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_has_obstacle"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_generation"] = (c_int, [POINTER(weft_sim)])


class weft_sim_field(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("categories", c_int),
    ]


FUNCTIONS["weft_sim_field_count"] = (c_int, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_field_at"] = (POINTER(weft_sim_field), [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_field_values"] = (c_int, [POINTER(weft_sim), c_int, c_int, POINTER(c_float)])
WEFT_ELEMENT_STRETCH = 0
WEFT_ELEMENT_SHEAR = 1
WEFT_ELEMENT_BEND = 2
WEFT_ELEMENT_LOAD = 3
WEFT_ELEMENT_IMPLICIT = 0
WEFT_ELEMENT_EXPLICIT = 1
WEFT_ELEMENT_SLACK = 2
WEFT_ELEMENT_VERTEX_MAX = 6


class weft_element(Structure):
    _fields_ = [
        ("vertex_count", c_int),
        ("vertices", c_int * 6),
        ("kind", c_char_p),
        ("role", c_int),
        ("state", c_int),
    ]


FUNCTIONS["weft_sim_elements"] = (c_int, [POINTER(weft_sim), POINTER(weft_element), c_int])
FUNCTIONS["weft_sim_system"] = (c_int, [POINTER(weft_sim), POINTER(POINTER(weft_system)), POINTER(weft_error)])
FUNCTIONS["weft_sim_obstacle_count"] = (c_int, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_obstacle_name"] = (c_char_p, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_obstacle_vertex_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_obstacle_triangle_count"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_obstacle_triangles"] = (None, [POINTER(weft_sim), c_int, POINTER(c_int)])
FUNCTIONS["weft_sim_obstacle_is_still"] = (c_int, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_obstacle_positions"] = (c_int, [POINTER(weft_sim), c_int, c_double, POINTER(weft_vec3), POINTER(weft_error)])
FUNCTIONS["weft_sim_exclusion_count"] = (c_int, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_exclusion_at"] = (weft_exclusion, [POINTER(weft_sim), c_int])


class weft_tied(Structure):
    _fields_ = [
        ("cloth", c_char_p),
        ("to", c_char_p),
        ("edges", c_int),
        ("point_count", c_int),
        ("near_count", c_int),
        ("loose_count", c_int),
        ("kept", c_double),
        ("nearest", c_double),
        ("farthest", c_double),
    ]


FUNCTIONS["weft_sim_tie_count"] = (c_int, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_tie_at"] = (weft_tied, [POINTER(weft_sim), c_int])
FUNCTIONS["weft_sim_create_collider"] = (c_int, [POINTER(weft_sim), POINTER(POINTER(weft_collider)), POINTER(weft_error)])
FUNCTIONS["weft_sim_collider_vertex_count"] = (c_int, [POINTER(weft_sim)])
FUNCTIONS["weft_sim_collider_positions"] = (c_int, [POINTER(weft_sim), POINTER(weft_vec3), POINTER(weft_error)])
WEFT_LIST_METHODS = 0
WEFT_LIST_SOLVERS = 1
WEFT_LIST_MODELS = 2
WEFT_LIST_MATERIALS = 3
WEFT_LIST_SCENES = 4
WEFT_LIST_FORMATS = 5
WEFT_LIST_BODIES = 6
WEFT_LIST_PRECONDITIONERS = 7
FUNCTIONS["weft_list"] = (c_int, [c_int, c_int, POINTER(c_char_p), POINTER(c_char_p)])


class weft_scene(Structure):
    pass


FUNCTIONS["weft_scene_load"] = (c_int, [c_char_p, POINTER(c_char_p), c_int, POINTER(POINTER(weft_scene)), POINTER(weft_error)])
FUNCTIONS["weft_scene_parse"] = (c_int, [c_char_p, c_char_p, POINTER(c_char_p), c_int, POINTER(POINTER(weft_scene)), POINTER(weft_error)])
FUNCTIONS["weft_scene_destroy"] = (None, [POINTER(weft_scene)])
FUNCTIONS["weft_scene_create_sim"] = (c_int, [POINTER(weft_scene), c_int, POINTER(POINTER(weft_sim)), POINTER(weft_error)])
FUNCTIONS["weft_scene_build_sim"] = (c_int, [POINTER(weft_scene), c_int, POINTER(POINTER(weft_sim)), POINTER(weft_error)])


class weft_untangling(Structure):
    _fields_ = [
        ("crossings", c_int),
        ("rounds", c_int),
        ("farthest", c_double),
        ("body", c_int),
        ("vertex", c_int),
        ("max_strain", c_double),
        ("settles", c_int),
    ]


FUNCTIONS["weft_scene_start"] = (c_int, [POINTER(weft_scene), POINTER(weft_sim), POINTER(weft_untangling), POINTER(weft_error)])
FUNCTIONS["weft_sim_untangle"] = (c_int, [POINTER(weft_sim), POINTER(weft_untangling), POINTER(weft_error)])
FUNCTIONS["weft_sim_settle"] = (c_int, [POINTER(weft_sim), POINTER(c_int), c_int, POINTER(weft_untangling), POINTER(weft_error)])


class weft_dress_def(Structure):
    _fields_ = [
        ("worker_count", c_int),
        ("pose", c_char_p),
        ("look", weft_progress_fn),
        ("user", c_void_p),
        ("cookie", c_uint32),
    ]


FUNCTIONS["weft_dress_def_default"] = (weft_dress_def, [])


class weft_dressing(Structure):
    _fields_ = [
        ("crossings", c_int),
        ("thinned", c_double),
        ("steps", c_int),
        ("left", c_int),
        ("max_strain", c_double),
    ]


FUNCTIONS["weft_scene_dress"] = (c_int, [POINTER(weft_scene), POINTER(weft_dress_def), POINTER(weft_dressing), POINTER(weft_error)])
FUNCTIONS["weft_scene_frames"] = (c_int, [POINTER(weft_scene)])
FUNCTIONS["weft_scene_steps_per_frame"] = (c_int, [POINTER(weft_scene)])
FUNCTIONS["weft_scene_frame_rate"] = (c_double, [POINTER(weft_scene)])
FUNCTIONS["weft_scene_name"] = (c_char_p, [POINTER(weft_scene)])


class weft_scene_value(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("value", c_double),
    ]


class weft_scene_cloth(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_char_p),
        ("obj", c_char_p),
        ("source", c_char_p),
        ("vertex_count", c_int),
        ("face_count", c_int),
        ("triangle_count", c_int),
        ("segment_count", c_int),
        ("tetrahedron_count", c_int),
        ("pin_count", c_int),
        ("pinned_count", c_int),
        ("force_count", c_int),
        ("material", weft_material),
        ("density_unit", c_char_p),
        ("values", weft_scene_value * 6),
        ("value_count", c_int),
        ("has_radius", c_int),
        ("model", c_char_p),
        ("bending", c_char_p),
        ("friction", c_double),
        ("static_friction", c_double),
        ("thickness", c_double),
        ("settings", POINTER(weft_choice)),
        ("setting_count", c_int),
    ]


FUNCTIONS["weft_scene_cloth_at"] = (c_int, [POINTER(weft_scene), c_int, POINTER(weft_scene_cloth)])


class weft_scene_obstacle(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("shape", c_char_p),
        ("obj", c_char_p),
        ("vertex_count", c_int),
        ("face_count", c_int),
        ("triangle_count", c_int),
        ("is_closed", c_int),
        ("deviation", c_double),
        ("friction", c_double),
        ("static_friction", c_double),
        ("thickness", c_double),
        ("key_count", c_int),
        ("sample_count", c_int),
        ("deform", c_char_p),
        ("deform_rate", c_double),
        ("deform_loop", c_int),
        ("deform_error", c_double),
    ]


FUNCTIONS["weft_scene_obstacle_at"] = (c_int, [POINTER(weft_scene), c_int, POINTER(weft_scene_obstacle)])
FUNCTIONS["weft_scene_sim_def"] = (POINTER(weft_sim_def), [POINTER(weft_scene)])
FUNCTIONS["weft_scene_json"] = (c_char_p, [POINTER(weft_scene)])
FUNCTIONS["weft_scene_warning"] = (c_char_p, [POINTER(weft_scene), c_int])
FUNCTIONS["weft_scene_schema"] = (c_size_t, [c_char_p, c_size_t])
FUNCTIONS["weft_scene_text"] = (c_char_p, [c_char_p])


class weft_inspect_def(Structure):
    _fields_ = [
        ("worker_count", c_int),
        ("tasks", weft_task_hooks),
        ("pair_limit", c_int),
        ("crossing_limit", c_int64),
        ("test_limit", c_int64),
        ("crossings_only", c_int),
        ("cookie", c_uint32),
    ]


FUNCTIONS["weft_inspect_def_default"] = (weft_inspect_def, [])


class weft_inspect_body(Structure):
    _fields_ = [
        ("obstacle", c_int),
        ("vertex_count", c_int),
        ("rest", POINTER(weft_vec3)),
        ("triangle_count", c_int),
        ("triangles", POINTER(c_int)),
        ("segment_count", c_int),
        ("segments", POINTER(c_int)),
    ]


WEFT_CROSSING_THROUGH = 0
WEFT_CROSSING_OVERLAP = 1
WEFT_CROSSING_EDGE = 2
WEFT_CROSSING_DEGENERATE = 3
WEFT_CROSSING_NESTED = 4
FUNCTIONS["weft_crossing_kind_name"] = (c_char_p, [c_int])


class weft_crossing(Structure):
    _fields_ = [
        ("body", c_int * 2),
        ("triangle", c_int * 2),
        ("kind", c_int),
    ]


class weft_inspection(Structure):
    _fields_ = [
        ("crossings", c_int64),
        ("nested", c_int64),
        ("truncated", c_int),
        ("min_distance", c_double),
        ("max_strain", c_double),
        ("nonfinite", c_int64),
        ("degenerate", c_int64),
        ("pair_count", c_int),
        ("pairs", POINTER(weft_crossing)),
    ]


class weft_inspector(Structure):
    pass


FUNCTIONS["weft_inspector_create"] = (c_int, [POINTER(weft_inspect_def), POINTER(weft_inspect_body), c_int, POINTER(POINTER(weft_inspector)), POINTER(weft_error)])
FUNCTIONS["weft_inspector_frame"] = (c_int, [POINTER(weft_inspector), POINTER(POINTER(weft_vec3)), POINTER(weft_inspection), POINTER(weft_error)])
FUNCTIONS["weft_inspector_destroy"] = (None, [POINTER(weft_inspector)])
WEFT_CACHE_NEW = 0
WEFT_CACHE_FORCE = 1
WEFT_CACHE_RESUME = 2


class weft_cache_writer(Structure):
    pass


FUNCTIONS["weft_cache_writer_create"] = (c_int, [c_char_p, c_int, c_char_p, c_int, POINTER(weft_sim), POINTER(POINTER(weft_cache_writer)), POINTER(weft_error)])
FUNCTIONS["weft_cache_has_checkpoint"] = (c_int, [c_char_p])
FUNCTIONS["weft_cache_load_checkpoint"] = (c_int, [c_char_p, c_int, POINTER(weft_sim), POINTER(weft_error)])
FUNCTIONS["weft_cache_writer_fields"] = (c_int, [POINTER(weft_cache_writer), POINTER(weft_sim), POINTER(weft_error)])
FUNCTIONS["weft_cache_writer_has_fields"] = (c_int, [POINTER(weft_cache_writer)])
FUNCTIONS["weft_cache_writer_step"] = (c_int, [POINTER(weft_cache_writer), POINTER(weft_sim), POINTER(weft_step_stats), POINTER(weft_error)])
FUNCTIONS["weft_cache_writer_destroy"] = (c_int, [POINTER(weft_cache_writer), POINTER(weft_error)])


class weft_cache(Structure):
    pass


class weft_cache_body(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("obstacle", c_int),
        ("still", c_int),
        ("solid", c_int),
        ("thickness", c_double),
        ("from", c_int),
        ("until", c_int),
        ("vertex_count", c_int),
        ("rest", POINTER(weft_vec3)),
        ("face_count", c_int),
        ("face_start", POINTER(c_int)),
        ("face_vertices", POINTER(c_int)),
        ("triangle_count", c_int),
        ("triangles", POINTER(c_int)),
        ("triangle_corners", POINTER(c_int)),
        ("lines", c_int),
        ("segment_count", c_int),
        ("segments", POINTER(c_int)),
        ("texcoord_count", c_int),
        ("texcoords", POINTER(c_double)),
        ("face_texcoords", POINTER(c_int)),
        ("origin", POINTER(c_int)),
        ("same", POINTER(c_int)),
        ("objects", weft_names),
        ("groups", weft_names),
        ("materials", weft_names),
        ("libraries", POINTER(c_char_p)),
        ("library_count", c_int),
    ]


FUNCTIONS["weft_cache_open"] = (c_int, [c_char_p, POINTER(POINTER(weft_cache)), POINTER(weft_error)])
FUNCTIONS["weft_cache_close"] = (None, [POINTER(weft_cache)])
FUNCTIONS["weft_cache_dir"] = (c_char_p, [POINTER(weft_cache)])
FUNCTIONS["weft_cache_frame_count"] = (c_int, [POINTER(weft_cache)])
FUNCTIONS["weft_cache_body_count"] = (c_int, [POINTER(weft_cache)])
FUNCTIONS["weft_cache_body_at"] = (POINTER(weft_cache_body), [POINTER(weft_cache), c_int])
FUNCTIONS["weft_cache_read_frame"] = (c_int, [POINTER(weft_cache), c_int, c_int, POINTER(weft_vec3), POINTER(weft_error)])
FUNCTIONS["weft_cache_read_points"] = (c_int, [POINTER(weft_cache), c_int, c_int, c_int, c_int, POINTER(weft_vec3), POINTER(weft_error)])
FUNCTIONS["weft_cache_present"] = (c_int, [POINTER(weft_cache), c_int, c_int])
FUNCTIONS["weft_cache_topology_count"] = (c_int, [POINTER(weft_cache), c_int])
FUNCTIONS["weft_cache_topology_at"] = (POINTER(weft_cache_body), [POINTER(weft_cache), c_int, c_int])
FUNCTIONS["weft_cache_topology_of"] = (c_int, [POINTER(weft_cache), c_int, c_int])
FUNCTIONS["weft_cache_topology_start"] = (c_int, [POINTER(weft_cache), c_int, c_int])
FUNCTIONS["weft_cache_coarsen"] = (c_int, [POINTER(weft_cache), c_int, POINTER(c_int), POINTER(weft_error)])


class weft_cache_field(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("categories", c_int),
        ("constant", c_int),
    ]


FUNCTIONS["weft_cache_field_count"] = (c_int, [POINTER(weft_cache), c_int])
FUNCTIONS["weft_cache_field_at"] = (POINTER(weft_cache_field), [POINTER(weft_cache), c_int, c_int])
FUNCTIONS["weft_cache_read_field"] = (c_int, [POINTER(weft_cache), c_int, c_int, c_int, POINTER(c_float), POINTER(weft_error)])
FUNCTIONS["weft_cache_field_write"] = (c_int, [c_char_p, c_char_p, c_char_p, c_int, c_int, c_int, POINTER(c_float), POINTER(weft_error)])


class weft_cache_elements(Structure):
    _fields_ = [
        ("count", c_int),
        ("vertices", POINTER(c_int)),
        ("turns", POINTER(c_uint8)),
    ]


WEFT_CACHE_ELEMENT_UNKNOWN = 3
FUNCTIONS["weft_cache_elements_of"] = (POINTER(weft_cache_elements), [POINTER(weft_cache), c_int])
FUNCTIONS["weft_cache_read_elements"] = (c_int, [POINTER(weft_cache), c_int, c_int, POINTER(c_uint8), POINTER(weft_error)])
FUNCTIONS["weft_cache_frame_rate"] = (c_double, [POINTER(weft_cache)])
FUNCTIONS["weft_cache_energies"] = (c_int, [c_char_p, c_int, POINTER(c_double)])


class weft_cache_squeezed(Structure):
    pass


FUNCTIONS["weft_cache_squeezed_read"] = (c_int, [c_char_p, POINTER(weft_cache), POINTER(POINTER(weft_cache_squeezed)), POINTER(weft_error)])
FUNCTIONS["weft_cache_squeezed_at"] = (c_int, [POINTER(weft_cache_squeezed), c_int, POINTER(POINTER(weft_squeezed))])
FUNCTIONS["weft_cache_squeezed_until"] = (c_int, [POINTER(weft_cache_squeezed), c_int, POINTER(POINTER(weft_squeezed))])
FUNCTIONS["weft_cache_unsettled_at"] = (c_int, [POINTER(weft_cache_squeezed), c_int, POINTER(POINTER(weft_squeezed))])
FUNCTIONS["weft_cache_settles"] = (c_int, [POINTER(weft_cache_squeezed)])
FUNCTIONS["weft_cache_squeezed_note"] = (c_char_p, [POINTER(weft_cache_squeezed)])
FUNCTIONS["weft_cache_squeezed_destroy"] = (None, [POINTER(weft_cache_squeezed)])


class weft_squeezed_list(Structure):
    _fields_ = [
        ("pair_count", c_int),
        ("pairs", POINTER(weft_squeezed)),
        ("closed_count", c_int),
        ("closed", POINTER(weft_squeezed)),
    ]


class weft_squeezed_split(Structure):
    pass


FUNCTIONS["weft_squeezed_split_create"] = (c_int, [POINTER(weft_inspect_body), c_int, POINTER(POINTER(weft_squeezed_split))])
FUNCTIONS["weft_squeezed_split_frame"] = (c_int, [POINTER(weft_squeezed_split), POINTER(weft_squeezed_list), POINTER(POINTER(weft_vec3)), POINTER(weft_inspection), POINTER(c_int64)])
FUNCTIONS["weft_squeezed_split_destroy"] = (None, [POINTER(weft_squeezed_split)])
FUNCTIONS["weft_cache_check_bodies"] = (c_int, [c_char_p, POINTER(weft_cache), POINTER(weft_error)])
FUNCTIONS["weft_cache_check_samples"] = (c_int, [c_char_p, POINTER(weft_cache), POINTER(weft_error)])


class weft_export_def(Structure):
    _fields_ = [
        ("format", c_char_p),
        ("bodies", POINTER(c_char_p)),
        ("body_count", c_int),
        ("first", c_int),
        ("last", c_int),
        ("every", c_int),
        ("frame_rate", c_double),
        ("start", c_int),
        ("scale", c_double),
        ("plain", c_int),
        ("up", c_char),
        ("force", c_int),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_int, c_int)),
        ("progress_context", c_void_p),
        ("cookie", c_uint32),
    ]


class weft_export_stats(Structure):
    _fields_ = [
        ("bodies", c_int),
        ("frames", c_int),
        ("files", c_int),
        ("bytes", c_int64),
    ]


FUNCTIONS["weft_export_def_default"] = (weft_export_def, [])
FUNCTIONS["weft_export_format_name"] = (c_char_p, [c_int])
FUNCTIONS["weft_export_format_summary"] = (c_char_p, [c_int])
FUNCTIONS["weft_export_format_ending"] = (c_char_p, [c_int])
FUNCTIONS["weft_export_format_is_folder"] = (c_int, [c_int])
FUNCTIONS["weft_export"] = (c_int, [POINTER(weft_cache), POINTER(weft_export_def), c_char_p, POINTER(weft_export_stats), POINTER(weft_error)])


class weft_color(Structure):
    _fields_ = [
        ("r", c_float),
        ("g", c_float),
        ("b", c_float),
    ]


WEFT_MESH_CLOTH = 0
WEFT_MESH_OBSTACLE = 1


class weft_render_mesh(Structure):
    _fields_ = [
        ("positions", POINTER(weft_vec3)),
        ("vertex_count", c_int),
        ("triangles", POINTER(c_int)),
        ("triangle_count", c_int),
        ("face_start", POINTER(c_int)),
        ("face_vertices", POINTER(c_int)),
        ("face_count", c_int),
        ("scalars", POINTER(c_double)),
        ("colors", POINTER(weft_color)),
        ("front", weft_color),
        ("back", weft_color),
        ("role", c_int),
    ]


FUNCTIONS["weft_render_mesh_default"] = (weft_render_mesh, [])
FUNCTIONS["weft_render_mesh_palette"] = (None, [POINTER(weft_render_mesh), c_int])


class weft_box(Structure):
    _fields_ = [
        ("min", weft_vec3),
        ("max", weft_vec3),
    ]


FUNCTIONS["weft_box_empty"] = (weft_box, [])
FUNCTIONS["weft_box_add"] = (None, [POINTER(weft_box), POINTER(weft_vec3), c_int])
FUNCTIONS["weft_box_add_triangles"] = (None, [POINTER(weft_box), POINTER(weft_vec3), POINTER(c_int), c_int])


class weft_view(Structure):
    _fields_ = [
        ("eye", weft_vec3),
        ("target", weft_vec3),
        ("up", weft_vec3),
        ("fov", c_double),
        ("light", weft_vec3),
        ("ground", c_int),
        ("ground_height", c_double),
        ("background_top", weft_color),
        ("background_bottom", weft_color),
        ("scalar_min", c_double),
        ("scalar_max", c_double),
        ("legend", c_char_p),
        ("legend_scale", c_double),
    ]


FUNCTIONS["weft_view_default"] = (weft_view, [])
FUNCTIONS["weft_view_frame"] = (None, [POINTER(weft_view), POINTER(weft_box), c_double])
FUNCTIONS["weft_view_frame_points"] = (None, [POINTER(weft_view), POINTER(weft_vec3), c_int, c_double])


class weft_renderer(Structure):
    pass


FUNCTIONS["weft_renderer_create"] = (c_int, [c_int, c_int, c_int, POINTER(POINTER(weft_renderer)), POINTER(weft_error)])
FUNCTIONS["weft_renderer_destroy"] = (None, [POINTER(weft_renderer)])
FUNCTIONS["weft_renderer_draw"] = (c_int, [POINTER(weft_renderer), POINTER(weft_view), POINTER(weft_render_mesh), c_int, POINTER(c_uint8), POINTER(weft_error)])
FUNCTIONS["weft_png_write"] = (c_int, [c_char_p, POINTER(c_uint8), c_int, c_int, POINTER(weft_error)])


class weft_canvas(Structure):
    _fields_ = [
        ("rgb", POINTER(c_uint8)),
        ("width", c_int),
        ("height", c_int),
    ]


FUNCTIONS["weft_canvas_fill"] = (None, [POINTER(weft_canvas), weft_color])
FUNCTIONS["weft_canvas_line"] = (None, [POINTER(weft_canvas), weft_vec2, weft_vec2, c_double, weft_color])
FUNCTIONS["weft_canvas_text"] = (None, [POINTER(weft_canvas), c_char_p, weft_vec2, c_double, weft_color])
FUNCTIONS["weft_canvas_text_width"] = (c_double, [c_char_p, c_double])
FUNCTIONS["weft_render_strain"] = (c_int, [POINTER(weft_vec3), POINTER(weft_vec3), c_int, POINTER(c_int), c_int, POINTER(c_double)])
WEFT_TUBE_VERTICES = 14
WEFT_TUBE_TRIANGLES = 24
FUNCTIONS["weft_render_tubes"] = (None, [POINTER(weft_vec3), POINTER(c_int), c_int, c_double, POINTER(weft_vec3), POINTER(c_int)])
FUNCTIONS["weft_color_map"] = (weft_color, [c_double])


class weft_view_page(Structure):
    _fields_ = [
        ("dirs", POINTER(c_char_p)),
        ("dir_count", c_int),
        ("worker_count", c_int),
        ("progress", CFUNCTYPE(None, c_void_p, c_int, c_int)),
        ("progress_context", c_void_p),
    ]


FUNCTIONS["weft_view_page_default"] = (weft_view_page, [])
FUNCTIONS["weft_view_write"] = (c_int, [POINTER(weft_view_page), c_char_p, POINTER(weft_error)])

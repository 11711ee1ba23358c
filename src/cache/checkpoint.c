// checkpoint.weft: a header that says what run it is of, then sections (core/sections.h) that their owners save and
// load:
//
//     frames         steps a frame                                      here
//     step-control   steps, halvings, calm substeps                     step/step_control.c
//     positions, velocities, acceleration, contact     a vertex each, in scene order    step/state.c
//     past, past-K-positions, past-K-velocities        of methods of several steps      step/history.c
//     clusters       which bodies are stepped together, and step control of each    sim/cluster_save.c
//     edits          what was edited since the scene was given          sim/edits.c
//     edit-ties      exclusions and ties among that                     sim/edit_ties.c
//     creases        what triangles have kept of their folds        sim/sim_crease.c
//     growth         obstacles that grow into what crossed them     sim/growth.c
//     solver         what `auto` has learnt, where it is the solver     solve/solver_object.c
//
// Written whole or not at all. What only saves time is not in it: a run drops that at each checkpoint. Formats up to 3
// had no sections and are not read: their fingerprint left out what changes results, so that nothing tells whether one
// is of this scene.
#include "cache/checkpoint.h"

#include <string.h>

#include "core/sections.h"
#include "sim/edits.h"
#include "sim/fingerprint.h"

enum
{
    FORMAT = 4 // of header and sections; what a section holds has versions of its own
};

typedef struct header
{
    char magic[8];
    uint32_t format, unused;
    uint64_t fingerprint;
    char kernels[16];
    char weft[24]; // the version that wrote it, for messages
} header;

static const char magic[8] = "WEFTCKP";

// ---- steps a frame: a frame ends where the checkpoint is

static const section_shape frames_shape = {"frames", 1, sizeof(int32_t), 1};

static void frames_save(int steps_per_frame, section_writer* out)
{
    int32_t steps = steps_per_frame;
    section_put(out, frames_shape.name, frames_shape.version, sizeof(steps), 1, &steps);
}

static weft_status frames_check(const state* s, int steps_per_frame, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &frames_shape, &found, error));
    if (!found)
    {
        return sections_lacks(from, frames_shape.name, error);
    }
    int32_t steps;
    memcpy(&steps, found->items, sizeof(steps));
    if (steps != steps_per_frame)
    {
        return error_set(error, WEFT_BAD_INPUT, from->path, 0,
                         "the run in this folder has %d steps a frame and this scene %d: it is another scene; resume "
                         "with --set steps_per_frame=%d, or start over with --force",
                         steps, steps_per_frame, steps);
    }
    if (s->step_count % steps != 0 || s->step_count / steps >= INT32_MAX)
    {
        char what[96];
        snprintf(what, sizeof(what), "step %lld with %d steps a frame", (long long)s->step_count, steps);
        return sections_cannot_be(from, what, error);
    }
    return WEFT_OK;
}

// ---- writing

weft_status checkpoint_write(const char* path, const weft_sim* sim, int steps_per_frame, weft_error* error)
{
    header h = {.format = FORMAT, .fingerprint = sim_fingerprint(sim)};
    memcpy(h.magic, magic, sizeof(magic));
    snprintf(h.kernels, sizeof(h.kernels), "%s", cpu_kind_name(sim->cpu));
    snprintf(h.weft, sizeof(h.weft), "%s", weft_version());
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    section_writer out;
    sections_begin(&out, &file, &h, sizeof(h));
    frames_save(steps_per_frame, &out);
    step_control_save(&sim->world.state, &out);
    state_save(&sim->world.state, &out);
    weft_status status = solver_object_save(&sim->world.solver, clusters_never_part(sim), &out);
    status = status == WEFT_OK ? clusters_save(sim, &out, error)
                               : error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    status = status == WEFT_OK ? edits_save(sim, &out, error) : status;
    status = status == WEFT_OK ? creases_save(sim, &out, error) : status;
    status = status == WEFT_OK ? growth_save(sim, &out, error) : status;
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    sections_end(&out);
    return whole_file_close(&file, error);
}

// ---- reading

static weft_status check_format(const void* bytes, size_t size, const char* path, weft_error* error)
{
    header h = {0};
    memcpy(&h, bytes, size < sizeof(h) ? size : sizeof(h));
    if (memcmp(h.magic, magic, sizeof(magic)) != 0)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0, "this is no checkpoint of Weft; start over with --force");
    }
    if (h.format < FORMAT)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the checkpoint was made by an earlier Weft, which did not keep what tells whether it is of "
                         "this scene; finish the run with that version, or start over with --force");
    }
    if (h.format > FORMAT)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the checkpoint was made by a later Weft (%.23s); resume with that version, or start over "
                         "with --force",
                         h.weft);
    }
    return WEFT_OK;
}

static weft_status check_run(const header* h, const weft_sim* sim, const char* path, weft_error* error)
{
    bool named = false;
    for (int k = 0; k < CPU_KIND_COUNT; k++)
    {
        named = named || strncmp(h->kernels, cpu_kind_name((cpu_kind)k), sizeof(h->kernels)) == 0;
    }
    if (!named)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the checkpoint is damaged: it names no kernels that there are; start over with --force");
    }
    if (strncmp(h->kernels, cpu_kind_name(sim->cpu), sizeof(h->kernels)) != 0)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the run was made with `%.15s` kernels and this one has `%s`; resume with --set kernels=%.15s",
                         h->kernels, cpu_kind_name(sim->cpu), h->kernels);
    }
    if (h->fingerprint != sim_fingerprint(sim))
    {
        return error_set(
            error, WEFT_BAD_INPUT, path, 0,
            "the run in this folder is of another scene or other settings, or a file that the scene names (a "
            "mesh, PC2 samples) has changed since; repeat the options that it was started with (--solver, "
            "--method, --set), or resume its own scene, which has copies of those files: `weft run "
            "DIR/scene.json --resume`; --force starts over");
    }
    return WEFT_OK;
}

// What sections say, before anything of the simulation changes.
typedef struct loaded
{
    state state;
    solver_saved solver;
    body_control* control; // [body_count]
    const struct crease* creases; // lent from the bytes; NULL: nothing creases
    obstacle_growth* growth;             // [obstacle_count]
    bool apart;
} loaded;

static weft_status load(loaded* l, const weft_sim* sim, int steps_per_frame, sections* from, weft_error* error)
{
    if (state_create(&l->state, sim->model.vertex_count) != WEFT_OK ||
        history_create(&l->state, sim->world.state.history_count) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    TRY(step_control_load(&l->state, sim->def.max_halvings, from, error));
    TRY(frames_check(&l->state, steps_per_frame, from, error));
    TRY(state_load(&l->state, from, error));
    TRY(solver_object_load(&l->solver, from, error));
    TRY(clusters_load(sim, &l->control, &l->apart, from, error));
    TRY(creases_load(sim, &l->creases, from, error));
    TRY(growth_load(sim, &l->growth, from, error));
    return sections_check_taken(from, error);
}

static void take_over(weft_sim* sim, loaded* l)
{
    world* w = &sim->world;
    state_swap(&w->state, &l->state);
    clusters_forget(sim);
    solver_object_take(&w->solver, &l->solver);
    clusters_take(sim, l->control, l->apart);
    creases_take(sim, l->creases);
    growth_take(sim, l->growth);
    l->control = NULL;
    l->growth = NULL;
}

weft_status checkpoint_parse(const void* bytes, size_t size, const char* path, weft_sim* sim, int steps_per_frame,
                             weft_error* error)
{
    sections from;
    TRY(check_format(bytes, size, path, error));
    TRY(sections_parse(&from, path, bytes, size, sizeof(header), error));
    TRY(check_run(bytes, sim, path, error));
    edits_before before;
    TRY(edits_load(sim, &before, &from, error));
    loaded l = {0};
    weft_status status = load(&l, sim, steps_per_frame, &from, error);
    if (status == WEFT_OK)
    {
        take_over(sim, &l);
        edits_load_keep(sim, &before);
    }
    else
    {
        edits_load_undo(sim, &before);
    }
    state_finish(&l.state);
    solver_saved_finish(&l.solver);
    mem_free(l.control);
    growth_free(sim, l.growth);
    return status;
}

weft_status checkpoint_read(const char* path, weft_sim* sim, int steps_per_frame, weft_error* error)
{
    void* bytes;
    size_t size;
    TRY(file_read(path, &bytes, &size, error));
    weft_status status = checkpoint_parse(bytes, size, path, sim, steps_per_frame, error);
    mem_free(bytes);
    return status;
}

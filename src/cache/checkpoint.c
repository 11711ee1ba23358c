// checkpoint.weft: a header, then positions, velocities and last solution in scene order, then the earlier states that
// the method looks back on, then a hash over all. Written whole or not at all. What only saves time is not in it: a run
// drops that at each checkpoint.
#include "cache/checkpoint.h"

#include <errno.h>
#include <string.h>

#include "sim/fingerprint.h"

typedef struct header
{
    char magic[8];
    uint32_t version;
    int32_t vertex_count;
    uint64_t fingerprint;
    int64_t step_count;
    int32_t halvings, calm;
    char kernels[16];
    double solver_memory[SOLVER_MEMORY];
} header;

static const char magic[8] = "WEFTCKP";

enum
{
    VERSION = 3,
    ARRAYS = 3
};

static header header_of(const weft_sim* sim)
{
    const state* s = &sim->world.state;
    header h = {.version = VERSION,
                .vertex_count = sim->model.vertex_count,
                .fingerprint = sim_fingerprint(sim),
                .step_count = s->step_count,
                .halvings = s->halvings,
                .calm = s->calm};
    memcpy(h.magic, magic, sizeof(magic));
    snprintf(h.kernels, sizeof(h.kernels), "%s", cpu_kind_name(sim->cpu));
    const double* memory = solver_object_memory(&sim->world.solver);
    if (memory)
    {
        memcpy(h.solver_memory, memory, sizeof(h.solver_memory));
    }
    return h;
}

static void put(FILE* stream, const void* data, size_t bytes, uint64_t* hash)
{
    fwrite(data, 1, bytes, stream);
    *hash = hash_bytes(*hash, data, bytes);
}

static bool get(FILE* stream, void* data, size_t bytes, uint64_t* hash)
{
    bool ok = fread(data, 1, bytes, stream) == bytes;
    *hash = ok ? hash_bytes(*hash, data, bytes) : 0;
    return ok;
}

// Nothing for methods of one step.
static void put_history(FILE* stream, const state* s, size_t bytes, uint64_t* hash)
{
    int64_t filled = s->history_filled;
    if (s->history_count > 0)
    {
        put(stream, &filled, sizeof(filled), hash);
    }
    for (int k = 0; k < s->history_filled; k++)
    {
        put(stream, &s->history[k].h, sizeof(double), hash);
        put(stream, s->history[k].x, bytes, hash);
        put(stream, s->history[k].v, bytes, hash);
    }
}

static bool get_history(FILE* stream, state* s, size_t bytes, uint64_t* hash)
{
    int64_t filled = 0;
    bool ok = s->history_count == 0 || get(stream, &filled, sizeof(filled), hash);
    ok = ok && filled >= 0 && filled <= s->history_count;
    for (int k = 0; ok && k < filled; k++)
    {
        ok = get(stream, &s->history[k].h, sizeof(double), hash) && get(stream, s->history[k].x, bytes, hash) &&
             get(stream, s->history[k].v, bytes, hash);
    }
    s->history_filled = ok ? (int)filled : 0;
    return ok;
}

weft_status checkpoint_write(const char* path, const weft_sim* sim, weft_error* error)
{
    const state* s = &sim->world.state;
    header h = header_of(sim);
    size_t bytes = (size_t)h.vertex_count * sizeof(vec3);
    const vec3* arrays[ARRAYS] = {s->x, s->v, s->acceleration};
    uint64_t hash = hash_bytes(0, &h, sizeof(h));
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    fwrite(&h, sizeof(h), 1, file.stream);
    for (int k = 0; k < ARRAYS; k++)
    {
        put(file.stream, arrays[k], bytes, &hash);
    }
    put_history(file.stream, s, bytes, &hash);
    fwrite(&hash, sizeof(hash), 1, file.stream);
    return whole_file_close(&file, error);
}

static weft_status check_header(const header* h, const weft_sim* sim, const char* path, weft_error* error)
{
    if (memcmp(h->magic, magic, sizeof(magic)) != 0 || h->version != VERSION)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "this is no checkpoint of this version of Weft; start over with --force");
    }
    if (strncmp(h->kernels, cpu_kind_name(sim->cpu), sizeof(h->kernels)) != 0)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the run was made with `%.15s` kernels and this one has `%s`; resume with --set kernels=%.15s",
                         h->kernels, cpu_kind_name(sim->cpu), h->kernels);
    }
    if (h->vertex_count != sim->model.vertex_count || h->fingerprint != sim_fingerprint(sim))
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

static weft_status read_state(FILE* stream, weft_sim* sim, const char* path, weft_error* error)
{
    header h;
    const char* cut = "the checkpoint is cut short or damaged; start over with --force";
    if (fread(&h, sizeof(h), 1, stream) != 1)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0, "%s", cut);
    }
    TRY(check_header(&h, sim, path, error));
    // Read into scratch first: a damaged file leaves the simulation as it was.
    world* w = &sim->world;
    vec3* scratch[ARRAYS] = {w->x_next, w->v_next, w->dv};
    size_t bytes = (size_t)h.vertex_count * sizeof(vec3);
    uint64_t hash = hash_bytes(0, &h, sizeof(h)), stored = 0;
    bool ok = true;
    for (int k = 0; k < ARRAYS; k++)
    {
        ok = ok && get(stream, scratch[k], bytes, &hash);
    }
    ok = ok && get_history(stream, &w->history_saved, bytes, &hash);
    if (!ok || fread(&stored, sizeof(stored), 1, stream) != 1 || stored != hash)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0, "%s", cut);
    }
    memcpy(w->state.x, w->x_next, bytes);
    memcpy(w->state.v, w->v_next, bytes);
    memcpy(w->state.acceleration, w->dv, bytes);
    history_copy(&w->state, &w->history_saved, h.vertex_count);
    w->state.step_count = h.step_count;
    w->state.halvings = h.halvings;
    w->state.calm = h.calm;
    double* memory = solver_object_memory(&w->solver);
    if (memory)
    {
        memcpy(memory, h.solver_memory, sizeof(h.solver_memory));
    }
    return WEFT_OK;
}

weft_status checkpoint_read(const char* path, weft_sim* sim, weft_error* error)
{
    FILE* stream = fopen(path, "rb");
    if (!stream)
    {
        weft_status status = errno == ENOENT ? WEFT_NOT_FOUND : WEFT_IO;
        return error_set(error, status, path, 0, "cannot read: %s", strerror(errno));
    }
    weft_status status = read_state(stream, sim, path, error);
    fclose(stream);
    return status;
}

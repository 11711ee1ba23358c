// Scene files from name to simulation: find the text, parse it, apply overrides, check, build, hand over.
#include <string.h>

#include "scene/scene_data.h"
#include "scene/scene_list.h"

enum
{
    SCENE_NAMES_MAX = 64
};

// ---- making and unmaking

static void cloth_finish(scene_cloth* cloth)
{
    for (int k = 0; k < cloth->pin_count; k++)
    {
        mem_free(cloth->pins[k].vertices);
        mem_free(cloth->pins[k].motion.keys);
        mem_free(cloth->pins[k].samples);
        mem_free(cloth->pins[k].weights);
    }
    for (int k = 0; k < cloth->force_count; k++)
    {
        mem_free(cloth->forces[k].vertices);
    }
    for (int k = 0; k < cloth->band_count; k++)
    {
        mem_free(cloth->bands[k].vertices);
    }
    for (int k = 0; k < cloth->fold_count; k++)
    {
        mem_free(cloth->folds[k].vertices);
    }
    mem_free(cloth->pins);
    mem_free(cloth->forces);
    mem_free(cloth->bands);
    mem_free(cloth->folds);
    regions_finish(cloth);
    mem_free(cloth->settings);
    mem_free(cloth->rest_uv);
    mem_free(cloth->rest_position);
    mem_free(cloth->stitches.pairs.vertex);
    mem_free(cloth->stitches.thread);
    mesh_finish(&cloth->mesh);
}

void weft_scene_destroy(weft_scene* scene)
{
    if (!scene)
    {
        return;
    }
    for (int k = 0; k < scene->cloth_count; k++)
    {
        cloth_finish(&scene->cloths[k]);
    }
    for (int k = 0; k < scene->obstacle_count; k++)
    {
        mesh_finish(&scene->obstacles[k].mesh);
        mem_free(scene->obstacles[k].motion.keys);
        skins_finish(&scene->obstacles[k]);
    }
    for (int k = 0; k < scene->exclusion_count; k++)
    {
        mem_free(scene->exclusions[k].vertices);
    }
    for (int k = 0; k < scene->tie_count; k++)
    {
        mem_free(scene->ties[k].vertices);
    }
    for (int k = 0; k < scene->warning_count; k++)
    {
        mem_free(scene->warnings[k]);
    }
    mem_free(scene->cloths);
    mem_free(scene->obstacles);
    mem_free(scene->exclusions);
    mem_free(scene->layers);
    mem_free(scene->ties);
    mem_free(scene->warnings);
    mem_free(scene->json);
    mem_free(scene->file);
    mem_free(scene->folder);
    mem_free(scene->name);
    tree_finish(&scene->tree);
    mem_free(scene);
}

weft_status scene_warn(weft_scene* scene, const char* format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    print_text_list(message, sizeof(message), format, arguments);
    va_end(arguments);
    char* copy = mem_strdup(message);
    if (!copy || !mem_grow((void**)&scene->warnings, &scene->warning_capacity, scene->warning_count + 1, sizeof(char*)))
    {
        mem_free(copy);
        return WEFT_NO_MEMORY;
    }
    scene->warnings[scene->warning_count++] = copy;
    return WEFT_OK;
}

// file, folder and name from what the caller gave: "a/b.json" is in "a/" and called "b".
static weft_status scene_set_names(weft_scene* scene, const char* path)
{
    scene->file = mem_strdup(path);
    scene->folder = mem_strdup(path);
    const char* slash = strrchr(path, '/');
    scene->name = mem_strdup(slash ? slash + 1 : path);
    if (!scene->file || !scene->folder || !scene->name)
    {
        return WEFT_NO_MEMORY;
    }
    scene->folder[slash ? slash + 1 - path : 0] = '\0';
    char* dot = strrchr(scene->name, '.');
    if (dot && dot != scene->name)
    {
        *dot = '\0';
    }
    return WEFT_OK;
}

// ---- text

// A word that is neither a file nor a scene: suggest one that ships.
static weft_status scene_not_found(const scene_reader* r, const char* word)
{
    const char* names[SCENE_NAMES_MAX];
    int count = int_min(scene_list_count(), SCENE_NAMES_MAX);
    for (int k = 0; k < count; k++)
    {
        names[k] = scene_list_name(k);
    }
    const char* near = strchr(word, '/') ? NULL : suggest_name(word, names, count);
    return error_set(r->error, WEFT_NOT_FOUND, word, 0, "there is no such file, and no scene of that name ships%s%s%s",
                     near ? "; did you mean `" : "; `weft list scenes` names those that do", near ? near : "",
                     near ? "`?" : "");
}

// Scenes that ship come first, so that a folder called `pinned` in the working folder does not hide the scene.
static weft_status scene_find_text(const scene_reader* r, const char* name_or_path, char** text, size_t* size)
{
    const char* shipped = weft_scene_text(name_or_path);
    if (shipped)
    {
        *text = mem_strdup(shipped);
        *size = strlen(shipped);
        return *text ? WEFT_OK : read_no_memory(r);
    }
    weft_status status = text_read(name_or_path, text, size, r->error);
    return status == WEFT_NOT_FOUND ? scene_not_found(r, name_or_path) : status;
}

// ---- loading

static weft_status scene_load_text(const scene_reader* r, char* text, size_t size, const char* const* overrides,
                                   int override_count)
{
    tree_node* root;
    TRY(tree_parse(&r->scene->tree, r->scene->file, text, size, &root, r->error));
    if (root->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, root, "an object {...}");
    }
    for (int k = 0; k < override_count; k++)
    {
        TRY(override_apply(r, root, overrides[k]));
    }
    TRY(scene_read(r, root));
    r->scene->json = scene_write(r->scene);
    return r->scene->json ? WEFT_OK : read_no_memory(r);
}

// given NULL: the text is that of the file or of the scene that ships.
static weft_status scene_load(const scene_reader* r, const char* name_or_path, const char* given,
                              const char* const* overrides, int override_count)
{
    if (scene_set_names(r->scene, name_or_path) != WEFT_OK)
    {
        return read_no_memory(r);
    }
    char* text = given ? mem_strdup(given) : NULL;
    size_t size = given ? strlen(given) : 0;
    if (given && !text)
    {
        return read_no_memory(r);
    }
    TRY(given ? WEFT_OK : scene_find_text(r, name_or_path, &text, &size));
    weft_status status = scene_load_text(r, text, size, overrides, override_count);
    mem_free(text);
    return status;
}

static weft_status scene_create(const char* name, const char* given, const char* const* overrides, int override_count,
                                weft_scene** out, weft_error* error)
{
    *out = NULL;
    weft_scene* scene = MEM_NEW(1, weft_scene);
    if (!scene)
    {
        return error_set(error, WEFT_NO_MEMORY, name, 0, "there is no memory for the scene");
    }
    scene_reader r = {scene, error};
    weft_status status = scene_load(&r, name, given, overrides, override_count);
    if (status != WEFT_OK)
    {
        weft_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return WEFT_OK;
}

weft_status weft_scene_load(const char* name_or_path, const char* const* overrides, int override_count,
                            weft_scene** out, weft_error* error)
{
    WEFT_ASSERT(name_or_path && out && override_count >= 0 && (overrides || override_count == 0));
    return scene_create(name_or_path, NULL, overrides, override_count, out, error);
}

weft_status weft_scene_parse(const char* name, const char* text, const char* const* overrides, int override_count,
                             weft_scene** out, weft_error* error)
{
    WEFT_ASSERT(name && text && out && override_count >= 0 && (overrides || override_count == 0));
    return scene_create(name, text, overrides, override_count, out, error);
}

// ---- asking

int weft_scene_frames(const weft_scene* scene)
{
    return scene->frames;
}

int weft_scene_steps_per_frame(const weft_scene* scene)
{
    return scene->steps_per_frame;
}

double weft_scene_frame_rate(const weft_scene* scene)
{
    return 1.0 / (scene->def.time_step * scene->steps_per_frame);
}

const char* weft_scene_name(const weft_scene* scene)
{
    return scene->name;
}

const char* weft_scene_json(const weft_scene* scene)
{
    return scene->json;
}

const char* weft_scene_warning(const weft_scene* scene, int index)
{
    return index >= 0 && index < scene->warning_count ? scene->warnings[index] : NULL;
}

// Animations of glTF: which one, and its channels: keys of a node's translation, rotation, scale or of the weights of
// its morph targets. Channels of other properties (KHR_animation_pointer) move nothing that cloth touches.
#include <string.h>

#include "scene/gltf_file.h"

enum
{
    NAMES_MAX = 64 // that an error looks through
};

// ---- which

static weft_status unknown(const gltf_file* f, const char* wanted)
{
    const char* names[NAMES_MAX];
    char list[300] = "";
    int count = 0;
    for (int k = 0; k < f->animations.count && count < NAMES_MAX; k++)
    {
        const char* name = gltf_name(f->animations.item[k]);
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%d%s%.60s%s", k ? ", " : "", k, name ? " `" : "",
                 name ? name : "", name ? "`" : "");
        count += name ? (names[count] = name, 1) : 0;
    }
    const char* near = suggest_name(wanted, names, count);
    error_set(f->error, WEFT_NOT_FOUND, f->path, 0, "there is no animation %.80s in the file%s%.60s%s; it has %s%s",
              wanted, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "",
              count || list[0] ? "" : "none", list);
    return WEFT_NOT_FOUND;
}

static weft_status animation_find(const gltf_file* f, const gltf_options* o, const tree_node** out)
{
    *out = NULL;
    for (int k = 0; k < f->animations.count && o->animation; k++)
    {
        const char* name = gltf_name(f->animations.item[k]);
        if (name && strcmp(name, o->animation) == 0)
        {
            *out = f->animations.item[k];
            return WEFT_OK;
        }
    }
    if (!o->animation && o->animation_number >= 0 && o->animation_number < f->animations.count)
    {
        *out = f->animations.item[o->animation_number];
        return WEFT_OK;
    }
    char wanted[100];
    snprintf(wanted, sizeof(wanted), o->animation ? "`%.80s`" : "%.0s%d", o->animation ? o->animation : "",
             o->animation_number);
    return o->animation || o->animation_number >= 0 ? unknown(f, wanted) : WEFT_OK;
}

// ---- channels

static weft_status times_read(gltf_file* f, const tree_node* named, gltf_channel* c)
{
    gltf_values times;
    TRY(gltf_accessor(f, named, 1, &times));
    c->time = times.value;
    c->key_count = times.count;
    for (int k = 0; k < times.count; k++)
    {
        if (times.value[k] < 0.0 || (k > 0 && !(times.value[k] > times.value[k - 1])))
        {
            return gltf_wrong(f, named,
                              "key %d is at %g s: times of keys are from 0 on and ascend; export the file again", k,
                              times.value[k]);
        }
    }
    return times.count > 0 ? WEFT_OK : gltf_wrong(f, named, "the sampler has no key; export the file again");
}

static weft_status interpolation_read(const gltf_file* f, const tree_node* sampler, gltf_interpolation* out)
{
    static const char* const names[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    const tree_node* word;
    TRY(gltf_get(f, sampler, "interpolation", TREE_STRING, &word));
    *out = GLTF_LINEAR;
    for (int k = 0; k < 3 && word; k++)
    {
        if (strcmp(word->string, names[k]) == 0)
        {
            *out = (gltf_interpolation)k;
            return WEFT_OK;
        }
    }
    return word ? gltf_wrong(f, word, "unknown interpolation `%.40s`; there are LINEAR, STEP and CUBICSPLINE",
                             word->string)
                : WEFT_OK;
}

// Values of weights are scalars, as many as targets for each key.
static weft_status values_read(gltf_file* f, const tree_node* named, gltf_channel* c)
{
    int scalars = c->path == GLTF_WEIGHTS ? 1 : c->width;
    double wanted = (double)c->key_count * (c->interpolation == GLTF_CUBIC ? 3 : 1) * c->width / scalars;
    gltf_values values;
    TRY(gltf_accessor(f, named, scalars, &values));
    c->value = values.value;
    return (double)values.count == wanted
               ? WEFT_OK
               : gltf_wrong(f, named, "%d values where %d keys need %.0f; export the file again", values.count,
                            c->key_count, wanted);
}

// Most targets of the parts on a node; 0: none.
static int targets_of(const gltf_body* b, int node)
{
    for (int k = 0; k < b->part_count; k++)
    {
        if (b->part[k].node == node)
        {
            return b->part[k].target_count;
        }
    }
    return 0;
}

static weft_status sampler_read(gltf_file* f, const tree_node* sampler, gltf_channel* c)
{
    if (sampler->kind != TREE_OBJECT)
    {
        return gltf_wrong(f, sampler, "expected an object, found %s", tree_kind_text(sampler->kind));
    }
    TRY(interpolation_read(f, sampler, &c->interpolation));
    TRY(times_read(f, tree_member(sampler, "input"), c));
    return values_read(f, tree_member(sampler, "output"), c);
}

// *used is false where the channel moves nothing that is here.
static weft_status target_read(gltf_file* f, const tree_node* channel, gltf_body* b, gltf_channel* c, bool* used)
{
    static const char* const names[GLTF_PATH_COUNT] = {"translation", "rotation", "scale", "weights"};
    const tree_node *target, *path = NULL;
    *used = false;
    TRY(gltf_get(f, channel, "target", TREE_OBJECT, &target));
    TRY(target ? gltf_get(f, target, "path", TREE_STRING, &path) : WEFT_OK);
    TRY(target ? gltf_index(f, target, "node", b->node_count, &c->node) : WEFT_OK);
    int kind = 0;
    while (path && kind < GLTF_PATH_COUNT && strcmp(path->string, names[kind]) != 0)
    {
        kind++;
    }
    if (!target || !path || c->node < 0 || kind == GLTF_PATH_COUNT)
    {
        b->notes.other_channels++;
        return WEFT_OK;
    }
    c->path = (gltf_path)kind;
    c->width = kind == GLTF_ROTATION ? 4 : kind == GLTF_WEIGHTS ? targets_of(b, c->node) : 3;
    *used = c->width > 0;
    if (kind != GLTF_WEIGHTS && b->node[c->node].has_matrix)
    {
        return gltf_wrong(f, target,
                          "node %d is animated and placed by a \"matrix\"; export it with translation, "
                          "rotation and scale",
                          c->node);
    }
    return WEFT_OK;
}

static weft_status channel_read(gltf_file* f, const tree_node* channel, const gltf_list* samplers, gltf_body* b)
{
    gltf_channel* c = &b->channel[b->channel_count];
    bool used;
    int index;
    if (channel->kind != TREE_OBJECT)
    {
        return gltf_wrong(f, channel, "expected an object, found %s", tree_kind_text(channel->kind));
    }
    TRY(target_read(f, channel, b, c, &used));
    if (!used)
    {
        return WEFT_OK;
    }
    TRY(gltf_index_of(f, tree_member(channel, "sampler"), "samplers of the animation", samplers->count, &index));
    b->channel_count++;
    TRY(sampler_read(f, samplers->item[index], c));
    bool is_first = b->channel_count == 1;
    b->begin = is_first ? c->time[0] : fmin(b->begin, c->time[0]);
    b->end = is_first ? c->time[c->key_count - 1] : fmax(b->end, c->time[c->key_count - 1]);
    double step = c->key_count > 1 ? c->time[1] - c->time[0] : 0.0;
    b->key_step = step > 0.0 && (b->key_step == 0.0 || step < b->key_step) ? step : b->key_step;
    return WEFT_OK;
}

static weft_status channels_read(gltf_file* f, const tree_node* animation, const gltf_list* samplers, gltf_body* b)
{
    const tree_node* channels;
    TRY(gltf_get(f, animation, "channels", TREE_ARRAY, &channels));
    if (!channels || channels->child_count == 0)
    {
        return gltf_wrong(f, animation, "the animation has no channel, so nothing moves; choose another one");
    }
    b->channel = MEM_NEW(channels->child_count, gltf_channel);
    if (!b->channel)
    {
        return gltf_no_memory(f);
    }
    for (const tree_node* child = channels->first; child; child = child->next)
    {
        TRY(channel_read(f, child, samplers, b));
    }
    return WEFT_OK;
}

weft_status gltf_motion_read(gltf_file* f, const gltf_options* options, gltf_body* b)
{
    const tree_node *animation, *list;
    b->notes.animation_count = f->animations.count;
    TRY(animation_find(f, options, &animation));
    if (!animation)
    {
        return WEFT_OK;
    }
    TRY(gltf_get(f, animation, "samplers", TREE_ARRAY, &list));
    gltf_list samplers = {.item = MEM_NEW(list && list->child_count ? list->child_count : 1, const tree_node*)};
    for (const tree_node* child = list && samplers.item ? list->first : NULL; child; child = child->next)
    {
        samplers.item[samplers.count++] = child;
    }
    weft_status status = samplers.item ? channels_read(f, animation, &samplers, b) : gltf_no_memory(f);
    mem_free((void*)samplers.item);
    return status;
}

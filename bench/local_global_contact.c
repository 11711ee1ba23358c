// Frames of 1/60 s with self-contact and a body; see local_global_contact.h. Sheets of 71 x 71 vertices with the
// method's own settings but for the turns, 2 s of each: one falls on a ball that then turns and moves on, one is let
// down on a floor and dragged over it, so that it folds on itself. Times are of the processor, of each frame the best
// of some rounds, which have the same bits; stages in the mean over frames.
#include "bench/local_global_contact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/common.h"
#include "bench/curtain.h"
#include "sim/sim.h"
#include "weft/scene.h"

enum
{
    FRAMES = 120
};

static const double frame_ms = 1000.0 / 60.0;

#define SCENE                                                                                                          \
    "{\"time_step\": 0.016666666666666666, \"method\": \"local-global\", \"model\": \"hooke\", "                       \
    "\"local-global\": {\"iterations\": %d}, \"cloth\": "                                                              \
    "[{\"name\": \"sheet\", \"material\": \"%s\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 70, \"plane\": "       \
    "\"%s\"}}, %s}],"                                                                                                  \
    " \"obstacles\": [%s]}"

static const char over_ball[] = "\"transform\": {\"translate\": [0, 0.36, 0]}";
static const char ball[] =
    "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 0.3}}, \"motion\": {\"axis\": [0, 1, 0],"
    " \"path\": [{\"time\": 0.8}, {\"time\": 1.6, \"offset\": [0.3, 0, 0], \"angle\": 90}]}}";
static const char let_down[] =
    "\"transform\": {\"translate\": [0, 1.2, 0]}, \"pins\": [{\"where\": {\"edge\": \"top\"},"
    " \"path\": [{\"time\": 0.2}, {\"time\": 1.2, \"offset\": [0, -0.9, 0.25]},"
    " {\"time\": 1.8, \"offset\": [0, -1.0, -0.3]}]}]";
static const char ground[] = "{\"name\": \"floor\", \"shape\": {\"plane\": {\"size\": 4}}}";

typedef struct contact_scene
{
    const char *name, *material, *plane, *cloth, *obstacle;
} contact_scene;

static const contact_scene scenes[] = {
    {"ball", "cotton", "xz", over_ball, ball},
    {"ball", "interlock", "xz", over_ball, ball},
    {"folds", "cotton", "xy", let_down, ground},
    {"folds", "interlock", "xy", let_down, ground},
};

// Of one frame, s: the whole and stages.
typedef struct frame_times
{
    double whole, detect, turns, respond;
} frame_times;

typedef struct contact_times
{
    int vertices;
    frame_times frame[FRAMES]; // of the best round
    double solves, stretch;
} contact_times;

static weft_sim* sim_of(const contact_scene* s, int turns)
{
    char text[1500];
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    snprintf(text, sizeof(text), SCENE, turns, s->material, s->plane, s->cloth, s->obstacle);
    weft_status status = weft_scene_parse(s->name, text, NULL, 0, &scene, &error);
    status = status == WEFT_OK ? weft_scene_create_sim(scene, 1, &sim, &error) : status;
    status = status == WEFT_OK ? sim_build(sim, &error) : status;
    weft_scene_destroy(scene);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s\n", error.message);
        weft_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

// Stages are timed by the wall; their shares are those of the processor's time.
static frame_times frame_of(const weft_step_stats* stats, double seconds)
{
    frame_times out = {.whole = seconds};
    double wall = 0.0;
    for (int k = 0; k < stats->stage_count; k++)
    {
        wall += stats->stage_s[k];
    }
    for (int k = 0; k < stats->stage_count && wall > 0.0; k++)
    {
        const char* name = stats->stage_name[k];
        double share = seconds * stats->stage_s[k] / wall;
        out.detect += strcmp(name, "detect") == 0 ? share : 0.0;
        out.turns += strcmp(name, "iterate") == 0 ? share : 0.0;
        out.respond += strcmp(name, "respond") == 0 ? share : 0.0;
    }
    return out;
}

static weft_status contact_measure(const contact_scene* s, int turns, int round, contact_times* out)
{
    weft_sim* sim = sim_of(s, turns);
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    out->vertices = sim ? sim->model.vertex_count : 0;
    out->solves = out->stretch = 0.0;
    for (int k = 0; k < FRAMES && status == WEFT_OK; k++)
    {
        weft_step_stats stats = {0};
        double begin = processor_seconds();
        status = weft_sim_step(sim, &stats, NULL);
        frame_times now = frame_of(&stats, processor_seconds() - begin);
        out->frame[k] = round == 0 || now.whole < out->frame[k].whole ? now : out->frame[k];
        out->solves += weft_step_counter(&stats, "global_solves") / FRAMES;
        out->stretch = fmax(out->stretch, stats.max_stretch);
    }
    weft_sim_destroy(sim);
    return status;
}

static void print_times(const contact_scene* s, const contact_times* t, bool json, bool first)
{
    const char* form =
        json ? "%s{\"part\":\"contact\",\"scene\":\"%s\",\"material\":\"%s\",\"vertices\":%d,\"mean_ms\":%.4g,"
               "\"worst_ms\":%.4g,\"late\":%d,\"frames\":%d,\"detect_ms\":%.4g,\"turns_ms\":%.4g,\"respond_ms\":%.4g,"
               "\"solves\":%.4g,\"max_stretch\":%.4g}"
             : "%s%-6s %-10s %6d %8.1f %8.1f %4d of %d %8.1f %8.1f %8.1f %7.1f %8.3f\n";
    frame_times mean = {0};
    double worst = 0.0;
    int late = 0; // frames that took longer than they last
    for (int k = 0; k < FRAMES; k++)
    {
        const frame_times* f = &t->frame[k];
        worst = fmax(worst, f->whole);
        late += 1e3 * f->whole > frame_ms;
        mean.whole += 1e3 / FRAMES * f->whole;
        mean.detect += 1e3 / FRAMES * f->detect;
        mean.turns += 1e3 / FRAMES * f->turns;
        mean.respond += 1e3 / FRAMES * f->respond;
    }
    printf(form, json && !first ? ",\n" : "", s->name, s->material, t->vertices, mean.whole, 1e3 * worst, late, FRAMES,
           mean.detect, mean.turns, mean.respond, t->solves, t->stretch);
    fflush(stdout);
}

weft_status local_global_contact(int rounds, int turns, bool json, int* rows)
{
    if (!json)
    {
        printf("\nframes of %.1f ms with self-contact and a body, %d turns each, ms of the processor\n"
               "scene  material        m     mean    worst       late   detect    turns  respond  solves  stretch\n",
               frame_ms, turns);
    }
    for (size_t k = 0; k < sizeof(scenes) / sizeof(scenes[0]); k++)
    {
        contact_times t = {0};
        for (int round = 0; round < rounds; round++)
        {
            TRY(contact_measure(&scenes[k], turns, round, &t));
        }
        print_times(&scenes[k], &t, json, *rows == 0);
        (*rows)++;
    }
    return WEFT_OK;
}

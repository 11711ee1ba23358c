// weft dress: garments that do not fit yet, put on a body that grows into them; the result is a run's folder with
// frame 0, whose scene.json starts where they came out.
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "weft/cache.h"

enum
{
    GARMENTS_MAX = 64,
    NAME_BYTES = 104
};

static const double strain_doubtful = 0.5; // no fabric does this without tearing
static const double size_doubtful = 2.0;   // of a garment over the body's; a hundredth of it is too small

typedef struct dress_options
{
    const char* garments[GARMENTS_MAX];
    char names[GARMENTS_MAX][NAME_BYTES]; // of the cloths, from the files'
    int garment_count;
    const char *body, *pose;
    char dir[4096];
    weft_cache_mode mode;
    int threads;
    bool json;
    const char* overrides[OVERRIDES_MAX];
    int override_count;
} dress_options;

// ---- options

// What a file is called, as a scene takes names; a number follows where another has it already.
static void name_garment(dress_options* o, int index)
{
    const char* file = o->garments[index];
    const char* base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    char* name = o->names[index];
    size_t used = 0;
    for (const char* c = base; *c && *c != '.' && used < NAME_BYTES - 10; c++)
    {
        name[used++] = isalnum((unsigned char)*c) || *c == '-' || *c == '_' ? *c : '_';
    }
    snprintf(name + used, NAME_BYTES - used, "%s", used == 0 ? "garment" : "");
    bool taken = strcmp(name, "body") == 0;
    for (int k = 0; k < index; k++)
    {
        taken = taken || strcmp(name, o->names[k]) == 0;
    }
    if (taken)
    {
        snprintf(name + used, NAME_BYTES - used, "-%d", index + 1);
    }
}

static int take_value(dress_options* o, const char* name, const char* value)
{
    bool good = true;
    const char* expected = "the name of a file";
    if (strcmp(name, "--body") == 0 || strcmp(name, "--pose") == 0)
    {
        good = value[0] != 0;
        *(strcmp(name, "--body") == 0 ? &o->body : &o->pose) = value;
    }
    else if (strcmp(name, "-o") == 0)
    {
        good = value[0] && snprintf(o->dir, sizeof(o->dir), "%s", value) < (int)sizeof(o->dir);
        expected = "the name of a folder";
    }
    else if (strcmp(name, "--threads") == 0)
    {
        good = parse_int(value, 0, 256, &o->threads);
        expected = "a whole number from 0 (one a core) to 256";
    }
    else if (strcmp(name, "--set") == 0)
    {
        good = o->override_count < OVERRIDES_MAX;
        expected = "PATH=VALUE, at most 256 times";
        o->overrides[good ? o->override_count++ : 0] = value;
    }
    else
    {
        return report_usage("dress", o->json, "unknown option `%s`", name);
    }
    return good ? EXIT_DONE : report_value("dress", o->json, name, value, expected);
}

static int read_options(int argc, char** argv, dress_options* o)
{
    option_scan scan = {.command = "dress", .argc = argc, .argv = argv, .at = 1};
    for (int i = 1; i < argc; i++)
    {
        o->json = o->json || strcmp(argv[i], "--json") == 0;
    }
    while (option_next(&scan))
    {
        if (!scan.name && o->garment_count == GARMENTS_MAX)
        {
            return report_usage("dress", o->json, "at most %d garments at a time", GARMENTS_MAX);
        }
        if (!scan.name)
        {
            o->garments[o->garment_count] = scan.value;
            name_garment(o, o->garment_count++);
        }
        else if (option_is(&scan, "--force"))
        {
            o->mode = WEFT_CACHE_FORCE;
        }
        else if (!option_is(&scan, "--json"))
        {
            const char *name = scan.name, *value = option_value(&scan);
            int status = value ? take_value(o, name, value)
                               : report_usage("dress", o->json, "unknown option `%s`, or its value is missing", name);
            if (status != EXIT_DONE)
            {
                return status;
            }
        }
    }
    if (o->garment_count == 0 || !o->body)
    {
        return report_usage("dress", o->json, "%s",
                            o->garment_count > 0 ? "on which body? --body FILE says it"
                                                 : "which garments? give OBJ files, the innermost first");
    }
    if (!o->dir[0])
    {
        snprintf(o->dir, sizeof(o->dir), "%s-dressed", o->names[0]);
    }
    return EXIT_DONE;
}

// ---- the scene

static void put_string(FILE* out, const char* text)
{
    fputc('"', out);
    for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    {
        *c == '"' || *c == '\\' ? fprintf(out, "\\%c", *c) : *c < 0x20 ? fprintf(out, "\\u%04x", *c) : fputc(*c, out);
    }
    fputc('"', out);
}

static bool ends_with(const char* text, const char* end)
{
    size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

// Garments and body as a scene, the garments as layers in their order. NULL: no memory.
static char* scene_text(const dress_options* o)
{
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    if (!out)
    {
        return NULL;
    }
    fputs("{\"cloth\": [", out);
    for (int k = 0; k < o->garment_count; k++)
    {
        fprintf(out, "%s{\"name\": \"%s\", \"mesh\": {\"obj\": ", k > 0 ? ", " : "", o->names[k]);
        put_string(out, o->garments[k]);
        fputs("}}", out);
    }
    bool gltf = ends_with(o->body, ".gltf") || ends_with(o->body, ".glb");
    fprintf(out, "], \"obstacles\": [{\"name\": \"body\", \"mesh\": {\"%s\": ", gltf ? "gltf" : "obj");
    put_string(out, o->body);
    fputs("}}], \"layers\": [\"body\"", out);
    for (int k = 0; k < o->garment_count; k++)
    {
        fprintf(out, ", \"%s\"", o->names[k]);
    }
    fputs("]}", out);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole;
    if (!whole)
    {
        free(text);
    }
    return whole ? text : NULL;
}

// ---- progress

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

static int look(void* user, const weft_progress* p)
{
    static struct timespec last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
    (void)user;
    if (isatty(STDERR_FILENO) && (since > 0.2 || p->done >= 1.0))
    {
        last = now;
        fprintf(stderr, "\r\033[Kdressing: %.0f %%, step %d", 100.0 * p->done, p->rounds);
        p->crossings > 0 ? fprintf(stderr, ", %d pairs still cross", p->crossings) : 0;
        fflush(stderr);
    }
    return stop_requested;
}

// ---- the result

// A garment's own file with other coordinates: what it says of names, groups, materials and maps stays, line by line.
// Normals are those of another shape and go.
static void put_face(FILE* out, char* line)
{
    char* rest = NULL;
    for (char* word = strtok_r(line, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest))
    {
        char *first = strchr(word, '/'), *second = first ? strchr(first + 1, '/') : NULL;
        second ? (void)(*second = 0) : (void)0;
        first&& first[1] == 0 ? (void)(*first = 0) : (void)0;
        fprintf(out, "%s%s", word == line ? "" : " ", word);
    }
    fputc('\n', out);
}

static bool copy_lines(FILE* in, FILE* out, const weft_vec3* x, int count)
{
    char* line = NULL;
    size_t room = 0;
    int used = 0;
    while (getline(&line, &room, in) >= 0)
    {
        bool vertex = strncmp(line, "v ", 2) == 0 || strncmp(line, "v\t", 2) == 0;
        if (vertex && used < count)
        {
            fprintf(out, "v %.9g %.9g %.9g\n", x[used].x, x[used].y, x[used].z);
        }
        else if (strncmp(line, "f ", 2) == 0)
        {
            put_face(out, line);
        }
        else if (!vertex && strncmp(line, "vn", 2) != 0)
        {
            fputs(line, out);
        }
        used += vertex;
    }
    free(line);
    return used == count && !ferror(in) && !ferror(out);
}

// In place of what the folder has: the same numbers. Where the file has other vertices, as with "weld", that stays.
static void keep_text(const dress_options* o, const weft_sim* sim, int garment)
{
    char path[4500], temporary[4600];
    int count = weft_sim_output_count(sim, garment);
    snprintf(path, sizeof(path), "%s/%s.start.obj", o->dir, o->names[garment]);
    snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    weft_vec3* x = calloc((size_t)count + 1, sizeof(weft_vec3));
    FILE* in = x ? fopen(o->garments[garment], "r") : NULL;
    FILE* out = in ? fopen(temporary, "w") : NULL;
    bool whole = false;
    if (out)
    {
        weft_sim_positions(sim, garment, x);
        whole = copy_lines(in, out, x, count);
        whole = fclose(out) == 0 && whole;
        whole = whole ? rename(temporary, path) == 0 : remove(temporary) != 0;
    }
    in ? (void)fclose(in) : (void)0;
    free(x);
}

typedef struct extent
{
    weft_vec3 low, high;
} extent;

static extent extent_of(const weft_vec3* x, int count)
{
    extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < count; i++)
    {
        e.low = (weft_vec3){fmin(e.low.x, x[i].x), fmin(e.low.y, x[i].y), fmin(e.low.z, x[i].z)};
        e.high = (weft_vec3){fmax(e.high.x, x[i].x), fmax(e.high.y, x[i].y), fmax(e.high.z, x[i].z)};
    }
    return e;
}

static double size_of(const extent* e)
{
    return sqrt(pow(e->high.x - e->low.x, 2.0) + pow(e->high.y - e->low.y, 2.0) + pow(e->high.z - e->low.z, 2.0));
}

// Nothing crosses where a garment is nowhere near the body, or as large as a house: files in another unit.
static void warn_of_place(const dress_options* o, weft_sim* sim)
{
    int body_count = weft_sim_obstacle_vertex_count(sim, 0), most = body_count;
    for (int k = 0; k < o->garment_count; k++)
    {
        int count = weft_sim_output_count(sim, k);
        most = count > most ? count : most;
    }
    weft_vec3* x = malloc((size_t)most * sizeof(weft_vec3));
    if (!x || weft_sim_obstacle_positions(sim, 0, 0.0, x, NULL) != WEFT_OK)
    {
        free(x);
        return;
    }
    extent body = extent_of(x, body_count);
    for (int k = 0; k < o->garment_count; k++)
    {
        weft_sim_positions(sim, k, x);
        extent e = extent_of(x, weft_sim_output_count(sim, k));
        double ratio = size_of(&e) / size_of(&body);
        bool apart = e.low.x > body.high.x || e.high.x < body.low.x || e.low.y > body.high.y || e.high.y < body.low.y ||
                     e.low.z > body.high.z || e.high.z < body.low.z;
        if (ratio > size_doubtful || ratio < 0.01 * size_doubtful)
        {
            fprintf(stderr,
                    "weft: warning: `%s` is %.3g times the size of the body (%.3g m): is it in another unit? "
                    "`--set cloth.%d.mesh.scale=S` scales it\n",
                    o->names[k], ratio, size_of(&body), k);
        }
        else if (apart)
        {
            fprintf(stderr,
                    "weft: warning: `%s` lies beside the body, not around it: `--set "
                    "cloth.%d.transform.translate=[x,y,z]` moves it\n",
                    o->names[k], k);
        }
    }
    free(x);
}

static weft_status write_result(const dress_options* o, weft_scene* scene, bool clean, weft_error* error)
{
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    weft_status status = weft_scene_build_sim(scene, o->threads, &sim, error);
    status = status == WEFT_OK && clean ? weft_scene_start(scene, sim, NULL, error) : status;
    if (status == WEFT_OK)
    {
        status = weft_cache_writer_create(o->dir, o->mode, weft_scene_json(scene), weft_scene_steps_per_frame(scene),
                                          sim, &writer, error);
    }
    if (status == WEFT_OK)
    {
        status = weft_cache_writer_destroy(writer, error);
    }
    for (int k = 0; k < o->garment_count && status == WEFT_OK; k++)
    {
        keep_text(o, sim, k);
    }
    status == WEFT_OK ? warn_of_place(o, sim) : (void)0;
    weft_sim_destroy(sim);
    return status;
}

static void print_summary(const dress_options* o, const weft_dressing* done)
{
    if (done->max_strain > strain_doubtful)
    {
        fprintf(stderr,
                "weft: warning: the cloth is stretched to %.3g times its length: is it in the body's unit, and are the "
                "limbs inside of it?\n",
                1.0 + done->max_strain);
    }
    if (o->json)
    {
        printf("{\"dir\":");
        put_json_string(o->dir);
        printf(",\"garments\":%d,\"crossings\":%d,\"thinned\":%.6g,\"steps\":%d,\"left\":%d,\"max_strain\":%.6g}\n",
               o->garment_count, done->crossings, done->thinned, done->steps, done->left, done->max_strain);
        return;
    }
    printf("%d garment%s put on in %d steps: %d crossings at the start, %d in the end; the body began %.0f %% thinner, "
           "the largest strain is %.3g\n",
           o->garment_count, o->garment_count == 1 ? "" : "s", done->steps, done->crossings, done->left,
           100.0 * done->thinned, done->max_strain);
    done->left > 0 ? printf("`weft render %s --show crossings` colours them\n", o->dir)
                   : printf("`weft render %s` makes a picture, `weft run %s/scene.json -o RUN` starts from there\n",
                            o->dir, o->dir);
}

static weft_status dress(const dress_options* o, weft_scene* scene, weft_error* error)
{
    weft_dress_def def = weft_dress_def_default();
    weft_dressing done = {0};
    def.worker_count = o->threads;
    def.pose = o->pose;
    def.look = look;
    weft_status status = weft_scene_dress(scene, &def, &done, error), written = status;
    isatty(STDERR_FILENO) ? fputs("\r\033[K", stderr) : 0;
    if (status == WEFT_OK || status == WEFT_NOT_CONVERGED)
    {
        written = write_result(o, scene, status == WEFT_OK, status == WEFT_OK ? error : NULL);
        written == WEFT_OK ? print_summary(o, &done) : (void)0;
    }
    return status == WEFT_OK ? written : status;
}

// Files that are not there are named as they were given, not as places of a scene that nobody wrote.
static weft_status check_files(const dress_options* o, weft_error* error)
{
    for (int k = -2; k < o->garment_count; k++)
    {
        const char* file = k == -2 ? o->body : k == -1 ? o->pose : o->garments[k];
        if (file && access(file, R_OK) != 0)
        {
            snprintf(error->file, sizeof(error->file), "%s", file);
            snprintf(error->message, sizeof(error->message), "cannot be opened: %s", strerror(errno));
            return WEFT_NOT_FOUND;
        }
    }
    return WEFT_OK;
}

int command_dress(int argc, char** argv)
{
    static dress_options o;
    int usage = read_options(argc, argv, &o);
    if (usage != EXIT_DONE)
    {
        return usage;
    }
    weft_error error = {0};
    weft_scene* scene = NULL;
    char* text = scene_text(&o);
    weft_status status = text ? check_files(&o, &error) : WEFT_NO_MEMORY;
    status =
        status == WEFT_OK ? weft_scene_parse("dress", text, o.overrides, o.override_count, &scene, &error) : status;
    if (status == WEFT_OK)
    {
        for (int k = 0; weft_scene_warning(scene, k); k++)
        {
            fprintf(stderr, "weft: note: %s\n", weft_scene_warning(scene, k));
        }
        struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESETHAND};
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        status = dress(&o, scene, &error);
    }
    weft_scene_destroy(scene);
    free(text);
    error.status = status;
    return status == WEFT_OK ? EXIT_DONE : report_error(&error, o.json);
}

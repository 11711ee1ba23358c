// `weft validate`: experiments with known answers, for one method or for all.
#ifndef WEFT_VALIDATE_COMMAND_H
#define WEFT_VALIDATE_COMMAND_H

#include "validate/experiment.h"

typedef struct validate_options
{
    const char* method;      // NULL: that of scenes which name none; "all": each in turn
    const char* model;       // NULL: the scenes' own
    const char* bending;     // NULL: the model's own
    const char* material;    // name of the catalogue
    const char* mesh;        // NULL: regular and irregular; those words, or an OBJ file
    const char* experiments; // names with commas; NULL: all
    int cells;               // one resolution in place of the experiments' own; 0: theirs
    int threads;
    const char* out;              // folder of the page and the curves; NULL: none
    const char* const* overrides; // [override_count] PATH=VALUE, for the scenes and not for the closed forms
    int override_count;
    bool resume; // measurements that are finished in `out` are taken from there
    bool json;
    bool progress; // standard error is a terminal
} validate_options;

// One measurement of many.
typedef struct measurement
{
    const experiment* experiment;
    const char *method, *mesh;
    int cells;
    bool finest;     // the bound counts
    bool fresh;      // measured in this run
    char* mesh_kept; // of one that was read: its mesh's name
    result result;
} measurement;

typedef struct validation
{
    const validate_options* options;
    weft_material material;
    measurement* list; // [count]
    int count;
    measurement* kept; // [kept_count] finished by earlier runs, in this run's list or not
    int kept_count;
} validation;

// Whether it says what was bound to be: finest resolutions and measurements that failed decide.
bool measurement_is_broken(const measurement* m);

// Runs and reports. *broken: how many stated bounds are broken. BAD_INPUT and the like: error says why.
weft_status validate_run(const validate_options* options, int* broken, weft_error* error);

// Finished measurements in options->out. Without a file there nothing is read. BAD_INPUT: it is of other settings, or
// none of these files; error says where.
weft_status measured_read(validation* v, weft_error* error);
weft_status measured_write(const validation* v);         // says on standard error what went wrong
bool measured_find(const validation* v, measurement* m); // fills in the result, if it is there
void measured_free(validation* v);

void report_table(const validation* v);
void report_methods(const validation* v);
void report_json(const validation* v);
weft_status report_page(const validation* v); // into options->out; says on standard error what went wrong

// Extent, plane and number of triangles of an OBJ file that is to stand for specimens. False: error says why.
bool flat_mesh_read(const char* path, trial* t, int* triangles, weft_error* error);

#endif

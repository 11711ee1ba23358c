// frames.jsonl of a run's folder: from which frames on a cloth has which topology, and which bodies come and go.
//
//     {"frame": 12, "body": "sheet", "topology": 1, "copies": [17, 17, 4]}                                it tears
//     {"frame": 12, "body": "patch", "topology": 0, "list": "cloth", "id": 1, "thickness": 0.001}    it comes
//     {"frame": 30, "body": "patch", "gone": true}                                                                 it
//     goes
#ifndef WEFT_CHANGES_H
#define WEFT_CHANGES_H

#include "core/core.h"

typedef enum change_kind
{
    CHANGE_TEARS,
    CHANGE_COMES,
    CHANGE_GOES
} change_kind;

typedef struct topology_change
{
    change_kind kind;
    char* body; // has no slash
    int frame;  // from 1 where it tears
    int topology;
    int* copies; // [copy_count] vertex of the topology before that each new one was torn off from
    int copy_count;
    char* list;       // of one that comes: the list of scene files that it would be in; else NULL
    int id;           // likewise: of the simulation's cloths or obstacles
    double thickness; // m, likewise
    int line;         // of the file
    size_t at;        // byte of the file at which the line begins
} topology_change;

typedef struct topology_changes
{
    topology_change* items; // [count] in the order of the file
    int count, capacity;
    size_t size; // bytes of whole lines
    char* path;  // for messages
} topology_changes;

// "DIR/NAME + ending", or with a topology above 0 "DIR/NAME.G + ending"; the caller frees. NULL: no memory.
char* topology_path(const char* dir, const char* name, int topology, const char* ending);

// What the list of obstacles is called.
extern const char change_obstacles[];

// A folder without the file has no changes. BAD_INPUT: a line is not of the form; one without an end is half written
// and does not count. What the lines say together is not looked at. Zeroed on failure.
weft_status topology_changes_read(const char* dir, topology_changes* out, weft_error* error);
void topology_changes_finish(topology_changes* changes);
// Whether NAME is BODY.G of a listed topology: the name of its files.
bool topology_changes_name(const topology_changes* changes, const char* name);
// How a body comes; NULL: it is there from the start, or not known.
const topology_change* topology_changes_coming(const topology_changes* changes, const char* body);
// Whether a body goes before the first frame: it has no files.
bool topology_changes_never(const topology_changes* changes, const char* body);

// Adds a line, at once.
weft_status topology_changes_append(const char* dir, const topology_change* change, weft_error* error);
// Cuts off the lines of later frames, and half a line at the end. They stay in the list.
weft_status topology_changes_cut(const topology_changes* changes, int last_frame, weft_error* error);

#endif

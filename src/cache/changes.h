// frames.jsonl of a run's folder: from which frames on a cloth has which topology.
#ifndef WEFT_CHANGES_H
#define WEFT_CHANGES_H

#include "core/core.h"

typedef struct topology_change
{
    char* body;
    int frame, topology;
    int* copies; // [copy_count] vertex of the topology before that each new one was torn off from
    int copy_count;
    int line; // of the file
} topology_change;

typedef struct topology_changes
{
    topology_change* items; // [count] in the order of the file
    int count, capacity;
    char* path; // for messages
} topology_changes;

// A folder without the file has no changes. BAD_INPUT: a line is not of the form; one without an end is half written
// and does not count. What the lines say together is not looked at. Zeroed on failure.
weft_status topology_changes_read(const char* dir, topology_changes* out, weft_error* error);
void topology_changes_finish(topology_changes* changes);
// Whether NAME is BODY.G of a listed topology: the name of its files.
bool topology_changes_name(const topology_changes* changes, const char* name);

#endif

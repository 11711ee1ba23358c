// Whole frames of local-global with self-contact and a body, on one core.
#ifndef WEFT_BENCH_LOCAL_GLOBAL_CONTACT_H
#define WEFT_BENCH_LOCAL_GLOBAL_CONTACT_H

#include <stdbool.h>

#include "weft/types.h"

// Prints a row for each scene as text or JSON, so many turns a step, each frame's time the best of some rounds; *rows
// counts them.
weft_status local_global_contact(int rounds, int turns, bool json, int* rows);

#endif

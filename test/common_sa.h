// Many small systems and hierarchies of every kind, for the tests of the multigrid's parts.
#ifndef WEFT_TEST_COMMON_SA_H
#define WEFT_TEST_COMMON_SA_H

#include "common_system.h"
#include "solve/sa/sa.h"

enum
{
    SYSTEMS = 100
};

// Springs against bed and mass, about as in cloth. Rounding grows with this ratio, since D^-1 does.
#define STRETCH 30.0

// Sheets, cloths of scenes, several with lonely vertices and triangles between them, lines; some held, some free.
weft_system* test_sa_system(int turn, uint64_t* random);
// Settings that differ from turn to turn: precision, number of vectors, radius of aggregates, relaxation, filter.
weft_sa_def test_sa_settings(int turn);
// A prefiltered hierarchy that keeps all of its setup.
weft_status test_sa_build_status(sa_hierarchy* h, const weft_system* system, const weft_sa_def* settings);
void test_sa_build(sa_hierarchy* h, const weft_system* system, const weft_sa_def* settings);
// A number of the hierarchy, whatever its precision.
double test_sa_real(const sa_hierarchy* h, const void* values, size_t k);

#endif

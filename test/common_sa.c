#include "common_sa.h"

#include "common.h"

weft_system* test_sa_system(int turn, uint64_t* random)
{
    static const char* const scenes[] = {"pinned", "drooping", "re-entrant"};
    const char* overrides[] = {turn % 8 < 4 ? "cells=8" : "cells=10",
                               turn % 16 < 8 ? "tessellation=irregular" : "tessellation=regular"};
    weft_system* parts[] = {test_sheet_system(3 + turn % 7, STRETCH), test_triangle_system(),
                            test_lonely_system(5, random), test_sheet_system(4, STRETCH)};
    weft_system* system = test_join_systems(parts, turn % 4 == 0 ? 4 : 1);
    for (int k = 1; k < 4 && turn % 4 != 0; k++)
    {
        weft_system_destroy(parts[k]);
    }
    if (turn % 4 == 1)
    {
        weft_system_destroy(system);
        system = test_scene_system(scenes[turn / 4 % 3], overrides, 2, turn % 3);
    }
    test_constrain(system, turn % 5 == 0 ? 0.0 : 0.6 * turn / SYSTEMS, turn % 4, random);
    return system;
}

weft_status test_sa_build_status(sa_hierarchy* h, const weft_system* system, const weft_sa_def* settings)
{
    *h = (sa_hierarchy){.settings = *settings, .cpu = cpu_best(), .keep = true};
    linear_system view = system_view(system, 1);
    return sa_build(h, &view, true);
}

void test_sa_build(sa_hierarchy* h, const weft_system* system, const weft_sa_def* settings)
{
    assert_int_equal(test_sa_build_status(h, system, settings), WEFT_OK);
    assert_int_equal(h->precision, settings->precision == 64 ? 64 : 32);
}

weft_sa_def test_sa_settings(int turn)
{
    weft_sa_def settings = sa_default();
    settings.coarsest = 30;
    settings.precision = turn % 2 ? 64 : 32;
    settings.vectors = turn % 3 ? 6 : 3;
    settings.distance = 1 + turn / 2 % 2;
    settings.relax = turn / 4 % 3;
    settings.filter = turn / 3 % 3 == 0 ? 0.0 : turn / 3 % 3 == 1 ? 0.15 : settings.theta;
    return settings;
}

double test_sa_real(const sa_hierarchy* h, const void* values, size_t k)
{
    return h->precision == 32 ? (double)((const float*)values)[k] : ((const double*)values)[k];
}

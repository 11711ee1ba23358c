#include "common_settings.h"

#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "step/step.h"
#include "weft/cache.h"

// Within the limits, and not the default.
static double other_value(const weft_setting* s)
{
    double more = s->whole ? s->value + 1.0 : s->value > 0.0 ? 1.5 * s->value : s->value + 1.0;
    return more <= s->maximum ? more : s->whole ? s->value - 1.0 : s->minimum + 0.5 * (s->value - s->minimum);
}

static weft_status open_run(const char* text, const char* method, const char* setting, weft_cache_mode mode,
                            const char* dir)
{
    char chosen[128];
    snprintf(chosen, sizeof(chosen), "method=%s", method);
    const char* overrides[] = {chosen, setting};
    weft_scene* scene = scene_load_text(text, overrides, setting ? 2 : 1);
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    weft_step_stats stats;
    weft_status status = weft_scene_build_sim(scene, 1, &sim, NULL);
    status =
        status == WEFT_OK ? weft_cache_writer_create(dir, mode, weft_scene_json(scene), 1, sim, &writer, NULL) : status;
    if (status == WEFT_OK && mode == WEFT_CACHE_FORCE)
    {
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    }
    weft_cache_writer_destroy(status == WEFT_OK ? writer : NULL, NULL);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return status;
}

// Whether a run by the method can come to another one's settings.
static bool takes_part(const char* method, const char* owner)
{
    const method_row* row = NULL;
    assert_int_equal(time_method_find(method, &row, NULL), WEFT_OK);
    return strcmp(row->method->name, owner) == 0 || (row->fallback && strcmp(row->fallback->name, owner) == 0);
}

int settings_resume(const char* text)
{
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", scene_path("settings"));
    int count = 0;
    const char *method, *summary;
    for (int m = 0; weft_list(WEFT_LIST_METHODS, m, &method, &summary) == WEFT_OK; m++)
    {
        weft_status begun = open_run(text, method, NULL, WEFT_CACHE_FORCE, dir);
        if (begun == WEFT_UNSUPPORTED)
        {
            continue; // it does not move what the scene has
        }
        assert_int_equal(begun, WEFT_OK);
        weft_setting s;
        for (count = 0; weft_setting_at(count, &s) == WEFT_OK; count++)
        {
            char setting[160];
            snprintf(setting, sizeof(setting), "%s.%s=%.17g", s.method, s.name, other_value(&s));
            weft_status status = open_run(text, method, setting, WEFT_CACHE_RESUME, dir);
            if (status != (takes_part(method, s.method) ? WEFT_BAD_INPUT : WEFT_OK))
            {
                fail_msg("a run by %s was resumed with %s: status %d", method, setting, status);
            }
            assert_int_equal(open_run(text, method, NULL, WEFT_CACHE_RESUME, dir), WEFT_OK);
        }
    }
    return count;
}

// The scenes of keys 1 to 9. They are scene files like any other, sized so that a step takes a few
// milliseconds; stage.c adds the model of springs and the step of 1/60 s. docs/scene-reference.md says what the keys
// mean.
#include "playground.h"

#define SCENE(...) #__VA_ARGS__ // JSON is made of the preprocessor's tokens

// clang-format off
static const char curtain[] = SCENE({
  "local-global": {"iterations": 10}, "air": {"density": 1.2}, "contact": {"exclude": [{"pair": ["curtain", "rail"]}]},
  "cloth": [{"name": "curtain", "mesh": {"grid": {"size": [1.5, 1.4], "cells": [39, 36], "plane": "xy"}}, "material": "cotton",
    "transform": {"translate": [0, 0.75, 0]},
    "pins": [{"where": {"corner": "top-left"}, "path": [{"time": 0}, {"time": 1.2, "offset": [0.3, 0, 0]}]},
             {"where": {"corner": "top-right"}, "path": [{"time": 0}, {"time": 1.2, "offset": [-0.3, 0, 0]}]},
             {"where": {"vertices": [1448, 1456, 1463, 1471]}, "fix": {"line": [1, 0, 0]}}]}],
  "obstacles": [{"name": "rail", "shape": {"cylinder": {"from": [-0.85, 1.47, 0], "to": [0.85, 1.47, 0], "radius": 0.012, "segments": 16}}},
                {"name": "floor", "shape": {"plane": {"size": 6}}}]
});

static const char flag[] = SCENE({
  "local-global": {"iterations": 10},
  "air": {"density": 1.225, "drag": 1, "friction": 0.02, "wind": [6, 0, 1], "gust": 0.5, "gust_period": 1.5, "gust_length": 0.6}, "contact": {"exclude": [{"pair": ["flag", "pole"]}]},
  "cloth": [{"name": "flag", "mesh": {"grid": {"size": [1.5, 1], "cells": [48, 32], "plane": "xy"}}, "material": "silk",
    "transform": {"translate": [0.78, 1.5, 0]}, "pins": [{"where": {"edge": "left"}}]}],
  "obstacles": [{"name": "pole", "shape": {"cylinder": {"from": [0, 0, 0], "to": [0, 2.1, 0], "radius": 0.02, "segments": 16}}},
                {"name": "floor", "shape": {"plane": {"size": 6}}}]
});

static const char sheet[] = SCENE({
  "local-global": {"iterations": 6}, "air": {"density": 1.2},
  "cloth": [{"name": "sheet", "mesh": {"grid": {"size": 1, "cells": 22}}, "material": "cotton-soft",
    "transform": {"rotate": [0, 20, 0], "translate": [0.03, 0.66, 0.02]}}],
  "obstacles": [{"name": "ball", "shape": {"sphere": {"center": [0, 0.35, 0], "radius": 0.25}}, "friction": 0.5},
                {"name": "floor", "shape": {"plane": {"size": 5}}, "friction": 0.5}]
});

static const char brush[] = SCENE({
  "local-global": {"iterations": 20},
  "strands": [{"name": "bristles", "mesh": {"brush": {"size": [0.07, 0.03], "count": [13, 6], "vertices": 12, "length": 0.09, "spread": 0.25}},
    "material": {"density": 0.003, "stretch": 10, "bending": 2e-6, "damping": 0.002}, "radius": 0.0006,
    "transform": {"translate": [0, 0.1, 0]},
    "pins": [{"where": {"box": {"min": [-1, 0.092, -1], "max": [1, 1, 1]}},
              "path": [{"time": 0}, {"time": 0.6, "offset": [0.03, -0.018, 0]}, {"time": 1.4, "offset": [-0.03, -0.018, 0]},
                       {"time": 2.2, "offset": [0.03, -0.018, 0]}, {"time": 2.8, "offset": [0, 0, 0]}]}]}],
  "obstacles": [{"name": "handle", "shape": {"box": {"center": [0, 0.112, 0], "size": [0.085, 0.018, 0.045]}}, "motion":
                 {"path": [{"time": 0}, {"time": 0.6, "offset": [0.03, -0.018, 0]}, {"time": 1.4, "offset": [-0.03, -0.018, 0]},
                           {"time": 2.2, "offset": [0.03, -0.018, 0]}, {"time": 2.8, "offset": [0, 0, 0]}]}},
                {"name": "floor", "shape": {"plane": {"size": 0.6}}, "friction": 0.4}]
});

static const char foam[] = SCENE({
  "local-global": {"iterations": 12},
  "volumes": [{"name": "foam", "mesh": {"solid": {"ball": {"radius": 0.1, "cells": 8}}},
    "material": {"density": 60, "young_modulus": 40000, "damping": 0.001}, "transform": {"translate": [-0.05, 0.4, 0]}, "velocity": [0.2, 0, 0]}],
  "obstacles": [{"name": "floor", "shape": {"plane": {"size": 2}}, "friction": 0.6},
                {"name": "block", "shape": {"box": {"center": [0.3, 0.04, 0], "size": [0.16, 0.08, 0.3]}}, "friction": 0.6}]
});

static const char bar[] = SCENE({
  "local-global": {"iterations": 10},
  "volumes": [{"name": "bar", "mesh": {"solid": {"bar": {"size": [1.2, 0.12], "cells": [40, 4]}}},
    "material": {"density": 1000, "young_modulus": 4e5, "damping": 0.002}, "transform": {"translate": [0, 0.6, 0]},
    "pins": [{"where": {"box": {"min": [-2, -1, -1], "max": [-0.59, 1, 1]}}},
             {"where": {"box": {"min": [0.59, -1, -1], "max": [2, 1, 1]}}, "axis": [1, 0, 0], "center": [0, 0.6, 0],
              "path": [{"time": 0}, {"time": 3, "angle": 270}]}]}],
  "obstacles": [{"name": "floor", "shape": {"plane": {"size": 5}}}]
});

static const char stack[] = SCENE({
  "local-global": {"iterations": 10}, "air": {"density": 1.2},
  "cloth": [
    {"name": "sheet1", "mesh": {"grid": {"size": 0.6, "cells": 12}}, "material": "cotton", "transform": {"translate": [0, 0.26, 0]}},
    {"name": "sheet2", "mesh": {"grid": {"size": 0.6, "cells": 12}}, "material": "wool", "transform": {"rotate": [0, 23, 0], "translate": [0, 0.34, 0]}},
    {"name": "sheet3", "mesh": {"grid": {"size": 0.6, "cells": 12}}, "material": "silk", "transform": {"rotate": [0, 46, 0], "translate": [0, 0.42, 0]}}],
  "obstacles": [{"name": "block", "shape": {"box": {"center": [0, 0.1, 0], "size": [0.4, 0.2, 0.4]}}, "friction": 0.4},
                {"name": "floor", "shape": {"plane": {"size": 4}}, "friction": 0.4}]
});

static const char hammock[] = SCENE({
  "local-global": {"iterations": 8},
  "cloth": [{"name": "mat", "mesh": {"grid": {"size": 1, "cells": 24}}, "material": "wool-lycra", "thickness": 0.004,
    "transform": {"translate": [0, 0.5, 0]}, "pins": [{"where": {"edge": ["left", "right"]}}]}],
  "volumes": [{"name": "ball1", "mesh": {"solid": {"ball": {"radius": 0.12, "cells": 4}}},
      "material": {"density": 40, "young_modulus": 30000, "damping": 0.001}, "transform": {"translate": [-0.15, 0.75, 0.05]}},
    {"name": "cube", "mesh": {"solid": {"box": {"size": [0.18, 0.18, 0.18], "cells": [3, 3, 3]}}},
      "material": {"density": 40, "young_modulus": 30000, "damping": 0.001}, "transform": {"rotate": [20, 30, 10], "translate": [0.15, 1, -0.05]}}],
  "obstacles": [{"name": "floor", "shape": {"plane": {"size": 5}}, "friction": 0.5}]
});

static const char lines[] = SCENE({
  "local-global": {"iterations": 10},
  "air": {"density": 1.225, "drag": 1, "friction": 0.02, "wind": [1.5, 0, 2], "gust": 0.6, "gust_period": 2, "gust_length": 0.8},
  "contact": {"exclude": [{"pair": ["towel", "line"]}, {"pair": ["shirt", "line"]}, {"pair": ["cloth", "line"]}]},
  "cloth": [
    {"name": "towel", "mesh": {"grid": {"size": [0.6, 0.8], "cells": [18, 24], "plane": "xy"}}, "material": "cotton",
     "transform": {"translate": [-0.75, 1, 0]}, "pins": [{"where": {"corner": ["top-left", "top-right"]}}]},
    {"name": "shirt", "mesh": {"grid": {"size": [0.5, 0.6], "cells": [16, 20], "plane": "xy"}}, "material": "silk",
     "transform": {"translate": [0, 1.1, 0]}, "pins": [{"where": {"corner": ["top-left", "top-right"]}}]},
    {"name": "cloth", "mesh": {"grid": {"size": [0.7, 0.7], "cells": [20, 20], "plane": "xy"}}, "material": "linen",
     "transform": {"translate": [0.8, 1.05, 0]}, "pins": [{"where": {"corner": ["top-left", "top-right"]}}]}],
  "obstacles": [{"name": "line", "shape": {"cylinder": {"from": [-1.3, 1.408, 0], "to": [1.3, 1.408, 0], "radius": 0.006, "segments": 12}}},
                {"name": "post1", "shape": {"cylinder": {"from": [-1.33, 0, 0], "to": [-1.33, 1.5, 0], "radius": 0.025, "segments": 16}}},
                {"name": "post2", "shape": {"cylinder": {"from": [1.33, 0, 0], "to": [1.33, 1.5, 0], "radius": 0.025, "segments": 16}}},
                {"name": "floor", "shape": {"plane": {"size": 6}}}]
});
// clang-format on

const play_scene play_scenes[] = {
    {"curtain", curtain, STRIPES, 0}, {"flag", flag, STRIPES, 1},      {"sheet", sheet, CHECKS, 0},
    {"brush", brush, PLAIN, 0},       {"foam-ball", foam, CHECKS, 2},  {"bar", bar, CHECKS, 3},
    {"stack", stack, CHECKS, 0},      {"hammock", hammock, CHECKS, 1}, {"washing-line", lines, STRIPES, 0},
    {NULL, NULL, PLAIN, 0},
};

int play_scene_count(void)
{
    return (int)(sizeof(play_scenes) / sizeof(play_scenes[0])) - 1;
}

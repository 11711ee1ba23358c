// Shader texts. Light is linear inside and encoded on output. One light with a shadow map, a sky above and a floor that
// throws some light back; cloth lets light through and has a sheen at grazing angles.
#include "gl.h"

#define SHADOW                                                                                                         \
    "uniform sampler2DShadow u_shadow;\n"                                                                              \
    "uniform mat4 u_light;\n"                                                                                          \
    "uniform float u_texel;\n"                                                                                         \
    "float lit(vec3 p, float spread)\n"                                                                                \
    "{\n"                                                                                                              \
    "    vec3 q = (u_light * vec4(p, 1.0)).xyz * 0.5 + 0.5;\n"                                                         \
    "    if (any(greaterThan(abs(q.xy - 0.5), vec2(0.5)))) return 1.0;\n"                                              \
    "    float r = u_texel * spread, sum = 0.0;\n"                                                                     \
    "    float angle = 6.2832 * fract(52.98 * fract(dot(gl_FragCoord.xy, vec2(0.0671, 0.00584))));\n"                  \
    "    vec2 a = r * vec2(cos(angle), sin(angle)), b = vec2(-a.y, a.x);\n"                                            \
    "    sum += texture(u_shadow, vec3(q.xy + a, q.z)) + texture(u_shadow, vec3(q.xy - a, q.z));\n"                    \
    "    sum += texture(u_shadow, vec3(q.xy + 0.5 * b, q.z)) + texture(u_shadow, vec3(q.xy - 0.5 * b, q.z));\n"        \
    "    return 0.25 * sum;\n"                                                                                         \
    "}\n"

#define ENCODE                                                                                                         \
    "vec3 encode(vec3 c)\n"                                                                                            \
    "{\n"                                                                                                              \
    "    c = c / (1.0 + 0.18 * c) * 1.12;\n"                                                                           \
    "    return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));\n"                                                           \
    "}\n"                                                                                                              \
    "vec3 sky(float t)\n"                                                                                              \
    "{\n"                                                                                                              \
    "    return mix(vec3(0.80, 0.80, 0.79), vec3(0.42, 0.53, 0.68), smoothstep(0.0, 1.0, t));\n"                       \
    "}\n"

const char shader_depth_vertex[] = "in vec3 a_position;\n"
                                   "uniform mat4 u_light;\n"
                                   "void main() { gl_Position = u_light * vec4(a_position, 1.0); }\n";

const char shader_depth_fragment[] = "void main() {}\n";

const char shader_surface_vertex[] = "in vec3 a_position;\n"
                                     "in vec3 a_normal;\n"
                                     "in vec3 a_rest;\n"
                                     "uniform mat4 u_matrix;\n"
                                     "out vec3 v_position, v_normal, v_rest;\n"
                                     "void main()\n"
                                     "{\n"
                                     "    v_position = a_position;\n"
                                     "    v_normal = a_normal / max(length(a_normal), 1e-20);\n"
                                     "    v_rest = a_rest;\n"
                                     "    gl_Position = u_matrix * vec4(a_position, 1.0);\n"
                                     "}\n";

const char shader_surface_fragment[] = SHADOW ENCODE
    "in vec3 v_position, v_normal, v_rest;\n"
    "uniform vec3 u_eye, u_sun, u_front, u_back, u_other;\n"
    "uniform vec4 u_weave;\n" // pattern; its period, m; offset from the surface, m; 1: cloth
    "out vec4 o_color;\n"
    "\n"
    // Soft borders as wide as a pixel.
    "float band(float x)\n"
    "{\n"
    "    float w = max(fwidth(x), 1e-4), f = abs(fract(x) - 0.5);\n"
    "    return clamp((f - 0.25) / w + 0.5, 0.0, 1.0);\n"
    "}\n"
    "void main()\n"
    "{\n"
    "    vec3 n = normalize(v_normal), to_eye = normalize(u_eye - v_position);\n"
    "    bool front = dot(n, to_eye) >= 0.0;\n"
    "    n = front ? n : -n;\n"
    "    vec3 color = front || u_weave.w < 0.5 ? u_front : u_back;\n"
    "    vec3 r = v_rest / u_weave.y;\n"
    "    if (u_weave.x > 1.5)\n"
    "    {\n"
    "        float a = band(r.x), b = band(r.z + r.y);\n"
    "        color = mix(color, u_other, 0.8 * abs(a - b));\n"
    "    }\n"
    "    else if (u_weave.x > 0.5)\n"
    "    {\n"
    "        color = mix(color, u_other, 0.8 * band(r.x));\n"
    "    }\n"
    "    color = pow(color, vec3(2.2));\n"
    "    float side = dot(n, u_sun), shade = lit(v_position + u_weave.z * (n * sign(side) + u_sun), 1.3);\n"
    "    float key = max(side, 0.0) * shade;\n"
    "    float through = u_weave.w * 0.25 * max(-side, 0.0) * shade;\n"
    "    vec3 half_way = normalize(u_sun + to_eye);\n"
    "    float rim = pow(1.0 - max(dot(n, to_eye), 0.0), 3.0);\n"
    "    vec3 light = vec3(1.0, 0.96, 0.88) * (1.25 * key + through);\n"
    "    light += mix(vec3(0.26, 0.24, 0.22), vec3(0.52, 0.57, 0.66), 0.5 + 0.5 * n.y);\n"
    "    vec3 c = color * light + color * rim * 0.35 * u_weave.w;\n"
    "    c += (1.0 - u_weave.w) * 0.18 * shade * pow(max(dot(n, half_way), 0.0), 40.0) * step(0.0, side);\n"
    "    o_color = vec4(encode(c), 1.0);\n"
    "}\n";

// ---- the ground: a square that fades into the sky

const char shader_ground_vertex[] =
    "uniform mat4 u_matrix;\n"
    "uniform vec4 u_patch;\n" // middle x, height, z; half a side
    "out vec3 v_position;\n"
    "void main()\n"
    "{\n"
    "    vec2 c = vec2(gl_VertexID % 2 == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? -1.0 : 1.0);\n"
    "    v_position = u_patch.xyz + u_patch.w * vec3(c.x, 0.0, c.y);\n"
    "    gl_Position = u_matrix * vec4(v_position, 1.0);\n"
    "}\n";

const char shader_ground_fragment[] =
    SHADOW ENCODE "in vec3 v_position;\n"
                  "uniform vec4 u_patch;\n"
                  "uniform vec3 u_eye;\n"
                  "uniform float u_cell;\n"
                  "out vec4 o_color;\n"
                  "float line(vec2 g)\n"
                  "{\n"
                  "    vec2 w = max(fwidth(g), 1e-6), d = abs(fract(g - 0.5) - 0.5) / w;\n"
                  "    vec2 l = clamp(1.1 - d, 0.0, 1.0) * clamp(0.3 / w, 0.0, 1.0);\n"
                  "    return max(l.x, l.y);\n"
                  "}\n"
                  "void main()\n"
                  "{\n"
                  "    float far = length(v_position.xz - u_patch.xz) / u_patch.w;\n"
                  "    float shade = lit(v_position, 2.2);\n"
                  "    vec3 c = vec3(0.78, 0.77, 0.75) * mix(vec3(0.50, 0.54, 0.62), vec3(1.04, 1.02, 1.0), shade);\n"
                  "    c *= 1.0 - 0.10 * line(v_position.xz / u_cell) - 0.04 * line(v_position.xz / (0.2 * u_cell));\n"
                  "    o_color = vec4(encode(c), 1.0 - smoothstep(0.25, 0.95, far));\n"
                  "}\n";

// ---- the whole window

const char shader_screen_vertex[] = "out vec2 v_uv;\n"
                                    "void main()\n"
                                    "{\n"
                                    "    v_uv = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);\n"
                                    "    gl_Position = vec4(2.0 * v_uv - 1.0, 0.9999, 1.0);\n"
                                    "}\n";

const char shader_sky_fragment[] = ENCODE "in vec2 v_uv;\n"
                                          "out vec4 o_color;\n"
                                          "void main() { o_color = vec4(encode(sky(1.3 * v_uv.y - 0.25)), 1.0); }\n";

const char shader_hud_vertex[] = "uniform vec4 u_place;\n" // left, top, right, bottom in the window, -1 to 1
                                 "out vec2 v_uv;\n"
                                 "void main()\n"
                                 "{\n"
                                 "    v_uv = vec2(gl_VertexID % 2 == 0 ? 0.0 : 1.0, gl_VertexID < 2 ? 0.0 : 1.0);\n"
                                 "    gl_Position = vec4(mix(u_place.xy, u_place.zw, v_uv), 0.0, 1.0);\n"
                                 "}\n";

const char shader_hud_fragment[] = "in vec2 v_uv;\n"
                                   "uniform sampler2D u_text;\n"
                                   "out vec4 o_color;\n"
                                   "void main() { o_color = texture(u_text, v_uv); }\n";

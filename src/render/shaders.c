// Shader texts (GLSL ES 3.0). Light is linear inside and encoded to sRGB on output.
//
// Irradiance over pi at a point with normal n:
//   key     a disc of KEY_LIGHTS directions l, each with a shadow map: max(0, n.l), and a little beyond the terminator
//   sky     2 sum_d w(d) L(d) max(0, n.d) visible(d) over SKY_LIGHTS directions d, each with a share w of the half
//           sphere and a shadow map: ambient light and its occlusion in one; taken a vertex, for front and back at once
//   ground  light thrown up from below: G (1 - n.y) / 2, without occlusion
// Cloth adds transmission (a part of the key light from behind) and a sheen that grows towards grazing angles. The
// ground is the background itself, darkened where key and sky are hidden, so that it has no edge.
#include "render/picture.h"

const char shader_head[] = "#version 300 es\n"
                           "precision highp float;\n"
                           "precision highp int;\n"
                           "precision highp sampler2D;\n"
                           "precision highp sampler2DArrayShadow;\n"
                           "#define KEY_LIGHTS 16\n"
                           "#define SKY_LIGHTS 32\n";

_Static_assert(KEY_LIGHTS == 16 && SKY_LIGHTS == 32, "the shaders state them too");

const char shader_key[] =
    "uniform sampler2DArrayShadow u_key_map;\n"
    "uniform mat4 u_key[KEY_LIGHTS];\n"
    "uniform int u_key_count;\n"
    "uniform vec2 u_disc[KEY_LIGHTS];\n" // even points of the unit disc
    "\n"
    // Each map is looked up at its own offset within `spread`, turned from pixel to pixel: that blurs the seams between
    // the lights of the disc, and sixteen of them leave no grain.
    "float key_visibility(vec3 p, float spread, float turned)\n"
    "{\n"
    "    float angle = 6.2832 * turned;\n"
    "    spread *= float(KEY_LIGHTS) / float(u_key_count);\n"
    "    mat2 turn = spread * mat2(cos(angle), sin(angle), -sin(angle), cos(angle));\n"
    "    float sum = 0.0;\n"
    "    for (int i = 0; i < KEY_LIGHTS; i++)\n" // with fewer lights, each is looked up more than once
    "    {\n"
    "        int light = i % u_key_count;\n"
    "        vec3 q = (u_key[light] * vec4(p, 1.0)).xyz;\n"
    "        sum += texture(u_key_map, vec4(q.xy + turn * u_disc[i], float(light), q.z));\n"
    "    }\n"
    "    return sum / float(KEY_LIGHTS);\n"
    "}\n";

const char shader_fragment[] =
    "uniform vec2 u_size;\n" // of the picture in samples
    "uniform vec3 u_top, u_bottom;\n"
    "\n"
    "vec3 background()\n"
    "{\n"
    "    vec2 p = gl_FragCoord.xy / u_size;\n"
    "    vec2 q = (p - vec2(0.46, 0.42)) * vec2(1.0, 0.9);\n"
    "    return mix(u_bottom, u_top, smoothstep(0.1, 1.0, p.y)) * (1.06 - 0.55 * dot(q, q));\n"
    "}\n"
    "\n"
    "float noise()\n"
    "{\n"
    "    return fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));\n"
    "}\n"
    "\n"
    // Half a level of ordered noise hides the steps of slow gradients.
    "vec3 encode(vec3 c)\n"
    "{\n"
    "    c = clamp(c, 0.0, 1.0);\n"
    "    vec3 s = mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));\n"
    "    return s + (noise() - 0.5) / 255.0;\n"
    "}\n";

// ---- shadow maps

const char shader_depth_vertex[] = "layout(location = 0) in vec3 a_position;\n"
                                   "uniform mat4 u_matrix;\n"
                                   "void main() { gl_Position = u_matrix * vec4(a_position, 1.0); }\n";

const char shader_depth_fragment[] = "void main() {}\n";

// ---- background: one triangle over the whole picture

const char shader_screen_vertex[] = "out vec2 v_uv;\n"
                                    "void main()\n"
                                    "{\n"
                                    "    v_uv = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);\n"
                                    "    gl_Position = vec4(2.0 * v_uv - 1.0, 1.0, 1.0);\n"
                                    "}\n";

const char shader_background_fragment[] = "out vec4 o_color;\n"
                                          "void main() { o_color = vec4(encode(background()), 1.0); }\n";

// ---- the sky's visibility on the ground, into a small texture

const char shader_sky_fragment[] =
    "in vec2 v_uv;\n"
    "uniform sampler2DArrayShadow u_sky_map;\n"
    "uniform mat4 u_sky[SKY_LIGHTS];\n"
    "uniform vec4 u_sky_direction[SKY_LIGHTS];\n"
    "uniform int u_sky_count;\n"
    "uniform vec4 u_patch;\n" // corner x, z; side; height
    "out vec4 o_color;\n"
    "void main()\n"
    "{\n"
    "    vec4 p = vec4(u_patch.x + v_uv.x * u_patch.z, u_patch.w, u_patch.y + v_uv.y * u_patch.z, 1.0);\n"
    "    float sum = 0.0, total = 0.0;\n"
    "    for (int i = 0; i < u_sky_count; i++)\n"
    "    {\n"
    "        vec3 q = (u_sky[i] * p).xyz;\n"
    "        float light = 0.0;\n"
    "        for (int k = 0; k < KEY_LIGHTS; k++)\n" // one direction stands for a cone: blur its shadow
    "        {\n"
    "            light += texture(u_sky_map, vec4(q.xy + 0.075 * u_disc[k], float(i), q.z));\n"
    "        }\n"
    "        float weight = u_sky_direction[i].w * u_sky_direction[i].y;\n"
    "        sum += weight * light / float(KEY_LIGHTS);\n"
    "        total += weight;\n"
    "    }\n"
    "    o_color = vec4(vec3(sum / total), 1.0);\n"
    "}\n";

// ---- ground: an endless plane, met by the ray of each pixel, so that nothing cuts it

const char shader_ground_fragment[] =
    "in vec2 v_uv;\n"
    "uniform mat4 u_matrix;\n"
    "uniform mat3 u_rays;\n"
    "uniform vec3 u_eye;\n"
    "uniform sampler2D u_sky_shade;\n"
    "uniform vec4 u_patch;\n" // corner x, z; side; height
    "uniform vec4 u_grid;\n"  // spacing; offset x, z of a line; distance from the eye that is looked at
    "uniform float u_spread;\n"
    "out vec4 o_color;\n"
    "\n"
    "float grid_line(vec2 p, float spacing)\n"
    "{\n"
    "    vec2 g = p / spacing;\n"
    "    vec2 width = max(fwidth(g), 1e-6);\n"
    "    vec2 d = abs(fract(g - 0.5) - 0.5) / width;\n"
    "    vec2 fade = clamp(0.35 / width, 0.0, 1.0);\n" // lines closer than a few pixels melt away
    "    vec2 line = clamp(1.2 - d, 0.0, 1.0) * fade;\n"
    "    return max(line.x, line.y);\n"
    "}\n"
    "\n"
    "void main()\n"
    "{\n"
    "    vec3 ray = u_rays * vec3(2.0 * v_uv - 1.0, 1.0);\n"
    "    float depth = (u_eye.y - u_patch.w) / max(-ray.y, 1e-5);\n" // along the line of sight
    "    vec3 p = u_eye + depth * ray;\n"
    "    p.y = u_patch.w;\n"
    "\n"
    // Beyond the patch the sky is all there.
    "    vec2 uv = (p.xz - u_patch.xy) / u_patch.z;\n"
    "    vec2 t = vec2(0.7 / 128.0, -0.7 / 128.0);\n"
    "    float sky = 0.25 * (texture(u_sky_shade, uv + t.xx).r + texture(u_sky_shade, uv + t.xy).r +\n"
    "                        texture(u_sky_shade, uv + t.yx).r + texture(u_sky_shade, uv + t.yy).r);\n"
    "    sky = mix(sky, 1.0, smoothstep(0.45, 0.98, 2.0 * length(uv - 0.5)));\n"
    "    float key = key_visibility(p, u_spread, noise());\n"
    "    float shade = 0.40 * key + 0.60 * sky;\n"
    "    vec3 tint = mix(vec3(0.80, 0.86, 1.0), vec3(1.0), smoothstep(0.3, 1.0, shade));\n" // shadows see the sky only
    "    float line = grid_line(p.xz + u_grid.yz, u_grid.x) * 0.10 +\n"
    "                 grid_line(p.xz + u_grid.yz, 0.1 * u_grid.x) * 0.035;\n"
    "    line *= 1.0 - smoothstep(0.9, 1.7, depth / u_grid.w);\n"
    "    if (ray.y >= -1e-5)\n" // above the horizon
    "    {\n"
    "        discard;\n"
    "    }\n"
    "    vec4 clip = u_matrix * vec4(p, 1.0);\n"
    "    gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 0.999999);\n" // less than what clearing leaves
    "    o_color = vec4(encode(background() * shade * tint * (1.0 - line)), 1.0);\n"
    "}\n";

// ---- cloth and obstacles

// Runs once a vertex, captured into a buffer: as part of drawing it would run once for each corner of each triangle.
const char shader_light_vertex[] =
    "layout(location = 0) in vec3 a_position;\n"
    "layout(location = 1) in vec3 a_normal;\n"
    "uniform sampler2DArrayShadow u_sky_map;\n"
    "uniform mat4 u_sky[SKY_LIGHTS];\n"
    "uniform vec4 u_sky_direction[SKY_LIGHTS];\n"
    "uniform int u_sky_count;\n"
    "uniform float u_sky_bias, u_key_bias;\n" // m
    "uniform vec3 u_to_light;\n"
    "uniform bool u_key_here;\n"
    "out vec3 v_light;\n" // of the sky on the front and on the back, of the key
    "void main()\n"
    "{\n"
    "    vec2 sky = vec2(0.0);\n"
    "    for (int i = 0; i < u_sky_count; i++)\n"
    "    {\n"
    "        vec3 d = u_sky_direction[i].xyz;\n"
    "        float c = dot(a_normal, d);\n"
    "        vec3 p = a_position + u_sky_bias * (sign(c) * a_normal + 0.6 * d);\n"
    "        vec3 q = (u_sky[i] * vec4(p, 1.0)).xyz;\n"
    "        float light = u_sky_direction[i].w * (0.55 + 0.45 * d.y);\n"
    "        sky += light * texture(u_sky_map, vec4(q.xy, float(i), q.z)) * max(vec2(0.0), vec2(c, -c));\n"
    "    }\n"
    "    v_light = vec3(2.0 * sky, 1.0);\n"
    "    if (u_key_here)\n"
    "    {\n"
    "        vec3 side = sign(dot(a_normal, u_to_light)) * a_normal;\n"
    "        v_light.z = key_visibility(a_position + u_key_bias * (side + u_to_light), 0.0015, 0.0);\n"
    "    }\n"
    "    gl_Position = vec4(0.0);\n"
    "}\n";

const char shader_surface_vertex[] = "layout(location = 0) in vec3 a_position;\n"
                                     "layout(location = 1) in vec3 a_normal;\n"
                                     "layout(location = 2) in float a_scalar;\n"
                                     "layout(location = 3) in vec3 a_light;\n"
                                     "layout(location = 4) in uvec3 a_colors;\n"
                                     "uniform mat4 u_matrix;\n"
                                     "uniform int u_first_corner;\n"
                                     "out vec3 v_position;\n"
                                     "out vec3 v_normal;\n"
                                     "out float v_scalar;\n"
                                     "out vec3 v_light;\n"
                                     "out vec3 v_share;\n" // of each corner; 1 at the corner itself
                                     "flat out uvec3 v_colors;\n"
                                     "void main()\n"
                                     "{\n"
                                     "    int corner = (gl_VertexID - u_first_corner) % 3;\n"
                                     "    v_share = vec3(equal(ivec3(corner), ivec3(0, 1, 2)));\n"
                                     "    v_colors = a_colors;\n"
                                     "    v_position = a_position;\n"
                                     "    v_normal = a_normal;\n"
                                     "    v_scalar = a_scalar;\n"
                                     "    v_light = a_light;\n"
                                     "    gl_Position = u_matrix * vec4(a_position, 1.0);\n"
                                     "}\n";

const char shader_surface_fragment[] =
    "in vec3 v_position;\n"
    "in vec3 v_normal;\n"
    "in float v_scalar;\n"
    "in vec3 v_light;\n"
    "in vec3 v_share;\n"
    "flat in uvec3 v_colors;\n"
    "uniform vec3 u_eye, u_to_light;\n"
    "uniform vec3 u_front, u_back;\n"
    "uniform sampler2D u_color_map;\n"
    "uniform bool u_show_scalar, u_show_colors, u_cloth, u_key_here;\n"
    "uniform float u_key_bias;\n" // m
    "out vec4 o_color;\n"
    "\n"
    "vec3 shoulder(vec3 c)\n" // highlights bend over instead of clipping
    "{\n"
    "    vec3 over = max(c - 0.75, 0.0);\n"
    "    return min(c, 0.75) + 0.25 * (1.0 - exp(-over / 0.25));\n"
    "}\n"
    "\n"
    "vec3 unpack(uint c)\n"
    "{\n"
    "    return pow(vec3(uvec3(c, c >> 8, c >> 16) & 255u) / 255.0, vec3(2.2));\n"
    "}\n"
    "\n"
    // The nearest corner's colour; across a border the colours pass over within a pixel.
    "vec3 corner_color()\n"
    "{\n"
    "    vec3 lead = v_share - max(v_share.yzx, v_share.zxy);\n"
    "    vec3 w = clamp(0.5 + lead / max(fwidth(lead), 1e-6), 0.0, 1.0);\n"
    "    vec3 sum = w.x * unpack(v_colors.x) + w.y * unpack(v_colors.y) + w.z * unpack(v_colors.z);\n"
    "    return sum / max(w.x + w.y + w.z, 1e-6);\n"
    "}\n"
    "\n"
    "void main()\n"
    "{\n"
    "    bool front = gl_FrontFacing;\n"
    "    vec3 normal = normalize(v_normal + vec3(0.0, 1e-9, 0.0));\n"
    "    vec3 n = front ? normal : -normal;\n"
    "    vec3 view = normalize(u_eye - v_position);\n"
    "    vec3 albedo = front ? u_front : u_back;\n"
    "    if (u_show_scalar)\n"
    "    {\n"
    "        albedo = texture(u_color_map, vec2(v_scalar * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;\n"
    "        albedo = pow(albedo, vec3(2.2));\n"
    "    }\n"
    "    if (u_show_colors)\n"
    "    {\n"
    "        albedo = corner_color();\n"
    "    }\n"
    "\n"
    // Towards the side that the light reaches, so that a sheet does not shade itself.
    "    float c = dot(n, u_to_light);\n"
    "    float visible = v_light.z;\n"
    "    if (u_key_here)\n"
    "    {\n"
    "        visible = key_visibility(v_position + u_key_bias * (sign(c) * n + u_to_light), 0.0015, noise());\n"
    "    }\n"
    "    float sky = front ? v_light.x : v_light.y;\n"
    "    float wrap = u_cloth ? 0.30 : 0.12;\n"
    "    float direct = max(0.0, c) * visible;\n"
    // What reaches beyond the terminator has no shadow map to go by, only the sky's occlusion.
    "    float soft = max(0.0, (c + wrap) / (1.0 + wrap)) - max(0.0, c);\n"
    "    direct += soft * min(1.0, 1.6 * sky);\n"
    "    float through = u_cloth ? 0.16 * max(0.0, -c) * visible : 0.0;\n"
    "\n"
    "    vec3 key_color = vec3(1.0, 0.95, 0.89) * 0.92;\n"
    "    vec3 sky_color = vec3(0.90, 0.95, 1.0) * 0.58;\n"
    "    vec3 ground_color = vec3(1.0, 0.97, 0.93) * 0.20;\n"
    "    vec3 light = key_color * direct + sky_color * sky;\n"
    "    light += ground_color * (0.5 - 0.5 * n.y);\n"
    "    vec3 color = albedo * light + albedo * sqrt(albedo) * key_color * through;\n"
    "\n"
    "    float grazing = 1.0 - clamp(abs(dot(n, view)), 0.0, 1.0);\n"
    "    float sheen = (u_cloth && !u_show_scalar && !u_show_colors ? 0.30 : 0.0) * grazing * grazing * grazing;\n"
    "    color += sheen * (0.5 * sqrt(albedo) + 0.2) * light;\n"
    "    o_color = vec4(encode(shoulder(color)), 1.0);\n"
    "}\n";

// ---- polygon edges over the surface

const char shader_edge_vertex[] = "layout(location = 0) in vec3 a_position;\n"
                                  "uniform mat4 u_matrix;\n"
                                  "uniform float u_lift;\n" // towards the eye, relative
                                  "void main()\n"
                                  "{\n"
                                  "    gl_Position = u_matrix * vec4(a_position, 1.0);\n"
                                  "    gl_Position.z -= u_lift * gl_Position.w;\n"
                                  "}\n";

const char shader_edge_fragment[] = "uniform vec4 u_color;\n"
                                    "out vec4 o_color;\n"
                                    "void main() { o_color = u_color; }\n";

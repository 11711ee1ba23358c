// The renderer. The only file that knows OpenGL (ES 3). A picture is made of these passes:
//   shadow maps of the key light's disc and of the sky's directions; the light at each vertex; the sky's visibility on
//   the ground; background, ground, surfaces, edges into a multisampled target; resolve, read back, average, legend.
#include <GLES3/gl3.h>
#include <string.h>

#include "render/picture.h"

enum
{
    SHADE_SIZE = 128,        // sky's visibility on the ground; also in the ground's shader
    FINE_TRIANGLES = 150000, // of a mesh, in a picture of usual size
    SAMPLES = 4,
    PIXELS_MAX = 4 << 20 // more than that are not supersampled
};

// Texture units.
enum
{
    UNIT_KEY_MAP,
    UNIT_SKY_MAP,
    UNIT_SHADE,
    UNIT_COLOR_MAP
};

typedef enum pass
{
    PASS_DEPTH,
    PASS_BACKGROUND,
    PASS_SKY,
    PASS_GROUND,
    PASS_LIGHT,
    PASS_SURFACE,
    PASS_EDGE,
    PASS_COUNT
} pass;

struct weft_renderer
{
    int width, height, supersample;
    context gl;
    GLuint program[PASS_COUNT];
    GLuint key_map, sky_map, shade, color_map;                         // textures
    GLuint shadow_target, shade_target, sample_target, picture_target; // framebuffers
    GLuint color_samples, depth_samples, picture;                      // renderbuffers
    GLuint empty_array;
    uint8_t* pixels; // [4 * width * height * supersample^2] as read back
};

// One mesh on the device.
typedef struct drawable
{
    const weft_render_mesh* mesh;
    GLuint array, vertex_buffer, light_buffer, color_buffer, triangle_buffer, edge_buffer;
    int vertex_count, first_corner, triangle_count, edge_count;
    double edge_length;
    bool is_fine; // triangles are about as small as pixels: the key light's shadow is taken a vertex too
} drawable;

// What the passes of one picture share.
typedef struct frame
{
    const weft_view* view;
    shot shot;
    drawable* drawables; // [drawable_count]
    int drawable_count;
} frame;

// ---- programs

static GLuint shader_compile(GLenum kind, const char* text, weft_error* error)
{
    const char* parts[4] = {shader_head, shader_key, kind == GL_FRAGMENT_SHADER ? shader_fragment : "", text};
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 4, parts, NULL);
    glCompileShader(shader);
    GLint done = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (!done)
    {
        char log[512] = "";
        glGetShaderInfoLog(shader, sizeof(log), NULL, log);
        error_set(error, WEFT_UNSUPPORTED, NULL, 0, "the graphics driver refuses a shader: %s", log);
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

// captured: the vertex output that is kept in a buffer, or NULL.
static GLuint program_link(const char* vertex_text, const char* fragment_text, const char* captured, weft_error* error)
{
    GLuint vertex = shader_compile(GL_VERTEX_SHADER, vertex_text, error);
    GLuint fragment = vertex ? shader_compile(GL_FRAGMENT_SHADER, fragment_text, error) : 0;
    GLuint program = 0;
    if (fragment)
    {
        program = glCreateProgram();
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        if (captured)
        {
            glTransformFeedbackVaryings(program, 1, &captured, GL_INTERLEAVED_ATTRIBS);
        }
        glLinkProgram(program);
        GLint done = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &done);
        if (!done)
        {
            error_set(error, WEFT_UNSUPPORTED, NULL, 0, "the graphics driver cannot link a shader program");
            glDeleteProgram(program);
            program = 0;
        }
    }
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}

static weft_status renderer_make_programs(weft_renderer* r, weft_error* error)
{
    const char* const texts[PASS_COUNT][2] = {
        [PASS_DEPTH] = {shader_depth_vertex, shader_depth_fragment},
        [PASS_BACKGROUND] = {shader_screen_vertex, shader_background_fragment},
        [PASS_SKY] = {shader_screen_vertex, shader_sky_fragment},
        [PASS_GROUND] = {shader_screen_vertex, shader_ground_fragment},
        [PASS_LIGHT] = {shader_light_vertex, shader_depth_fragment},
        [PASS_SURFACE] = {shader_surface_vertex, shader_surface_fragment},
        [PASS_EDGE] = {shader_edge_vertex, shader_edge_fragment},
    };
    for (int k = 0; k < PASS_COUNT; k++)
    {
        r->program[k] = program_link(texts[k][0], texts[k][1], k == PASS_LIGHT ? "v_light" : NULL, error);
        if (!r->program[k])
        {
            return WEFT_UNSUPPORTED;
        }
    }
    return WEFT_OK;
}

// ---- textures and targets

static void texture_filter(GLenum target)
{
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

static GLuint shadow_array_create(int size, int layers)
{
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_DEPTH_COMPONENT24, size, size, layers);
    texture_filter(GL_TEXTURE_2D_ARRAY);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    return texture;
}

static void renderer_make_textures(weft_renderer* r)
{
    r->key_map = shadow_array_create(KEY_MAP_SIZE, KEY_LIGHTS);
    r->sky_map = shadow_array_create(SKY_MAP_SIZE, SKY_LIGHTS);

    glGenTextures(1, &r->shade);
    glBindTexture(GL_TEXTURE_2D, r->shade);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SHADE_SIZE, SHADE_SIZE);
    texture_filter(GL_TEXTURE_2D);

    uint8_t colors[4 * 256];
    for (int k = 0; k < 256; k++)
    {
        weft_color c = weft_color_map(k / 255.0);
        const float channels[4] = {c.r, c.g, c.b, 1.0f};
        for (int i = 0; i < 4; i++)
        {
            colors[4 * k + i] = (uint8_t)(255.0f * channels[i] + 0.5f);
        }
    }
    glGenTextures(1, &r->color_map);
    glBindTexture(GL_TEXTURE_2D, r->color_map);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 256, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, colors);
    texture_filter(GL_TEXTURE_2D);
}

static GLuint renderbuffer_create(int samples, GLenum format, int width, int height)
{
    GLuint buffer = 0;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
    return buffer;
}

static bool target_is_complete(void)
{
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static bool renderer_make_targets(weft_renderer* r)
{
    int width = r->width * r->supersample, height = r->height * r->supersample;
    glGenFramebuffers(1, &r->shadow_target);
    glGenFramebuffers(1, &r->shade_target);
    glBindFramebuffer(GL_FRAMEBUFFER, r->shade_target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, r->shade, 0);
    bool complete = target_is_complete();

    r->color_samples = renderbuffer_create(SAMPLES, GL_RGBA8, width, height);
    r->depth_samples = renderbuffer_create(SAMPLES, GL_DEPTH_COMPONENT24, width, height);
    glGenFramebuffers(1, &r->sample_target);
    glBindFramebuffer(GL_FRAMEBUFFER, r->sample_target);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, r->color_samples);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, r->depth_samples);
    complete = complete && target_is_complete();

    r->picture = renderbuffer_create(0, GL_RGBA8, width, height);
    glGenFramebuffers(1, &r->picture_target);
    glBindFramebuffer(GL_FRAMEBUFFER, r->picture_target);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, r->picture);
    return complete && target_is_complete() && glGetError() == GL_NO_ERROR;
}

// ---- creation

static weft_status renderer_check_size(weft_renderer* r, weft_error* error)
{
    GLint side = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &side);
    if (r->width > side || r->height > side)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "a picture of %d x %d pixels is too large: at most %d a side",
                         r->width, r->height, (int)side);
    }
    bool large = (int64_t)r->width * r->height > PIXELS_MAX || r->width > side / 2 || r->height > side / 2;
    r->supersample = large ? 1 : r->supersample;
    return WEFT_OK;
}

static weft_status renderer_prepare(weft_renderer* r, weft_error* error)
{
    TRY(renderer_check_size(r, error));
    size_t samples = (size_t)r->width * (size_t)r->height * (size_t)(r->supersample * r->supersample);
    r->pixels = mem_alloc(samples, 4);
    if (!r->pixels)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for a picture of %d x %d", r->width, r->height);
    }
    TRY(renderer_make_programs(r, error));
    renderer_make_textures(r);
    glGenVertexArrays(1, &r->empty_array);
    if (!renderer_make_targets(r))
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "the graphics driver has no memory for a picture of %d x %d",
                         r->width, r->height);
    }
    return WEFT_OK;
}

weft_status weft_renderer_create(int width, int height, int supersample, weft_renderer** out, weft_error* error)
{
    WEFT_ASSERT(out && width >= 1 && height >= 1 && width <= 16384 && height <= 16384);
    WEFT_ASSERT(supersample == 1 || supersample == 2);
    weft_renderer* r = MEM_NEW(1, weft_renderer);
    if (!r)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for a renderer");
    }
    r->width = width;
    r->height = height;
    r->supersample = supersample;
    borrowed before;
    if (!context_create(&r->gl) || !context_enter(&r->gl, &before))
    {
        weft_renderer_destroy(r);
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "no OpenGL ES 3 driver was found to draw with; install the Debian packages libegl1, libgles2 "
                         "and libgl1-mesa-dri");
    }
    weft_status status = renderer_prepare(r, error);
    context_leave(&before);
    if (status != WEFT_OK)
    {
        weft_renderer_destroy(r);
        return status;
    }
    *out = r;
    return WEFT_OK;
}

void weft_renderer_destroy(weft_renderer* renderer)
{
    if (!renderer)
    {
        return;
    }
    // A context takes everything that was made in it along.
    context_destroy(&renderer->gl);
    mem_free(renderer->pixels);
    mem_free(renderer);
}

// ---- uniforms

static GLint uniform(GLuint program, const char* name)
{
    return glGetUniformLocation(program, name); // -1, which OpenGL ignores, where a shader does not use it
}

static float linear_of(float c)
{
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

static void uniform_color(GLuint program, const char* name, weft_color c)
{
    glUniform3f(uniform(program, name), linear_of(c.r), linear_of(c.g), linear_of(c.b));
}

static void uniform_matrix(GLuint program, const char* name, const mat4* matrices, int count)
{
    glUniformMatrix4fv(uniform(program, name), count, GL_FALSE, matrices[0].m);
}

static void uniform_vec3(GLuint program, const char* name, vec3 v)
{
    glUniform3f(uniform(program, name), (float)v.x, (float)v.y, (float)v.z);
}

// Makes a program current and gives it whatever of the frame it knows.
static GLuint program_use(const weft_renderer* r, pass which, const frame* f)
{
    GLuint p = r->program[which];
    glUseProgram(p);
    glUniform2f(uniform(p, "u_size"), (float)(r->width * r->supersample), (float)(r->height * r->supersample));
    uniform_color(p, "u_top", f->view->background_top);
    uniform_color(p, "u_bottom", f->view->background_bottom);
    uniform_matrix(p, "u_matrix", &f->shot.camera, 1);
    uniform_matrix(p, "u_key", f->shot.key, KEY_LIGHTS);
    uniform_matrix(p, "u_sky", f->shot.sky, SKY_LIGHTS);
    glUniform4fv(uniform(p, "u_sky_direction"), SKY_LIGHTS, f->shot.sky_direction);
    glUniform2fv(uniform(p, "u_disc"), KEY_LIGHTS, f->shot.disc);
    glUniform1i(uniform(p, "u_key_count"), f->shot.key_count);
    glUniform1i(uniform(p, "u_sky_count"), f->shot.sky_count);
    glUniform1i(uniform(p, "u_key_map"), UNIT_KEY_MAP);
    glUniform1i(uniform(p, "u_sky_map"), UNIT_SKY_MAP);
    glUniform1i(uniform(p, "u_sky_shade"), UNIT_SHADE);
    glUniform1i(uniform(p, "u_color_map"), UNIT_COLOR_MAP);
    uniform_vec3(p, "u_to_light", f->shot.light);
    glUniform1f(uniform(p, "u_key_bias"), (float)(3.0 * f->shot.radius / KEY_MAP_SIZE));
    glUniform1f(uniform(p, "u_sky_bias"), (float)(4.0 * f->shot.radius / SKY_MAP_SIZE));
    glUniform4fv(uniform(p, "u_patch"), 1, f->shot.patch);
    glUniform1f(uniform(p, "u_spread"), f->shot.spread);
    glUniform4fv(uniform(p, "u_grid"), 1, f->shot.grid);
    glUniformMatrix3fv(uniform(p, "u_rays"), 1, GL_FALSE, f->shot.rays);
    uniform_vec3(p, "u_eye", f->shot.eye);
    return p;
}

// ---- meshes on the device

static GLuint buffer_create(GLenum target, const void* data, size_t size)
{
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, (GLsizeiptr)size, data, GL_STREAM_DRAW);
    return buffer;
}

static void attribute(GLuint index, int size, size_t stride, size_t offset)
{
    glEnableVertexAttribArray(index);
    glVertexAttribPointer(index, size, GL_FLOAT, GL_FALSE, (GLsizei)stride, (const void*)offset);
}

// Only corners have colours; the vertices before them, which edges use, are given room and never read.
static void drawable_upload_colors(drawable* d, const surface* s)
{
    if (!s->corner_colors)
    {
        return;
    }
    const size_t size = 3 * sizeof(uint32_t);
    d->color_buffer = buffer_create(GL_ARRAY_BUFFER, NULL, size * (size_t)d->vertex_count);
    glBufferSubData(GL_ARRAY_BUFFER, (GLintptr)(size * (size_t)s->vertex_count),
                    (GLsizeiptr)(size * (size_t)s->corner_count), s->corner_colors);
    glEnableVertexAttribArray(4);
    glVertexAttribIPointer(4, 3, GL_UNSIGNED_INT, (GLsizei)size, NULL);
}

static void drawable_upload(drawable* d, const surface* s)
{
    const size_t stride = sizeof(surface_vertex);
    glGenVertexArrays(1, &d->array);
    glBindVertexArray(d->array);
    d->vertex_buffer = buffer_create(GL_ARRAY_BUFFER, s->vertices, stride * (size_t)d->vertex_count);
    attribute(0, 3, stride, offsetof(surface_vertex, position));
    attribute(1, 3, stride, offsetof(surface_vertex, normal));
    attribute(2, 1, stride, offsetof(surface_vertex, scalar));
    d->light_buffer = buffer_create(GL_ARRAY_BUFFER, NULL, 3 * sizeof(float) * (size_t)d->vertex_count);
    attribute(3, 3, 3 * sizeof(float), 0);
    drawable_upload_colors(d, s);
    size_t edge_size = 2 * sizeof(uint32_t) * (size_t)s->edge_count;
    d->edge_buffer = buffer_create(GL_ELEMENT_ARRAY_BUFFER, s->edges, edge_size);
    size_t triangle_size = 3 * sizeof(uint32_t) * (size_t)s->triangle_count;
    d->triangle_buffer = buffer_create(GL_ELEMENT_ARRAY_BUFFER, s->triangles, triangle_size);
    glBindVertexArray(0);
}

static weft_status drawable_create(const weft_render_mesh* mesh, const frame* f, drawable* out)
{
    surface s;
    weft_status status = surface_build(mesh, f->shot.origin, f->view->scalar_min, f->view->scalar_max, &s);
    if (status == WEFT_OK)
    {
        *out = (drawable){
            .mesh = mesh,
            .vertex_count = s.vertex_count + s.corner_count,
            .first_corner = s.vertex_count,
            .triangle_count = s.triangle_count,
            .edge_count = s.edge_count,
            .edge_length = s.edge_length,
            .is_fine = s.triangle_count > FINE_TRIANGLES,
        };
        drawable_upload(out, &s);
    }
    surface_finish(&s);
    return status;
}

static void drawable_destroy(drawable* d)
{
    glDeleteVertexArrays(1, &d->array);
    glDeleteBuffers(1, &d->vertex_buffer);
    glDeleteBuffers(1, &d->light_buffer);
    glDeleteBuffers(1, &d->color_buffer); // 0 is ignored
    glDeleteBuffers(1, &d->triangle_buffer);
    glDeleteBuffers(1, &d->edge_buffer);
}

static void draw_triangles(const frame* f)
{
    for (int k = 0; k < f->drawable_count; k++)
    {
        const drawable* d = &f->drawables[k];
        glBindVertexArray(d->array);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, d->triangle_buffer);
        glDrawElements(GL_TRIANGLES, 3 * d->triangle_count, GL_UNSIGNED_INT, NULL);
    }
}

// ---- passes

static void shadow_layer(const weft_renderer* r, const frame* f, GLuint map, int layer, const mat4* unit)
{
    // From the unit cube, which lookups use, to clip space.
    static const mat4 to_clip = {{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, -1, -1, -1, 1}};
    mat4 matrix = mat4_mul(&to_clip, unit);
    glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, map, 0, layer);
    glClear(GL_DEPTH_BUFFER_BIT);
    uniform_matrix(r->program[PASS_DEPTH], "u_matrix", &matrix, 1);
    draw_triangles(f);
}

static void draw_shadows(const weft_renderer* r, const frame* f)
{
    glBindFramebuffer(GL_FRAMEBUFFER, r->shadow_target);
    glUseProgram(r->program[PASS_DEPTH]);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(1.5f, 2.0f);
    glViewport(0, 0, KEY_MAP_SIZE, KEY_MAP_SIZE);
    for (int k = 0; k < f->shot.key_count; k++)
    {
        shadow_layer(r, f, r->key_map, k, &f->shot.key[k]);
    }
    glViewport(0, 0, SKY_MAP_SIZE, SKY_MAP_SIZE);
    for (int k = 0; k < f->shot.sky_count; k++)
    {
        shadow_layer(r, f, r->sky_map, k, &f->shot.sky[k]);
    }
    glDisable(GL_POLYGON_OFFSET_FILL);
}

static void bind_textures(const weft_renderer* r)
{
    glActiveTexture(GL_TEXTURE0 + UNIT_KEY_MAP);
    glBindTexture(GL_TEXTURE_2D_ARRAY, r->key_map);
    glActiveTexture(GL_TEXTURE0 + UNIT_SKY_MAP);
    glBindTexture(GL_TEXTURE_2D_ARRAY, r->sky_map);
    glActiveTexture(GL_TEXTURE0 + UNIT_COLOR_MAP);
    glBindTexture(GL_TEXTURE_2D, r->color_map);
}

static void draw_sky_shade(const weft_renderer* r, const frame* f)
{
    glBindFramebuffer(GL_FRAMEBUFFER, r->shade_target);
    glViewport(0, 0, SHADE_SIZE, SHADE_SIZE);
    glDisable(GL_DEPTH_TEST);
    glBindVertexArray(r->empty_array);
    program_use(r, PASS_SKY, f);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glActiveTexture(GL_TEXTURE0 + UNIT_SHADE);
    glBindTexture(GL_TEXTURE_2D, r->shade);
}

static void draw_background(const weft_renderer* r, const frame* f)
{
    glDisable(GL_DEPTH_TEST);
    glBindVertexArray(r->empty_array);
    program_use(r, PASS_BACKGROUND, f);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void draw_ground(const weft_renderer* r, const frame* f)
{
    glEnable(GL_DEPTH_TEST);
    glBindVertexArray(r->empty_array);
    program_use(r, PASS_GROUND, f);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

// The light at each vertex, into the buffer that drawing reads.
static void capture_light(const weft_renderer* r, const frame* f)
{
    GLuint p = program_use(r, PASS_LIGHT, f);
    glEnable(GL_RASTERIZER_DISCARD);
    for (int k = 0; k < f->drawable_count; k++)
    {
        const drawable* d = &f->drawables[k];
        glUniform1i(uniform(p, "u_key_here"), d->is_fine);
        glBindVertexArray(d->array);
        glDisableVertexAttribArray(3); // written now, so not read
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, d->light_buffer);
        glBeginTransformFeedback(GL_POINTS);
        glDrawArrays(GL_POINTS, 0, d->vertex_count);
        glEndTransformFeedback();
        glEnableVertexAttribArray(3);
    }
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
    glDisable(GL_RASTERIZER_DISCARD);
}

static void draw_surfaces(const weft_renderer* r, const frame* f)
{
    GLuint p = program_use(r, PASS_SURFACE, f);
    glEnable(GL_DEPTH_TEST);
    for (int k = 0; k < f->drawable_count; k++)
    {
        const drawable* d = &f->drawables[k];
        bool cloth = d->mesh->role == WEFT_MESH_CLOTH;
        uniform_color(p, "u_front", d->mesh->front);
        uniform_color(p, "u_back", cloth ? d->mesh->back : d->mesh->front);
        glUniform1i(uniform(p, "u_show_scalar"), d->mesh->scalars != NULL);
        glUniform1i(uniform(p, "u_show_colors"), d->mesh->colors != NULL);
        glUniform1i(uniform(p, "u_first_corner"), d->first_corner);
        glUniform1i(uniform(p, "u_cloth"), cloth);
        glUniform1i(uniform(p, "u_key_here"), !d->is_fine);
        glBindVertexArray(d->array);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, d->triangle_buffer);
        glDrawElements(GL_TRIANGLES, 3 * d->triangle_count, GL_UNSIGNED_INT, NULL);
    }
}

// Edges that would lie closer than some pixels fade, so that a fine mesh does not turn black.
static double edge_opacity(const weft_renderer* r, const frame* f, const drawable* d)
{
    double distance = fmax(v3_length(f->shot.eye), 1e-9);
    double pixels = d->edge_length / distance / tan(0.5 * f->view->fov) * 0.5 * r->height;
    return 0.62 * fmin(1.0, fmax(0.25, (pixels - 0.5) / 5.0));
}

static void draw_edges(const weft_renderer* r, const frame* f)
{
    GLuint p = program_use(r, PASS_EDGE, f);
    glUniform1f(uniform(p, "u_lift"), (float)f->shot.edge_bias);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glLineWidth((float)r->supersample);
    for (int k = 0; k < f->drawable_count; k++)
    {
        const drawable* d = &f->drawables[k];
        float opacity = (float)edge_opacity(r, f, d);
        if (d->mesh->scalars || d->mesh->colors)
        {
            glUniform4f(uniform(p, "u_color"), 0.95f, 0.96f, 0.97f, 0.45f * opacity); // the colours shall stay legible
        }
        else
        {
            glUniform4f(uniform(p, "u_color"), 0.06f, 0.07f, 0.10f, opacity);
        }
        glBindVertexArray(d->array);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, d->edge_buffer);
        glDrawElements(GL_LINES, 2 * d->edge_count, GL_UNSIGNED_INT, NULL);
    }
    glDisable(GL_BLEND);
}

static void draw_passes(const weft_renderer* r, const frame* f)
{
    bool ground = f->view->ground && f->view->eye.y > f->view->ground_height;
    draw_shadows(r, f);
    bind_textures(r);
    capture_light(r, f);
    if (ground)
    {
        draw_sky_shade(r, f);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, r->sample_target);
    glViewport(0, 0, r->width * r->supersample, r->height * r->supersample);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    draw_background(r, f);
    if (ground)
    {
        draw_ground(r, f);
    }
    draw_surfaces(r, f);
    draw_edges(r, f);
}

// ---- from samples to pixels

// Averages the supersamples; the device's rows run upwards.
static void renderer_average(const weft_renderer* r, uint8_t* rgb)
{
    int s = r->supersample, area = s * s;
    size_t row_size = 4 * (size_t)r->width * (size_t)s;
    for (int y = 0; y < r->height; y++)
    {
        const uint8_t* rows = r->pixels + (size_t)(r->height - 1 - y) * (size_t)s * row_size;
        uint8_t* out = rgb + 3 * (size_t)y * (size_t)r->width;
        for (int x = 0; x < r->width; x++)
        {
            for (int channel = 0; channel < 3; channel++)
            {
                int sum = area / 2;
                for (int k = 0; k < area; k++)
                {
                    const uint8_t* sample = rows + (size_t)(k / s) * row_size + 4 * (size_t)(x * s + k % s);
                    sum += sample[channel];
                }
                out[3 * x + channel] = (uint8_t)(sum / area);
            }
        }
    }
}

static weft_status renderer_read(const weft_renderer* r, uint8_t* rgb, weft_error* error)
{
    int width = r->width * r->supersample, height = r->height * r->supersample;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, r->sample_target);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, r->picture_target);
    glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, r->picture_target);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, r->pixels);
    GLenum code = glGetError();
    if (code != GL_NO_ERROR)
    {
        return error_set(error, code == GL_OUT_OF_MEMORY ? WEFT_NO_MEMORY : WEFT_UNSUPPORTED, NULL, 0,
                         "the graphics driver failed to draw (OpenGL error 0x%x)", (unsigned)code);
    }
    renderer_average(r, rgb);
    return WEFT_OK;
}

static weft_status renderer_draw_frame(weft_renderer* r, frame* f, const weft_render_mesh* meshes, int mesh_count,
                                       uint8_t* rgb, weft_error* error)
{
    for (int k = 0; k < mesh_count; k++)
    {
        if (drawable_create(&meshes[k], f, &f->drawables[k]) != WEFT_OK)
        {
            return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to draw a mesh of %d vertices",
                             meshes[k].vertex_count);
        }
        f->drawable_count++;
    }
    draw_passes(r, f);
    TRY(renderer_read(r, rgb, error));
    if (f->view->legend)
    {
        legend_draw(f->view, rgb, r->width, r->height);
    }
    return WEFT_OK;
}

weft_status weft_renderer_draw(weft_renderer* renderer, const weft_view* view, const weft_render_mesh* meshes,
                               int mesh_count, uint8_t* rgb, weft_error* error)
{
    WEFT_ASSERT(renderer && view && rgb && mesh_count >= 0 && (meshes || mesh_count == 0));
    WEFT_ASSERT(view->fov > 0.0 && view->fov < PI);
    frame f = {.view = view, .drawables = MEM_NEW(mesh_count, drawable)};
    if (!f.drawables)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to draw %d meshes", mesh_count);
    }
    shot_set(view, meshes, mesh_count, (double)renderer->width / renderer->height, &f.shot);

    borrowed before;
    weft_status status;
    if (context_enter(&renderer->gl, &before))
    {
        status = renderer_draw_frame(renderer, &f, meshes, mesh_count, rgb, error);
        for (int k = 0; k < f.drawable_count; k++)
        {
            drawable_destroy(&f.drawables[k]);
        }
        context_leave(&before);
    }
    else
    {
        status = error_set(error, WEFT_UNSUPPORTED, NULL, 0, "the graphics driver does not give its context back");
    }
    mem_free(f.drawables);
    return status;
}

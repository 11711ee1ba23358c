// Draws a picture of a stage: shadow map, sky, ground, bodies, the hand, text.
#include <stdlib.h>
#include <string.h>

#include "gl.h"
#include "playground.h"

enum
{
    SHADOW_SIZE = 1536,
    HUD_EVERY = 6, // frames between two texts
    HAND_RINGS = 8,
    HAND_SECTORS = 12
};

typedef struct mesh
{
    GLuint array, points, indices;
    int index_count;
} mesh;

typedef struct light
{
    float matrix[16];
    weft_vec3 sun;
    double radius; // m, of what it looks at
} light;

struct painter
{
    GLuint depth, surface, ground, sky, text_program;
    GLuint shadow, shadow_frame, text, nothing;
    mesh hand;
    mesh* meshes; // [mesh_count] of the shapes
    skin* skins;
    int mesh_count, generation;
    hud hud;
    int frames;
    bool is_software;
};

// ---- meshes

static mesh mesh_create(void)
{
    mesh m = {0};
    gl.GenVertexArrays(1, &m.array);
    gl.GenBuffers(1, &m.points);
    gl.GenBuffers(1, &m.indices);
    gl.BindVertexArray(m.array);
    gl.BindBuffer(GL_ARRAY_BUFFER, m.points);
    for (GLuint k = 0; k < 3; k++)
    {
        gl.EnableVertexAttribArray(k);
        gl.VertexAttribPointer(k, 3, GL_FLOAT, GL_FALSE, 9 * sizeof(float), (const void*)(uintptr_t)(12 * k));
    }
    gl.BindBuffer(GL_ELEMENT_ARRAY_BUFFER, m.indices);
    return m;
}

static void mesh_destroy(mesh* m)
{
    gl.DeleteVertexArrays(1, &m->array);
    gl.DeleteBuffers(1, &m->points);
    gl.DeleteBuffers(1, &m->indices);
}

static void mesh_indices(mesh* m, const int* triangles, int count)
{
    m->index_count = 3 * count;
    gl.BindVertexArray(m->array);
    gl.BufferData(GL_ELEMENT_ARRAY_BUFFER, 3 * (GLsizeiptr)count * (GLsizeiptr)sizeof(int), triangles, GL_STATIC_DRAW);
}

static void mesh_points(mesh* m, const float* attributes, int count)
{
    gl.BindBuffer(GL_ARRAY_BUFFER, m->points);
    gl.BufferData(GL_ARRAY_BUFFER, 9 * (GLsizeiptr)count * (GLsizeiptr)sizeof(float), attributes, GL_STREAM_DRAW);
}

static void mesh_draw(const mesh* m)
{
    gl.BindVertexArray(m->array);
    gl.DrawElements(GL_TRIANGLES, m->index_count, GL_UNSIGNED_INT, NULL);
}

static void drop_meshes(painter* p)
{
    for (int k = 0; k < p->mesh_count; k++)
    {
        mesh_destroy(&p->meshes[k]);
        skin_finish(&p->skins[k]);
    }
    free(p->meshes);
    free(p->skins);
    p->mesh_count = 0;
}

static void take_meshes(painter* p, const picture* what)
{
    if (p->generation != what->generation)
    {
        drop_meshes(p);
        p->generation = what->generation;
        p->mesh_count = what->shape_count;
        p->meshes = grab_memory((size_t)what->shape_count, sizeof(mesh));
        p->skins = grab_memory((size_t)what->shape_count, sizeof(skin));
        for (int k = 0; k < p->mesh_count; k++)
        {
            skin_init(&p->skins[k], &what->shapes[k]);
            p->meshes[k] = mesh_create();
            mesh_indices(&p->meshes[k], p->skins[k].triangles, p->skins[k].triangle_count);
        }
    }
    for (int k = 0; k < p->mesh_count; k++)
    {
        skin_update(&p->skins[k], &what->shapes[k]);
        mesh_points(&p->meshes[k], p->skins[k].attributes, p->skins[k].vertex_count);
    }
}

// A small ball where the hand is.
static void put_hand(painter* p, weft_vec3 at, double radius)
{
    static float points[9 * (HAND_RINGS + 1) * HAND_SECTORS];
    static int triangles[6 * HAND_RINGS * HAND_SECTORS];
    int t = 0;
    for (int r = 0; r <= HAND_RINGS; r++)
    {
        for (int s = 0; s < HAND_SECTORS; s++)
        {
            double a = 3.14159265 * r / HAND_RINGS, b = 6.2831853 * s / HAND_SECTORS;
            const double n[3] = {sin(a) * cos(b), cos(a), sin(a) * sin(b)}, middle[3] = {at.x, at.y, at.z};
            for (int i = 0; i < 9; i++)
            {
                points[9 * (r * HAND_SECTORS + s) + i] = (float)(i < 3   ? middle[i] + radius * n[i]
                                                                 : i < 6 ? n[i - 3]
                                                                         : 0);
            }
            int q = r * HAND_SECTORS, next = (s + 1) % HAND_SECTORS;
            const int corners[6] = {
                q + s, q + next, q + HAND_SECTORS + s, q + next, q + HAND_SECTORS + next, q + HAND_SECTORS + s};
            for (int i = 0; i < 6 && r < HAND_RINGS; i++)
            {
                triangles[t++] = corners[i];
            }
        }
    }
    mesh_indices(&p->hand, triangles, t / 3);
    mesh_points(&p->hand, points, (HAND_RINGS + 1) * HAND_SECTORS);
}

// ---- light

// Parallel light that sees all bodies: x, y across it, z along it, each from -1 to 1.
static light light_of(const picture* what)
{
    weft_box box = weft_box_empty();
    for (int k = 0; k < what->shape_count; k++)
    {
        const shape* s = &what->shapes[k];
        weft_box_add(&box, s->x, shape_is_floor(s) ? 0 : s->vertex_count);
    }
    light l = {.sun = unit((weft_vec3){0.45, 0.95, 0.55}), .radius = 0.55 * fmax(length(sub(box.max, box.min)), 1e-6)};
    weft_vec3 middle = scaled(0.5, add(box.min, box.max)), right = unit(cross((weft_vec3){0, 1, 0}, l.sun));
    const weft_vec3 axes[3] = {right, cross(l.sun, right), scaled(-1.0, l.sun)};
    for (int i = 0; i < 3; i++)
    {
        double scale = (i < 2 ? 1.0 : 0.25) / l.radius; // shadows fall on the ground far behind
        l.matrix[i] = (float)(scale * axes[i].x);
        l.matrix[4 + i] = (float)(scale * axes[i].y);
        l.matrix[8 + i] = (float)(scale * axes[i].z);
        l.matrix[12 + i] = (float)(-scale * dot(axes[i], middle));
    }
    l.matrix[15] = 1.0f;
    return l;
}

static void draw_shadows(painter* p, const picture* what, const light* l)
{
    gl.BindFramebuffer(GL_FRAMEBUFFER, p->shadow_frame);
    gl.Viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    gl.Clear(GL_DEPTH_BUFFER_BIT);
    gl.UseProgram(p->depth);
    gl.UniformMatrix4fv(gl.GetUniformLocation(p->depth, "u_light"), 1, GL_FALSE, l->matrix);
    for (int k = 0; k < p->mesh_count; k++)
    {
        shape_is_floor(&what->shapes[k]) ? (void)0 : mesh_draw(&p->meshes[k]);
    }
    gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
}

// ---- surfaces

static void set_vec3(GLuint program, const char* name, weft_vec3 v)
{
    gl.Uniform3f(gl.GetUniformLocation(program, name), (float)v.x, (float)v.y, (float)v.z);
}

static void set_color(GLuint program, const char* name, weft_color c)
{
    gl.Uniform3f(gl.GetUniformLocation(program, name), c.r, c.g, c.b);
}

// Program, camera and light; shadows are texture 0.
static void begin(GLuint program, const camera* c, const light* l)
{
    float matrix[16];
    camera_matrix(c, matrix);
    gl.UseProgram(program);
    gl.UniformMatrix4fv(gl.GetUniformLocation(program, "u_matrix"), 1, GL_FALSE, matrix);
    gl.UniformMatrix4fv(gl.GetUniformLocation(program, "u_light"), 1, GL_FALSE, l->matrix);
    gl.Uniform1f(gl.GetUniformLocation(program, "u_texel"), 1.0f / SHADOW_SIZE);
    gl.Uniform1i(gl.GetUniformLocation(program, "u_shadow"), 0);
    set_vec3(program, "u_eye", camera_eye(c));
    set_vec3(program, "u_sun", l->sun);
}

static void set_cloth(GLuint program, const shape* s, const play_scene* scene, const light* l)
{
    weft_render_mesh look = weft_render_mesh_default();
    look.role = s->kind == SHAPE_OBSTACLE ? WEFT_MESH_OBSTACLE : WEFT_MESH_CLOTH;
    weft_render_mesh_palette(&look, s->cloth + (scene ? scene->color : 0));
    weft_color other = {0.93f, 0.90f, 0.84f};
    if (s->kind == SHAPE_STRANDS)
    {
        look.front = look.back = (weft_color){0.62f, 0.42f, 0.22f};
    }
    weft_box box = weft_box_empty();
    weft_box_add(&box, s->rest, s->vertex_count);
    double period = length(sub(box.max, box.min)) / (s->kind == SHAPE_SOLID ? 6.0 : 9.0);
    bool woven = s->kind == SHAPE_SHEET || s->kind == SHAPE_SOLID;
    set_color(program, "u_front", look.front);
    set_color(program, "u_back", look.back);
    set_color(program, "u_other", other);
    gl.Uniform4f(gl.GetUniformLocation(program, "u_weave"), woven && scene ? (float)scene->pattern : 0.0f,
                 (float)period, (float)(0.004 * l->radius), s->kind == SHAPE_SHEET ? 1.0f : 0.0f);
}

static void draw_bodies(painter* p, const camera* c, const picture* what, const play_scene* scene, const light* l)
{
    begin(p->surface, c, l);
    for (int k = 0; k < p->mesh_count; k++)
    {
        const shape* s = &what->shapes[k];
        if (!shape_is_floor(s))
        {
            set_cloth(p->surface, s, scene, l);
            mesh_draw(&p->meshes[k]);
        }
    }
}

// The hand, and pins that were left: balls that are seen through folds, so that one knows where one pulls.
static void draw_hands(painter* p, const camera* c, const picture* what, const light* l)
{
    gl.Uniform4f(gl.GetUniformLocation(p->surface, "u_weave"), 0.0f, 1.0f, (float)(0.01 * l->radius), 0.0f);
    gl.Disable(GL_DEPTH_TEST);
    gl.Enable(GL_CULL_FACE);
    for (int k = what->has_grip ? -1 : 0; k < what->pin_count; k++)
    {
        put_hand(p, k < 0 ? what->grip : what->pins[k], (k < 0 ? 0.007 : 0.005) * c->distance);
        set_color(p->surface, "u_front", k < 0 ? (weft_color){1.0f, 0.75f, 0.2f} : (weft_color){0.95f, 0.95f, 0.95f});
        mesh_draw(&p->hand);
    }
    gl.Disable(GL_CULL_FACE);
    gl.Enable(GL_DEPTH_TEST);
}

static void draw_ground(painter* p, const camera* c, const light* l)
{
    double side = 3.0 * fmax(c->distance, l->radius), cell = pow(10.0, floor(log10(l->radius) + 0.6));
    begin(p->ground, c, l);
    gl.Uniform4f(gl.GetUniformLocation(p->ground, "u_patch"), (float)c->target.x, (float)c->ground, (float)c->target.z,
                 (float)side);
    gl.Uniform1f(gl.GetUniformLocation(p->ground, "u_cell"), (float)cell);
    gl.Enable(GL_BLEND);
    gl.BlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    gl.BindVertexArray(p->nothing);
    gl.DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    gl.Disable(GL_BLEND);
}

static void draw_sky(const painter* p)
{
    gl.UseProgram(p->sky);
    gl.BindVertexArray(p->nothing);
    gl.DepthMask(GL_FALSE);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.DepthMask(GL_TRUE);
}

static void draw_text(painter* p, const camera* c, const picture* what, bool help)
{
    gl.BindTexture(GL_TEXTURE_2D, p->text);
    if (p->frames++ % HUD_EVERY == 0)
    {
        hud_draw(&p->hud, HUD_WIDTH, HUD_HEIGHT, what, help);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, p->hud.width, p->hud.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                      p->hud.rgba);
    }
    float right = -1.0f + 2.0f * (float)p->hud.width / (float)c->width;
    float bottom = 1.0f - 2.0f * (float)p->hud.height / (float)c->height;
    gl.UseProgram(p->text_program);
    gl.Uniform4f(gl.GetUniformLocation(p->text_program, "u_place"), -1.0f, 1.0f, right, bottom);
    gl.Uniform1i(gl.GetUniformLocation(p->text_program, "u_text"), 0);
    gl.BindVertexArray(p->nothing);
    gl.Disable(GL_DEPTH_TEST);
    gl.Enable(GL_BLEND);
    gl.BlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    gl.DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    gl.Disable(GL_BLEND);
    gl.Enable(GL_DEPTH_TEST);
}

void painter_draw(painter* p, const camera* c, const picture* what, const play_scene* scene, bool help)
{
    take_meshes(p, what);
    light l = light_of(what);
    gl.Enable(GL_DEPTH_TEST);
    draw_shadows(p, what, &l);
    gl.Viewport(0, 0, c->width, c->height);
    gl.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    draw_sky(p);
    gl.BindTexture(GL_TEXTURE_2D, p->shadow);
    draw_ground(p, c, &l);
    draw_bodies(p, c, what, scene, &l);
    draw_hands(p, c, what, &l);
    draw_text(p, c, what, help);
}

// ---- beginning and end

static GLuint make_texture(GLint filter)
{
    GLuint texture = 0;
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

static void make_shadow_map(painter* p)
{
    p->shadow = make_texture(GL_LINEAR);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE, 0, GL_DEPTH_COMPONENT,
                  GL_UNSIGNED_INT, NULL);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    gl.GenFramebuffers(1, &p->shadow_frame);
    gl.BindFramebuffer(GL_FRAMEBUFFER, p->shadow_frame);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, p->shadow, 0);
    gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
}

painter* painter_create(void)
{
    if (!gl_load())
    {
        fprintf(stderr, "playground: this OpenGL lacks functions of version 3\n");
        return NULL;
    }
    painter* p = grab_memory(1, sizeof(painter));
    p->depth = gl_program(shader_depth_vertex, shader_depth_fragment);
    p->surface = gl_program(shader_surface_vertex, shader_surface_fragment);
    p->ground = gl_program(shader_ground_vertex, shader_ground_fragment);
    p->sky = gl_program(shader_screen_vertex, shader_sky_fragment);
    p->text_program = gl_program(shader_hud_vertex, shader_hud_fragment);
    if (!p->depth || !p->surface || !p->ground || !p->sky || !p->text_program)
    {
        painter_destroy(p);
        return NULL;
    }
    const char* renderer = (const char*)gl.GetString(GL_RENDERER);
    p->is_software = renderer && (strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe"));
    gl.GenVertexArrays(1, &p->nothing);
    p->text = make_texture(GL_NEAREST);
    make_shadow_map(p);
    p->hand = mesh_create();
    return p;
}

void painter_destroy(painter* p)
{
    if (!p)
    {
        return;
    }
    const GLuint programs[] = {p->depth, p->surface, p->ground, p->sky, p->text_program};
    for (int k = 0; k < 5; k++)
    {
        gl.DeleteProgram(programs[k]);
    }
    drop_meshes(p);
    mesh_destroy(&p->hand);
    gl.DeleteTextures(1, &p->shadow);
    gl.DeleteTextures(1, &p->text);
    gl.DeleteFramebuffers(1, &p->shadow_frame);
    gl.DeleteVertexArrays(1, &p->nothing);
    hud_finish(&p->hud);
    free(p);
}

bool painter_is_software(const painter* p)
{
    return p->is_software;
}

void painter_read(int width, int height, uint8_t* rgb)
{
    uint8_t* rgba = grab_memory(4 * (size_t)width * (size_t)height, 1);
    gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl.ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
    for (int y = 0; y < height; y++)
    {
        for (int x = 0; x < width; x++)
        {
            memcpy(rgb + 3 * ((size_t)y * (size_t)width + (size_t)x),
                   rgba + 4 * ((size_t)(height - 1 - y) * (size_t)width + (size_t)x), 3);
        }
    }
    free(rgba);
}

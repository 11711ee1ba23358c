// Finds OpenGL's functions and makes programs, for OpenGL ES 3.0 and for OpenGL 3.3.
#include "gl.h"

#include <SDL.h>
#include <stdio.h>
#include <string.h>

gl_functions gl;

static const char* head; // first lines of a shader

bool gl_load(void)
{
    bool complete = true;
#define X(type, name) complete = (gl.name = (type)SDL_GL_GetProcAddress("gl" #name)) && complete;
    GL_FUNCTIONS(X)
#undef X
    const char* version = complete ? (const char*)gl.GetString(GL_VERSION) : NULL;
    bool es = version && strstr(version, "OpenGL ES");
    head = es ? "#version 300 es\nprecision highp float;\nprecision highp sampler2DShadow;\n" : "#version 330 core\n";
    return complete;
}

static GLuint make_shader(GLenum kind, const char* text)
{
    const char* texts[2] = {head, text};
    GLuint shader = gl.CreateShader(kind);
    GLint good = 0;
    char log[512] = "";
    gl.ShaderSource(shader, 2, texts, NULL);
    gl.CompileShader(shader);
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good)
    {
        gl.GetShaderInfoLog(shader, sizeof(log), NULL, log);
        fprintf(stderr, "playground: a shader does not compile: %s\n", log);
    }
    return shader;
}

GLuint gl_program(const char* vertex, const char* fragment)
{
    GLuint program = gl.CreateProgram(), parts[2];
    GLint good = 0;
    parts[0] = make_shader(GL_VERTEX_SHADER, vertex);
    parts[1] = make_shader(GL_FRAGMENT_SHADER, fragment);
    gl.AttachShader(program, parts[0]);
    gl.AttachShader(program, parts[1]);
    gl.BindAttribLocation(program, 0, "a_position");
    gl.BindAttribLocation(program, 1, "a_normal");
    gl.BindAttribLocation(program, 2, "a_rest");
    gl.LinkProgram(program);
    gl.GetProgramiv(program, GL_LINK_STATUS, &good);
    gl.DeleteShader(parts[0]);
    gl.DeleteShader(parts[1]);
    if (!good)
    {
        fprintf(stderr, "playground: a program of shaders does not link\n");
        gl.DeleteProgram(program);
        return 0;
    }
    return program;
}

// OpenGL ES 3 contexts without a surface, through EGL: the surfaceless platform of Mesa first (its software rasteriser
// needs neither display nor GPU), then any device, then the default display. The only file that knows EGL.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <string.h>

#include "render/picture.h"

static bool has_word(const char* list, const char* word)
{
    size_t length = strlen(word);
    for (const char* at = list ? strstr(list, word) : NULL; at; at = strstr(at + 1, word))
    {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
        {
            return true;
        }
    }
    return false;
}

// A context of OpenGL ES 3 on this display that can be current without a surface.
static bool context_create_on(EGLDisplay display, context* out)
{
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
    {
        return false;
    }
    const EGLint config_wish[] = {EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE};
    const EGLint context_wish[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_ES_API) || !eglChooseConfig(display, config_wish, &config, 1, &count) || count < 1)
    {
        return false;
    }
    EGLContext handle = eglCreateContext(display, config, EGL_NO_CONTEXT, context_wish);
    if (handle == EGL_NO_CONTEXT)
    {
        return false;
    }
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, handle))
    {
        eglDestroyContext(display, handle);
        return false;
    }
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    *out = (context){display, handle};
    return true;
}

// Each device that the drivers offer, first to last.
static bool context_create_on_devices(PFNEGLGETPLATFORMDISPLAYEXTPROC get_display, context* out)
{
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    if (!query || !query(16, devices, &count))
    {
        return false;
    }
    for (EGLint k = 0; k < count; k++)
    {
        if (context_create_on(get_display(EGL_PLATFORM_DEVICE_EXT, devices[k], NULL), out))
        {
            return true;
        }
    }
    return false;
}

// Displays are never terminated: EGL shares one among all users in the process, and the host may be one of them.
bool context_create(context* out)
{
    const char* offered = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    if (get_display && has_word(offered, "EGL_MESA_platform_surfaceless") &&
        context_create_on(get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL), out))
    {
        return true;
    }
    if (get_display && has_word(offered, "EGL_EXT_platform_device") && context_create_on_devices(get_display, out))
    {
        return true;
    }
    return context_create_on(eglGetDisplay(EGL_DEFAULT_DISPLAY), out);
}

bool context_enter(const context* c, borrowed* before)
{
    *before = (borrowed){
        .display = eglGetCurrentDisplay(),
        .own_display = c->display,
        .draw = eglGetCurrentSurface(EGL_DRAW),
        .read = eglGetCurrentSurface(EGL_READ),
        .context = eglGetCurrentContext(),
        .api = eglQueryAPI(),
    };
    eglBindAPI(EGL_OPENGL_ES_API);
    return eglMakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, c->handle);
}

void context_leave(const borrowed* before)
{
    if (before->context != EGL_NO_CONTEXT)
    {
        eglMakeCurrent(before->display, before->draw, before->read, before->context);
    }
    else
    {
        eglMakeCurrent(before->own_display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    }
    eglBindAPI(before->api);
}

void context_destroy(const context* c)
{
    if (c->handle)
    {
        eglDestroyContext(c->display, c->handle);
    }
}

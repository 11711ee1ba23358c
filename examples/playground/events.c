// Events from a file, for tests and films: a line each, FRAME WHAT, in the order of frames.
//
//     10 down X Y      the left button in pixels; `right X Y`: the right one
//     11 move X Y
//     40 up            both buttons
//     50 wheel N
//     60 key NAME      as SDL names keys: m, 3, space
#include <SDL.h>
#include <stdlib.h>
#include <string.h>

#include "playground.h"

typedef struct timed_event
{
    int frame;
    SDL_Event event;
} timed_event;

struct event_list
{
    timed_event* events;
    int count, next;
};

static SDL_Event button_event(Uint32 type, Uint8 button, double x, double y)
{
    SDL_Event e = {.type = type};
    e.button.button = button, e.button.x = (int)x, e.button.y = (int)y;
    return e;
}

// False: the line says nothing that is known.
static bool read_event(const char* word, const char* rest, SDL_Event* out)
{
    double a = 0.0, b = 0.0;
    char name[32] = "";
    int numbers = sscanf(rest, "%lf %lf", &a, &b);
    if (strcmp(word, "down") == 0 || strcmp(word, "right") == 0)
    {
        *out = button_event(SDL_MOUSEBUTTONDOWN, word[0] == 'd' ? SDL_BUTTON_LEFT : SDL_BUTTON_RIGHT, a, b);
        return numbers == 2;
    }
    if (strcmp(word, "move") == 0)
    {
        *out = (SDL_Event){.type = SDL_MOUSEMOTION};
        out->motion.x = (int)a, out->motion.y = (int)b;
        return numbers == 2;
    }
    if (strcmp(word, "wheel") == 0)
    {
        *out = (SDL_Event){.type = SDL_MOUSEWHEEL};
        out->wheel.y = (int)a;
        return numbers >= 1;
    }
    if (strcmp(word, "key") == 0 && sscanf(rest, "%31s", name) == 1)
    {
        *out = (SDL_Event){.type = SDL_KEYDOWN};
        out->key.keysym.sym = SDL_GetKeyFromName(name);
        return out->key.keysym.sym != SDLK_UNKNOWN;
    }
    *out = button_event(SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT, 0.0, 0.0);
    return strcmp(word, "up") == 0;
}

event_list* events_read(const char* path)
{
    FILE* file = fopen(path, "r");
    if (!file)
    {
        fprintf(stderr, "playground: %s cannot be read\n", path);
        return NULL;
    }
    event_list* list = grab_memory(1, sizeof(event_list));
    char line[256], word[32];
    for (int number = 1; fgets(line, sizeof(line), file); number++)
    {
        timed_event e = {0};
        int at = 0;
        if (line[0] == '#' || strspn(line, " \t\r\n") == strlen(line))
        {
            continue;
        }
        if (sscanf(line, "%d %31s %n", &e.frame, word, &at) < 2 || !read_event(word, line + at, &e.event))
        {
            fprintf(stderr, "playground: %s:%d: expected FRAME and one of down, right, move, up, wheel, key\n", path,
                    number);
            events_destroy(list);
            list = NULL;
            break;
        }
        list->events = realloc(list->events, (size_t)(list->count + 1) * sizeof(timed_event));
        list->events ? (void)(list->events[list->count++] = e) : exit(1);
    }
    fclose(file);
    return list;
}

void events_push(event_list* list, int frame)
{
    for (; list->next < list->count && list->events[list->next].frame <= frame; list->next++)
    {
        SDL_PushEvent(&list->events[list->next].event);
    }
}

void events_destroy(event_list* list)
{
    if (list)
    {
        free(list->events);
        free(list);
    }
}

// A stage on a thread of its own: steps keep the pace of the clock as long as they are short enough, and where they are
// not the scene's time runs slower. The window never waits for a step: it leaves orders, and looks at the last
// positions.
#include <SDL.h>
#include <stdlib.h>

#include "playground.h"

enum
{
    ORDER_MAX = 256
};

struct player
{
    stage* stage;
    bool threaded;
    SDL_Thread* thread;
    SDL_mutex* lock; // of what follows
    order orders[ORDER_MAX];
    int order_count;
    picture picture;
    bool quits;
    // of the thread
    bool paused;
    int single;      // steps that are to be made while paused
    double due;      // s, when the next step is
    double speed_at; // s, when the speed was measured last
    double speed_time;
};

static double now(void)
{
    return (double)SDL_GetPerformanceCounter() / (double)SDL_GetPerformanceFrequency();
}

// ---- orders

static void obey(player* p, const order* o)
{
    const picture* seen = stage_picture(p->stage);
    switch (o->kind)
    {
    case ORDER_LOAD:
        (void)stage_load(p->stage, o->scene, o->method, o->number);
        break;
    case ORDER_RESET:
        (void)stage_reset(p->stage);
        break;
    case ORDER_METHOD:
        (void)stage_next_method(p->stage);
        break;
    case ORDER_ITERATIONS:
        (void)stage_set_iterations(p->stage, seen->iterations + o->number);
        break;
    case ORDER_GRAB:
        stage_grab(p->stage, o->number, o->vertex);
        break;
    case ORDER_DRAG:
        stage_drag(p->stage, o->to);
        break;
    case ORDER_DROP:
    case ORDER_LEAVE:
        stage_drop(p->stage, o->kind == ORDER_LEAVE);
        break;
    case ORDER_LET_GO:
        stage_let_all_go(p->stage);
        break;
    case ORDER_WIND:
        stage_wind(p->stage, !seen->windy);
        break;
    case ORDER_GRAVITY:
        stage_gravity(p->stage, seen->weightless);
        break;
    case ORDER_PAUSE:
        p->paused = !p->paused;
        break;
    case ORDER_STEP:
        p->single += p->paused;
        break;
    case ORDER_QUIT:
        break;
    }
}

// True: there were some.
static bool obey_all(player* p)
{
    order todo[ORDER_MAX];
    SDL_LockMutex(p->lock);
    int count = p->order_count;
    for (int k = 0; k < count; k++)
    {
        todo[k] = p->orders[k];
    }
    p->order_count = 0;
    SDL_UnlockMutex(p->lock);
    bool has_scene = stage_picture(p->stage)->generation > 0;
    for (int k = 0; k < count; k++)
    {
        has_scene || todo[k].kind == ORDER_LOAD ? obey(p, &todo[k]) : (void)0;
        has_scene = stage_picture(p->stage)->generation > 0;
    }
    return count > 0;
}

void player_order(player* p, order what)
{
    SDL_LockMutex(p->lock);
    // The mouse moves more often than a slow step ends: the last place counts.
    order* last = p->order_count > 0 ? &p->orders[p->order_count - 1] : NULL;
    if (last && what.kind == ORDER_DRAG && last->kind == ORDER_DRAG)
    {
        *last = what;
    }
    else if (p->order_count < ORDER_MAX)
    {
        p->orders[p->order_count++] = what;
    }
    p->quits = p->quits || what.kind == ORDER_QUIT;
    SDL_UnlockMutex(p->lock);
}

// ---- steps

static void step(player* p)
{
    if (!stage_step(p->stage))
    {
        p->paused = true; // the message says why
    }
    p->single -= p->single > 0;
}

// Seconds of the scene in a second, over half a second.
static double speed_of(player* p, double speed)
{
    const picture* seen = stage_picture(p->stage);
    double t = now(), passed = t - p->speed_at;
    if (passed < 0.5)
    {
        return speed;
    }
    double gone = seen->time - p->speed_time;
    p->speed_at = t, p->speed_time = seen->time;
    return gone >= 0.0 ? gone / passed : speed;
}

static void publish(player* p)
{
    const picture* seen = stage_picture(p->stage);
    SDL_LockMutex(p->lock);
    double speed = p->threaded ? speed_of(p, p->picture.speed) : 1.0;
    picture_copy(&p->picture, seen);
    p->picture.paused = p->paused;
    p->picture.speed = speed;
    SDL_UnlockMutex(p->lock);
}

// Waits for the next step, not for long, as orders are heard between. True: it is time.
static bool is_due(const player* p)
{
    double wait = p->due - now();
    bool idle = (p->paused && p->single == 0) || stage_picture(p->stage)->time_step <= 0.0;
    if (!idle && wait < 0.002)
    {
        return true;
    }
    SDL_Delay(idle ? 5 : (Uint32)fmin(1e3 * wait - 1.0, 5.0));
    return false;
}

static bool quits(player* p)
{
    SDL_LockMutex(p->lock);
    bool answer = p->quits;
    SDL_UnlockMutex(p->lock);
    return answer;
}

static int play(void* data)
{
    player* p = data;
    while (!quits(p))
    {
        bool changed = obey_all(p);
        if (is_due(p))
        {
            double h = stage_picture(p->stage)->time_step;
            step(p);
            p->due = fmax(p->due + h, now() - 2.0 * h); // what is lost is lost: the scene's time runs slower
            changed = true;
        }
        changed ? publish(p) : (void)0;
    }
    return 0;
}

player* player_create(bool threaded, int workers)
{
    player* p = grab_memory(1, sizeof(player));
    p->stage = stage_create(workers);
    p->lock = SDL_CreateMutex();
    p->picture.speed = 1.0;
    p->due = p->speed_at = now();
    p->threaded = threaded;
    p->thread = threaded ? SDL_CreateThread(play, "steps", p) : NULL;
    return p;
}

void player_destroy(player* p)
{
    if (!p)
    {
        return;
    }
    player_order(p, (order){.kind = ORDER_QUIT});
    p->thread ? SDL_WaitThread(p->thread, NULL) : (void)0;
    SDL_DestroyMutex(p->lock);
    stage_destroy(p->stage);
    picture_finish(&p->picture);
    free(p);
}

void player_look(player* p, picture* out)
{
    if (!p->threaded)
    {
        obey_all(p);
        !p->paused || p->single > 0 ? step(p) : (void)0;
        publish(p);
    }
    SDL_LockMutex(p->lock);
    picture_copy(out, &p->picture);
    SDL_UnlockMutex(p->lock);
}

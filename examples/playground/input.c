// Mouse and keys become orders.
#include <SDL.h>

#include "playground.h"

void game_load(game* g, const play_scene* scene, const char* method, int iterations)
{
    g->scene = scene;
    g->held.cloth = -1;
    player_order(g->player, (order){.kind = ORDER_LOAD, .scene = scene, .method = method, .number = iterations});
}

static void say(game* g, order_kind kind)
{
    player_order(g->player, (order){.kind = kind});
}

static void drop(game* g, order_kind kind)
{
    if (g->held.cloth >= 0)
    {
        say(g, kind);
        g->held.cloth = -1;
    }
}

static void press(game* g, SDL_Keycode key)
{
    if (key >= SDLK_1 && key < SDLK_1 + play_scene_count())
    {
        game_load(g, &play_scenes[key - SDLK_1], NULL, 0);
        return;
    }
    switch (key)
    {
    case SDLK_m:
        say(g, ORDER_METHOD);
        break;
    case SDLK_i:
    case SDLK_k:
        player_order(g->player, (order){.kind = ORDER_ITERATIONS, .number = key == SDLK_i ? 1 : -1});
        break;
    case SDLK_r:
        g->held.cloth = -1;
        say(g, ORDER_RESET);
        break;
    case SDLK_p:
        drop(g, ORDER_LEAVE);
        break;
    case SDLK_u:
        g->held.cloth = -1;
        say(g, ORDER_LET_GO);
        break;
    case SDLK_w:
        say(g, ORDER_WIND);
        break;
    case SDLK_g:
        say(g, ORDER_GRAVITY);
        break;
    case SDLK_SPACE:
        say(g, ORDER_PAUSE);
        break;
    case SDLK_n:
        say(g, ORDER_STEP);
        break;
    case SDLK_s:
        g->screenshots++;
        break;
    case SDLK_h:
        g->help = !g->help;
        break;
    case SDLK_ESCAPE:
    case SDLK_q:
        g->quits = true;
        break;
    default:
        break;
    }
}

static void press_button(game* g, const SDL_MouseButtonEvent* b)
{
    if (b->button == SDL_BUTTON_LEFT)
    {
        g->held = camera_pick(&g->camera, &g->picture, b->x, b->y);
        if (g->held.cloth >= 0)
        {
            player_order(g->player, (order){.kind = ORDER_GRAB, .number = g->held.cloth, .vertex = g->held.vertex});
        }
    }
    // Beside all bodies the left button turns, too: there is nothing else that it could mean.
    g->orbits = b->button != SDL_BUTTON_LEFT || g->held.cloth < 0;
}

static void move_mouse(game* g, const SDL_MouseMotionEvent* m)
{
    if (g->held.cloth >= 0)
    {
        player_order(g->player, (order){.kind = ORDER_DRAG, .to = camera_slide(&g->camera, g->held.at, m->x, m->y)});
    }
    else if (g->orbits)
    {
        g->camera.yaw -= 0.008 * (m->x - g->mouse_x);
        g->camera.pitch += 0.008 * (m->y - g->mouse_y);
        g->camera.pitch = fmin(fmax(g->camera.pitch, 0.02), 1.5);
    }
    g->mouse_x = m->x, g->mouse_y = m->y;
}

// Zooms; what is held comes nearer or goes away.
static void turn_wheel(game* g, double amount)
{
    if (g->held.cloth < 0)
    {
        g->camera.distance *= pow(0.9, amount);
        return;
    }
    weft_vec3 eye = camera_eye(&g->camera);
    g->held.at = add(eye, scaled(pow(1.03, amount), sub(g->held.at, eye)));
    weft_vec3 to = camera_slide(&g->camera, g->held.at, g->mouse_x, g->mouse_y);
    player_order(g->player, (order){.kind = ORDER_DRAG, .to = to});
}

void game_event(game* g, const union SDL_Event* event)
{
    switch (event->type)
    {
    case SDL_QUIT:
        g->quits = true;
        break;
    case SDL_KEYDOWN:
        press(g, event->key.keysym.sym);
        break;
    case SDL_MOUSEBUTTONDOWN:
        g->mouse_x = event->button.x, g->mouse_y = event->button.y;
        press_button(g, &event->button);
        break;
    case SDL_MOUSEBUTTONUP:
        event->button.button == SDL_BUTTON_LEFT ? drop(g, ORDER_DROP) : (void)0;
        g->orbits = false;
        break;
    case SDL_MOUSEMOTION:
        move_mouse(g, &event->motion);
        break;
    case SDL_MOUSEWHEEL:
        turn_wheel(g, event->wheel.y);
        break;
    default:
        break;
    }
}

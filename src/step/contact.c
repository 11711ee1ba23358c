// Arrays of contact.
#include "step/sweep.h"

weft_status contact_create(contact* c, weft_collider* collider, int cloth_count, int vertex_count)
{
    size_t n = (size_t)vertex_count;
    *c = (contact){.collider = collider, .cloth_count = cloth_count, .vertex_count = vertex_count};
    c->body = MEM_NEW(n, int);
    c->inv_mass = MEM_NEW(n, double);
    c->friction = MEM_NEW(n, double);
    c->thickness = MEM_NEW(n, double);
    c->rest = MEM_NEW(cloth_count, vec3);
    c->start = MEM_NEW(n, vec3);
    c->end = MEM_NEW(n, vec3);
    c->velocity = MEM_NEW(n, vec3);
    c->framed = MEM_NEW(n, vec3);
    c->grip = MEM_NEW(cloth_count, vec3);
    c->load = MEM_NEW(cloth_count, double);
    c->pin_records = MEM_NEW(cloth_count, filter_record);
    c->record = MEM_NEW(cloth_count, int);
    c->awake = MEM_NEW(n, uint8_t);
    c->marked = MEM_NEW(n, uint8_t);
    c->zone = MEM_NEW(n, int);
    c->zone_motion = MEM_NEW(n, vec3);
    c->zone_mass = MEM_NEW(n, double);
    bool ok = c->body && c->inv_mass && c->friction && c->thickness && c->rest && c->start && c->end && c->velocity &&
              c->framed && c->grip && c->load && c->pin_records && c->record && c->awake && c->marked && c->zone &&
              c->zone_motion && c->zone_mass;
    for (int i = 0; i < vertex_count && ok; i++)
    {
        c->zone[i] = i;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void contact_finish(contact* c)
{
    weft_collider_destroy(c->collider);
    mem_free(c->body);
    mem_free(c->inv_mass);
    mem_free(c->friction);
    mem_free(c->thickness);
    mem_free(c->rest);
    mem_free(c->kin);
    mem_free(c->sewn);
    mem_free(c->start);
    mem_free(c->end);
    mem_free(c->velocity);
    mem_free(c->framed);
    mem_free(c->near.item);
    mem_free(c->touches);
    mem_free(c->springs);
    mem_free(c->couplings);
    coupled_finish(&c->coupled);
    mem_free(c->grip);
    mem_free(c->load);
    mem_free(c->pin_records);
    mem_free(c->record);
    mem_free(c->awake);
    squeeze_finish(c);
    mem_free(c->found.item);
    mem_free(c->rows);
    mem_free(c->stuck);
    mem_free(c->zone);
    mem_free(c->zone_motion);
    mem_free(c->zone_mass);
    *c = (contact){0};
}

double contact_friction(const contact* c, weft_pair_kind kind, const int vertex[4])
{
    int a = vertex[0], b = vertex[kind == WEFT_VERTEX_FACE ? 1 : 2];
    bool a_moves = a < c->cloth_count, b_moves = b < c->cloth_count;
    return a_moves && b_moves ? 0.5 * (c->friction[a] + c->friction[b]) : c->friction[a_moves ? b : a];
}

uint64_t contact_pattern(const contact* c)
{
    bool adds = c->spring_count > 0 && c->coupled.extra_start[c->cloth_count] > 0;
    return adds ? c->coupled.version : 0;
}

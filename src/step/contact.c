// Arrays of contact.
#include "step/contact.h"

weft_status contact_create(contact* c, weft_collider* collider, int cloth_count, int vertex_count)
{
    size_t n = (size_t)vertex_count;
    *c = (contact){.collider = collider, .cloth_count = cloth_count, .vertex_count = vertex_count};
    c->start = MEM_NEW(n, vec3);
    c->end = MEM_NEW(n, vec3);
    c->velocity = MEM_NEW(n, vec3);
    c->inv_mass = MEM_NEW(n, double);
    c->record = MEM_NEW(cloth_count, int);
    c->friction = MEM_NEW(n, double);
    c->layer = MEM_NEW(n, double);
    c->grip = MEM_NEW(cloth_count, vec3);
    c->pin_records = MEM_NEW(cloth_count, filter_record);
    c->zone = MEM_NEW(n, int);
    c->zone_motion = MEM_NEW(n, vec3);
    c->zone_mass = MEM_NEW(n, double);
    bool ok = c->start && c->end && c->velocity && c->inv_mass && c->record && c->friction && c->layer && c->grip &&
              c->pin_records && c->zone && c->zone_motion && c->zone_mass;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void contact_finish(contact* c)
{
    weft_collider_destroy(c->collider);
    mem_free(c->start);
    mem_free(c->end);
    mem_free(c->velocity);
    mem_free(c->inv_mass);
    mem_free(c->record);
    mem_free(c->friction);
    mem_free(c->layer);
    mem_free(c->grip);
    mem_free(c->pin_records);
    mem_free(c->touches);
    mem_free(c->rows);
    mem_free(c->found.item);
    mem_free(c->stuck);
    mem_free(c->zone);
    mem_free(c->zone_motion);
    mem_free(c->zone_mass);
    *c = (contact){0};
}

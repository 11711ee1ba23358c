// What contact remembers from one substep to the next: of vertices, of pairs of features, of what is squeezed.
#include <string.h>

#include "contact/contact.h"

weft_status contact_state_create(contact_state* s, int vertex_count)
{
    *s = (contact_state){.vertex_count = vertex_count};
    s->memory = MEM_NEW(vertex_count, contact_memory);
    return s->memory ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status contact_state_copy(const contact_state* from, contact_state* to)
{
    if (!mem_grow((void**)&to->bonds, &to->bond_capacity, from->bond_count, sizeof(contact_bond)))
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(to->memory, from->memory, (size_t)from->vertex_count * sizeof(contact_memory));
    to->bond_count = from->bond_count;
    if (from->bond_count > 0)
    {
        memcpy(to->bonds, from->bonds, (size_t)from->bond_count * sizeof(contact_bond));
    }
    return marks_copy(&to->marks, &from->marks);
}

void contact_state_finish(contact_state* s)
{
    mem_free(s->memory);
    marks_finish(&s->marks);
    mem_free(s->bonds);
    *s = (contact_state){0};
}

// ---- in a checkpoint

static const section_shape marks_shape = {"squeezed", 2, sizeof(squeeze_mark), -1};
static const section_shape bonds_shape = {"contact-bonds", 3, sizeof(contact_bond), -1};

void contact_state_save(const contact_state* s, section_writer* out)
{
    section_put(out, "contact", 3, sizeof(contact_memory), (size_t)s->vertex_count, s->memory);
    section_put(out, bonds_shape.name, bonds_shape.version, sizeof(contact_bond), (size_t)s->bond_count, s->bonds);
    section_put(out, marks_shape.name, marks_shape.version, sizeof(squeeze_mark), (size_t)s->marks.count,
                s->marks.item);
}

static bool memory_is_sound(const contact_memory* m)
{
    return isfinite(m->force) && m->force >= 0.0 && isfinite(m->load) && isfinite(m->owed[0]) && isfinite(m->owed[1]) &&
           v3_is_finite(m->friction) && v3_is_finite(m->push) && m->calm >= 0.0 && m->calm < 1e6;
}

static weft_status load_memory(contact_state* s, sections* from, weft_error* error)
{
    section_shape shape = {"contact", 3, sizeof(contact_memory), s->vertex_count};
    const section* found;
    TRY(sections_take(from, &shape, &found, error));
    if (!found)
    {
        return WEFT_OK;
    }
    memcpy(s->memory, found->items, (size_t)s->vertex_count * sizeof(contact_memory));
    for (int i = 0; i < s->vertex_count; i++)
    {
        if (!memory_is_sound(&s->memory[i]))
        {
            return sections_cannot_be(from, "`contact` of a vertex that is no memory of a run", error);
        }
    }
    return WEFT_OK;
}

static bool bond_is_sound(const contact_bond* b, const contact_bond* last)
{
    bool sorted =
        !last || b->kind > last->kind ||
        (b->kind == last->kind && (b->first > last->first || (b->first == last->first && b->second > last->second)));
    int lowest = int_min(int_min(b->vertex[0], b->vertex[1]), int_min(b->vertex[2], b->vertex[3]));
    return sorted && lowest >= 0 && (b->kind == 0 || b->kind == 1) && b->first >= 0 && b->second >= 0 &&
           v3_is_finite(b->drawn) && v3_is_finite(b->force) && v3_is_finite(b->push) &&
           isfinite(b->weight[0] + b->weight[1] + b->weight[2] + b->weight[3]) && b->clings >= BOND_SLIDES &&
           b->clings <= BOND_GIVES;
}

static weft_status load_bonds(contact_state* s, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &bonds_shape, &found, error));
    if (!found || found->count == 0)
    {
        return WEFT_OK;
    }
    if (found->count > INT32_MAX / 2 ||
        !mem_grow((void**)&s->bonds, &s->bond_capacity, (int)found->count, sizeof(contact_bond)))
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    s->bond_count = (int)found->count;
    memcpy(s->bonds, found->items, found->count * sizeof(contact_bond));
    for (int k = 0; k < s->bond_count; k++)
    {
        if (!bond_is_sound(&s->bonds[k], k > 0 ? &s->bonds[k - 1] : NULL))
        {
            return sections_cannot_be(from, "`contact-bonds` that are no memory of a run", error);
        }
    }
    return WEFT_OK;
}

static bool mark_is_sound(const squeeze_mark* m)
{
    return m->vertex >= 0 && m->body >= 0 && (m->through == 0 || m->through == 1) && m->kind >= 0 &&
           m->kind < MARK_KINDS && m->side >= -1 && m->side <= 1 && m->lift >= 0.0 && m->lift < 1e3;
}

// In their order, of vertices that there are; a body that there is not squeezes nothing.
static weft_status load_marks(contact_state* s, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &marks_shape, &found, error));
    const squeeze_mark *items = found ? found->items : NULL, *last = NULL;
    for (size_t k = 0; found && k < found->count; k++, last = &items[k - 1])
    {
        const squeeze_mark* m = &items[k];
        bool sorted = !last || m->vertex > last->vertex || (m->vertex == last->vertex && m->body > last->body);
        if (!sorted || m->vertex >= s->vertex_count || !mark_is_sound(m))
        {
            return sections_cannot_be(from, "`squeezed` vertices that are no memory of a run", error);
        }
        if (marks_add(&s->marks, *m) != WEFT_OK)
        {
            return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
        }
    }
    return WEFT_OK;
}

weft_status contact_state_load(contact_state* s, sections* from, weft_error* error)
{
    TRY(load_memory(s, from, error));
    TRY(load_bonds(s, from, error));
    return load_marks(s, from, error);
}

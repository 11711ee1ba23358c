// Exclusions and ties that were edits, in a checkpoint: the section `edit-ties` has plain data (core/pack.h):
//
//     numbers of exclusions and ties of the scene as given, and of those that came as edits
//     of each exclusion its two bodies, whether it is of single vertices, and those
//     of each tie its two cloths, whether it is of edges, and its points
//     of each cloth where it was when it was last tied, if that was an edit
//
// It is there only when there are such edits, so that other checkpoints are as they were before there could be any.
#include <string.h>

#include "sim/edits.h"

static const section_shape ties_shape = {"edit-ties", 1, 1, -1};

typedef struct tie_counts
{
    int32_t scene_exclusions, scene_seams, exclusions, seams;
} tie_counts;

static void pack_ref(packer* p, body_ref* ref)
{
    int32_t kind = ref->is_obstacle, index = ref->index;
    PACK(p, kind);
    PACK(p, index);
    p->failed = p->failed || kind < 0 || kind > 1;
    *ref = (body_ref){kind == 1, index};
}

// What is read lends vertices from the bytes.
static void pack_exclusion(packer* p, exclusion* e)
{
    static const int none;
    int32_t single = e->vertices != NULL;
    const int* vertices = e->vertices;
    pack_ref(p, &e->first);
    pack_ref(p, &e->second);
    PACK(p, single);
    PACK_ARRAY(p, &vertices, &e->vertex_count);
    e->vertices = (int*)(vertices ? vertices : single ? &none : NULL);
    p->failed = p->failed || (!single && e->vertex_count > 0);
}

static void pack_tie(packer* p, tie* t)
{
    PACK(p, t->point);
    PACK(p, t->share);
    PACK(p, t->face);
    PACK(p, t->weight);
    PACK(p, t->offset);
}

static void pack_seam(packer* p, seam* s)
{
    int32_t edges = s->edges;
    PACK(p, s->body);
    PACK(p, s->to);
    PACK(p, s->count);
    PACK(p, edges);
    s->edges = edges != 0;
}

// ---- saving

weft_status edit_ties_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    const edits* e = &sim->edits;
    tie_counts counts = {e->exclusion_count, e->seam_count, sim->exclusion_count - e->exclusion_count,
                         sim->seam_count - e->seam_count};
    if (counts.exclusions == 0 && counts.seams == 0)
    {
        return WEFT_OK;
    }
    packer p = {0};
    PACK(&p, counts);
    for (int k = e->exclusion_count; k < sim->exclusion_count; k++)
    {
        exclusion copy = sim->exclusions[k];
        pack_exclusion(&p, &copy);
    }
    for (int k = e->seam_count; k < sim->seam_count; k++)
    {
        seam copy = sim->seams[k];
        pack_seam(&p, &copy);
        for (int i = 0; i < copy.count; i++)
        {
            tie t = sim->seam_points[copy.first + i].tie;
            pack_tie(&p, &t);
        }
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        const vec3* sewn = sim->bodies[k].sewn;
        int count = sim->bodies[k].rest.vertex_count;
        PACK_ARRAY(&p, &sewn, &count);
    }
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    status == WEFT_OK ? section_put(out, ties_shape.name, ties_shape.version, 1, p.size, p.bytes) : (void)0;
    pack_finish(&p);
    return status;
}

// ---- loading

typedef struct ties_loader
{
    weft_sim* sim;
    packer bytes;
    sections* from;
    weft_error* error;
} ties_loader;

static weft_status forged(const ties_loader* l)
{
    return sections_cannot_be(l->from, "`edit-ties` that are none of a run", l->error);
}

static bool are_vertices(const int* vertices, int count, int limit)
{
    bool good = true;
    for (int k = 0; k < count; k++)
    {
        good = good && vertices[k] >= 0 && vertices[k] < limit;
    }
    return good;
}

static bool ref_is_sound(const weft_sim* sim, body_ref ref)
{
    return ref.index >= 0 && ref.index < (ref.is_obstacle ? sim->obstacle_count : sim->body_count);
}

static weft_status load_exclusion(ties_loader* l)
{
    weft_sim* sim = l->sim;
    exclusion e = {0};
    pack_exclusion(&l->bytes, &e);
    if (l->bytes.failed || !ref_is_sound(sim, e.first) || !ref_is_sound(sim, e.second) ||
        (e.first.is_obstacle && e.second.is_obstacle))
    {
        return forged(l);
    }
    const mesh* m = e.first.is_obstacle ? &sim->obstacles[e.first.index].mesh : &sim->bodies[e.first.index].rest;
    bool removed = e.first.is_obstacle ? sim->obstacles[e.first.index].removed : sim->bodies[e.first.index].removed;
    if (!are_vertices(e.vertices, e.vertex_count, removed ? INT32_MAX : m->vertex_count))
    {
        return forged(l);
    }
    return exclusion_put(sim, e) ? WEFT_OK : edit_error(WEFT_NO_MEMORY, l->error);
}

static bool tie_is_sound(const tie* t, const mesh* from, const mesh* to)
{
    bool good = are_vertices(t->point, 1, from->vertex_count) && t->point[1] >= -1 &&
                t->point[1] < from->vertex_count && are_vertices(t->face, 3, to->vertex_count) &&
                fabs(t->share[0]) < 2.0 && fabs(t->share[1]) < 2.0 && t->offset * t->offset < far_away_sq;
    for (int k = 0; k < 3; k++)
    {
        good = good && fabs(t->weight[k]) < 4.0 && t->face[k] != t->face[(k + 1) % 3]; // sew.c makes no others
    }
    return good;
}

static weft_status load_seam(ties_loader* l)
{
    weft_sim* sim = l->sim;
    seam s = {0};
    pack_seam(&l->bytes, &s);
    s.first = sim->seam_point_count;
    if (l->bytes.failed || !weft_sim_has_cloth(sim, s.body) || !weft_sim_has_cloth(sim, s.to) || s.count < 0 ||
        (size_t)s.count > (l->bytes.size - l->bytes.at) / 8)
    {
        return forged(l);
    }
    if (!mem_grow((void**)&sim->seam_points, &sim->seam_point_capacity, s.first + s.count, sizeof(seam_point)) ||
        !mem_grow((void**)&sim->seams, &sim->seam_capacity, sim->seam_count + 1, sizeof(seam)))
    {
        return edit_error(WEFT_NO_MEMORY, l->error);
    }
    for (int k = 0; k < s.count; k++)
    {
        tie t = {0};
        pack_tie(&l->bytes, &t);
        TRY(!l->bytes.failed && tie_is_sound(&t, &sim->bodies[s.body].rest, &sim->bodies[s.to].rest) ? WEFT_OK
                                                                                                     : forged(l));
        sim->seam_points[s.first + k] = (seam_point){s.body, s.to, t};
    }
    sim->seam_point_count += s.count;
    sim->seams[sim->seam_count++] = s;
    return WEFT_OK;
}

static weft_status load_sewn(ties_loader* l, body* b)
{
    const vec3* sewn = NULL;
    int count = 0;
    PACK_ARRAY(&l->bytes, &sewn, &count);
    if (l->bytes.failed || (sewn && count != b->rest.vertex_count))
    {
        return forged(l);
    }
    for (int k = 0; k < count; k++)
    {
        TRY(v3_dot(sewn[k], sewn[k]) < far_away_sq ? WEFT_OK : forged(l));
    }
    b->sewn = sewn ? MEM_NEW(count, vec3) : NULL;
    TRY(sewn && !b->sewn ? edit_error(WEFT_NO_MEMORY, l->error) : WEFT_OK);
    sewn ? memcpy(b->sewn, sewn, (size_t)count * sizeof(vec3)) : NULL;
    return WEFT_OK;
}

weft_status edit_ties_load(weft_sim* sim, sections* from, weft_error* error)
{
    const section* found;
    TRY(sections_take(from, &ties_shape, &found, error));
    if (!found)
    {
        return WEFT_OK;
    }
    ties_loader l = {sim, pack_reader(found->items, found->count), from, error};
    tie_counts counts;
    PACK(&l.bytes, counts);
    bool good = counts.scene_exclusions == sim->exclusion_count && counts.scene_seams == sim->seam_count;
    TRY(good ? WEFT_OK : forged(&l));
    for (int k = 0; k < counts.exclusions; k++)
    {
        TRY(load_exclusion(&l));
    }
    for (int k = 0; k < counts.seams; k++)
    {
        TRY(load_seam(&l));
    }
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(load_sewn(&l, &sim->bodies[k]));
    }
    return l.bytes.at == l.bytes.size ? WEFT_OK : forged(&l);
}

void edit_ties_undo(weft_sim* sim)
{
    exclusions_cut(sim, sim->edits.exclusion_count);
    seams_cut(sim, sim->edits.seam_count);
    for (int k = 0; k < sim->body_count; k++)
    {
        mem_free(sim->bodies[k].sewn);
        sim->bodies[k].sewn = NULL;
    }
}

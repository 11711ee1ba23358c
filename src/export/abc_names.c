// What Alembic archives say of faces and of a whole mesh beside its shape: objects and groups as strings of the faces,
// materials as FaceSets, one colour, and the fields as parameters.
#include "export/abc.h"

// Each with its zero; the last one, empty, is for faces that have none.
static void store_names(abc* a, property* p, const weft_names* names)
{
    static const unsigned char zero = 0;
    ogawa_key key;
    bytes text = {0};
    for (int k = 0; k < names->count; k++)
    {
        bytes_add_text(&text, names->names[k]);
        bytes_add(&text, &zero, 1);
    }
    bytes_add(&text, &zero, 1);
    a->tree.failed = a->tree.failed || text.failed;
    property_count(p, names->count + 1);
    ogawa_child sample = ogawa_sample(&a->tree.archive, text.data, (size_t)text.count, &key);
    unsigned char dimensions[4];
    ogawa_put32(dimensions, (uint32_t)names->count + 1);
    property_store_sized(p, sample, ogawa_data(&a->tree.archive, dimensions, 4), key);
    mem_free(text.data);
}

// A string of each face: names, and the number of each face's.
static void put_face_strings(abc* a, property* compound, const weft_names* names, int face_count)
{
    property values = abc_constant(".vals", ARRAY, POD_STRING, META_STRING_UNIFORM);
    property indices = abc_constant(".indices", ARRAY, POD_UINT32, META_NONE);
    property* members[2] = {&values, &indices};
    store_names(a, &values, names);
    abc_store_ints(a, &indices, names->faces, face_count, names->count);
    tree_put_members(&a->tree, compound, members, 2);
    ogawa_list_finish(&values.stored);
    ogawa_list_finish(&indices.stored);
}

// One colour for all, as pictures have it.
static void store_color(abc* a, property* p, int body)
{
    float c[3];
    export_color(a->job, body, c);
    vec3 color = v3((double)c[0], (double)c[1], (double)c[2]);
    *p = abc_constant("Cd", ARRAY, POD_FLOAT, META_COLOR);
    p->extent = 3;
    abc_store_vectors(a, p, &color, 1);
}

// Colour, fields, and with names objects and groups.
weft_status abc_put_parameters(abc* a, property* all, abc_mesh* m, int body, const weft_cache_body* names,
                               weft_error* error)
{
    property own[3];
    property** members = MEM_NEW((size_t)m->field_count + 3, property*);
    int count = 1;
    if (!members)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for fields");
    }
    store_color(a, &own[0], body);
    members[0] = &own[0];
    for (int layer = LAYER_OBJECT; layer <= LAYER_GROUP && names; layer++)
    {
        if (export_layer(names, layer)->faces)
        {
            own[count] = abc_constant(export_layer_word[layer], COMPOUND, POD_BOOL, META_STRING_UNIFORM);
            put_face_strings(a, &own[count], export_layer(names, layer), names->face_count);
            members[count] = &own[count];
            count++;
        }
    }
    for (int k = 0; k < m->field_count; k++)
    {
        members[count + k] = &m->fields[k];
    }
    tree_put_members(&a->tree, all, members, count + m->field_count);
    for (int k = 0; k < count; k++)
    {
        ogawa_list_finish(&own[k].stored);
    }
    mem_free(members);
    return WEFT_OK;
}

static void put_face_set(abc* a, object* mesh, const char* name, const int* face, int count)
{
    object set = {.name = name, .ending = "", .meta = META_FACE_SET_OBJECT};
    property faces = abc_constant(".faces", ARRAY, POD_INT32, META_NONE);
    property exclusive = abc_constant(".facesExclusive", SCALAR, POD_UINT32, META_NONE);
    property* members[2] = {&faces, &exclusive};
    property schema = abc_constant(".faceset", COMPOUND, POD_BOOL, META_FACE_SET);
    unsigned char yes[4];
    ogawa_put32(yes, 1); // no face is in two
    abc_store_ints(a, &faces, face, count, 0);
    abc_store_value(a, &exclusive, yes, sizeof(yes));
    tree_put_members(&a->tree, &schema, members, 2);
    tree_set_schema(&a->tree, &set, &schema);
    object_add(mesh, &set, tree_put_object(&a->tree, &set));
    ogawa_list_finish(&faces.stored);
    ogawa_list_finish(&exclusive.stored);
    ogawa_list_finish(&schema.stored);
    object_finish(&set);
}

// Of materials. Faces keep their numbers where cloth tears.
weft_status abc_put_face_sets(abc* a, object* mesh, const weft_cache_body* body, weft_error* error)
{
    export_faces faces;
    TRY(export_faces_make(&body->materials, body->face_count, &faces, error));
    for (int k = 0; k < body->materials.count && faces.face; k++)
    {
        int count = faces.start[k + 1] - faces.start[k];
        if (count > 0)
        {
            put_face_set(a, mesh, body->materials.names[k], faces.face + faces.start[k], count);
        }
    }
    export_faces_finish(&faces);
    return WEFT_OK;
}

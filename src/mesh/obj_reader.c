// Wavefront OBJ files: vertices, texture coordinates, polygons or polylines, objects.
//
// Read: v, vt, o, g, usemtl, mtllib, and f or l, whichever is asked for: what is said of faces below holds for lines;
// and of sheets `stitch`, as Codim-IPC (Li et al. 2021) writes it. Ignored: normals, smoothing and display attributes.
// Ignored with a warning: the other of f and l, points, free-form curves and surfaces, and what is not OBJ at all.
// Colours and weights behind the coordinates of v are dropped. A face may use vertices that follow later; negative
// indices count back from where they stand. The comment `#weft one A B C`, which the files of runs have, says that
// vertices were welded: they are one.
#include <string.h>

#include "mesh/obj_reader.h"

enum
{
    WARNINGS_MAX = 5, // lines that are named one by one; the others are counted
    EXCERPT_SIZE = 44 // of a line, in messages
};

typedef weft_status obj_statement(obj_reader* r, const char* s);

static bool obj_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static const char* obj_skip_blanks(const char* s)
{
    while (obj_is_blank(*s))
    {
        s++;
    }
    return s;
}

// At the end of the statement: of the line, or where a comment starts.
static bool obj_is_end(const char* s)
{
    return *s == 0 || *s == '#';
}

static bool obj_is_word_end(const char* s)
{
    return *s == 0 || obj_is_blank(*s);
}

// The word at s, cut where it is long, without control characters.
static const char* obj_excerpt(const char* s, bool whole_line, char text[EXCERPT_SIZE])
{
    int k = 0;
    for (; k < EXCERPT_SIZE - 4 && *s && (whole_line || !obj_is_blank(*s)); k++, s++)
    {
        text[k] = (unsigned char)*s < ' ' || *s == 127 ? '?' : *s;
    }
    // Never end inside a character of several bytes.
    while (k > 0 && ((unsigned char)*s & 0xc0) == 0x80)
    {
        k--, s--;
    }
    bool cut = *s && (whole_line || !obj_is_blank(*s));
    memcpy(text + k, cut ? "..." : "", cut ? 4 : 1);
    return text;
}

weft_status obj_no_room(obj_reader* r)
{
    int most = int_max(int_max(r->vertex_count, r->texcoord_count), r->corner.count);
    if (most >= COUNT_MAX)
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "the mesh is too large: at most %d vertices and face corners are possible", COUNT_MAX);
    }
    return error_set(r->error, WEFT_NO_MEMORY, r->lines.path, r->lines.line_number,
                     "out of memory after %d vertices and %d faces", r->vertex_count, r->start.count);
}

// One coordinate. At the end of the statement *s stays and *out is not written.
static weft_status obj_read_number(obj_reader* r, const char** s, double* out)
{
    const char* word = obj_skip_blanks(*s);
    *s = word;
    if (obj_is_end(word))
    {
        return WEFT_OK;
    }
    char text[EXCERPT_SIZE];
    bool good = decimal_parse(s, out) && obj_is_word_end(*s);
    if (!good && decimal_is_not_finite(word))
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "the coordinate '%s' is not finite: export the mesh again without it",
                         obj_excerpt(word, false, text));
    }
    if (!good)
    {
        obj_excerpt(word, false, text);
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "'%s' is not a number: write coordinates as 1.5 or 2e-3%s", text,
                         strchr(text, ',') ? ", with a point and no comma" : "");
    }
    if (!(fabs(*out) <= COORDINATE_MAX))
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "the coordinate '%s' is beyond %g: check the units or the exporter",
                         obj_excerpt(word, false, text), COORDINATE_MAX);
    }
    return WEFT_OK;
}

// At least `least` and at most `most` numbers; what follows is ignored.
static weft_status obj_read_numbers(obj_reader* r, const char* s, int least, int most, double* out)
{
    for (int k = 0; k < most; k++)
    {
        const char* before = obj_skip_blanks(s);
        s = before;
        TRY(obj_read_number(r, &s, &out[k]));
        if (s == before && k < least)
        {
            return error_set(
                r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                "%d of at least %d numbers are there: complete the line, or export again if the file was cut "
                "short",
                k, least);
        }
        if (s == before)
        {
            break;
        }
    }
    return WEFT_OK;
}

static weft_status obj_read_vertex(obj_reader* r, const char* s)
{
    double x[3] = {0};
    TRY(obj_read_numbers(r, s, 3, 3, x));
    void* position = r->position;
    bool room =
        r->vertex_count < COUNT_MAX && mem_grow(&position, &r->vertex_capacity, r->vertex_count + 1, sizeof(vec3));
    r->position = position;
    if (!room)
    {
        return obj_no_room(r);
    }
    r->position[r->vertex_count++] = v3(x[0], x[1], x[2]);
    return WEFT_OK;
}

static weft_status obj_read_texcoord(obj_reader* r, const char* s)
{
    double u[2] = {0};
    TRY(obj_read_numbers(r, s, 1, 2, u));
    void* texcoord = r->texcoord;
    bool room = r->texcoord_count < COUNT_MAX &&
                mem_grow(&texcoord, &r->texcoord_capacity, r->texcoord_count + 1, sizeof(vec2));
    r->texcoord = texcoord;
    if (!room)
    {
        return obj_no_room(r);
    }
    r->texcoord[r->texcoord_count++] = (vec2){u[0], u[1]};
    return WEFT_OK;
}

// An integer with a sign; false when there is none. Very large ones stay at the limit.
static bool obj_scan_index(const char** s, int64_t* out)
{
    const char* p = *s;
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (*p < '0' || *p > '9')
    {
        return false;
    }
    int64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
    {
        value = value > INT32_MAX ? value : 10 * value + (*p - '0');
    }
    *out = negative ? -value : value;
    *s = p;
    return true;
}

// From the file's index to ours: from 0, always counted from the start. Whether it exists is known at the end of the
// file.
static weft_status obj_resolve(obj_reader* r, int64_t index, int count, const char* what, int* out)
{
    if (index == 0)
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "index 0 in %s %d: %s are counted from 1", form_face_word(r->form), r->start.count + 1, what);
    }
    int64_t resolved = index > 0 ? index - 1 : index + count;
    if (resolved < 0 || resolved > INT32_MAX - 1)
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "index %lld in %s %d is out of range: there are %d %s so far", (long long)index,
                         form_face_word(r->form), r->start.count + 1, count, what);
    }
    *out = (int)resolved;
    return WEFT_OK;
}

// One corner: v, v/vt, v//vn or v/vt/vn.
static weft_status obj_read_corner(obj_reader* r, const char** s)
{
    const char* word = *s;
    int64_t index[3] = {0};
    bool given[3] = {false, false, false};
    bool good = given[0] = obj_scan_index(s, &index[0]);
    for (int k = 1; k < 3 && good && **s == '/'; k++)
    {
        ++*s;
        given[k] = obj_scan_index(s, &index[k]);
    }
    if (!good || !obj_is_word_end(*s))
    {
        char text[EXCERPT_SIZE];
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "'%s' is not a corner of %s %d: write v, v/vt, v//vn or v/vt/vn with whole numbers",
                         obj_excerpt(word, false, text), form_face_word(r->form), r->start.count + 1);
    }
    int vertex = -1, mapped = -1;
    TRY(obj_resolve(r, index[0], r->vertex_count, "vertices", &vertex));
    if (given[1])
    {
        TRY(obj_resolve(r, index[1], r->texcoord_count, "texture coordinates (vt)", &mapped));
        r->has_mapped = true;
    }
    bool room = int_list_push(&r->corner, vertex);
    if (r->has_mapped)
    {
        room = room && int_list_fill(&r->mapped, r->corner.count - 1, -1) && int_list_push(&r->mapped, mapped);
    }
    return room ? WEFT_OK : obj_no_room(r);
}

// Notes which object or group the face belongs to.
static weft_status obj_scope_face(obj_reader* r, obj_scope* scope)
{
    if (!scope->seen)
    {
        return WEFT_OK;
    }
    if (scope->index < 0 && name_table_add(&scope->table, scope->name, &scope->index) != WEFT_OK)
    {
        return obj_no_room(r);
    }
    bool room = int_list_fill(&scope->face, r->start.count, -1) && int_list_push(&scope->face, scope->index);
    return room ? WEFT_OK : obj_no_room(r);
}

static weft_status obj_read_face(obj_reader* r, const char* s)
{
    int first = r->corner.count;
    for (s = obj_skip_blanks(s); !obj_is_end(s); s = obj_skip_blanks(s))
    {
        TRY(obj_read_corner(r, &s));
    }
    int least = form_corners_min(r->form);
    if (r->corner.count - first < least)
    {
        const char* word = form_face_word(r->form);
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                         "%s %d has %d corner%s: a %s needs at least %s (was the file cut short?)", word,
                         r->start.count + 1, r->corner.count - first, r->corner.count - first == 1 ? "" : "s", word,
                         least == 3 ? "three" : "two");
    }
    TRY(obj_scope_face(r, &r->object));
    TRY(obj_scope_face(r, &r->group));
    TRY(obj_scope_face(r, &r->material));
    bool room = int_list_push(&r->start, first) && int_list_push(&r->line, r->lines.line_number);
    return room ? WEFT_OK : obj_no_room(r);
}

// The rest of the line is the name. Scenes and exports are UTF-8; names that are not are taken for Latin-1.
static weft_status obj_scope_enter(obj_reader* r, obj_scope* scope, const char* s)
{
    s = obj_skip_blanks(s);
    size_t length = strlen(s);
    while (length > 0 && obj_is_blank(s[length - 1]))
    {
        length--;
    }
    if (length == 0)
    {
        s = "default";
        length = strlen(s);
    }
    void* name = scope->name;
    bool utf8 = text_is_utf8(s);
    int size = (int)length + 1;
    bool room = mem_grow(&name, &scope->capacity, utf8 ? size : 3 * size, 1);
    scope->name = name;
    if (!room)
    {
        return obj_no_room(r);
    }
    char* given = scope->name + (utf8 ? 0 : 2 * size);
    memmove(given, s, length);
    given[length] = 0;
    utf8 ? (void)0 : text_from_latin1(given, scope->name);
    scope->seen = true;
    scope->index = -1;
    return WEFT_OK;
}

static weft_status obj_bad_stitch(obj_reader* r, const char* what)
{
    return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                     "%s: a stitch is `stitch A B C RATIO`, vertices counted from 0 of which A is sewn to B (ratio 0), "
                     "to C (1) or to a point between them, or `stitch A B`",
                     what);
}

static weft_status obj_add_thread(obj_reader* r, const double n[4])
{
    if (!mem_grow((void**)&r->thread, &r->thread_capacity, r->thread_count + 1, sizeof(weft_thread)))
    {
        return obj_no_room(r);
    }
    r->thread[r->thread_count++] = (weft_thread){{{(int)n[0], -1}, {(int)n[1], (int)n[2]}}, {0.0, n[3]}};
    return WEFT_OK;
}

// A B, or A B C RATIO: to the point of the edge B C that the ratio says.
static weft_status obj_read_stitch(obj_reader* r, const char* s)
{
    double n[4] = {-1.0, -1.0, -1.0, -1.0};
    TRY(obj_read_numbers(r, s, 2, 4, n));
    bool edge = n[2] >= 0.0;
    for (int k = 0; k < (edge ? 3 : 2); k++)
    {
        if (n[k] != floor(n[k]) || n[k] < 0.0 || n[k] > COUNT_MAX)
        {
            return obj_bad_stitch(r, "a vertex is a whole number");
        }
    }
    if (edge && !(n[3] >= 0.0 && n[3] <= 1.0))
    {
        return obj_bad_stitch(r, "the ratio is from 0 to 1");
    }
    r->stitch_line = r->lines.line_number;
    bool inside = edge && n[3] > 0.0 && n[3] < 1.0;
    int a = (int)n[0], b = (int)n[edge && n[3] == 1.0 ? 2 : 1];
    if (a == b || (inside && (n[0] == n[2] || n[1] == n[2])))
    {
        return obj_bad_stitch(r, "a vertex is sewn to itself");
    }
    if (inside)
    {
        return obj_add_thread(r, n);
    }
    return int_list_push(&r->stitch, a) && int_list_push(&r->stitch, b) ? WEFT_OK : obj_no_room(r);
}

static weft_status obj_read_object(obj_reader* r, const char* s)
{
    return obj_scope_enter(r, &r->object, s);
}

static weft_status obj_read_group(obj_reader* r, const char* s)
{
    return obj_scope_enter(r, &r->group, s);
}

static weft_status obj_read_material(obj_reader* r, const char* s)
{
    return obj_scope_enter(r, &r->material, s);
}

// The rest of the line, be it one name or several.
static weft_status obj_read_library(obj_reader* r, const char* s)
{
    obj_scope line = {0};
    int index;
    weft_status status = obj_is_end(obj_skip_blanks(s)) ? WEFT_OK : obj_scope_enter(r, &line, s);
    if (line.name && status == WEFT_OK && name_table_add(&r->libraries, line.name, &index) != WEFT_OK)
    {
        status = obj_no_room(r);
    }
    mem_free(line.name);
    return status;
}

// The comment of runs: vertices that are one.
static weft_status obj_read_one(obj_reader* r, const char* s)
{
    int place = r->one.count;
    r->one_line = r->lines.line_number;
    bool room = int_list_push(&r->one, 0);
    for (s = obj_skip_blanks(s); *s && room; s = obj_skip_blanks(s))
    {
        int64_t index = 0;
        int vertex = 0;
        if (!obj_scan_index(&s, &index) || !obj_is_word_end(s) || index < 1)
        {
            return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, r->lines.line_number,
                             "`#weft one` is followed by vertices that are one, counted from 1; remove the line if "
                             "none are");
        }
        TRY(obj_resolve(r, index, r->vertex_count, "vertices", &vertex));
        room = int_list_push(&r->one, vertex);
    }
    if (room)
    {
        r->one.item[place] = r->one.count - place - 1;
    }
    return room ? WEFT_OK : obj_no_room(r);
}

static weft_status obj_ignore(obj_reader* r, const char* s)
{
    (void)r, (void)s;
    return WEFT_OK;
}

static weft_status obj_skip_element(obj_reader* r, const char* s)
{
    (void)s;
    if (r->skipped_count == 0)
    {
        bool lines = r->form == MESH_LINES;
        log_warning("%s:%d: %s, points, curves and surfaces are ignored: only %s", r->lines.path, r->lines.line_number,
                    lines ? "faces" : "lines", lines ? "lines (l) are read here" : "faces (f) become cloth");
    }
    r->skipped_count += r->skipped_count < INT32_MAX;
    return WEFT_OK;
}

static weft_status obj_read_polygon(obj_reader* r, const char* s)
{
    return r->form == MESH_SHEET ? obj_read_face(r, s) : obj_skip_element(r, s);
}

static weft_status obj_read_polyline(obj_reader* r, const char* s)
{
    if (r->form == MESH_LINES)
    {
        return obj_read_face(r, s);
    }
    r->skipped_lines += r->skipped_lines < INT32_MAX;
    return r->any_form ? WEFT_OK : obj_skip_element(r, s);
}

static void obj_warn_unknown(obj_reader* r, const char* line)
{
    if (r->unknown_count < WARNINGS_MAX)
    {
        char text[EXCERPT_SIZE];
        log_warning("%s:%d: '%s' is not understood; the line is ignored", r->lines.path, r->lines.line_number,
                    obj_excerpt(line, true, text));
    }
    r->unknown_count += r->unknown_count < INT32_MAX;
}

static const struct
{
    const char* word;
    obj_statement* read;
} obj_statements[] = {
    {"v", obj_read_vertex},     {"f", obj_read_polygon},  {"vt", obj_read_texcoord},   {"vn", obj_ignore},
    {"o", obj_read_object},     {"g", obj_read_group},    {"s", obj_ignore},           {"usemtl", obj_read_material},
    {"mtllib", obj_read_library},     {"usemap", obj_ignore},   {"maplib", obj_ignore},      {"vp", obj_ignore},
    {"vw", obj_ignore},         {"mg", obj_ignore},       {"lod", obj_ignore},         {"bevel", obj_ignore},
    {"c_interp", obj_ignore},   {"d_interp", obj_ignore}, {"shadow_obj", obj_ignore},  {"trace_obj", obj_ignore},
    {"l", obj_read_polyline},   {"p", obj_skip_element},  {"curv", obj_skip_element},  {"curv2", obj_skip_element},
    {"surf", obj_skip_element}, {"cstype", obj_ignore},   {"deg", obj_ignore},         {"bmat", obj_ignore},
    {"step", obj_ignore},       {"parm", obj_ignore},     {"trim", obj_ignore},        {"hole", obj_ignore},
    {"scrv", obj_ignore},       {"sp", obj_ignore},       {"end", obj_ignore},         {"con", obj_ignore},
    {"ctech", obj_ignore},      {"stech", obj_ignore},    {"stitch", obj_read_stitch},
};

static weft_status obj_read_line(obj_reader* r, const char* line)
{
    static const char one[] = "#weft one ";
    const char* word = obj_skip_blanks(line);
    if (obj_is_end(word))
    {
        return strncmp(word, one, sizeof(one) - 1) == 0 ? obj_read_one(r, word + sizeof(one) - 1) : WEFT_OK;
    }
    size_t length = 0;
    while (word[length] && !obj_is_blank(word[length]))
    {
        length++;
    }
    for (size_t k = 0; k < sizeof(obj_statements) / sizeof(obj_statements[0]); k++)
    {
        const char* known = obj_statements[k].word;
        if (strncmp(known, word, length) == 0 && known[length] == 0)
        {
            return obj_statements[k].read(r, word + length);
        }
    }
    obj_warn_unknown(r, word);
    return WEFT_OK;
}

static weft_status obj_read_lines(obj_reader* r)
{
    for (;;)
    {
        char* line;
        TRY(text_lines_next(&r->lines, &line, r->error));
        if (!line)
        {
            break;
        }
        TRY(obj_read_line(r, line));
    }
    if (r->unknown_count > WARNINGS_MAX)
    {
        log_warning("%s: %d lines in all were not understood and are ignored", r->lines.path, r->unknown_count);
    }
    if (r->any_form && r->start.count > 0 && r->skipped_lines > 0)
    {
        log_warning("%s: has faces and %d lines (l); the lines are ignored", r->lines.path, r->skipped_lines);
    }
    if (r->start.count == 0)
    {
        bool lines = r->form == MESH_LINES;
        return error_set(r->error, WEFT_BAD_INPUT, r->lines.path, 0,
                         "has no %s among its %d vertices: export the mesh with its %s",
                         lines ? "polylines (l lines)" : "faces (f lines)", r->vertex_count, lines ? "lines" : "faces");
    }
    return WEFT_OK;
}

static void obj_reader_finish(obj_reader* r)
{
    text_lines_close(&r->lines);
    mem_free(r->position);
    mem_free(r->texcoord);
    mem_free(r->start.item);
    mem_free(r->line.item);
    mem_free(r->corner.item);
    mem_free(r->mapped.item);
    mem_free(r->stitch.item);
    mem_free(r->thread);
    mem_free(r->one.item);
    name_table_finish(&r->libraries);
    obj_scope* scopes[3] = {&r->object, &r->group, &r->material};
    for (int k = 0; k < 3; k++)
    {
        mem_free(scopes[k]->name);
        mem_free(scopes[k]->face.item);
        name_table_finish(&scopes[k]->table);
    }
}

static weft_status obj_check_texcoords(const mesh* m, weft_error* error)
{
    for (int face = 0; face < m->face_count && m->face_texcoord; face++)
    {
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            if (m->face_texcoord[k] >= m->texcoord_count)
            {
                return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                                 "face %d uses texture coordinate %lld, but there are only %d (vt lines): correct the "
                                 "index or export again",
                                 face + 1, (long long)m->face_texcoord[k] + 1, m->texcoord_count);
            }
        }
    }
    return WEFT_OK;
}

// *only_lines (may be NULL): the file has no f, and l lines, which form does not ask for; nothing is then said.
static weft_status obj_parse(const char* path, mesh_form form, mesh* out, bool* only_lines, weft_error* error)
{
    obj_reader r = {.error = error, .form = form, .any_form = only_lines};
    r.object.index = r.group.index = r.material.index = -1;
    weft_status status = text_lines_open(path, &r.lines, error);
    status = status == WEFT_OK ? obj_read_lines(&r) : status;
    if (only_lines)
    {
        *only_lines = r.start.count == 0 && r.skipped_lines > 0;
    }
    status = status == WEFT_OK ? obj_move_arrays(&r, out) : status;
    obj_reader_finish(&r);
    return status;
}

static weft_status obj_read_file(const char* path, const obj_options* options, mesh* out, weft_error* error)
{
    bool only_lines = false, any = options && options->any_form;
    bool solid = options && !any && options->form == MESH_SOLID;
    mesh_form form = options && !any && !solid ? options->form : MESH_SHEET;
    weft_status status = obj_parse(path, form, out, any ? &only_lines : NULL, error);
    if (status != WEFT_OK && only_lines)
    {
        status = obj_parse(path, MESH_LINES, out, NULL, error);
    }
    TRY(status);
    TRY(mesh_check_faces(out, error));
    TRY(solid ? mesh_read_ele(path, -1, out, error) : WEFT_OK);
    return obj_check_texcoords(out, error);
}

weft_status mesh_from_obj(const char* path, const obj_options* options, mesh* out, weft_error* error)
{
    WEFT_ASSERT(path && out);
    *out = (mesh){0};
    if (options && options->form == MESH_SOLID && (options->object || options->weld != 0.0))
    {
        return error_set(
            error, WEFT_UNSUPPORTED, path, 0,
            "the vertices of a solid are those of its tetrahedra: neither an object of the file nor welding "
            "can be asked for");
    }
    weft_status status = obj_read_file(path, options, out, error);
    if (status == WEFT_OK && out->stitch_count + out->thread_count > 0 && options &&
        (options->object || options->weld != 0.0))
    {
        status = error_set(error, WEFT_UNSUPPORTED, path, 0,
                           "has stitches, which are of all of its vertices: neither an object of the file nor welding "
                           "can be asked for");
    }
    if (status == WEFT_OK && options && options->object)
    {
        status = mesh_select(out, options->object, error);
    }
    if (status == WEFT_OK && options && options->weld != 0.0)
    {
        status = mesh_weld(out, options->weld, error);
    }
    else if (status == WEFT_OK && out->same && !(options && options->keep_given))
    {
        status = mesh_weld_same(out, error);
    }
    if (status != WEFT_OK)
    {
        mesh_finish(out);
    }
    return status;
}

// The reader of `weft fit`: a table in CSV whose header names its columns, quantity, value and unit, and where they are
// needed direction, at and at_unit (the load of an extension). Quantities go by what they are called, or by the symbols
// of the sheets of KES (Kawabata 1980: W, B, G, EMT, LT, WT) and FAST (De Boos and Tester 1994: W, C, B, G, E5, E20,
// E100, EB5), with the direction behind them: B-1 is warp, B-2 weft. Units are in a column of their own, in brackets
// behind the quantity, or behind the number.
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

enum
{
    FIELDS_MAX = 32,
    LINE_BYTES = 4094, // bytes
    ROWS_MAX = 100000
};

#define GRAM_FORCE 9.80665e-3 // N

weft_status fit_fail(weft_error* error, const fit_sheet* sheet, int line, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *error = (weft_error){.status = WEFT_BAD_INPUT, .line = line};
    snprintf(error->file, sizeof(error->file), "%s", sheet->file);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return WEFT_BAD_INPUT;
}

// ---- units: letters and digits alone count, so that "gf cm2/cm", "gf.cm²/cm" and "gf*cm^2/cm" are one

typedef struct unit
{
    const char* name;
    double si;
} unit;

static const unit weights[] = {{"kg/m2", 1.0},   {"g/m2", 1e-3},        {"gsm", 1e-3},
                               {"mg/cm2", 1e-2}, {"oz/yd2", 0.0339057}, {NULL, 0.0}};
static const unit lengths[] = {{"m", 1.0}, {"cm", 1e-2}, {"mm", 1e-3}, {"in", 0.0254}, {NULL, 0.0}};
static const unit bendings[] = {{"nm", 1.0},
                                {"nm2/m", 1.0},
                                {"mnm", 1e-3},
                                {"unm", 1e-6},
                                {"gfcm2/cm", GRAM_FORCE * 1e-2},
                                {"gfcm", GRAM_FORCE * 1e-2},
                                {"mgcm", GRAM_FORCE * 1e-5},
                                {"mncm", 1e-5},
                                {NULL, 0.0}};
static const unit loads[] = {{"n/m", 1.0},  {"n/cm", 1e2},  {"n/5cm", 20.0},        {"gf/cm", GRAM_FORCE * 1e2},
                             {"kn/m", 1e3}, {"cn/cm", 1.0}, {"lbf/in", 175.126835}, {NULL, 0.0}};
static const unit shears[] = {{"n/m", 1.0},
                              {"n/mrad", 1.0},
                              {"n/mdeg", 57.29577951308232},
                              {"gf/cmdeg", GRAM_FORCE * 1e2 * 57.29577951308232},
                              {"gf/cmrad", GRAM_FORCE * 1e2},
                              {NULL, 0.0}};
static const unit strains[] = {{"%", 0.01}, {"1", 1.0}, {"m/m", 1.0}, {"mm/m", 1e-3}, {NULL, 0.0}};
static const unit shares[] = {{"1", 1.0}, {"%", 0.01}, {NULL, 0.0}};
static const unit works[] = {{"j/m2", 1.0}, {"n/m", 1.0}, {"gfcm/cm2", GRAM_FORCE * 1e2}, {NULL, 0.0}};

static void squeeze(const char* text, char* out, size_t size)
{
    size_t used = 0;
    for (const unsigned char* c = (const unsigned char*)text; *c && used + 2 < size; c++)
    {
        if (c[0] == 0xc2 && c[1] == 0xb2) // a raised 2
        {
            out[used++] = '2';
            c++;
        }
        else if ((c[0] == 0xc2 && c[1] == 0xb5) || (c[0] == 0xce && c[1] == 0xbc)) // micro, mu
        {
            out[used++] = 'u';
            c++;
        }
        else if (isalnum(*c) || *c == '/' || *c == '%')
        {
            out[used++] = (char)tolower(*c);
        }
    }
    out[used] = 0;
}

static bool unit_find(const unit* units, const char* text, double* si)
{
    char name[64];
    squeeze(text, name, sizeof(name));
    for (; units->name; units++)
    {
        if (strcmp(units->name, name) == 0)
        {
            *si = units->si;
            return true;
        }
    }
    return false;
}

// ---- quantities

typedef struct kind
{
    const char* names; // squeezed, with blanks between them
    fit_quantity quantity;
    const unit* units;
    const char* example;
    double load;   // N/m: of an extension at a load that its name says; 0: a column says it
    bool optional; // without a unit it is a plain share
} kind;

static const kind kinds[] = {
    {"weight w mass density arealdensity", FIT_WEIGHT, weights, "g/m2", 0.0, false},
    {"bending b bendingrigidity flexuralrigidity", FIT_BENDING, bendings, "gf cm2/cm, uN m or N m", 0.0, false},
    {"bendinglength c", FIT_BENDING_LENGTH, lengths, "mm", 0.0, false},
    {"overhang", FIT_OVERHANG, lengths, "mm", 0.0, false},
    {"shear g shearrigidity", FIT_SHEAR, shears, "gf/cm deg or N/m", 0.0, false},
    {"extension e", FIT_EXTENSION, strains, "%", 0.0, false},
    {"e5 eb5", FIT_EXTENSION, strains, "%", 5.0 * GRAM_FORCE * 1e2, false},
    {"e20", FIT_EXTENSION, strains, "%", 20.0 * GRAM_FORCE * 1e2, false},
    {"e100", FIT_EXTENSION, strains, "%", 100.0 * GRAM_FORCE * 1e2, false},
    {"emt em", FIT_EXTENSION, strains, "%", 500.0 * GRAM_FORCE * 1e2, false},
    {"lt", FIT_LINEARITY, shares, "1", 0.0, true},
    {"wt", FIT_WORK, works, "gf cm/cm2", 0.0, false},
    {"name fabric 2hb 2hg 2hg5 rt lc wc rc t t2 t100 st to tm thickness miu mmd smd f formability rs he", FIT_UNUSED,
     NULL, "", 0.0, true},
};

static bool is_word(const char* words, const char* word)
{
    size_t length = strlen(word);
    for (const char* at = words; *at; at += strcspn(at, " "), at += *at == ' ')
    {
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
        {
            return true;
        }
    }
    return false;
}

static const kind* kind_of(const char* name)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && *name; k++)
    {
        if (is_word(kinds[k].names, name))
        {
            return &kinds[k];
        }
    }
    return NULL;
}

static bool direction_of(const char* text, fit_direction* out)
{
    static const char* const words[FIT_DIRECTIONS] = {" both mean isotropic", "warp 1 w", "weft 2 fill filling f",
                                                      "bias 3 45 45deg b"};
    char name[64];
    squeeze(text, name, sizeof(name));
    for (int d = 0; d < FIT_DIRECTIONS; d++)
    {
        if (is_word(words[d], name) || (d == FIT_BOTH && !name[0]))
        {
            *out = (fit_direction)d;
            return true;
        }
    }
    return false;
}

// A symbol with its direction behind it: B-1, EMT-2, C (bias). What is in brackets, or behind the last "-", "_" or
// blank, is a direction or belongs to the name.
static const kind* kind_and_direction(const char* text, fit_direction* direction)
{
    char whole[128], name[128];
    squeeze(text, whole, sizeof(whole));
    const kind* found = kind_of(whole);
    if (found)
    {
        *direction = strcmp(whole, "eb5") == 0 ? FIT_BIAS : *direction;
        return found;
    }
    for (size_t at = strlen(text); at > 0 && !found; at--)
    {
        fit_direction own;
        snprintf(name, sizeof(name), "%.*s", (int)(at - 1), text);
        squeeze(name, whole, sizeof(whole));
        if (strchr("-_ (:", text[at - 1]) && direction_of(text + at, &own) && own != FIT_BOTH)
        {
            found = kind_of(whole);
            *direction = found ? own : *direction;
        }
    }
    return found;
}

// ---- lines

// A field that is in quotes, in place: two of them are one. The first character behind it; NULL: they are not closed.
static char* unquote(char* at)
{
    char* out = at;
    for (; *at && (at[0] != '"' || at[1] == '"'); at++)
    {
        at += at[0] == '"';
        *out++ = *at;
    }
    bool closed = *at == '"';
    char* behind = at + closed;
    memset(out, 0, (size_t)(behind - out));
    return closed ? behind : NULL;
}

static void trim(char* text)
{
    for (char* end = text + strlen(text); end > text && isspace((unsigned char)end[-1]); *--end = 0)
    {
    }
}

// Fields of a line in place, without quotes and blanks around them; -1: quotes are opened and not closed.
static int split(char* line, char separator, char* fields[FIELDS_MAX])
{
    const char stops[] = {separator, 0};
    int count = 0;
    for (char* at = line; at && count < FIELDS_MAX;)
    {
        at += strspn(at, separator == '\t' ? " " : " \t");
        bool quoted = *at == '"';
        fields[count] = at + quoted;
        char* behind = quoted ? unquote(at + 1) : at;
        if (!behind)
        {
            return -1;
        }
        char* stop = behind + strcspn(behind, stops);
        at = *stop ? stop + 1 : NULL;
        *(quoted ? behind : stop) = 0;
        trim(fields[count++]);
    }
    return count;
}

static weft_status fail_quotes(const fit_sheet* sheet, int line, weft_error* error)
{
    return fit_fail(error, sheet, line, "quotes are opened and not closed in this line; close them, or leave them out");
}

typedef enum column
{
    COLUMN_QUANTITY,
    COLUMN_DIRECTION,
    COLUMN_VALUE,
    COLUMN_UNIT,
    COLUMN_AT,
    COLUMN_AT_UNIT,
    COLUMNS
} column;

static const char* const column_names[COLUMNS] = {"quantity", "direction", "value", "unit", "at", "at_unit"};
// What they are called as well.
static const char* const column_words[COLUMNS] = {
    "quantity parameter property symbol", "direction", "value mean average", "unit units", "at load", "at_unit load_unit"};

typedef struct header
{
    char separator;
    int place[COLUMNS]; // -1: there is none
} header;

static column column_of(const char* text)
{
    char name[32];
    snprintf(name, sizeof(name), "%.31s", text);
    for (char* at = name; *at; at++)
    {
        *at = *at == ' ' || *at == '-' ? '_' : (char)tolower((unsigned char)*at);
    }
    int c = 0;
    while (c < COLUMNS && !(name[0] && is_word(column_words[c], name)))
    {
        c++;
    }
    return (column)c;
}

// Columns of dates, names and the like are passed over, and said to be.
static weft_status read_header(fit_sheet* sheet, int line, char* text, header* out, weft_error* error)
{
    char* fields[FIELDS_MAX];
    const char* unknown = NULL;
    size_t used = 0;
    out->separator = strchr(text, ';') ? ';' : strchr(text, '\t') ? '\t' : ',';
    int count = split(text, out->separator, fields);
    for (int c = 0; c < COLUMNS; c++)
    {
        out->place[c] = -1;
    }
    for (int k = 0; k < count; k++)
    {
        column c = column_of(fields[k]);
        if (c < COLUMNS)
        {
            out->place[c] = k;
        }
        else if (fields[k][0])
        {
            unknown = unknown ? unknown : fields[k];
            int length = snprintf(sheet->passed_over + used, sizeof(sheet->passed_over) - used, "%s`%.40s`",
                                  used > 0 ? ", " : "", fields[k]);
            used = used + (size_t)length < sizeof(sheet->passed_over) ? used + (size_t)length : used;
            sheet->passed_over[used] = 0;
        }
    }
    if (count < 0)
    {
        return fail_quotes(sheet, line, error);
    }
    static const column needed[] = {COLUMN_QUANTITY, COLUMN_VALUE};
    for (int k = 0; k < 2; k++)
    {
        if (out->place[needed[k]] < 0)
        {
            return fit_fail(error, sheet, line,
                            unknown ? "`%.60s` is no column; a sheet begins with a line of the columns quantity, "
                                      "direction, value, unit, at, at_unit"
                                    : "the column `%s` is missing; a sheet begins with a line such as "
                                      "`quantity,direction,value,unit,at,at_unit`",
                            unknown ? unknown : column_names[needed[k]]);
        }
    }
    return WEFT_OK;
}

// Whether its only comma is a decimal one: where fields are parted by ";" it is. Elsewhere 1,150 may be a thousand and
// more; 0,150 and 1,15 are not.
static bool is_decimal(const char* text, char separator)
{
    const char* comma = strchr(text, ',');
    bool only = comma && !strchr(comma + 1, ',') && !strchr(text, '.');
    bool thousand = only && strspn(comma + 1, "0123456789") == 3 && !comma[4] && !(text[0] == '0' && comma == text + 1);
    return only && (separator == ';' || !thousand);
}

static bool read_number(const char* text, char separator, double* out)
{
    char copy[64];
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
    {
        return false;
    }
    if (is_decimal(copy, separator))
    {
        *strchr(copy, ',') = '.';
    }
    return parse_double(copy, out) && isfinite(*out);
}

static weft_status sheet_add(fit_sheet* sheet, const fit_row* row, weft_error* error)
{
    if (sheet->count == sheet->capacity)
    {
        int capacity = sheet->capacity ? 2 * sheet->capacity : 64;
        fit_row* rows = capacity <= ROWS_MAX ? realloc(sheet->rows, (size_t)capacity * sizeof(fit_row)) : NULL;
        if (!rows)
        {
            return fit_fail(error, sheet, row->line, "more than %d measurements", sheet->capacity);
        }
        sheet->rows = rows;
        sheet->capacity = capacity;
    }
    sheet->rows[sheet->count++] = *row;
    return WEFT_OK;
}

static const char* field(const header* h, char** fields, int count, column c)
{
    return h->place[c] >= 0 && h->place[c] < count ? fields[h->place[c]] : "";
}

// A number with its unit, from two columns: the unit may be behind the number instead, or, for a quantity, behind its
// name.
typedef struct measure
{
    char number[64], unit[64];
} measure;

static measure measure_of(const char* value, const char* unit, const char* bracket)
{
    measure m;
    size_t length = strspn(value, "+-.,0123456789");
    length += (value[length] == 'e' || value[length] == 'E') && strchr("+-0123456789", value[length + 1]) && value[length + 1]
                  ? 1 + strspn(value + length + 1, "+-0123456789")
                  : 0;
    const char* behind = value + length + strspn(value + length, " ");
    bool both = length > 0 && behind[0] && !unit[0];
    snprintf(m.number, sizeof(m.number), "%.*s", both ? (int)length : 63, value);
    snprintf(m.unit, sizeof(m.unit), "%s", unit[0] ? unit : both ? behind : bracket);
    return m;
}

static weft_status read_load(const fit_sheet* sheet, const header* h, char** fields, int count, fit_row* row,
                             weft_error* error)
{
    double si = 1.0;
    measure m = measure_of(field(h, fields, count, COLUMN_AT), field(h, fields, count, COLUMN_AT_UNIT), "");
    if (!read_number(m.number, h->separator, &row->load) || !(row->load > 0.0))
    {
        return fit_fail(error, sheet, row->line,
                        "an extension needs the load that it was measured at, a positive number in the column `at`, "
                        "not `%.40s`",
                        m.number);
    }
    if (!unit_find(loads, m.unit, &si))
    {
        return fit_fail(error, sheet, row->line,
                        m.unit[0] ? "`%.40s` is no unit of a load that is known; write it in N/m or gf/cm"
                                  : "the load has no unit%.0s; write one in the column `at_unit`, N/m or gf/cm",
                        m.unit);
    }
    row->load *= si;
    return WEFT_OK;
}

// The value in SI units, with the load of an extension.
static weft_status read_value(const fit_sheet* sheet, const header* h, char** fields, int count, const kind* k,
                              const char* bracket, fit_row* row, weft_error* error)
{
    const char *value = field(h, fields, count, COLUMN_VALUE), *name = field(h, fields, count, COLUMN_QUANTITY);
    measure m = measure_of(value, field(h, fields, count, COLUMN_UNIT), bracket);
    double si = 1.0;
    if (!value[0])
    {
        return fit_fail(error, sheet, row->line, "%.40s has no value; write one, or leave the line out", name);
    }
    if (!read_number(m.number, h->separator, &row->value) || !(row->value > 0.0))
    {
        return fit_fail(error, sheet, row->line,
                        strchr(value, ',') ? "`%.40s` of %.40s is no positive number that has one meaning; write it with a "
                                             "decimal point and without other marks"
                                           : "`%.40s` of %.40s is no positive number",
                        value, name);
    }
    if (!m.unit[0] && !k->optional)
    {
        return fit_fail(error, sheet, row->line, "%.40s has no unit; write one in the column `unit`, such as %s", name,
                        k->example);
    }
    // Sheets write a dash where there is no unit.
    if (m.unit[0] && !(k->optional && strcmp(m.unit, "-") == 0) && !unit_find(k->units, m.unit, &si))
    {
        return fit_fail(error, sheet, row->line, "`%.40s` is no unit of %.40s that is known; write it in %s", m.unit,
                        name, k->example);
    }
    row->value *= si;
    row->load = k->load;
    bool stated = field(h, fields, count, COLUMN_AT)[0] != 0;
    return k->quantity == FIT_EXTENSION && (k->load == 0.0 || stated) ? read_load(sheet, h, fields, count, row, error)
                                                                      : WEFT_OK;
}

// Takes the brackets at the end of a name off, if no direction is in them.
static void take_bracket(char* name, char* bracket, size_t size)
{
    size_t length = strlen(name);
    char* open = length > 0 && strchr(")]", name[length - 1]) ? strrchr(name, name[length - 1] == ')' ? '(' : '[') : NULL;
    fit_direction direction;
    bracket[0] = 0;
    if (open && open > name)
    {
        snprintf(bracket, size, "%.*s", (int)(name + length - 1 - (open + 1)), open + 1);
        if (direction_of(bracket, &direction))
        {
            bracket[0] = 0;
            return;
        }
        *open = 0;
        trim(name);
    }
}

static weft_status read_row(fit_sheet* sheet, const header* h, int line, char* text, weft_error* error)
{
    char* fields[FIELDS_MAX];
    int count = split(text, h->separator, fields);
    if (count < 0)
    {
        return fail_quotes(sheet, line, error);
    }
    const char* way = field(h, fields, count, COLUMN_DIRECTION);
    char name[128], bracket[64];
    snprintf(name, sizeof(name), "%s", field(h, fields, count, COLUMN_QUANTITY));
    take_bracket(name, bracket, sizeof(bracket));
    fit_row row = {.line = line};
    if (!direction_of(way, &row.direction))
    {
        return fit_fail(error, sheet, line, "`%.40s` is no direction; it is warp, weft or bias, or empty for both",
                        way);
    }
    const kind* k = kind_and_direction(name, &row.direction);
    if (!k)
    {
        return fit_fail(error, sheet, line,
                        "`%.60s` is no quantity that is known: weight, bending, bending length, overhang, shear, "
                        "extension; or W, B, C, G, E5, E20, E100, EB5, EMT, LT, WT with -1 for warp and -2 for weft",
                        name);
    }
    if (k->quantity == FIT_UNUSED)
    {
        return WEFT_OK;
    }
    row.quantity = k->quantity;
    weft_status status = read_value(sheet, h, fields, count, k, bracket, &row, error);
    return status == WEFT_OK ? sheet_add(sheet, &row, error) : status;
}

// Empty, a comment, or Excel's word on what parts fields.
static bool is_nothing(const char* line)
{
    return line[strspn(line, " \t,;\"")] == 0 || line[0] == '#' || strncmp(line, "sep=", 4) == 0;
}

weft_status fit_read(const char* file, fit_sheet* out, weft_error* error)
{
    *out = (fit_sheet){.file = file};
    fit_text text;
    header h = {0};
    weft_status status = fit_text_read(out, &text, error);
    char* line = NULL;
    for (int k = 1; status == WEFT_OK && (line = fit_text_line(&text)); k++)
    {
        if (strlen(line) > LINE_BYTES)
        {
            status = fit_fail(error, out, k, "a line of more than %d characters is no line of a sheet", LINE_BYTES);
        }
        else if (!is_nothing(line))
        {
            status = h.separator ? read_row(out, &h, k, line, error) : read_header(out, k, line, &h, error);
        }
    }
    fit_text_free(&text);
    if (status == WEFT_OK && out->count == 0)
    {
        status = fit_fail(error, out, 0,
                          "holds no measurement; a line of columns, "
                          "`quantity,direction,value,unit,at,at_unit`, and a line for each is what it should hold");
    }
    return status;
}

void fit_sheet_free(fit_sheet* sheet)
{
    free(sheet->rows);
    *sheet = (fit_sheet){0};
}

// Lists of marks: which bodies squeeze which vertices of cloth. Sorted by vertex and body, each pair once, so that a
// look-up takes the logarithm of their number, and bodies may be as many as there are.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/contact.h"

static int compare_places(const squeeze_mark* a, const squeeze_mark* b)
{
    return a->vertex != b->vertex ? (a->vertex > b->vertex) - (a->vertex < b->vertex)
                                  : (a->body > b->body) - (a->body < b->body);
}

static int compare_marks(const void* left, const void* right)
{
    return compare_places(left, right);
}

// What crossed at the start stays so, whatever squeezes it as well.
static int rank(const squeeze_mark* mark)
{
    return mark->kind == MARK_SQUEEZED ? MARK_KINDS : mark->kind;
}

// 0 says nothing.
static int stronger_side(int a, int b)
{
    return a == 0 || b == 0 ? a + b : int_max(a, b);
}

// Two marks of one vertex and one body, in any order: the stronger of each.
static void join(squeeze_mark* to, const squeeze_mark* other)
{
    bool same = to->kind == other->kind, stays = rank(to) < rank(other);
    to->through = int_max(to->through, other->through);
    to->lift = fmax(to->lift, other->lift);
    to->side = same ? stronger_side(to->side, other->side) : stays ? to->side : other->side;
    to->kind = stays ? to->kind : other->kind;
}

weft_status marks_add(mark_list* list, squeeze_mark mark)
{
    if (!mem_grow((void**)&list->item, &list->capacity, list->count + 1, sizeof(squeeze_mark)))
    {
        return WEFT_NO_MEMORY;
    }
    list->item[list->count++] = mark;
    return WEFT_OK;
}

void marks_sort(mark_list* list)
{
    int kept = 0;
    if (list->count > 1)
    {
        qsort(list->item, (size_t)list->count, sizeof(squeeze_mark), compare_marks);
    }
    for (int k = 0; k < list->count; k++)
    {
        if (kept > 0 && compare_places(&list->item[kept - 1], &list->item[k]) == 0)
        {
            join(&list->item[kept - 1], &list->item[k]);
        }
        else
        {
            list->item[kept++] = list->item[k];
        }
    }
    list->count = kept;
}

// Where the first mark is that does not come before this place.
static int marks_at(const mark_list* list, int vertex, int body)
{
    const squeeze_mark wanted = {.vertex = vertex, .body = body};
    int low = 0, high = list->count;
    while (low < high)
    {
        int middle = low + (high - low) / 2;
        bool before = compare_places(&list->item[middle], &wanted) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

squeeze_mark* marks_find(const mark_list* list, int vertex, int body)
{
    int at = marks_at(list, vertex, body);
    bool found = at < list->count && list->item[at].vertex == vertex && list->item[at].body == body;
    return found ? &list->item[at] : NULL;
}

int marks_first(const mark_list* list, int vertex)
{
    return marks_at(list, vertex, 0);
}

weft_status marks_copy(mark_list* to, const mark_list* from)
{
    if (!mem_grow((void**)&to->item, &to->capacity, from->count, sizeof(squeeze_mark)))
    {
        return WEFT_NO_MEMORY;
    }
    if (from->count > 0)
    {
        memcpy(to->item, from->item, (size_t)from->count * sizeof(squeeze_mark));
    }
    to->count = from->count;
    return WEFT_OK;
}

void marks_swap(mark_list* a, mark_list* b)
{
    mark_list other = *a;
    *a = *b;
    *b = other;
}

void marks_finish(mark_list* list)
{
    mem_free(list->item);
    *list = (mark_list){0};
}

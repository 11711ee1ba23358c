// UTF-8: whether a text is, and what old files have in its place.
#include "core/core.h"

// The length of the UTF-8 character at `at`, 0 when it is none (RFC 3629: no overlong forms, no surrogates).
static int utf8_length(const unsigned char* at)
{
    if (at[0] < 0x80)
    {
        return 1;
    }
    int length = at[0] >= 0xC2 && at[0] <= 0xDF   ? 2
                 : (at[0] & 0xF0) == 0xE0         ? 3
                 : at[0] >= 0xF0 && at[0] <= 0xF4 ? 4
                                                  : 0;
    for (int k = 1; k < length; k++)
    {
        if ((at[k] & 0xC0) != 0x80)
        {
            return 0;
        }
    }
    bool overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    bool outside = (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF4 && at[1] > 0x8F);
    return overlong || outside ? 0 : length;
}

bool text_is_utf8(const char* text)
{
    const unsigned char* at = (const unsigned char*)text;
    while (*at != 0)
    {
        int length = utf8_length(at);
        if (length == 0)
        {
            return false;
        }
        at += length;
    }
    return true;
}

// Programs of Windows wrote names in their own code page: most of it is Latin-1.
void text_from_latin1(const char* text, char* out)
{
    for (const unsigned char* at = (const unsigned char*)text; *at; at++)
    {
        if (*at < 0x80)
        {
            *out++ = (char)*at;
        }
        else if (*at < 0xA0)
        {
            *out++ = '_'; // quotation marks and the like, in other places of Unicode
        }
        else
        {
            *out++ = (char)(0xC0 | *at >> 6);
            *out++ = (char)(0x80 | (*at & 0x3F));
        }
    }
    *out = 0;
}

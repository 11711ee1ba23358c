// Words in text formats: UTF-8 stays as it is, whatever stands beside it; what no reader takes becomes question marks.
#include "common.h"

#include <string.h>

#include "export/export.h"

static void expect(const char* words, const char* clean)
{
    char out[80];
    assert_true(strlen(words) + 5 <= sizeof(out));
    export_text_clean(words, out);
    assert_string_equal(out, clean);
}

static void test_characters_of_all_lengths(void** unused)
{
    (void)unused;
    static const char* const sound[] = {"", "sheet", "Bl\xc3\xbcte", "a\xc2\x80z", "\xdf\xbf", "5 \xe2\x82\xac", "\xe0\xa0\x80",
                                        "\xed\x9f\xbf", "\xee\x80\x80", "x\xf0\x9f\xa7\xb5y", "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf"};
    for (size_t k = 0; k < sizeof(sound) / sizeof(sound[0]); k++)
    {
        expect(sound[k], sound[k]);
    }
}

static void test_what_is_no_character(void** unused)
{
    (void)unused;
    expect("a\x80z", "a?z");                     // without a first byte
    expect("\xc0\xaf\xc1\xbf", "????");          // longer than needed
    expect("\xe0\x9f\xbfz", "???z");             //
    expect("\xf0\x8f\xbf\xbf", "????");          //
    expect("\xed\xa0\x80", "???");               // half of a pair
    expect("\xf4\x90\x80\x80\xf5", "?????");     // above the last
    expect("z\xc3", "z?");                       // cut
    expect("\xe2\x82", "??");                    //
    expect("\xf0\x9f\xa7z", "???z");             //
    expect("a\nb\x7f\x1f", "a?b??");             // control characters
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_characters_of_all_lengths),
                                       cmocka_unit_test(test_what_is_no_character)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

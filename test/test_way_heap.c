// The heap of ways: whatever was pushed comes back shortest first, ties by number.
#include "common.h"

#include "core/way_heap.h"

enum
{
    COUNT = 300
};

static void test_the_shortest_comes_first(void** unused)
{
    (void)unused;
    way_heap heap = {0};
    for (int turn = 0; turn < 3; turn++)
    {
        // Some are taken out on the way; of the rest each of 20 distances comes many times.
        for (int k = 0; k < COUNT; k++)
        {
            int vertex = 7 * k % COUNT;
            assert_int_equal(way_heap_push(&heap, (way){(double)(vertex * 13 % 20) / 4.0, vertex}), WEFT_OK);
            if (k % 3 == 2)
            {
                way least = heap.item[0];
                for (int j = 1; j < heap.count; j++)
                {
                    way other = heap.item[j];
                    bool nearer = other.distance < least.distance ||
                                  (other.distance == least.distance && other.vertex < least.vertex);
                    least = nearer ? other : least;
                }
                way got = way_heap_pop(&heap);
                assert_true(got.distance == least.distance && got.vertex == least.vertex);
            }
        }
        for (way last = {-1.0, -1}; heap.count > 0;)
        {
            way now = way_heap_pop(&heap);
            assert_true(now.distance > last.distance || (now.distance == last.distance && now.vertex > last.vertex));
            last = now;
        }
    }
    way_heap_finish(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_shortest_comes_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Garments and bodies that are made of tubes and panels.
#include "common_garments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"

maker* maker_create(void)
{
    maker* m = calloc(1, sizeof(maker));
    assert_non_null(m);
    return m;
}

int maker_vertex(maker* m, vec3 x)
{
    m->x[m->vertex_count] = x;
    return m->vertex_count++;
}

void maker_triangle(maker* m, int a, int b, int c)
{
    const int corner[3] = {a, b, c};
    memcpy(m->triangle + 3 * m->triangle_count++, corner, sizeof(corner));
}

// A tube from one end to the other; capped, a spindle with points at its ends.
void maker_tube(maker* m, vec3 from, vec3 to, double radius, int around, int along, bool capped)
{
    vec3 axis = v3_normalize(v3_sub(to, from));
    vec3 u = v3_normalize(v3_cross(axis, fabs(axis.x) < 0.7 ? v3(1, 0, 0) : v3(0, 1, 0))), w = v3_cross(axis, u);
    int first = m->vertex_count;
    for (int k = 0; k <= along; k++)
    {
        double s = (double)k / along, end = capped ? fmin(s, 1.0 - s) * along : along;
        double r = radius * (end < 3.0 ? sqrt(1.0 - (1.0 - (end + 0.5) / 3.5) * (1.0 - (end + 0.5) / 3.5)) : 1.0);
        for (int j = 0; j < around; j++)
        {
            double angle = 2.0 * PI * j / around;
            vec3 p = v3_madd(from, s, v3_sub(to, from));
            maker_vertex(m, v3_madd(v3_madd(p, r * cos(angle), u), r * sin(angle), w));
        }
    }
    for (int k = 0; k < along; k++)
    {
        for (int j = 0; j < around; j++)
        {
            int a = first + k * around + j, b = first + k * around + (j + 1) % around;
            maker_triangle(m, a, b, a + around);
            maker_triangle(m, b, b + around, a + around);
        }
    }
    for (int cap = 0; cap < 2 && capped; cap++)
    {
        int tip = maker_vertex(m, cap ? v3_madd(to, 0.02 * radius, axis) : v3_madd(from, -0.02 * radius, axis));
        int ring = first + (cap ? along * around : 0);
        for (int j = 0; j < around; j++)
        {
            int a = ring + j, b = ring + (j + 1) % around;
            cap ? maker_triangle(m, a, b, tip) : maker_triangle(m, b, a, tip);
        }
    }
}

// A T of two panels, front and back, sewn at its sides: open at the bottom, at both sleeves and at the neck. Cells of
// 2.5 cm: the trunk is 12 wide and 16 high, the sleeves 6 wide and 6 long, the neck 4 wide.
void maker_shirt(maker* m, vec3 middle, double scale, double depth)
{
    enum
    {
        WIDE = 24,
        HIGH = 16
    };
    static int grid[2][HIGH + 1][WIDE + 1];
    memset(grid, -1, sizeof(grid));
    for (int cell = 0; cell < WIDE * HIGH; cell++)
    {
        int i = cell % WIDE, j = cell / WIDE;
        bool trunk = i >= 6 && i < 18, sleeve = j >= 10;
        if (!trunk && !sleeve)
        {
            continue;
        }
        int corner[2][4];
        for (int k = 0; k < 8; k++)
        {
            int side = k / 4, a = i + (k % 4 == 1 || k % 4 == 2), b = j + (k % 4 >= 2);
            bool neck = b == HIGH && a > 9 && a < 15;
            bool seam = (b == HIGH && !neck) || (b == 10 && (a <= 6 || a >= 18)) || (b <= 10 && (a == 6 || a == 18));
            int* place = &grid[seam ? 0 : side][b][a];
            if (*place < 0)
            {
                double z = seam ? 0.0 : side == 0 ? depth : -depth;
                *place = maker_vertex(
                    m, v3(middle.x + scale * 0.025 * (a - WIDE / 2), middle.y + scale * 0.025 * b, middle.z + z));
            }
            corner[side][k % 4] = *place;
        }
        for (int side = 0; side < 2; side++)
        {
            const int* c = corner[side];
            side == 0 ? (maker_triangle(m, c[0], c[1], c[2]), maker_triangle(m, c[0], c[2], c[3]))
                      : (maker_triangle(m, c[0], c[2], c[1]), maker_triangle(m, c[0], c[3], c[2]));
        }
    }
}

void maker_write(maker* m, const char* name)
{
    FILE* out = fopen(scene_path(name), "w");
    assert_non_null(out);
    for (int i = 0; i < m->vertex_count; i++)
    {
        fprintf(out, "v %.9g %.9g %.9g\n", m->x[i].x, m->x[i].y, m->x[i].z);
    }
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* c = m->triangle + 3 * t;
        fprintf(out, "f %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1);
    }
    assert_int_equal(fclose(out), 0);
    free(m);
}

// A trunk with two arms that hang by some degrees: three pieces that cross each other, as bodies do.
void write_body(const char* name, double degrees)
{
    maker* m = maker_create();
    double c = cos(degrees * PI / 180.0), s = sin(degrees * PI / 180.0);
    maker_tube(m, v3(0, -0.2, 0), v3(0, 0.42, 0), 0.11, 24, 24, true);
    maker_tube(m, v3(0.04, 0.33, 0), v3(0.04 + 0.5 * c, 0.33 - 0.5 * s, 0), 0.04, 12, 24, true);
    maker_tube(m, v3(-0.04, 0.33, 0), v3(-0.04 - 0.5 * c, 0.33 - 0.5 * s, 0), 0.04, 12, 24, true);
    maker_write(m, name);
}

void write_shirt(const char* name, vec3 middle, double scale, double depth)
{
    maker* m = maker_create();
    maker_shirt(m, middle, scale, depth);
    maker_write(m, name);
}

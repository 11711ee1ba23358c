// The wind at a place. Gusts take sines of the mathematical library, lane by lane, and are the same for every CPU kind.
#include "material/air.h"

vec3 air_wind(const weft_air* air, vec3 x, double time)
{
    double speed = v3_length(air->wind);
    if (air->gust == 0.0 || speed == 0.0)
    {
        return air->wind;
    }
    double along = v3_dot(x, air->wind) / (speed * air->gust_length), t = time / air->gust_period;
    double swell = 0.6 * sin(2 * PI * (t - along)) + 0.4 * sin(2 * PI * (1.7 * t - 2.3 * along) + 1.0);
    double side = 0.7 * sin(2 * PI * (0.8 * t - 1.3 * along) + 2.0) + 0.3 * sin(2 * PI * (2.1 * t - 1.9 * along));
    // Sideways gusts are horizontal and half as strong.
    vec3 across = v3_normalize(v3_cross(v3(0, 1, 0), air->wind));
    return v3_madd(v3_scale(1.0 + air->gust * swell, air->wind), 0.5 * air->gust * speed * side, across);
}

"""Plots as SVG elements: lines or points over linear or logarithmic axes, readable by light and by dark."""
import html
import math

COLOURS = ("#2a6fbb", "#d9730d", "#2e8b57", "#b5373c", "#7b4fa6", "#8c6d31", "#c2569b", "#5a6b7a", "#1aa5a5", "#9a9a2a")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 380, 72, 34, 28, 48


class Axis:
    def __init__(self, values, log, low, high):
        good = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
        least, most = (min(good), max(good)) if good else (1.0, 2.0)
        if log:
            a, b = math.floor(math.log10(least) + 1e-9), math.ceil(math.log10(most) - 1e-9)
            self.a, self.b = a, max(b, a + 1)
            every = max(1, (self.b - self.a) // 8)
            self.ticks = [10.0**k for k in range(self.a, self.b + 1, every)]
        else:
            step = _nice((most - least) or abs(most) or 1.0)
            self.a, self.b = math.floor(least / step) * step, math.ceil(most / step) * step
            if self.a == self.b:
                self.b += step
            self.ticks = [self.a + k * step for k in range(int(round((self.b - self.a) / step)) + 1)]
        self.log, self.low, self.high = log, low, high

    def has(self, v):
        return math.isfinite(v) and (v > 0 or not self.log)

    def at(self, v):
        v = math.log10(v) if self.log else v
        return self.low + (v - self.a) / (self.b - self.a) * (self.high - self.low)


def _nice(span):
    step = 10.0 ** math.floor(math.log10(span / 4))
    return next((m * step for m in (1, 2, 5, 10) if span / (m * step) <= 6), 10 * step)


def plot(title, x_title, y_title, lines, log_x=False, log_y=False, points=False):
    """`lines`: name to a list of (x, y). Points that an axis cannot show are left out."""
    pairs = [p for line in lines.values() for p in line if p[1] is not None]
    rows = len(lines)
    height = HEIGHT + 16 * ((rows + 1) // 2)
    x = Axis([p[0] for p in pairs], log_x, LEFT, WIDTH - RIGHT)
    y = Axis([p[1] for p in pairs], log_y, HEIGHT - BOTTOM, TOP)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" class="plot" font-size="12" font-family="sans-serif">' % (WIDTH, height),
           '<text x="%d" y="18" fill="currentColor" font-weight="bold">%s</text>' % (LEFT, html.escape(title))]
    for t in x.ticks:
        out.append('<path d="M%.1f %dV%d" stroke="currentColor" opacity="0.15"/><text x="%.1f" y="%d" text-anchor="middle" fill="currentColor">%g</text>' % (x.at(t), TOP, HEIGHT - BOTTOM, x.at(t), HEIGHT - BOTTOM + 16, t))
    for t in y.ticks:
        out.append('<path d="M%d %.1fH%d" stroke="currentColor" opacity="0.15"/><text x="%d" y="%.1f" text-anchor="end" fill="currentColor">%g</text>' % (LEFT, y.at(t), WIDTH - RIGHT, LEFT - 6, y.at(t) + 4, t))
    out.append('<text x="%d" y="%d" text-anchor="middle" fill="currentColor">%s</text>' % ((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 12, html.escape(x_title)))
    out.append('<text transform="translate(14 %d) rotate(-90)" text-anchor="middle" fill="currentColor">%s</text>' % ((TOP + HEIGHT - BOTTOM) // 2, html.escape(y_title)))
    for k, (name, line) in enumerate(lines.items()):
        colour = COLOURS[k % len(COLOURS)]
        good = [(x.at(a), y.at(b)) for a, b in line if b is not None and x.has(a) and y.has(b)]
        if good and not points:
            out.append('<path d="M%s" fill="none" stroke="%s" stroke-width="1.8"%s/>' % ("L".join("%.1f %.1f" % p for p in good), colour, ' stroke-dasharray="5 3"' if k >= len(COLOURS) else ""))
        if len(good) <= 60:
            out += ['<circle cx="%.1f" cy="%.1f" r="2.6" fill="%s"/>' % (p[0], p[1], colour) for p in good]
        at, below = LEFT + (k % 2) * 285, HEIGHT + 16 * (k // 2)
        if k >= len(COLOURS):
            out.append('<path d="M%d %dh20" fill="none" stroke="%s" stroke-width="2.4" stroke-dasharray="5 3"/>' % (at, below + 5, colour))
        else:
            out.append('<rect x="%d" y="%d" width="20" height="%d" fill="%s"/>' % (at, below if points else below + 4, 10 if points else 2, colour))
        out.append('<text x="%d" y="%d" fill="currentColor">%s</text>' % (at + 26, below + 9, html.escape(name)))
    return "".join(out) + "</svg>"

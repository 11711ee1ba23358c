"""A napkin falls over a ball: built from arrays, stepped by hand, its numbers printed, saved as an OBJ file."""
import numpy as np
import weft


def sheet(n, side, height):
    line = np.linspace(-side / 2, side / 2, n)
    x = np.array([[a, height, b] for b in line for a in line])
    corner = np.array([[j * n + i for i in range(n - 1)] for j in range(n - 1)]).ravel()
    return x, np.stack([corner, corner + n, corner + n + 1, corner + 1], axis=1)


def ball(radius, rings=24, sectors=48):
    theta, phi = np.meshgrid(np.linspace(0, np.pi, rings + 1)[1:-1], np.arange(sectors) * 2 * np.pi / sectors, indexing="ij")
    x = radius * np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], axis=-1).reshape(-1, 3)
    x = np.vstack([x, [0, radius, 0], [0, -radius, 0]])
    top, bottom = len(x) - 2, len(x) - 1
    at = lambda r, s: r * sectors + s % sectors  # noqa: E731
    faces = [[at(r, s + 1), at(r + 1, s + 1), at(r + 1, s), at(r, s)] for r in range(rings - 2) for s in range(sectors)]
    faces += [[top, at(0, s + 1), at(0, s)] for s in range(sectors)] + [[bottom, at(rings - 2, s), at(rings - 2, s + 1)] for s in range(sectors)]
    return x, faces


sim = weft.Simulation(time_step=1 / 200)
napkin = sim.add_cloth(*sheet(41, 0.5, 0.16), material="linen", name="napkin")
sim.add_obstacle(*ball(0.15), name="ball", friction=0.3)
for step in range(200):
    stats = sim.step()
    if step % 40 == 39:
        print(f"{sim.time:.2f} s  {stats['solver']:9s} {stats['iterations']:3d} iterations  {stats['contacts']:4d} contacts  "
              f"{1e3 * stats['energy']['kinetic']:.2f} mJ")
x = sim.positions(napkin)
with open("napkin.obj", "w", encoding="utf-8") as file:
    file.writelines(f"v {a:.6f} {b:.6f} {c:.6f}\n" for a, b, c in x)
    file.writelines(f"f {a} {b} {c}\n" for a, b, c in sim.triangles(napkin) + 1)
print(f"napkin.obj: it hangs down to {x[:, 1].min():.3f} m")

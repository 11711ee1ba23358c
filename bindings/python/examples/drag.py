"""A curtain is dragged by its corner while it runs: pins come, move and go between steps."""
import numpy as np
import weft

sim = weft.Simulation.from_scene({
    "time_step": 0.01,
    "cloth": [{"mesh": {"grid": {"size": [1, 1], "cells": 30, "plane": "xy"}}, "pins": [{"where": {"edge": "top"}}]}]})
x = sim.positions()
corner = int(np.argmin(x[:, 0] + x[:, 1]))
hand = sim.pin([corner])
for step in range(100):
    angle = np.pi * min(step, 60) / 60
    sim.move(hand, [x[corner] + [0.3 * (1 - np.cos(angle)), 0.2 * np.sin(angle), 0.4 * np.sin(angle)]])
    stats = sim.step()
print(f"held: the corner is at {np.round(sim.positions()[corner], 3)}, stretched to {stats['max_stretch']:.3f}")
sim.unpin(hand)
for step in range(200):
    sim.step()
print(f"let go: the corner is at {np.round(sim.positions()[corner], 3)}")

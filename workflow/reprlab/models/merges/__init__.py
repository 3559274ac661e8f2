"""Ways to merge two models of one architecture, a module each: `Settings`, and `merge` of one tensor of both.

`merge(settings, first, second, base, random)` gets the tensor of the first model, of the second and of the model that
both were trained from, in float64, and a generator whose seed is of the method, the tensor and the settings' seed. A
way that does not read the base sets `NEEDS_BASE = False` and gets None.
"""

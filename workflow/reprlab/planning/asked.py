"""What was probably meant by a mistyped target."""

from collections.abc import Collection
from pathlib import PurePosixPath

from reprlab.settings.errors import nearest

# Names that other tools have for goals of make.
_GOALS = {"install": "setup", "build": "setup", "env": "setup", "check": "test", "tests": "test", "docs": "report"}


def nearest_target(name: str, targets: Collection[str]) -> str:
    """`; did you mean …?`: of a folder the paper or a file in it, of a bare name the file that is called so, else the
    target that is spelled most alike; where there is none, how to list them."""
    plain = name.rstrip("/")
    paper = plain.removeprefix("results/")
    if paper != plain and paper in targets:
        return f"; it is a folder: did you mean {paper!r}, all of the paper?"
    if inside := [one for one in targets if one.startswith(f"{plain}/")]:
        return f"; it is a folder: did you mean {min(inside)!r} or another file in it?"
    if "/" not in plain:
        called = [one for one in targets if plain in (PurePosixPath(one).name, PurePosixPath(one).stem)]
        if called:
            return f"; did you mean {' or '.join(map(repr, sorted(called)[:3]))}?"
        if plain in _GOALS:
            return f"; did you mean `make {_GOALS[plain]}`?"
    return nearest(plain, targets) or "; `make list` shows what there is, `make help` the goals"

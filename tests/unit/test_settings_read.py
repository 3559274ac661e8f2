"""The watcher of settings: a leaf that nothing reads is found, whatever is read of its group."""

from pydantic import BaseModel

from tests.settings_read import unread, watching


class Optimizer(BaseModel):
    rate: float = 0.1
    decay: float = 0.0


class Group(BaseModel):
    optimizer: Optimizer = Optimizer()
    steps: int = 3
    forgotten: int = 5


class Paper(BaseModel):
    groups: dict[str, Group] = {"a": Group(), "b": Group()}
    names: list[str] = ["x"]


LEAVES = [
    *(("groups", name, *rest) for name in "ab" for rest in (("optimizer", "rate"), ("optimizer", "decay"))),
    *(("groups", name, rest) for name in "ab" for rest in ("steps", "forgotten")),
    ("names",),
]


def test_what_is_read_and_what_is_written_down_as_a_whole_is_not_missed() -> None:
    paper = Paper(groups={"a": Group(optimizer=Optimizer()), "b": Group(optimizer=Optimizer())})
    with watching(paper) as read:
        for group in paper.groups.values():
            _ = group.steps
            group.optimizer.model_dump()
        _ = paper.groups["b"].model_copy(update={"steps": 4})
    assert unread(paper, LEAVES, read) == ["groups.a.forgotten", "names"]
    with watching(paper) as read:
        assert paper.groups["a"].optimizer.rate == 0.1
    assert {"groups.a.optimizer.decay", "groups.b.optimizer.rate"} <= set(unread(paper, LEAVES, read))

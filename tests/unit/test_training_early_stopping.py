"""Early stopping: the best pass is kept, and an interrupted training decides as one that was not."""

from pathlib import Path

import pytest
import torch
from reprlab.runtime.errors import ReprlabError
from reprlab.training import passes
from reprlab.training.early_stopping import BestPass
from reprlab.training.engine import train
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

ENGINE = EngineSettings(
    steps=1, batch_size=2, log_every=1, optimizer=OptimizerSettings(learning_rate=1e-2),
    schedule=ScheduleSettings(name="linear"),
)  # fmt: skip


def train_it(work: Path, scores: list[float], patience: int = 2) -> tuple[float, int, list[float]]:
    """A model of one number on six rows, for up to six passes of three steps: (number kept, steps, rates)."""
    torch.manual_seed(0)
    model = torch.nn.Linear(1, 1)
    numbers = iter(scores)

    def loss_of(model, batch):
        return model(batch["x"].unsqueeze(1)).pow(2).mean(), {"count": torch.tensor(len(batch["x"]))}

    best = BestPass(
        work, "x", patience, lambda: next(numbers), lambda to: torch.save(model.weight.detach(), to / "w.pt")
    )
    run = passes.train_passes(
        model, 6, lambda rows, step: {"x": torch.tensor(rows + 1.0, dtype=torch.float32)}, loss_of, ENGINE, epochs=6,
        warmup_share=0.0, work=work, save_every=100, fingerprint="x", device="cpu", after_pass=best,
    )  # fmt: skip
    best.keep(work / "kept")
    rates = [row["learning_rate"] for row in run.metrics]
    return float(torch.load(work / "kept/w.pt")), run.step, rates


def test_the_best_pass_is_kept_and_the_rate_falls_as_if_all_were_made(tmp_path: Path) -> None:
    kept, steps, rates = train_it(tmp_path / "a", [1.0, 3.0, 2.0, 3.0])
    assert steps == 4 * 3, "two passes without a better score end it"
    assert rates == pytest.approx([1e-2 * (1 - step / 18) for step in range(12)])
    longer, steps, _ = train_it(tmp_path / "b", [1.0, 3.0, 2.0, 2.5, 1.0, 1.0], patience=9)
    assert steps == 18 and longer == kept, "the second pass of the same training"
    last, steps, _ = train_it(tmp_path / "c", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert steps == 18 and last != kept


def test_an_interrupted_training_keeps_the_same_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train_it(tmp_path / "whole", [1.0, 3.0, 2.0, 3.0])
    calls = []

    def until_the_machine_goes_down(*arguments, **rest):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return train(*arguments, **rest)

    monkeypatch.setattr(passes, "train", until_the_machine_goes_down)
    with pytest.raises(KeyboardInterrupt):
        train_it(tmp_path / "killed", [1.0, 3.0, 2.0])
    # The third pass is scored again, the first two are not.
    assert train_it(tmp_path / "killed", [2.0, 3.0]) == whole


@pytest.mark.parametrize("damage", ["scores", "cut off", "model", "no model"])
def test_what_is_kept_of_finished_passes_is_used_as_it_was_or_not_at_all(tmp_path: Path, damage: str) -> None:
    work = tmp_path / "work"
    table, model = work / "held_out.json", work / "best/w.pt"

    def best(number: float) -> BestPass:
        return BestPass(work, "x", 9, lambda: number, lambda to: (to / "w.pt").write_text(str(number)))

    for number, score in ((1, 2.0), (2, 1.0)):
        best(score)(number, True)
    assert best(0.0).scores() == {1: 2.0, 2: 1.0} and model.read_text() == "2.0"
    assert BestPass(work, "y", 9, lambda: 0.0, lambda to: None).scores() == {}, "of another training"
    if damage == "scores":
        table.write_text(table.read_text().replace("2.0", "0.5"))
    elif damage == "cut off":
        table.write_text(table.read_text()[:-20])
    elif damage == "model":
        model.write_text("9.0")
    else:
        model.unlink()
    with pytest.raises(ReprlabError, match=rf"{work}.*damaged or was edited; delete {work} and run the same command"):
        best(0.0).keep(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("saved", [False, True])
def test_a_kill_while_the_best_model_is_replaced_loses_nothing(tmp_path: Path, saved: bool) -> None:
    """Between the new model and the scores that name it: the pass is made again, and is the best again."""
    work = tmp_path / "work"

    def best(number: float, save=lambda to: (to / "w.pt").write_text("new")) -> BestPass:
        return BestPass(work, "x", 9, lambda: number, save)

    best(1.0, lambda to: (to / "w.pt").write_text("old"))(1, True)
    table = (work / "held_out.json").read_bytes()
    best(2.0)(2, True)
    (work / "held_out.json").write_bytes(table)
    if not saved:
        (work / "best/w.pt").unlink()
        (work / "best").rmdir()
    best(2.0)(2, True)
    best(2.0).keep(tmp_path / "kept")
    assert (tmp_path / "kept/w.pt").read_text() == "new"

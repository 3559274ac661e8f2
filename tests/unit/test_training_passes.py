"""Passes over rows: how many steps, and that parts and passes cover every row."""

from pathlib import Path

import pytest
import torch
from reprlab.training.passes import train_passes
from reprlab.training.settings import EngineSettings, OptimizerSettings


@pytest.mark.parametrize("accumulation", [1, 2])
def test_two_passes_read_every_row_twice_whatever_the_parts(accumulation: int, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def batch_of(rows, step):
        seen.extend((step, row) for row in rows.tolist())
        return {"x": torch.tensor(rows, dtype=torch.float32)}

    def loss_of(model, batch):
        return model(batch["x"].unsqueeze(1)).pow(2).mean(), {"count": torch.tensor(len(batch["x"]))}

    engine = EngineSettings(
        steps=1, log_every=1, batch_size=4, accumulation=accumulation, optimizer=OptimizerSettings(learning_rate=1e-3)
    )
    run = train_passes(
        torch.nn.Linear(1, 1), 10, batch_of, loss_of, engine, epochs=2, warmup_share=0.4,
        work=tmp_path, save_every=100, fingerprint="x", device="cpu",
    )  # fmt: skip
    assert run.step == 5 and sorted(row for _, row in seen) == sorted([*range(10), *range(10)])
    assert [sum(step == number for step, _ in seen) for number in range(5)] == [4] * 5
    other, first = engine.model_copy(update={"seed": 1}), list(seen)
    for again, same in ((engine, True), (other, False)):
        seen.clear()
        train_passes(
            torch.nn.Linear(1, 1), 10, batch_of, loss_of, again, epochs=2, warmup_share=0.4,
            work=tmp_path / f"again-{again.seed}", save_every=100, fingerprint="x", device="cpu",
        )  # fmt: skip
        assert (seen == first) == same, "the order is that of the seed"
    # Two of five steps warm up, the first from 0.
    assert [row["learning_rate"] for row in run.metrics] == pytest.approx([0, 5e-4, 1e-3, 1e-3, 1e-3])

"""Early stopping: the model of the pass with the best score on held-out data is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.files import atomic_directory
from reprlab.training.ladder import link_or_copy


@dataclass(frozen=True)
class BestPass:
    """Scores the model after each pass, keeps the best, and ends the training after `patience` passes without a better.

    Of equal scores the earlier pass is kept. `score` is that of the model as it is, `save` writes it to a folder.
    Scores lie in `work`, so that a resumed training decides as one that was not interrupted; those of another
    `fingerprint` are not read.
    """

    work: Path
    fingerprint: str
    patience: int
    score: Callable[[], float]
    save: Callable[[Path], None]

    def __call__(self, number: int, is_main: bool) -> bool:
        """Whether to stop after the pass `number`. Every process scores; the main one writes."""
        scores = {**self._known(), number: self.score()}
        scores = {one: score for one, score in scores.items() if one <= number}
        best = max(scores, key=lambda one: (scores[one], -one))
        if is_main:
            if best == number:
                shutil.rmtree(self._model, ignore_errors=True)
                with atomic_directory(self._model) as folder:
                    self.save(folder)
            write_json(self._table, {"fingerprint": self.fingerprint, "scores": {str(n): s for n, s in scores.items()}})
        return number - best >= self.patience

    def keep(self, folder: Path) -> None:
        """Write the best model so far to a folder."""
        shutil.copytree(self._model, folder, copy_function=link_or_copy, dirs_exist_ok=True)

    def scores(self) -> dict[int, float]:
        """The score after each pass so far."""
        return self._known()

    @property
    def _model(self) -> Path:
        return self.work / "best"

    @property
    def _table(self) -> Path:
        return self.work / "held_out.json"

    def _known(self) -> dict[int, float]:
        found = read_json(self._table) if self._table.exists() else {}
        return {int(n): s for n, s in found["scores"].items()} if found.get("fingerprint") == self.fingerprint else {}

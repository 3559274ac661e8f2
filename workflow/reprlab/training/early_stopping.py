"""Early stopping: the model of the pass with the best score on held-out data is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reprlab.artifacts.kept import Kept
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.seals import content_digest
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
        known, model = self._known()
        scores = {**known, number: self.score()}
        scores = {one: score for one, score in scores.items() if one <= number}
        best = max(scores, key=lambda one: (scores[one], -one))
        if is_main:
            if best == number:
                shutil.rmtree(self._model, ignore_errors=True)
                with atomic_directory(self._model) as folder:
                    self.save(folder)
                model = content_digest(self._model)
            self._kept.keep(self._by, {"scores": {str(n): s for n, s in scores.items()}, "model": model})
        return number - best >= self.patience

    def keep(self, folder: Path) -> None:
        """Write the best model so far to a folder.

        Raises:
            ReprlabError: it is not as it was written.
        """
        self.scores()
        shutil.copytree(self._model, folder, copy_function=link_or_copy, dirs_exist_ok=True)

    def scores(self) -> dict[int, float]:
        """The score after each pass so far.

        Raises:
            ReprlabError: scores or the best model are not as they were written.
        """
        scores, model = self._known()
        if scores and (not self._model.is_dir() or content_digest(self._model) != model):
            raise ReprlabError(f"{self._model}: the best model so far is damaged or was edited; {self._remedy}")
        return scores

    def beside(self, name: str, number: int) -> Kept:
        """Where something else that is known after a pass is kept, by the fingerprint."""
        return Kept(self.work / f"held_out_{name}", "what was kept of a finished pass", f"{number}.json", self._remedy)

    @property
    def _model(self) -> Path:
        return self.work / "best"

    @property
    def _by(self) -> dict[str, str]:
        return {"fingerprint": self.fingerprint}

    @property
    def _kept(self) -> Kept:
        # A resumed training does not come by earlier passes again.
        return Kept(self.work, "scores of finished passes", "held_out.json", self._remedy)

    @property
    def _remedy(self) -> str:
        return f"delete {self.work} and run the same command again, which trains from the beginning"

    def _known(self) -> tuple[dict[int, float], str]:
        """The scores so far, and the digest of the best model as it was written."""
        found = self._kept.read(self._by)
        return ({int(n): s for n, s in found["scores"].items()}, found["model"]) if found else ({}, "")

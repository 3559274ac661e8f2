"""Plan of reverse probing: sources, heads on what they are joined to, layers, similarity, and the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.baselines.declared import STATIC
from reprlab.papers.reverse_probing.plan_sources import NAME, SLUG, Sources
from reprlab.papers.reverse_probing.results import RESULTS
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Baseline, Missing, Source, Value, rivals

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

_FULL = "mean_full"


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    sources = Sources(plan, config, paper)
    probes = Probes(sources)
    entries = [*probes.tables(), *probes.sweep(), *probes.similarity()]
    entries += [*sources.task_scores, *probes.scratch(), *probes.rules()]
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale)
    add_cost(plan, config, SLUG)


class Probes:
    """Jobs of the heads; each method gives the sources of its results."""

    def __init__(self, sources: Sources) -> None:
        self.sources, self.paper, self.plan = sources, sources.paper, sources.plan
        self.last = max(self.paper.layers)

    def tables(self) -> Iterator[Source | Missing]:
        """Tables 1 to 3 with the untrained source, Figure 2, the sum, and the weights of the sources by pass."""
        paper = self.paper
        parts = (("single", [[one] for one in paper.singles]), ("pair", paper.pairs), ("larger", paper.larger))
        for size, combinations in parts:
            for combo in combinations:
                for cell in getattr(paper.cells, size):
                    yield from self.cell(combo, cell)
        # The untrained source stands beside every column that has rows: what is not joined is the single one's.
        every = dict.fromkeys(chain(paper.cells.single, paper.cells.pair, paper.cells.larger))
        for cell in every:
            if not cell.endswith("trunc"):
                yield from self.cell([paper.untrained], cell)
        for name in paper.further:
            yield from self.cell([name], _FULL)
        for combo in paper.summed:
            for cell in (_FULL, "sum_full"):
                yield from self.cell(combo, cell)

    def cell(self, combo: Sequence[str], cell: str) -> Iterator[Source]:
        """One cell of a table, and the weights of its sources by pass where there are several."""
        made = self._probe(combo, cell)
        factors = self._factors(combo, cell)
        # What is truncated or joined of one source is compared with the whole of the untrained one.
        beside = f"{cell.split('_')[0]}_full" if cell.endswith("trunc") else cell
        untrained: dict[str, Value] = {}
        if self.paper.untrained not in combo and not cell.startswith("sum"):
            untrained = {"part": "main", "combo": self.paper.untrained, "cell": beside}
        # The layer of each source is the best of the sweep on the documents that are scored.
        chosen = cell.endswith("trunc") and self.paper.best_layers is None
        tried = len(self.paper.layers) ** len(combo) if chosen else 1
        judged = self._scores(made["out"], {**factors, "part": "main"}, untrained)
        yield judged.model_copy(update={"tried": tried})
        if len(combo) > 1 and cell.startswith("attention"):
            keys = {"seed": "seed", "epoch": "epoch", "weighed": "name"}
            about: dict[str, Value] = {**factors, "part": "weights"}
            where: dict[str, Value | list[Value]] = {"metric": "share"}
            yield Source(path=Path(made["passes"]), factors=about, keys=keys, where=where, data=self.sources.title)

    def sweep(self) -> Iterator[Source]:
        """Layers of the single sources by their mean (Figure 5)."""
        # The untrained source is the twin: what lower layers give of it was not learnt.
        for name in (*self.paper.singles, self.paper.untrained):
            for layer in self.paper.layers:
                factors: dict[str, Value] = {**self._factors([name], _FULL), "part": "layers", "layer": layer}
                yield self._scores(self._layer(name, layer)["out"], factors, {})

    def similarity(self) -> Iterator[Source]:
        """Cosine with the coreference encoder (Figure 3)."""
        paper, sources = self.paper, self.sources
        names = [name for name in (*paper.singles, *paper.further, paper.untrained) if name != sources.coreference]
        encoders = [sources.encoder(name) for name in names]
        reference = sources.encoder(sources.coreference)
        job = Job(
            {
                "after": [reference.made_in, *(one.made_in for one in encoders)],
                "documents": sources.documents,
                "tokenizer": sources.tokenizer,
            },
            {
                "encoders": [one.folder for one in encoders],
                "names": names,
                "reference": reference.folder,
                "settings": paper.similarity,
            },
        )
        path = Path(self.plan.add("measure_similarity", sources.key, job)["out"])
        keys = {"combo": "name", "batch": "batch"}
        yield Source(path=path, factors={"part": "similarity", "sources": 1}, keys=keys, data=sources.title)

    def scratch(self) -> Iterator[Source]:
        """The coreference encoder with the head that it was trained with."""
        about: dict[str, Value] = {"part": "scratch", "combo": f"{self.sources.coreference}_scratch", "sources": 1}
        yield self._scores(self.sources.trained["metrics"], about, {})

    def rules(self) -> Iterator[Source]:
        """What needs no training."""
        about: dict[str, Value] = {"part": "rules", "sources": 1}
        keys = {"combo": "name"}
        yield Source(
            path=Path(self.sources.rules), factors=about, keys=keys, data=self.sources.title, unjudged="baselines"
        )
        about = {"part": "rules", "sources": 1, "combo": STATIC}
        static = Path(self._add([self.sources.static], _FULL, [0])["out"])
        keys = {"seed": "seed"}
        yield Source(path=static, factors=about, keys=keys, data=self.sources.title, unjudged="a baseline")

    def _scores(self, path: str, factors: dict[str, Value], untrained: dict[str, Value]) -> Source:
        static = self._add([self.sources.static], _FULL, [0])["out"]
        beside = rivals("clusters", self.sources.rules)
        beside |= {
            "answer": "probed clusters",
            "baselines": [*beside["baselines"], Baseline(name=STATIC, path=Path(static))],
        }
        return Source(
            path=Path(path),
            factors=factors,
            keys={"seed": "seed", "read": "layers"},
            data=self.sources.title,
            **beside,
            untrained=untrained,
        )

    def _factors(self, combo: Sequence[str], cell: str) -> dict[str, Value]:
        aggregation, mode = cell.split("_")
        about: dict[str, Value] = {"combo": "+".join(combo), "sources": len(combo), "cell": cell}
        return {**about, "aggregation": aggregation, "mode": mode}

    def _layer(self, name: str, layer: int) -> dict[str, str]:
        """One layer of a single source, by its mean; the last one is a cell of Table 1."""
        return self._add([name], _FULL, [layer])

    def _probe(self, combo: Sequence[str], cell: str) -> dict[str, str]:
        if not cell.endswith("trunc"):
            return self._add(combo, cell, [self.last] * len(combo))
        if self.paper.best_layers is not None:
            return self._add(combo, cell, [self.paper.best_layers[name] for name in combo])
        return self._add(combo, cell, [self.last] * len(combo), [self._best(name) for name in combo])

    def _best(self, name: str) -> str:
        """The choice of a source's layer by the sweep."""
        layers = self.paper.layers
        metrics = [self._layer(name, layer)["out"] for layer in layers]
        job = Job({"metrics": metrics}, {"layers": layers, "metric": "conll_f1"})
        return self.plan.add("select_layer", f"{NAME}_{name}/{self.sources.key}", job)["out"]

    def _add(
        self, combo: Sequence[str], cell: str, layers: Sequence[int], chosen: Sequence[str] = ()
    ) -> dict[str, str]:
        paper, sources = self.paper, self.sources
        whole = list(layers) == [self.last] * len(combo)
        single = len(combo) == 1 and cell == _FULL and whole
        settings = sources.training(
            paper.probe,
            aggregation=paper.aggregation(cell),
            layers=list(layers),
            seeds=paper.single_seeds if single else paper.seeds,
        )
        inputs: dict[str, str | list[str]] = {"documents": sources.documents, "tokenizer": sources.tokenizer}
        given: dict[str, object] = {"settings": settings, "names": list(combo)}
        if chosen:
            inputs["chosen"] = list(chosen)
        encoders = [sources.encoder(name) for name in combo]
        if paper.encoder_dropout:
            inputs["after"] = [one.made_in for one in encoders]
            given["encoders"] = [one.folder for one in encoders]
        else:
            inputs["states"] = [sources.states(name) for name in combo]
        read = "" if whole else ".l" + "_".join(map(str, layers))
        key = f"{NAME}_{'_'.join(combo)}/{paper.dataset}/{cell}{read}"
        return self.plan.add("probe_coreference", key, Job(inputs, given))

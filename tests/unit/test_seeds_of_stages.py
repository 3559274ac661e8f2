"""Every seed of a stage's settings moves what it draws and nothing beside it.

The seeds are those of the stages' schemas. One that is not named here fails: it has a function here, or names the test
that fails where it is ignored (`make mutants ARGS="--kind 'ignored seed' --number 0"` puts that fault in).
"""

import importlib
import json
import pkgutil
import shutil
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow
import pytest
import torch
from features_samples import tiny_mistral
from finetune_fixtures import make_bert, make_examples, make_tokenizer
from music_samples import TEMPLATE, annotated, track
from pydantic import BaseModel
from reprlab import stages
from reprlab.artifacts.tables import read_tsv, write_parquet
from reprlab.coreference import states as coreference_states
from reprlab.coreference.settings import SimilaritySettings
from reprlab.data.schema import write_rows
from reprlab.evaluation.completion_scores import score_row
from reprlab.features.sample import draw_sample
from reprlab.features.settings import AutoencoderSettings, SampleSettings
from reprlab.features.training import train_on_blocks
from reprlab.models.build import build_from_config
from reprlab.music.annotation import Annotator
from reprlab.music.description_scores import description_rows
from reprlab.music.settings import RATE, DescriptionScoring, TrackSettings
from reprlab.music.tracks import Track, with_splits
from reprlab.objectives.settings import PreviewSettings
from reprlab.representations.adapters import TextBatches, add_adapter
from reprlab.representations.dimensions import _item_sets
from reprlab.representations.settings import AdapterSettings, DimensionSettings
from reprlab.retrieval.pair_training import EncodedTexts as PairTexts
from reprlab.retrieval.pair_training import PairBatches, PairSet
from reprlab.retrieval.rerank_settings import FirstStage
from reprlab.retrieval.run_files import read_run
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.sentences.encoder import build_encoder
from reprlab.sentences.evaluation import sample_loss
from reprlab.sentences.layer_losses import layer_losses
from reprlab.sentences.settings import ContrastiveTraining, EncoderSettings, LayerLosses, TripleSample
from reprlab.sentences.texts import EncodedTexts
from reprlab.sentences.training import train_encoder
from reprlab.sentences.triples import Triples
from reprlab.stages.pema_adapt import pema_adapt
from reprlab.stages.preview_corruption import preview_corruption
from reprlab.stages.retrieve_passages import retrieve_passages
from reprlab.structure.seq2seq import order_of
from reprlab.text.completion_settings import EvaluationTextSettings, TrainingTextSettings
from reprlab.text.completions import evaluation_rows, training_rows
from reprlab.text.token_store import TokenStore
from reprlab.training.batches import PretrainingBatches
from reprlab.training.finetuning_encoding import Ragged
from reprlab.training.finetuning_settings import FinetuneSettings
from reprlab.training.objective import load_objective
from reprlab.training.settings import EngineSettings, PretrainSettings
from safetensors.torch import load_file
from test_sentences_known_answers import ENTRY

pytestmark = pytest.mark.usefixtures("one_thread")
Moved = tuple[Any, Any]
"""What another seed must move, each part of a tuple by itself, and what it must leave."""


def schemas(kind: Any, found: set[type[BaseModel]]) -> None:
    """The schemas of a type and of the fields of each."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind not in found:
            found.add(kind)
            for field in kind.model_fields.values():
                schemas(field.annotation, found)
    else:
        for part in typing.get_args(kind):
            schemas(part, found)


def seeds() -> Iterator[str]:
    """`package.Schema.field`, with the stage in front for what is given to each loop of training."""
    for module in pkgutil.iter_modules(stages.__path__):
        run = getattr(importlib.import_module(f"reprlab.stages.{module.name}"), module.name)
        found = set[type[BaseModel]]()
        for kind in typing.get_type_hints(run).values():
            schemas(kind, found)
        for one in found:
            loop = f"{module.name}: " if one.__name__ == "EngineSettings" else ""
            named = f"{loop}{one.__module__.split('.')[1]}.{one.__name__}"
            yield from (f"{named}.{field}" for field in one.model_fields if "seed" in field)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """An encoder with its tokenizer, and a file of tokens."""
    found = tmp_path_factory.mktemp("seeds")
    make_bert(found / "bert", make_tokenizer(found / "bert"))
    rng = np.random.default_rng(0)
    rows = [rng.integers(3, 20, 12).tolist() for _ in range(60)]
    columns = {
        "split": ["validation"] * 60,
        "input_ids": pyarrow.array(rows, pyarrow.list_(pyarrow.int32())),
        "token_types": pyarrow.array([[1] * 12] * 60, pyarrow.list_(pyarrow.int16())),
    }
    write_parquet(found / "tokens.parquet", pyarrow.table(columns))
    return found


def splits_of_tracks(seed: int, folder: Path) -> Moved:
    clips = [Track(f"{n}", f"{n // 2}", "recorded", "jazz", np.zeros(RATE, dtype=np.float32)) for n in range(24)]
    settings = TrackSettings(seconds=2.0, test_share=0.5, limit=16, seed=seed)
    found = [(one.track, split) for one, split in with_splits(clips, settings)]
    return found, len(found)


def texts_of_the_template(seed: int, folder: Path) -> Moved:
    tracks = [track(name) for name in "abc"]
    Annotator(TEMPLATE.model_copy(update={"seed": seed}), folder).annotate(tracks)
    return [one["description"] for one in tracks], [(sorted(one), one["written_by"]) for one in tracks]


def intervals_of_descriptions(seed: int, folder: Path) -> Moved:
    tracks = [one | {"frames": json.dumps(one["frames"])} for one in map(annotated, "abcd")]
    targets, texts = [one["description"] for one in tracks], [one["caption"] for one in tracks]
    settings = DescriptionScoring(max_length=16, resamples=30, seed=seed)
    rows = description_rows(targets, texts, tracks, folder / "bert", settings)
    return [(row["low"], row["high"]) for row in rows], [(row["metric"], row["value"], row["n"]) for row in rows]


def documents_whose_states_are_compared(seed: int, folder: Path) -> Moved:
    """Documents are their lengths here, and all states alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coreference_states, "input_tensors", lambda size, _: {"attention_mask": torch.ones(1, size)})
        patch.setattr(
            coreference_states,
            "_last_states",
            lambda _, read: [torch.ones(*one["attention_mask"].shape, 2) for one in read],
        )
        patch.setattr(coreference_states, "chained_mentions", lambda *_: (np.zeros((0, 2)), np.zeros((0, 0))))
        settings = SimilaritySettings(documents=4, seed=seed)
        rows = coreference_states.similarity_rows({"a": folder}, folder, None, [*range(2, 22)], settings)
    return [row["n"] for row in rows], [(row["batch"], round(row["value"], 6)) for row in rows]


def interval_of_answers(seed: int, folder: Path) -> Moved:
    cell = SimpleNamespace(eval="e", fmt="f", shots=0, method="m")
    prompts = SimpleNamespace(
        cell=cell, rows=range(4), kind="generation", gold=["a b", "b c", "c", "d"], title="T",
        encoded=SimpleNamespace(dropped=0),
    )  # fmt: skip
    answers = SimpleNamespace(answers=["a", "b c", "x", "d e"], tokens=[1, 2, 1, 2])
    settings = SimpleNamespace(
        normalisation={}, bootstrap=20, seed=seed, family="f", train="t", notes={}, tuning_seed=None
    )
    row = score_row(settings, SimpleNamespace(name="n", step=0, tokens=None), prompts, answers, {})
    bounds = [row.pop(name) for name in ("performance_boot", "std", "low", "high")]
    return bounds, row


def queries_that_are_asked(seed: int, folder: Path) -> Moved:
    words = ["good", "bad", "film", "first"]
    rows = [
        {"id": f"{n}", "group": f"{n}", "query_id": f"q{n:02d}", "query": words[n % 4], "passage_id": f"p{n}",
         "passage": words[n % 4], "relevance": 1, "split": "test"}
        for n in range(12)
    ]  # fmt: skip
    write_rows(folder / "ranking.parquet", rows, "ranking", {"name": "toy", "title": "Toy"})
    settings = FirstStage(kind="bm25", depth=4, splits=["test"], metrics=["mrr_at_10"], queries={"test": 5}, seed=seed)
    retrieve_passages(
        examples=folder / "ranking.parquet", out=folder / "run", metrics=folder / "m.tsv", settings=settings
    )
    run = read_run(folder / "run/test.arrow")
    return list(run), len(run)


def corrupted_examples(seed: int, folder: Path) -> Moved:
    settings = PreviewSettings(objective="t5", input_length=12, target_length=12, examples=6, seed=seed)
    preview_corruption(
        tokens=folder / "tokens.parquet", tokenizer=folder / "bert", out=folder / "preview.tsv", settings=settings
    )
    found = read_tsv(folder / "preview.tsv", text=True)
    return found["encoder_input"].tolist(), found[["example", "shuffled", "original"]].to_numpy().tolist()


def triples() -> Triples:
    rng = np.random.default_rng(0)
    ids = Ragged.of(rng.integers(3, 25, rng.integers(2, 6)).tolist() for _ in range(36))
    return Triples(EncodedTexts(ids, np.zeros(36, dtype=np.int64), 0), {"a": 12})


def losses_by_layer(seed: int, folder: Path) -> Moved:
    encoder = EncoderSettings(method="none", pooling="mean")
    settings = LayerLosses(encoder=encoder, batch_size=4, batches=2, temperature=0.1, seed=seed)
    found = layer_losses(build_from_config(ENTRY, seed=0).base_model, triples(), settings)
    return found.tolist(), found.shape


def loss_of_a_sample(seed: int, folder: Path) -> Moved:
    encoder = build_encoder(build_from_config(ENTRY, seed=0), EncoderSettings(method="none", pooling="mean"), 0)
    sample = TripleSample(batch_size=4, batches=2, temperature=0.1, seed=seed)
    row = sample_loss(encoder, triples(), sample, 8, "float32")
    return row["value"], row["n"]


def sampled_blocks(seed: int, folder: Path) -> Moved:
    texts = dict.fromkeys(("code", "prose"), folder / "tokens.parquet")
    found = draw_sample(SampleSettings(texts=texts, block=12, blocks=5, seed=seed), [])
    return found.ids.tolist(), (found.ids.shape, found.corpus.tolist())


def halves_of_items(seed: int, folder: Path) -> Moved:
    estimators = [{"name": "two_nn", "kind": "two_nn"}]
    settings = DimensionSettings.model_validate({"estimators": estimators, "subsets": [4], "draws": 2, "seed": seed})
    found = {name: rows if rows is None else rows.tolist() for name, rows in _item_sets(20, settings).items()}
    halves = {name: found.pop(name) for name in list(found) if name.startswith("half")}
    return list(halves.values()), (found, [len(rows) for rows in halves.values()])


ASKED = [
    {"id": f"{n}", "split": "train" if n < 12 else "test", "text_a": f"a {n}", "text_b": "b", "label": "entailment"}
    for n in range(20)
]


def order_of_training_texts(seed: int, folder: Path) -> Moved:
    settings = TrainingTextSettings.model_validate({"template": "nli", "rows": 10, "held_out": 2, "seed": seed})
    rows = training_rows(ASKED, "pair", settings, "x")
    return [row["id"] for row in rows], sorted((row["id"], row["prompt"]) for row in rows)


def order_of_questions_and_shots(seed: int, folder: Path) -> Moved:
    settings = EvaluationTextSettings.model_validate(
        {"template": "nli", "kind": "classification", "formats": ["io"], "splits": ["test"], "shots": 2, "seed": seed}
    )
    rows = evaluation_rows(ASKED, "pair", settings, "x")
    asked = [row["id"] for row in rows if row["role"] == "test"]
    return (asked, [row["id"] for row in rows if row["role"] == "shot"]), (sorted(asked), len(rows))


ENGINE = {"steps": 2, "batch_size": 6, "log_every": 1, "optimizer": {"learning_rate": 1e-2}}


def batches_of_pretraining(seed: int, folder: Path) -> Moved:
    """Which rows, and which of their tokens are predicted."""
    settings = PretrainSettings.model_validate(
        {"objective": "masked_lm", "input_length": 12, "target_length": 12, "engine": {**ENGINE, "seed": seed}}
    )
    store = TokenStore.open(folder / "tokens.parquet", "validation")
    batches = PretrainingBatches(store, load_objective(settings, folder / "bert"), settings)
    found = [batches(step, 0, 0, 1) for step in range(2)]
    labels = [one["labels"].tolist() for one in found]
    assert labels[0] != labels[1]
    return labels, [one["tokens"].tolist() for one in found]


def autoencoders(seed: int, folder: Path) -> Moved:
    """At a rate of nothing atoms stay as they are drawn, and the centre that of the blocks to start with."""
    shape, still = {"features": 8, "l1": 0.01, "start_blocks": 0.2}, {"learning_rate": 1e-9}
    settings = AutoencoderSettings.model_validate(
        {"shape": shape, "block": 12, "engine": {**ENGINE, "optimizer": still, "seed": seed}}
    )
    store = TokenStore.open(folder / "tokens.parquet", "validation", packing=12)
    about = {"work": folder / f"work-{seed}", "save_every": 9, "fingerprint": "f", "device": "cpu"}
    found, run = train_on_blocks(tiny_mistral(), store, settings, **about)
    shutil.rmtree(about["work"])
    return (found.decoder.detach().round(decimals=4).tolist(), found.centre.tolist()), (run.step, run.tokens)


def full_encoders(seed: int, folder: Path) -> Moved:
    """Nothing is drawn but the order of the triples."""
    given = {"encoder": {"method": "full", "pooling": "mean"}, "engine": {**ENGINE, "seed": seed}}
    given |= {"learning_rates": [1e-2], "seeds": [seed], "temperature": 0.1, "evaluate_every": 9}
    settings = ContrastiveTraining.model_validate(given)
    encoder = build_encoder(build_from_config(ENTRY, seed=0), settings.encoder, 0)
    about = {"work": folder / f"encoder-{seed}", "save_every": 9, "fingerprint": "f", "device": "cpu"}
    run, _, _ = train_encoder(encoder, triples(), [], settings, **about)
    shutil.rmtree(about["work"])
    return [one.tolist() for one in encoder.parameters() if one.dim() > 1], (run.step, len(run.metrics))


def adapters_and_the_order_of_their_texts(seed: int, folder: Path) -> Moved:
    settings = AdapterSettings.model_validate(
        {
            "rank": 2,
            "alpha": 4,
            "targets": ["q_proj"],
            "dropout": 0.0,
            "max_length": 8,
            "engine": {**ENGINE, "seed": seed},
        }
    )
    weights = {
        name: one.tolist()
        for name, one in add_adapter(build_from_config(ENTRY, seed=0), settings).named_parameters()
        if "lora_" in name
    }
    batches = TextBatches([[number] * 3 for number in range(12)], settings)
    order = [row[0] for step in range(2) for row in batches(step, 0, 0, 1)["input_ids"].tolist()]
    return ([one for name, one in weights.items() if "lora_A" in name], order), (sorted(weights), sorted(order))


def order_of_written_structure(seed: int, folder: Path) -> Moved:
    settings = SimpleNamespace(group_by_length=False, engine=EngineSettings.model_validate({**ENGINE, "seed": seed}))
    order = order_of(settings, range(12))
    rows = [int(row) for step in range(2) for row in order.rows(step)]
    return rows, sorted(rows)


def pairs_of_mentions(seed: int, folder: Path) -> Moved:
    """Of one related pair and fourteen others two are drawn in each step."""
    related = np.zeros((6, 6), dtype=bool)
    related[0, 1] = related[1, 0] = True
    settings = BiEncoderTraining.model_validate(
        {"engine": {**ENGINE, "seed": seed}, "epochs": 1, "head_learning_rate": 1e-3, "max_length": 12, "negatives": 2}
    )
    texts = PairTexts(Ragged.of([n + 3] for n in range(6)), 0)
    batches = PairBatches([PairSet(np.arange(6), related)], texts, settings)
    found = [batches(np.array([0]), step)["pairs"].tolist() for step in range(4)]
    return [pairs[1:] for pairs in found], [pairs[0] for pairs in found]


def reduced_models(seed: int, folder: Path) -> Moved:
    rows = [{"text": f"good film {n}", "label": str(n % 2), "split": ("train", "validation")[n > 3]} for n in range(6)]
    make_examples(folder / "e.parquet", "single", rows, ["0", "1"])
    task = {"kind": "classification", "metrics": ["accuracy"], "input_length": 8}
    settings = FinetuneSettings.model_validate(
        {
            "task": task,
            "engine": {**ENGINE, "seed": seed},
            "learning_rates": [1e-3],
            "embedding": {"kind": "partial", "splits": ["train"]},
        }
    )
    out = folder / f"reduced-{seed}"
    pema_adapt(
        model=folder / "bert", tokenizer=folder / "bert", examples=folder / "e.parquet", settings=settings, out=out
    )
    weights = load_file(out / "model/model.safetensors")
    shutil.rmtree(out)
    head = {name for name in weights if name.startswith("classifier")}
    return [weights[name].tolist() for name in sorted(head) if weights[name].dim() > 1], {
        name: one.tolist() for name, one in weights.items() if name not in head
    }


MOVED: dict[str, Callable[[int, Path], Moved]] = {
    "coreference.SimilaritySettings.seed": documents_whose_states_are_compared,
    "evaluation.CompletionScoring.seed": interval_of_answers,
    "features.SampleSettings.seed": sampled_blocks,
    "pema_adapt: training.EngineSettings.seed": reduced_models,
    "post_train: training.EngineSettings.seed": batches_of_pretraining,
    "pretrain_lm: training.EngineSettings.seed": batches_of_pretraining,
    "train_adapter: training.EngineSettings.seed": adapters_and_the_order_of_their_texts,
    "train_autoencoder: training.EngineSettings.seed": autoencoders,
    "train_encoder: training.EngineSettings.seed": full_encoders,
    "train_prompt: training.EngineSettings.seed": full_encoders,
    "train_retriever: training.EngineSettings.seed": pairs_of_mentions,
    "train_seq2seq: training.EngineSettings.seed": order_of_written_structure,
    "music.AnnotationSettings.seed": texts_of_the_template,
    "music.DescriptionScoring.seed": intervals_of_descriptions,
    "music.TrackSettings.seed": splits_of_tracks,
    "objectives.PreviewSettings.seed": corrupted_examples,
    "representations.DimensionSettings.seed": halves_of_items,
    "retrieval.FirstStage.seed": queries_that_are_asked,
    "sentences.LayerLosses.seed": losses_by_layer,
    "sentences.TripleSample.seed": loss_of_a_sample,
    "text.EvaluationTextSettings.seed": order_of_questions_and_shots,
    "text.TrainingTextSettings.seed": order_of_training_texts,
}


SEEN_BY = {
    "audio.RecogniserSettings.data_seed": "audio_known_answers: every_seed_and_rate_moves_what_is_trained",
    "coreference.CoreferenceTraining.seeds":
        "coreference_known_answers: seeds_and_the_rate_of_the_head_move_what_they_must",
    "evaluation.BaselineSettings.seed": "settings_move_results: settings_of_baselines_and_what_their_seed_moves",
    "evaluation.CompletionBaselines.seed": "settings_move_results: settings_of_scores_of_pairs_and_completions",
    "evaluation.SampleSettings.seed":
        "scoring_stages: sampled_predictions_are_those_of_the_chosen_rate_split_and_mode_beside_their_own_texts",
    "events.AnswerComparison.seed": "events_timing: the_case_study_has_what_retrieval_corrects",
    "events.AnswerContrast.seeds": "events_contrasts: all_right_beats_no_relation_by_everything",
    "events.PairClassification.seeds": "events_known_answers: each_split_is_read_for_what_it_is_for",
    "events.Retrieval.seeds": "events_stages: random_order_needs_no_model",
    "features.CorrelationSettings.shuffle_seed": "features_known_answers: classes_and_links",
    "features.EncodingSettings.drawn_seed":
        "features_stages: features_of_the_sample_are_neurons_atoms_or_those_of_a_random_dictionary",
    "features.FeatureComparison.seed": "features_known_answers: classes_and_links",
    "features.InterpretationSettings.seed": "features_known_answers: explanations_of_one_half_are_scored_on_the_other",
    "features.QualitySettings.seed":
        "features_stages: an_autoencoder_that_loses_nothing_recovers_all_of_the_held_out_text",
    "finetune_model: training.EngineSettings.seed": "settings_move_results: settings_of_fine_tuning",
    "music.DescriptionGeneration.seed":
        "music_known_answers: the_tracks_of_the_test_split_are_described_each_by_its_own_sound",
    "music.PrefixDescription.seed": "settings_move_prefix: settings_of_descriptions_by_a_prefix",
    "probe_coreference: training.EngineSettings.seed":
        "coreference_known_answers: seeds_and_the_rate_of_the_head_move_what_they_must",
    "registry.SplitSettings.seed": "data_registry: shares_hold_and_seeds_differ",
    "representations.PromptSettings.seed":
        "representations: demonstrations_are_the_released_ones_and_unique_ones_never_repeat",
    "representations.TokenClouds.seed": "token_clouds: shuffled_tokens_are_those_of_the_prompt",
    "retrieval.RerankerTraining.seeds": "rerank_stages: from_passages_to_scores",
    "retrieval.Reranking.seeds": "rerank_stages: from_passages_to_scores",
    "retrieval.SpanSettings.seed":
        "span_queries: a_span_stands_in_its_window_and_windows_of_other_passages_beside_it",
    "sentences.ContrastiveTraining.seeds":
        "sentence_stages: a_depth_that_the_losses_choose_is_that_depth_of_the_grid",
    "sentences.PromptTraining.seeds": "prompt_forms: seeds_draw_the_start_and_nothing_else_is_drawn",
    "sentences.Evaluation.seeds": "sentence_stages: from_triples_to_scores",
    "sentences.PruningSettings.seed": "block_pruning: texts_are_drawn_once_each",
    "sentences.Whitening.seed": "whitening: it_is_fitted_on_texts_drawn_from_the_triples",
    "structure.PairScoring.seed": "settings_move_results: settings_of_scores_of_pairs_and_completions",
    "text.TokenStorageSettings.seed": "text_tokens: stage_writes_rows_of_the_format",
    "train_coreference: training.EngineSettings.seed":
        "coreference_known_answers: seeds_and_the_rate_of_the_head_move_what_they_must",
    "train_describer: training.EngineSettings.seed":
        "music_known_answers: stage_two_goes_on_from_stage_one_and_seeds_draw_the_adaptor",
    "train_pair_classifier: training.EngineSettings.seed":
        "events_known_answers: each_split_is_read_for_what_it_is_for",
    "train_prefix: training.EngineSettings.seed":
        "linear_prefix: stage_two_goes_on_from_stage_one_and_seeds_draw_the_map",
    "train_recogniser: training.EngineSettings.seed":
        "audio_known_answers: every_seed_and_rate_moves_what_is_trained",
    "train_reranker: training.EngineSettings.seed": "rerank_stages: from_passages_to_scores",
    "events.RetrieverTraining.seeds": "events_stages: from_documents_to_scores",
    "training.CompletionTuningSettings.seed":
        "settings_move_results: the_loop_of_completions_has_what_its_settings_say",
    "training.EvaluationSettings.seed": "settings_move_results: settings_of_held_out_losses",
}  # fmt: skip
"""The test of `tests/unit` that fails where a seed is ignored."""
STILL = {
    "classify_pairs: training.EngineSettings.seed": "nothing is trained: which models are read follows from `seeds`",
    "evaluation.CompletionScoring.tuning_seed": "the name of a row: the model was trained before",
    "measure_finetuning: training.EngineSettings.seed": "memory and seconds of a few updates, whatever is in them",
    "sentences.TaskScores.seeds": "a part of sentences.Evaluation",
    "time_pairs: training.EngineSettings.seed": "seconds of forward passes of a model that is read",
}


def test_every_seed_of_a_schema_has_a_test_or_a_reason():
    assert set(seeds()) == {*MOVED, *SEEN_BY, *STILL}
    for seed, where in SEEN_BY.items():
        file, test = where.split(": ")
        content = Path(__file__).with_name(f"test_{file}.py").read_text(encoding="utf-8")
        assert f"def test_{test}(" in content, f"{seed}: there is no {where}"


@pytest.mark.parametrize("name", MOVED)
def test_another_seed_moves_what_it_draws_and_nothing_else(name, folder):
    first, again, other = (MOVED[name](seed, folder) for seed in (1, 1, 2))
    assert first == again and first[1] == other[1]
    moves, others = ([*one[0]] if isinstance(one[0], tuple) else [one[0]] for one in (first, other))
    assert all(one != two for one, two in zip(moves, others, strict=True))

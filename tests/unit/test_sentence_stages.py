"""Sentence encoders from their triples to their scores, on tiny decoders; a killed training goes on."""

import itertools

import numpy as np
import pytest
import torch
from finetune_fixtures import WORDS, make_tokenizer
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.training_memory import TrainingMemory, save_memory
from reprlab.sentences import prompt_forms, rates
from reprlab.sentences import triples as triples_module
from reprlab.sentences.block_pruning import PruningSettings
from reprlab.sentences.encoder import build_encoder, embed, load_encoder, read_settings, save_encoder, trained_weights
from reprlab.sentences.evaluation import score_task
from reprlab.sentences.layer_losses import layer_losses, with_layers
from reprlab.sentences.prompt_forms import PromptTraining
from reprlab.sentences.rates import best_rate
from reprlab.sentences.settings import (
    ContrastiveTraining,
    EncoderSettings,
    Evaluation,
    LayerLosses,
    TaskScores,
    TripleTexts,
)
from reprlab.sentences.texts import EncodedTexts, encode_texts
from reprlab.sentences.training import TripleBatches, triple_loss
from reprlab.sentences.triples import Triples, encoded_triples, open_triples
from reprlab.stages.evaluate_encoder import evaluate_encoder
from reprlab.stages.evaluate_text_baselines import evaluate_text_baselines
from reprlab.stages.measure_layers import measure_layers
from reprlab.stages.prune_block import prune_block
from reprlab.stages.tokenize_triples import tokenize_triples
from reprlab.stages.train_encoder import train_encoder
from reprlab.stages.train_prompt import train_prompt
from reprlab.text.model_tokenizers import load_tokenizer
from safetensors.torch import load_file

ADAPTER = {"rank": 2, "alpha": 4, "targets": ["q_proj", "v_proj"]}
METHODS = {
    "prompt": {"method": "prompt", "vectors": 2, "pooling": "last"},
    "prefix": {"method": "prefix", "vectors": 2, "pooling": "last"},
    "lora": {"method": "lora", "adapter": ADAPTER, "pooling": "weighted_mean"},
    "full": {"method": "full", "pooling": "mean"},
    "cut": {"method": "lora", "adapter": ADAPTER, "pooling": "weighted_mean", "layers": "small"},
}
TRAINED = {"prompt": 2 * 16, "prefix": 2 * 4 * 2 * 8, "lora": 4 * 2 * (2 * 16 + 16 + 8)}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model with its tokenizer, triples, pairs with likeness, and a task of each category."""
    folder = tmp_path_factory.mktemp("encoders")
    vocabulary = make_tokenizer(folder / "model")
    config = {
        "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 64, "vocab_size": 160, "pad_token_id": 0,
        "bos_token_id": 1, "eos_token_id": 1,
    }  # fmt: skip
    entry = ModelEntry(architecture="llama", config=config, source="x", tie_output=True, origin={"kind": "scratch"})
    save_model(build_from_config(entry, vocabulary.padded_size, seed=0), folder / "model")
    rng = np.random.default_rng(0)

    def write(name, kind, rows):
        path = folder / name / "examples.parquet"
        path.parent.mkdir(exist_ok=True)
        split = ("train", "validation", "test")
        about = [{"id": f"{name}{n}", "group": f"{n}", "split": split[n % 3], **row} for n, row in enumerate(rows)]
        write_rows(path, about, kind, {"name": name, "title": name})
        return path

    known = [word for word in dict.fromkeys(WORDS) if word.isalpha()]
    words = [f"{one} {other}" for one, other in itertools.combinations(known, 2)][:40]
    pair = lambda n: (words[n % 40], f"{words[n % 40]} again")  # noqa: E731
    other = lambda n: f"{words[(n + 7) % 40]} again"  # noqa: E731
    choice = [
        {"context": "", "question": pair(n)[0], "choices": [pair(n)[1], other(n)], "answer": 0} for n in range(60)
    ]
    likeness = [
        {"text_a": pair(n)[0], "text_b": pair(n)[1] if n % 2 else other(n), "score": float(n % 2 + rng.random() / 9)}
        for n in range(60)
    ]
    search = [
        {"query_id": f"{n}", "query": pair(n)[0], "passage_id": f"p{n}", "passage": pair(n)[1], "relevance": 1}
        for n in range(40)
    ]
    single = [{"text": f"{words[n % 40]} {n % 2}", "label": f"{n % 2}", "subset": ""} for n in range(60)]
    same = [
        {"text_a": pair(n)[0], "text_b": other(n) if n % 2 else pair(n)[1], "label": "other" if n % 2 else "same",
         "subset": ""}
        for n in range(60)
    ]  # fmt: skip
    found = {
        "model": folder / "model",
        "triples": [write("triples", "choice", choice), write("further", "choice", choice[:30])],
        "held_out": [write("likeness", "similarity", likeness), write("other", "similarity", likeness[:30])],
        "tasks": {
            "sts": folder / "likeness/examples.parquet",
            "retrieval": write("search", "ranking", search),
            "reranking": folder / "triples/examples.parquet",
            "clustering": write("single", "single", single),
            "pair_classification": write("same", "pair", same),
            "classification": folder / "single/examples.parquet",
        },
    }
    tokens(found, folder / "tokens")
    return found


def tokens(place, folder, **more):
    """The triples as the model's tokenizer reads them."""
    tokenize_triples(
        triples=place["triples"], tokenizer=place["model"], out=folder,
        settings=TripleTexts.model_validate({"form": {}, **more}),
    )  # fmt: skip
    place["tokens"] = folder
    return open_triples(folder)


def settings(method, **more):
    engine = {"steps": 4, "batch_size": 6, "optimizer": {"learning_rate": 1.0}, "log_every": 1}
    engine |= {"schedule": {"name": "linear"}}
    given = {"learning_rates": [1e-2, 1e-3], "seeds": [0, 1], "temperature": 0.05, "evaluate_every": 2, "part_size": 7}
    return ContrastiveTraining.model_validate({"encoder": METHODS[method], "engine": engine, **given, **more})


def train(place, folder, method, *, alone=False, **more):
    folder.mkdir(exist_ok=True)
    train_encoder(
        model=place["model"], tokenizer=place["model"], triples=place["tokens"],
        held_out=None if alone else place["held_out"],
        out=folder / "encoders", metrics=folder / "metrics.tsv", cost=folder / "cost.tsv", work=folder / "work/one",
        settings=settings(method, **more), fingerprint="x", depths=folder / "depths.tsv",
    )  # fmt: skip
    return read_tsv(folder / "metrics.tsv")


def losses(place, out, **more):
    encoder = {"method": "none", "pooling": "weighted_mean"}
    found = {"encoder": encoder, "batch_size": 6, "batches": 3, "temperature": 0.05, **more}
    measure_layers(
        model=place["model"], triples=place["tokens"], out=out,
        settings=LayerLosses.model_validate(found),
    )  # fmt: skip
    return read_tsv(out)


FORMS = {
    "residual": {"kind": "residual", "width": 5, "layer_norm": True},
    "decomposed": {"kind": "decomposed", "rank": 1, "spread": 0.5},
}


NESTED = {"kind": "matryoshka_2d", "narrowest": 2, "weight": 1.0, "alignment": 1.0, "temperature": 1.0}


def train_form(place, folder, form, **more):
    folder.mkdir(exist_ok=True)
    given = {**settings("prompt").model_dump(), "form": form, **more}
    train_prompt(
        model=place["model"], tokenizer=place["model"], triples=place["tokens"], held_out=place["held_out"],
        out=folder / "encoders", metrics=folder / "metrics.tsv", work=folder / "work/one",
        settings=PromptTraining.model_validate(given), fingerprint="x",
    )  # fmt: skip
    return read_tsv(folder / "metrics.tsv")


def without_strength(encoder, form, seed, usual=prompt_forms.reparametrise):
    """A form that is the plain prompt and stays it: what is beside the vectors is fixed, at 0 or as the identity."""
    start = encoder.prompt.detach().clone()
    parts = usual(encoder, form, seed).parametrizations.prompt
    fixed = [*parts[0].parameters()] if form.kind == "residual" else [parts.original0]
    with torch.no_grad():
        for weight in fixed:
            weight.zero_()
            weight.register_hook(torch.zeros_like)
        if form.kind == "decomposed":
            parts.original0.copy_(torch.eye(len(start)))
            parts.original1.copy_(start)
    return encoder


def test_a_form_is_drawn_with_each_seed_and_trained_for_the_passes(place, tmp_path, monkeypatch):
    drawn = []

    def reparametrise(encoder, form, seed, usual=prompt_forms.reparametrise):
        drawn.append(seed)
        return usual(encoder, form, seed)

    monkeypatch.setattr(prompt_forms, "reparametrise", reparametrise)
    rows = train_form(place, tmp_path, FORMS["decomposed"], epochs=2.0, seeds=[3, 4], learning_rates=[1e-2])
    # Folding draws with 0, over which it puts what was trained.
    assert [seed for seed in drawn if seed] == [3, 4] and set(rows.seed) == {3, 4}
    assert rows.step.max() == 10


@pytest.mark.parametrize("stage", [train, lambda place, folder, _: train_form(place, folder, FORMS["decomposed"])])
def test_a_finished_run_is_told_apart_by_every_file_that_it_read(stage, place, tmp_path, monkeypatch):
    asked = []

    def train_at_rates(*given, files, **more):
        asked.extend(files)
        return 1e-2, {1e-2: []}

    monkeypatch.setattr(rates, "train_at_rates", train_at_rates)
    stage(place, tmp_path, "prompt")
    weights = {*place["model"].glob("*.safetensors"), place["model"] / "tokenizer.json", place["model"] / "config.json"}
    assert {*place["held_out"], place["tokens"] / "triples.json"} | weights <= {*asked}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_no_strength_trains_as_the_plain_prompt_bit_by_bit(form, place, tmp_path, monkeypatch):
    """Same losses, held-out scores, choice of the rate and vectors as of the other stage."""
    plain = train(place, tmp_path / "plain", "prompt")
    given = FORMS[form] | ({"rank": 2} if form == "decomposed" else {})
    strong = train_form(place, tmp_path / "strong", given)
    monkeypatch.setattr(prompt_forms, "reparametrise", without_strength)
    found = train_form(place, tmp_path / "weak", given)
    columns = [name for name in plain if name != "trained"]
    assert list(found) == list(plain)
    assert found[columns].equals(plain[columns]) and not strong[columns].equals(plain[columns])
    for seed in (0, 1):
        name = f"encoders/seed-{seed}"
        one, other = ({file.name: file.read_bytes() for file in (tmp_path / side / name).iterdir()}
                      for side in ("plain", "weak"))  # fmt: skip
        assert one == other
    assert set(plain.trained) == {2 * 16}
    assert set(found.trained) == {2 * 2 + 2 * 16 if form == "decomposed" else 2 * 16 + 2 * 16 * 5 + 5 + 3 * 16}


def test_a_nested_objective_of_no_strength_trains_as_the_plain_one_bit_by_bit(place, tmp_path):
    plain = train(place, tmp_path / "plain", "lora")
    strong = train(place, tmp_path / "strong", "lora", objective=NESTED)
    found = train(place, tmp_path / "weak", "lora", objective={**NESTED, "weight": 0.0, "alignment": 0.0})
    assert found.equals(plain) and not strong.loss.equals(plain.loss)
    # The first update has no learning behind it: the log has the plain loss, beside what is minimised.
    first = [table[table.step == 1] for table in (plain, strong)]
    assert first[0].loss.equals(first[1].loss) and first[1].objective.gt(first[1].loss + 1).all()
    assert plain.objective.equals(plain.loss)
    for seed in (0, 1):
        one, other, third = (
            {file.name: file.read_bytes() for file in (tmp_path / side / f"encoders/seed-{seed}").iterdir()}
            for side in ("plain", "weak", "strong")
        )
        assert one == other and one["encoder.json"] == third["encoder.json"] and one != third


def test_one_training_is_scored_at_each_depth(place, tmp_path):
    table = losses(place, tmp_path / "depths.tsv")
    small = with_layers(EncoderSettings.model_validate(METHODS["cut"]), tmp_path / "depths.tsv").layers
    assert small in (1, 2) and table.layer.max() == 4
    train(place, tmp_path, "lora", objective=NESTED)
    tasks = [{"name": "sts", "category": "sts"}]

    def scored(layers, depths=None):
        evaluation = {"encoder": {**METHODS["lora"], "layers": layers}, "tasks": tasks, "seeds": [0, 1]}
        evaluate_encoder(
            model=place["model"], tokenizer=place["model"], tasks=[place["tasks"]["sts"]], out=tmp_path / "scores.tsv",
            encoders=tmp_path / "encoders", training=tmp_path / "metrics.tsv", depths=depths,
            settings=Evaluation.model_validate(evaluation),
        )  # fmt: skip
        return read_tsv(tmp_path / "scores.tsv")

    by_layers = {layers: scored(layers) for layers in (1, 2, 3, 4)}
    for layers, rows in by_layers.items():
        assert set(rows.layers) == {layers} and rows.steps.gt(0).all()
    values = {tuple(rows.value) for rows in by_layers.values()}
    assert len(values) == 4 and by_layers[4].equals(scored(None)), "each depth has scores of its own"
    chosen = scored("small", tmp_path / "depths.tsv")
    assert chosen.equals(by_layers[small])


@pytest.mark.parametrize("method", METHODS)
def test_from_triples_to_scores(method, place, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        losses(place, tmp_path / name / "depths.tsv")
        rows = train(place, tmp_path / name, method, mixed=name == "one" or method != "lora")
    first = tmp_path / "one"
    if method != "lora":
        for file in ("metrics.tsv", "encoders/seed-1/trained.safetensors", "encoders/seed-0/encoder.json"):
            assert (first / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert set(rows.seed) == {0, 1} and set(rows.learning_rate) == {1e-2, 1e-3}
    assert rows.groupby("learning_rate").chosen.nunique().eq(1).all() and rows.chosen.sum() == len(rows) / 2
    assert rows.held_out.notna().sum() == 2 * 2 * 2
    each = rows[["held_out_likeness", "held_out_other"]]
    assert (each.notna().all(axis=1) == rows.held_out.notna()).all() and (each.nunique() > 2).all()
    np.testing.assert_allclose(each.mean(axis=1).dropna(), rows.held_out.dropna())
    if method in TRAINED:
        assert set(rows.trained) == {TRAINED[method]}
    tasks = [{"name": name, "category": name} for name in place["tasks"]]
    kept = EncoderSettings.model_validate(METHODS[method])
    evaluation = Evaluation.model_validate(
        {"encoder": kept, "tasks": tasks, "seeds": [0, 1], "draws": 2, "resamples": 20, "per_label": 4}
    )
    evaluate_encoder(
        model=place["model"], tokenizer=place["model"], tasks=list(place["tasks"].values()), out=first / "scores.tsv",
        encoders=first / "encoders", training=first / "metrics.tsv", settings=evaluation,
    )  # fmt: skip
    scores = read_tsv(first / "scores.tsv")
    assert set(scores["length"]) == {kept.form.max_length}
    assert len(scores) == 2 * 6 and scores.n.gt(0).all() and set(scores.steps) <= {2, 4}
    assert scores.value.between(-100, 100).all()


def test_what_no_model_made_is_scored_on_every_task(place, tmp_path):
    """Random vectors, character n-grams, and of classification the most frequent label."""
    tasks = [{"name": name, "category": name} for name in place["tasks"]]
    given = {"tasks": tasks, "seeds": [0, 1], "draws": 2, "resamples": 20, "per_label": 4}
    for name in ("one", "two"):
        evaluate_text_baselines(
            tasks=list(place["tasks"].values()), out=tmp_path / name, settings=TaskScores.model_validate(given)
        )
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    rows = read_tsv(tmp_path / "one")
    assert set(rows.seed) == {0} and rows.groupby("name").dataset.nunique().to_dict() == {
        "random vectors": 6, "character n-grams": 6, "word TF-IDF": 6, "most frequent label": 1,
    }  # fmt: skip
    assert rows[rows["name"] == "most frequent label"].value.between(49, 51).all()


def test_two_tasks_on_the_same_texts_read_them_once(place, tmp_path, monkeypatch):
    from reprlab.sentences import encoder

    read, embed = [], encoder.embed

    def counted(of, texts, **how):
        read.append(len(texts))
        return embed(of, texts, **how)

    monkeypatch.setattr(encoder, "embed", counted)
    path = place["tasks"]["classification"]
    found = {}
    for name, kinds in (("both", ["clustering", "classification"]), ("alone", ["classification"])):
        tasks = [{"name": kind, "category": kind} for kind in kinds]
        given = {"encoder": {"method": "none", "pooling": "last"}, "tasks": tasks, "seeds": [0]}
        evaluate_encoder(
            model=place["model"], tokenizer=place["model"], tasks=[path] * len(kinds), out=tmp_path / name,
            settings=Evaluation.model_validate({**given, "draws": 2, "resamples": 20, "per_label": 4}),
        )  # fmt: skip
        found[name] = (sum(read), read_tsv(tmp_path / name).query("dataset == 'classification'").value.item())
        read.clear()
    table = read_parquet(path)
    shown = zip(table["text"].to_pylist(), table["split"].to_pylist(), strict=True)
    assert found["both"][0] == len({text for text, split in shown if split != "validation"})
    # A task alone reads its test texts beside those that it is trained on, some of which are the same.
    assert found["both"][0] <= found["alone"][0] and found["both"][1] == found["alone"][1]


def test_vectors_of_trained_encoders_are_whitened_by_a_map_of_each_seed(place, tmp_path):
    """Its numbers are among the parameters; the states of both ends are a matter of use, not of training."""
    train(place, tmp_path, "lora")
    whitening = {"fit_on": "train", "texts": 200, "dimensions": 5, "seed": 0}
    plain = {"encoder": METHODS["lora"], "tasks": [{"name": "sts", "category": "sts"}], "seeds": [0, 1], "resamples": 9}
    given = {
        "plain": plain, "white": {**plain, "whitening": whitening},
        "ends": {**plain, "whitening": whitening, "encoder": {**METHODS["lora"], "both_ends": True}},
        "test": {**plain, "whitening": {**whitening, "fit_on": "test"}},
    }  # fmt: skip
    found = {}
    for name, own in given.items():
        evaluate_encoder(
            model=place["model"], tokenizer=place["model"], tasks=[place["tasks"]["sts"]], out=tmp_path / name,
            encoders=tmp_path / "encoders", training=tmp_path / "metrics.tsv", settings=Evaluation.model_validate(own),
            fitting=place["tokens"] if name in ("white", "ends") else None,
        )  # fmt: skip
        found[name] = read_tsv(tmp_path / name)
    width = load_model(place["model"]).config.hidden_size
    more = {name: (table["parameters"] - found["plain"]["parameters"]).tolist() for name, table in found.items()}
    assert more == {"plain": [0, 0], "white": [6 * width] * 2, "ends": [6 * width] * 2, "test": [0, 0]}
    values = [tuple(table["value"]) for table in found.values()]
    assert len(set(values)) == 4 and all(one != other for one, other in values)
    with pytest.raises(ReprlabError, match="needs the tokenised triples"):
        evaluate_encoder(
            model=place["model"], tokenizer=place["model"], tasks=[place["tasks"]["sts"]], out=tmp_path / "none",
            settings=Evaluation.model_validate({**given["white"], "encoder": {"method": "none", "pooling": "mean"}}),
        )  # fmt: skip


@pytest.mark.parametrize("layers", [2, "small"])
def test_a_decoder_without_a_block_is_trained_and_scored_as_one_of_fewer_layers(layers, place, tmp_path):
    """It has the layers and parameters of the paper's pruning of that depth, and of those that stay the map alone is
    another."""
    losses(place, tmp_path / "depths.tsv")
    chosen = with_layers(EncoderSettings.model_validate(METHODS["cut"]), tmp_path / "depths.tsv").layers
    kept = layers if layers == 2 else chosen
    plain = {"tasks": [{"name": "sts", "category": "sts"}], "seeds": [0, 1], "resamples": 9}
    scored, weights = {}, {}
    for way in ("plain", "block_cosine", "replace_me"):
        model, out = place["model"], tmp_path / way
        out.mkdir()
        if way != "plain":
            own = {"method": way, "layers": layers, "texts": 30, "seed": 0}
            prune_block(
                model=model, tokenizer=model, triples=place["tokens"], out=out / "model", blocks=out / "blocks.tsv",
                settings=PruningSettings.model_validate(own), depths=tmp_path / "depths.tsv",
            )  # fmt: skip
            model = out / "model"
            table = read_tsv(out / "blocks.tsv")
            assert table["first"].tolist() == [*range(1, kept + 1)] and set(table["removed"]) == {4 - kept}
            assert table["distance"].idxmin() == table["chosen"].idxmax() and table["chosen"].sum() == 1
            weights[way] = load_file(model / "model.safetensors")
        encoder = {**METHODS["lora"], "layers": kept if way == "plain" else None}
        train({**place, "model": model}, out, "lora", encoder=encoder, learning_rates=[1e-2])
        evaluate_encoder(
            model=model, tokenizer=place["model"], tasks=[place["tasks"]["sts"]], out=out / "scores.tsv",
            encoders=out / "encoders", training=out / "metrics.tsv",
            settings=Evaluation.model_validate({**plain, "encoder": encoder}),
        )  # fmt: skip
        scored[way] = read_tsv(out / "scores.tsv")
    for table in scored.values():
        assert table[["layers", "parameters", "trained"]].equals(scored["plain"][["layers", "parameters", "trained"]])
    assert set(scored["plain"]["layers"]) == {kept}
    one, other = weights.values()
    assert one.keys() == other.keys()
    (changed,) = [name for name, value in one.items() if not torch.equal(value, other[name])]
    assert changed == f"model.layers.{read_tsv(out / 'blocks.tsv')['chosen'].idxmax()}.mlp.down_proj.weight"


def test_rates_that_nearly_agree_do_not_take_each_other_s_place(place, tmp_path):
    rows = train(place, tmp_path / "both", "prompt", learning_rates=[0.01, 0.01000004], seeds=[0])
    (chosen,) = set(rows[rows.chosen == 1].learning_rate)
    assert chosen == 0.01
    train(place, tmp_path / "one", "prompt", learning_rates=[0.01], seeds=[0])
    both, one = (tmp_path / name / "encoders/seed-0/trained.safetensors" for name in ("both", "one"))
    assert both.read_bytes() == one.read_bytes()


def test_passes_over_the_triples_in_place_of_steps(place, tmp_path):
    rows = train(place, tmp_path, "prompt", epochs=2.0, seeds=[0], learning_rates=[1e-2])
    # 20 and 10 triples of the train split make five full batches of six.
    assert rows.step.max() == 10


def test_a_run_has_a_seed_a_rate_and_updates_of_its_own(place):
    own = rates.one_run(settings("prompt", epochs=2.0), open_triples(place["tokens"]), 1e-3, 5)
    assert (own.seeds, own.learning_rates, own.engine.steps) == ([5], [1e-3], 10)
    assert (own.engine.seed, own.engine.optimizer.learning_rate) == (5, 1e-3)


def test_sets_are_clustered_one_by_one_and_passages_without_a_query_are_searched(tmp_path):
    """mteb's sets share no clusters; what nobody judged is not a query with a score of 0."""
    about = {"split": "test", "group": "0"}
    rows = [
        {"id": f"{place}", **about, "subset": f"{place % 2}", "text": f"{place}", "label": f"{place // 2 % 2}"}
        for place in range(40)
    ]
    write_rows(tmp_path / "sets.parquet", rows, "single", {"name": "x", "title": "x"})
    search = [
        {"id": f"{n}", **about, "query_id": "q" if n else "", "query": "1" if n else "", "passage_id": f"p{n}",
         "passage": f"{n}", "relevance": n}
        for n in (0, 1)
    ]  # fmt: skip
    write_rows(tmp_path / "search.parquet", search, "ranking", {"name": "x", "title": "x"})
    given = {"encoder": {"method": "none", "pooling": "last"}, "seeds": [0], "draws": 3, "resamples": 10}
    tasks = [{"name": name, "category": name} for name in ("clustering", "retrieval")]
    settings = Evaluation.model_validate({**given, "tasks": tasks})

    def encode(texts, _):
        # The label's axis has another sign in each set: together they are not clusters.
        signs = [(1 if int(text) // 2 % 2 else -1) * (1 if int(text) % 2 else -1) for text in texts]
        return np.array([[sign, 0.01 * int(text)] for sign, text in zip(signs, texts, strict=True)])

    found = score_task(tmp_path / "sets.parquet", settings.tasks[0], encode, settings, 0)
    assert (found["value"], found["n"]) == (pytest.approx(100), 2)
    found = score_task(tmp_path / "search.parquet", settings.tasks[1], encode, settings, 0)
    assert (found["value"], found["n"]) == (100, 1)


def test_without_held_out_pairs_the_last_update_is_kept_and_the_loss_of_a_sample_is_told(place, tmp_path):
    """The untrained model at the depth that its losses choose has the loss of that layer; training lowers it."""
    table = losses(place, tmp_path / "depths.tsv")
    with pytest.raises(ReprlabError, match="nothing chooses among several"):
        train(place, tmp_path, "cut", alone=True)
    engine = {"steps": 40, "batch_size": 6, "optimizer": {"learning_rate": 1.0}, "log_every": 20}
    rows = train(place, tmp_path, "cut", alone=True, learning_rates=[1e-2], mixed=False, engine=engine)
    assert rows.held_out.isna().all() and set(rows.step) == {20, 40}
    spent = read_tsv(tmp_path / "cost.tsv")
    small = int(with_layers(EncoderSettings.model_validate(METHODS["cut"]), tmp_path / "depths.tsv").layers)
    assert set(spent.layers) == {small} and set(spent.of_layers) == {4} and (spent.seconds > 0).all()
    triples = open_triples(place["tokens"])
    whole = triples.batch(np.arange(triples.count))["attention_mask"]
    assert set(spent.longest) == {int(whole.sum(1).max())} and whole.sum(1).min() < whole.shape[1]
    # A layer: four projections of attention with two of four heads for keys, three of the MLP, two norms.
    layer = 2 * 16 * 16 + 2 * 16 * 8 + 3 * 16 * 24 + 2 * 16
    assert set(spent.of_parameters - spent.parameters) == {(4 - small) * layer}
    sample = {"batch_size": 6, "batches": 3, "temperature": 0.05}
    found = {}
    for name in ("none", "cut"):
        encoder = METHODS["cut"] if name == "cut" else {"method": "none", "pooling": "weighted_mean", "layers": "small"}
        trained = {"encoders": tmp_path / "encoders", "training": tmp_path / "metrics.tsv"} if name == "cut" else {}
        task = {"name": "search", "category": "retrieval", "passages": 20}
        given = {"encoder": encoder, "tasks": [task], "seeds": [0, 1], "resamples": 20, "sample": sample}
        evaluate_encoder(
            model=place["model"], tokenizer=place["model"], tasks=[place["tasks"]["retrieval"]],
            out=tmp_path / f"{name}.tsv", settings=Evaluation.model_validate(given), triples=place["tokens"],
            depths=tmp_path / "depths.tsv", **trained,
        )  # fmt: skip
        found[name] = read_tsv(tmp_path / f"{name}.tsv")
        assert set(found[name].layers) == {small}
    untrained, after = (rows[rows.metric == "contrastive_loss"] for rows in found.values())
    assert untrained.value.item() == pytest.approx(table[table.layer == small].loss.mean(), rel=1e-5)
    assert (after.value < untrained.value.item()).all() and set(after.steps) == {40}


@pytest.mark.parametrize("chosen", ["small", "large"])
def test_a_depth_that_the_losses_choose_is_that_depth_of_the_grid(chosen, place, tmp_path):
    """Both variants are one encoder, so that their differences to the whole model are one number (L3Prune's trap 6)."""
    losses(place, tmp_path / "depths.tsv")
    kept = with_layers(EncoderSettings.model_validate({**METHODS["cut"], "layers": chosen}), tmp_path / "depths.tsv")
    assert (kept.layers <= 2) == (chosen == "small")
    for name, layers in (("chosen", chosen), ("grid", kept.layers)):
        encoder = {**METHODS["cut"], "layers": layers}
        (tmp_path / name).mkdir()
        (tmp_path / name / "depths.tsv").write_bytes((tmp_path / "depths.tsv").read_bytes())
        train(place, tmp_path / name, "cut", encoder=encoder, seeds=[0, 1, 2], learning_rates=[1e-2], mixed=False)
    files = ["metrics.tsv", *(f"encoders/seed-{n}/{kind}" for n in (0, 1, 2) for kind in (
        "encoder.json", "trained.safetensors"))]  # fmt: skip
    for file in files:
        assert (tmp_path / "chosen" / file).read_bytes() == (tmp_path / "grid" / file).read_bytes()
    seeds = {(tmp_path / "grid" / f"encoders/seed-{n}/trained.safetensors").read_bytes() for n in (0, 1, 2)}
    assert len(seeds) == 3, "seeds draw their own adapters and orders"


def test_the_log_has_the_rate_of_each_update(place, tmp_path):
    """Linear to the peak, then constant (L3Prune's trap 9): the first update has 0, as in transformers."""
    engine = {"steps": 6, "batch_size": 6, "optimizer": {"learning_rate": 1.0}, "log_every": 1}
    engine |= {"schedule": {"name": "constant", "warmup_steps": 3}}
    rows = train(place, tmp_path, "lora", alone=True, learning_rates=[3e-3], engine=engine)
    for _, run in rows.groupby("seed"):
        assert run.rate.tolist() == pytest.approx([0, 1e-3, 2e-3, 3e-3, 3e-3, 3e-3])
    assert set(rows.learning_rate) == {3e-3}, "the peak tells the runs apart"


@pytest.mark.parametrize("method", ["prompt", "prefix", "lora"])
def test_the_base_is_what_it_was_and_what_is_kept_is_small(method, place, tmp_path, monkeypatch):
    """Every tensor of each decoder that was trained on, bit by bit; the checkpoint holds what was trained alone."""
    from reprlab.models import build
    from safetensors.torch import load_file

    opened = []
    monkeypatch.setattr(build, "load_model", lambda folder: opened.append(load_model(folder)) or opened[-1])
    before = load_model(place["model"]).state_dict()
    train(place, tmp_path, method)
    assert len(opened) == 2 * 2
    for network in opened:
        after = {name.replace("base_layer.", ""): value for name, value in network.state_dict().items()}
        assert all(torch.equal(after[name], value) for name, value in before.items())
        assert all("lora" in name for name in set(after) - set(before))
    kept = load_file(tmp_path / "encoders/seed-0/trained.safetensors")
    started = trained_weights(
        build_encoder(load_model(place["model"]), EncoderSettings.model_validate(METHODS[method]), 0)
    )
    assert {name: value.shape for name, value in kept.items()} == {n: v.shape for n, v in started.items()}
    assert sum(value.numel() for value in kept.values()) == TRAINED[method]
    assert all(value.dtype == torch.float32 and not torch.equal(value, started[name]) for name, value in kept.items())
    if method == "prompt":
        assert {name: tuple(value.shape) for name, value in kept.items()} == {"prompt": (2, 16)}
        # What it started from is on record (specification, section 2).
        assert read_settings(tmp_path / "encoders/seed-0").start == "vocabulary"


@pytest.mark.parametrize("method", ["prompt", "lora", "nested", *FORMS])
def test_a_killed_training_ends_with_the_same_bytes(method, place, tmp_path, monkeypatch):
    def trained(folder):
        if method in FORMS:
            return train_form(place, folder, FORMS[method])
        nested = {"objective": NESTED} if method == "nested" else {}
        return train(place, folder, "lora" if nested else method, **nested)

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    trained(whole)
    from reprlab.sentences import training

    usual, calls = training.train, []

    def killed(*given, **named):
        calls.append(1)
        if len(calls) == 2:
            look = named["on_checkpoint"]

            def stop(step, model):
                look(step, model)
                raise KeyboardInterrupt

            named["on_checkpoint"] = stop
        return usual(*given, **named)

    monkeypatch.setattr(training, "train", killed)
    with pytest.raises(KeyboardInterrupt):
        trained(cut)
    trained(cut)
    assert len(calls) == 2 + 3
    for file in ("metrics.tsv", "encoders/seed-0/trained.safetensors", "encoders/seed-1/trained.safetensors"):
        assert (cut / file).read_bytes() == (whole / file).read_bytes()
    assert not any((cut / "work").iterdir())


def test_the_first_loss_of_a_cut_model_is_that_of_its_layer(place, tmp_path):
    table = losses(place, tmp_path / "losses.tsv")
    assert table.layer.nunique() == 4 and table.batch.nunique() == 3
    assert set(table.triples) == {6} and set(table.temperature) == {0.05}
    encoder = EncoderSettings.model_validate({**METHODS["lora"], "layers": 3})
    triples = open_triples(place["tokens"])
    measured = LayerLosses(encoder=encoder, batch_size=6, batches=3, temperature=0.05)
    found = layer_losses(load_model(place["model"]), triples, measured)
    np.testing.assert_allclose(found[:, 2], table[table.layer == 3].loss, rtol=1e-6)
    cut = build_encoder(load_model(place["model"]), encoder, 0).train()
    for place_, rows in enumerate(triples.sample(6, 3, 0)):
        loss, parts = triple_loss(0.05, 100)(cut, triples.batch(rows))
        assert loss.item() == pytest.approx(found[place_, 2], rel=1e-5)
        assert parts["count"] == 6


TURNED = {
    **{name: METHODS[name] for name in ("full", "lora", "prefix", "prompt")},
    "prompt, bidirectional": {**METHODS["prompt"], "pooling": "mean", "bidirectional": True},
    "before the text": {**METHODS["prompt"], "position": "prepend", "pooling": "first", "bidirectional": True},
    "adapters, bidirectional": {**METHODS["lora"], "pooling": "mean", "bidirectional": True},
}


@pytest.mark.parametrize("method", TURNED)
def test_parts_of_a_batch_change_nothing(method, place):
    """Whether the 3 N texts are one forward pass or several; what is trained has a gradient in each (trap 12)."""
    kind = EncoderSettings.model_validate(TURNED[method])
    triples = open_triples(place["tokens"])
    batch = TripleBatches(triples, 6, 0, mixed=True)(3, 0, 0, 1)
    found = []
    for part in (2, 5, 18):
        encoder = build_encoder(load_model(place["model"]), kind, 0).train()
        loss, _ = triple_loss(0.05, part)(encoder, batch)
        loss.backward()
        assert any(weight.grad.abs().max() > 1e-4 for weight in trained_weights(encoder).values())
        found.append((loss.item(), [weight.grad.clone() for weight in trained_weights(encoder).values()]))
    for loss, gradients in found[1:]:
        assert loss == pytest.approx(found[0][0], rel=1e-5)
        for one, other in zip(gradients, found[0][1], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_fresh_adapters_change_no_bit(place):
    reader = load_tokenizer(place["model"])
    adapted = EncoderSettings.model_validate({**METHODS["lora"], "layers": 3})
    plain = EncoderSettings.model_validate({"method": "none", "pooling": "weighted_mean", "layers": 3})
    texts = encode_texts(reader, ["a b c", "word1 again"], plain.form)
    found = [embed(build_encoder(load_model(place["model"]), one, 0), texts, batch_size=2) for one in (adapted, plain)]
    np.testing.assert_array_equal(*found)


def test_a_text_is_cut_before_what_stands_behind_it(place):
    reader = load_tokenizer(place["model"])
    settings = EncoderSettings.model_validate(
        {"method": "none", "pooling": "last", "form": {"before": "ask ", "after": " done", "max_length": 3}}
    )
    ids = encode_texts(reader, ["word1 again and again and again", "word1"], settings.form).ids
    whole = [ids.flat[ids.offsets[row] : ids.offsets[row + 1]].tolist() for row in (0, 1)]
    empty = encode_texts(reader, [""], settings.form).ids
    assert len(whole[0]) == int(empty.lengths[0]) + 3
    closing = reader(" done", add_special_tokens=False)["input_ids"]
    assert whole[0][-len(closing) :] == whole[1][-len(closing) :] == closing


def test_an_instruction_is_read_and_not_pooled(place):
    reader = load_tokenizer(place["model"])
    settings = EncoderSettings.model_validate({"method": "none", "pooling": "weighted_mean"})
    plain, asked = (encode_texts(reader, ["a b c", "d"], settings.form, ask) for ask in ("", "find: "))
    assert (asked.ids.lengths - plain.ids.lengths == asked.starts - plain.starts).all()
    batch = asked.batch(np.array([0, 1]))
    assert batch["text_mask"].sum(1).tolist() == (plain.ids.lengths - plain.starts).tolist()
    encoder = build_encoder(load_model(place["model"]), settings, 0)
    together = embed(encoder, asked, batch_size=2)
    alone = [embed(encoder, asked.chosen(np.array([row])), batch_size=1)[0] for row in (0, 1)]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert not np.allclose(together, embed(encoder, plain, batch_size=2))
    # A text without a token stands for the last token before it.
    empty = encode_texts(reader, [""], settings.form, "find: ")
    assert np.isfinite(embed(encoder, empty, batch_size=1)).all()


def test_wrong_settings_and_wrong_files_are_named(place, tmp_path):
    for wrong in (
        {"method": "prompt", "pooling": "last"},
        {"method": "lora", "pooling": "last"},
        {"method": "none", "pooling": "last", "adapter": ADAPTER},
        {"method": "prompt", "vectors": 2, "pooling": "first", "position": "prepend"},
        {"method": "prefix", "vectors": 2, "pooling": "last", "bidirectional": True},
    ):
        with pytest.raises(ValueError, match=r"vectors|adapter|prepend|causal"):
            EncoderSettings.model_validate(wrong)
    partial = {**METHODS["lora"], "adapter": {**ADAPTER, "targets": ["q_proj", "gate_up_proj"]}}
    with pytest.raises(ReprlabError, match="no layer named gate_up_proj"):
        build_encoder(load_model(place["model"]), EncoderSettings.model_validate(partial), 0)
    partial["adapter"]["partial"] = True
    encoder = build_encoder(load_model(place["model"]), EncoderSettings.model_validate(partial), 0)
    folder = tmp_path / "kept"
    folder.mkdir()
    save_encoder(encoder, EncoderSettings.model_validate(METHODS["lora"]), folder)
    with pytest.raises(ReprlabError, match="not those of this model"):
        load_encoder(load_model(place["model"]), folder)
    (folder / "trained.safetensors").write_bytes(b"no")
    with pytest.raises(ReprlabError, match="not a readable encoder"):
        load_encoder(load_model(place["model"]), folder)
    with pytest.raises(ReprlabError, match="needs the losses by layer"):
        with_layers(EncoderSettings.model_validate(METHODS["cut"]), None)
    with pytest.raises(ReprlabError, match="take negatives away"):
        engine = {"steps": 2, "batch_size": 6, "accumulation": 2, "optimizer": {"learning_rate": 1.0}}
        train(place, tmp_path / "accumulated", "prompt", engine=engine)


@pytest.mark.parametrize("method", ["lora", "prompt", "prefix"])
def test_memory_is_saved_and_the_encoder_stays(method, place, tmp_path):
    """Every text of a batch stays a candidate; blocks are computed again although the decoder is not in training."""
    given = {"learning_rates": [1e-2], "seeds": [0], "part_size": 18}
    kept = train(place, tmp_path / "kept", method, alone=True, **given)
    weights = {}
    for name, memory in {"again": TrainingMemory(checkpointing=True), "cut": TrainingMemory(accumulation=4)}.items():
        save_memory(memory)
        try:
            rows = train(place, tmp_path / name, method, alone=True, **given)
        finally:
            save_memory(TrainingMemory())
        np.testing.assert_allclose(rows.loss, kept.loss, rtol=1e-5)
        weights[name] = load_file(tmp_path / name / "encoders/seed-0/trained.safetensors")
    before = load_file(tmp_path / "kept/encoders/seed-0/trained.safetensors")
    for name, value in before.items():
        assert torch.equal(weights["again"][name], value), name
        torch.testing.assert_close(weights["cut"][name], value, rtol=0, atol=1e-4)


def test_batches_of_the_artifact_are_those_of_the_examples(place, tmp_path, monkeypatch):
    """Whatever is tokenised at once, and mapped into memory; a job that reads it makes no token of a triple."""
    given = TripleTexts.model_validate(
        {"form": {"max_length": 3}, "instructions": {"further": ["a b", "c"]}, "limit": 9}
    )
    reader = load_tokenizer(place["model"])
    sizes, texts = encoded_triples(place["triples"], reader, given)
    whole = Triples(EncodedTexts.joined(list(texts)), sizes)
    monkeypatch.setattr(triples_module, "_TEXTS_AT_ONCE", 4)
    for name in ("one", "two"):
        mapped = tokens({**place}, tmp_path / name, **given.model_dump())
        assert list(mapped.sizes.items()) == list(sizes.items()) == [("triples", 9), ("further", 9)]
        assert mapped.texts.pad == whole.texts.pad
        assert not mapped.texts.ids.flat.flags.owndata and mapped.texts.ids.flat.dtype == np.int32
        for mixed in (True, False):
            for step in (0, 2, 5):
                one, other = (TripleBatches(data, 6, 1, mixed)(step, 0, 0, 1) for data in (whole, mapped))
                assert one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)
    for file in ("ids.bin", "offsets.npy", "starts.npy", "triples.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    broken = {"ids.bin": "not of one size", "offsets.npy": "no readable triples", "triples.json": "not valid JSON"}
    for file, reason in broken.items():
        kept = (tmp_path / "one" / file).read_bytes()
        (tmp_path / "one" / file).write_bytes(kept[: len(kept) // 8 * 4])
        with pytest.raises(ReprlabError, match=f"{reason}.*delete it"):
            open_triples(tmp_path / "one")
        (tmp_path / "one" / file).write_bytes(kept)


def test_a_triple_needs_a_split_and_a_wrong_choice(place, tmp_path):
    with pytest.raises(ReprlabError, match="no triple in the split test"):
        rows = [{"id": "x", "group": "x", "split": "train", "context": "", "question": "q", "choices": ["a"]}]
        rows[0]["answer"] = 0
        write_rows(tmp_path / "x.parquet", rows, "choice", {"name": "x", "title": "X"})
        tokens({**place, "triples": [tmp_path / "x.parquet"]}, tmp_path / "out", split="test")
    with pytest.raises(ReprlabError, match="example x has no wrong choice"):
        tokens({**place, "triples": [tmp_path / "x.parquet"]}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_rate_is_the_best_over_all_seeds_that_ended():
    nan = float("nan")

    def rows(*scores):
        return [{"seed": seed, "held_out": score} for seed, score in enumerate(scores)]

    assert best_rate({0.1: rows(0.2, 0.4), 0.2: rows(0.5, 0.0)}, 2) == 0.1
    assert best_rate({0.1: rows(0.2), 0.2: rows(0.1, 0.0)}, 2) == 0.2
    assert best_rate({0.1: rows(nan, nan)}, 2) is None

"""The stages on rerankers, one behind the other, on tiny models of four families; a killed training goes on."""

from pathlib import Path

import numpy as np
import pytest
import torch
from finetune_fixtures import WORDS, make_tokenizer
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, encoder_alone, load_model, save_model
from reprlab.objectives.masked_lm import Objective, Settings
from reprlab.papers.ssm_rerankers.results import CONTRAST, RESULTS
from reprlab.registry.models import ModelEntry
from reprlab.results.frame import frame_of
from reprlab.results.gather import gather_rows
from reprlab.results.sources import Baseline, Source
from reprlab.retrieval.collections import read_collection
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.rerank_settings import FirstStage, RerankerTraining, Reranking
from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.retrieval.reranker import load_reranker, reranker, save_reranker
from reprlab.retrieval.run_files import read_run
from reprlab.retrieval.trec import ordered
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.training_memory import TrainingMemory, save_memory
from reprlab.stages.measure_rerankers import measure_rerankers
from reprlab.stages.rerank_passages import rerank_passages
from reprlab.stages.retrieve_passages import retrieve_passages
from reprlab.stages.train_reranker import train_reranker
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training import passes
from safetensors.torch import load_file

SEEDS = [0, 1]
METRICS = ["mrr_at_10", "ndcg_at_10", "recall_at_5"]
SMALL = {"vocab_size": 160, "hidden_size": 16, "num_hidden_layers": 1}
FAMILIES = {
    "bert_mlm": {**SMALL, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 64},
    "opt": {**SMALL, "num_attention_heads": 2, "ffn_dim": 32, "word_embed_proj_dim": 16, "max_position_embeddings": 64},
    "mamba": {**SMALL, "state_size": 4},
    "mamba2": {**SMALL, "num_heads": 4, "head_dim": 8, "state_size": 8, "n_groups": 1},
}


def model_folder(folder: Path, family: str) -> Path:
    vocabulary = make_tokenizer(folder)
    ids = {} if family == "bert_mlm" else {"bos_token_id": 1, "eos_token_id": 1}
    origin = {"kind": "scratch"}
    entry = ModelEntry(
        architecture=family, config={**FAMILIES[family], "pad_token_id": 0, **ids}, source="x", tie_output=True,
        origin=origin,
    )  # fmt: skip
    save_model(build_from_config(entry, vocabulary.padded_size, seed=0), folder)
    return folder


def collection(path: Path, unseen: str = "") -> Path:
    """Passages of six words, each asked for by two of them; queries of an article stay in one split.

    `unseen` is the text of one more test query.
    """
    rng = np.random.default_rng(0)
    words = [*(word for word in WORDS if word.isalpha() and len(word) > 3), *(f"word{number}" for number in range(60))]
    rows = []
    for number in range(24):
        text = rng.choice(words, 6, replace=False).tolist()
        split = ("train", "train", "test")[number % 3]
        about = {"passage_id": f"p{number:02d}", "passage": " ".join(text), "relevance": 1, "split": split}
        for part in (0, 2):
            name = f"q{number:02d}-{part}"
            rows.append(
                {"id": name, "group": name, "query_id": name, "query": " ".join(text[part : part + 2]), **about}
            )
    if unseen:
        rows.append({**rows[-1], "id": "unseen", "group": "unseen", "query_id": "unseen", "query": unseen})
    write_rows(path, rows, "ranking", {"name": "toy", "title": "Toy"})
    return path


def run_all(folder: Path, model: Path, family: str, examples: Path) -> dict[str, Path]:
    found = {name: folder / f"{name}.tsv" for name in ("first", "training", "scores", "contrasts")}
    first = FirstStage(depth=8, splits=["train", "test"], queries={"test": 10}, metrics=METRICS)
    retrieve_passages(examples=examples, out=folder / "runs", metrics=found["first"], settings=first)
    pairs = {"template": "query_first" if family == "bert_mlm" else "document_first", "max_length": 24, "max_query": 8}
    engine = {"steps": 1, "batch_size": 4, "optimizer": {"learning_rate": 1e-3}, "log_every": 2}
    training = RerankerTraining.model_validate(
        {"pairs": pairs, "engine": engine, "epochs": 1, "negatives": 3, "seeds": SEEDS}
    )
    train_reranker(
        examples=examples, run=folder / "runs", model=model, tokenizer=model, out=folder / "models",
        metrics=found["training"], work=folder / "work/one", settings=training, fingerprint="x",
    )  # fmt: skip
    toy = {"name": "toy", "examples": examples, "run": folder / "runs", "split": "test"}
    scoring = Reranking.model_validate({"pairs": pairs, "collections": [toy], "metrics": METRICS, "seeds": SEEDS})
    rerank_passages(
        models=folder / "models", training=found["training"], out=folder / "reranked", metrics=found["scores"],
        contrasts=found["contrasts"], settings=scoring,
    )  # fmt: skip
    assert not any((folder / "work").iterdir())
    return {**found, "run": folder / "reranked/toy.test.seed-1.arrow", "queries": folder / "reranked/queries.parquet"}


def score_untrained(folder: Path, model: Path, examples: Path, head: float | None = None) -> dict[str, Path]:
    """First stage and scores of rerankers that are drawn at random; `head`: all weights of their heads."""
    found = {name: folder / f"{name}.tsv" for name in ("first", "training", "scores", "contrasts")}
    first = FirstStage(depth=8, splits=["test"], metrics=METRICS)
    retrieve_passages(examples=examples, out=folder / "runs", metrics=found["first"], settings=first)
    found["training"].write_text("seed\tstep\ttokens\n" + "".join(f"{seed}\t1\t1\n" for seed in SEEDS))
    for seed in SEEDS:
        torch.manual_seed(seed)
        whole = load_model(model)
        network = reranker(whole, "last", 0.0)
        if head is not None:
            torch.nn.init.constant_(network.head.weight, head)
        save_reranker(network, whole, load_tokenizer(model), folder / f"models/seed-{seed}")
    toy = {"name": "toy", "examples": examples, "run": folder / "runs", "split": "test"}
    pairs = {"template": "document_first", "max_length": 24, "max_query": 8}
    rerank_passages(
        models=folder / "models", training=found["training"], out=folder / "reranked", metrics=found["scores"],
        contrasts=found["contrasts"],
        settings=Reranking.model_validate({"pairs": pairs, "collections": [toy], "metrics": METRICS, "seeds": SEEDS}),
    )  # fmt: skip
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_from_passages_to_scores(family, tmp_path, caplog):
    caplog.set_level("INFO", logger="reprlab")
    model, examples = model_folder(tmp_path / "model", family), collection(tmp_path / "toy.parquet")
    found, again = (run_all(tmp_path / name, model, family, examples) for name in ("one", "two"))
    for name, path in found.items():
        assert path.read_bytes() == again[name].read_bytes(), f"{name} is not the same again"
    weights = [tmp_path / f"one/models/seed-{seed}/model.safetensors" for seed in SEEDS]
    assert len({path.read_bytes() for path in weights}) == len(SEEDS), "seeds train the same"
    said = [message for message in caplog.messages if message.startswith("scans of Mamba layers")]
    assert len(said) == 4 and all(message.endswith("chunked") for message in said), "training and scoring, twice"
    first, scores = read_tsv(found["first"]), read_tsv(found["scores"])
    assert set(first.name) == {"bm25", "random order"} and set(first[first.split == "test"].n) == {10}
    before, after = (read_run(path) for path in (tmp_path / "one/runs/test.arrow", found["run"]))
    assert {query: set(documents) for query, documents in before.items()} == {
        query: set(documents) for query, documents in after.items()
    }
    assert set(scores.seed) == set(SEEDS) and (scores.steps > 0).all() and (scores.tokens > 0).all()
    wide = scores.pivot_table(index="seed", columns="metric", values="value")
    assert wide["ndcg_at_10"].between(0, 100).all()
    # Two of its six words, of 70 in all, ask for a passage.
    assert first[(first.split == "test") & (first.name == "bm25") & (first.metric == "mrr_at_10")].value.item() > 70


def test_a_query_without_hits_counts_for_everything_that_is_compared(tmp_path):
    """16 test queries find passages, one of unseen words does not: a mean over 17 is 16 seventeenths of theirs."""
    model = model_folder(tmp_path / "model", "opt")
    plain = score_untrained(tmp_path / "plain", model, collection(tmp_path / "toy.parquet"))
    more = score_untrained(tmp_path / "more", model, collection(tmp_path / "more.parquet", "zzz yyy"))
    assert "unseen" not in read_run(tmp_path / "more/runs/test.arrow")
    for name in ("first", "scores"):
        before, after = read_tsv(plain[name]), read_tsv(more[name])
        assert set(before.n) == {16} and set(after.n) == {17}, name
        # The order that is drawn is another where there are more queries to draw for.
        known = before["value"] > 0 if name == "scores" else before["name"] == "bm25"
        assert after.value[known].tolist() == pytest.approx((before.value[known] * 16 / 17).tolist())
    contrasts = read_tsv(more["contrasts"])
    assert set(contrasts.n) == {17} and set(contrasts.seed) == set(SEEDS)
    assert set(contrasts.less) == {"bm25", "random order"} and len(contrasts) == len(SEEDS) * 2 * len(METRICS)
    first, scores = (read_tsv(more[name]) for name in ("first", "scores"))
    for row in contrasts.itertuples():
        one = scores[(scores.seed == row.seed) & (scores.metric == row.metric)].value.item()
        other = first[(first.name == row.less) & (first.metric == row.metric)].value.item()
        assert row.value == pytest.approx(one - other) and row.low <= row.value <= row.high and 0 < row.p <= 1
    each = read_parquet(tmp_path / "more/reranked/queries.parquet").to_pandas()
    assert each.groupby("seed")["query"].nunique().tolist() == [17, 17]
    assert (each[each["query"] == "unseen"][METRICS] == 0).all(axis=None)
    means = each.groupby("seed")[METRICS].mean().stack()
    assert means.tolist() == pytest.approx(scores.value.tolist())
    source = Source(
        path=more["contrasts"], factors={"model": "x", "part": CONTRAST, "truncation": "firstp"},
        keys={name: name for name in ("seed", "less", "p")}, where={"dataset": "toy", "split": ["test"]},
        differences=True,
    )  # fmt: skip
    gathering = RESULTS.settings("nano", [source], {})
    table = RESULTS.table("significance").make(frame_of(gather_rows(gathering), gathering))
    shown = contrasts[contrasts.metric.isin(table["metric"])]
    assert len(table) == len(SEEDS) * 2 * 2 and set(table["queries"]) == {17}
    assert table[["less", "difference", "p"]].to_numpy().tolist() == shown[["less", "value", "p"]].to_numpy().tolist()


def test_a_reranker_that_says_nothing_repeats_the_first_stage(tmp_path):
    """All scores are equal: the order of the first stage stays, whatever the ids, and no difference is found."""
    found = score_untrained(
        tmp_path, model_folder(tmp_path / "model", "opt"), collection(tmp_path / "toy.parquet", "zzz"), head=0.0
    )
    before = read_run(tmp_path / "runs/test.arrow")
    for seed in SEEDS:
        after = read_run(tmp_path / f"reranked/toy.test.seed-{seed}.arrow")
        assert {name: ordered(hits) for name, hits in after.items()} == {
            name: ordered(hits) for name, hits in before.items()
        }
    contrasts = read_tsv(found["contrasts"])
    same = contrasts[contrasts.less == "bm25"]
    assert (same[["value", "low", "high"]] == 0).all(axis=None) and (same.p == 1).all()
    assert (contrasts[contrasts.less == "random order"].value != 0).any()


@pytest.mark.parametrize("drop_own", [False, True])
def test_a_query_does_not_find_itself_where_queries_are_passages(tmp_path, drop_own):
    """One hit more is searched, so that as many are left; equal scores stand by descending id."""
    about = {"split": "test", "query_id": "p5", "query": "cats", "passage": "cats chase mice", "relevance": 0}
    rows = [{"id": f"x{n}", "group": f"x{n}", "passage_id": f"p{n}", **about} for n in range(6)]
    write_rows(tmp_path / "toy.parquet", rows, "ranking", {"name": "toy", "title": "Toy"})
    settings = FirstStage(depth=3, splits=["test"], metrics=METRICS, drop_own=drop_own)
    retrieve_passages(
        examples=tmp_path / "toy.parquet", out=tmp_path / "out", metrics=tmp_path / "m.tsv", settings=settings
    )
    found = ordered(read_run(tmp_path / "out/test.arrow")["p5"])
    assert found == (["p4", "p3", "p2"] if drop_own else ["p5", "p4", "p3"])


def test_a_killed_training_goes_on_with_the_seed_that_was_not_finished(tmp_path, monkeypatch):
    model, examples = model_folder(tmp_path / "model", "mamba"), collection(tmp_path / "toy.parquet")
    whole = run_all(tmp_path / "whole", model, "mamba", examples)
    engine_train, seeds = passes.train, []

    def until_the_machine_goes_down(network, batch_of, loss_of, settings, **rest):
        seeds.append(settings.seed)

        def dying(step, *more):
            if step == 3:
                raise KeyboardInterrupt
            return batch_of(step, *more)

        dies = seeds == [0, 1]
        rest = {**rest, "save_every": 1} if dies else rest
        return engine_train(network, dying if dies else batch_of, loss_of, settings, **rest)

    monkeypatch.setattr(passes, "train", until_the_machine_goes_down)
    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path / "killed", model, "mamba", examples)
    found = run_all(tmp_path / "killed", model, "mamba", examples)
    assert seeds == [0, 1, 1], "what was finished before is not trained again"
    for name, path in found.items():
        assert path.read_bytes() == whole[name].read_bytes(), f"{name} is another after a kill"


def test_memory_is_saved_and_the_reranker_stays(tmp_path):
    """Blocks computed again give the same bytes, with dropout too; a group is never cut, whatever the parts."""
    model, examples = model_folder(tmp_path / "model", "mamba"), collection(tmp_path / "toy.parquet")
    first = FirstStage(depth=8, splits=["train"], metrics=METRICS)
    retrieve_passages(examples=examples, out=tmp_path / "runs", metrics=tmp_path / "first.tsv", settings=first)
    # Without an epsilon Adam makes a step of full length of a gradient that is nothing but rounding.
    optimizer = {"learning_rate": 1e-3, "epsilon": 1e-4}
    engine = {"steps": 1, "batch_size": 4, "optimizer": optimizer, "log_every": 1}
    found = {}
    for name, dropout, memory in (
        ("kept", 0.1, TrainingMemory()), ("again", 0.1, TrainingMemory(checkpointing=True)),
        ("whole", 0.0, TrainingMemory()), ("cut", 0.0, TrainingMemory(accumulation=4)),
    ):  # fmt: skip
        settings = RerankerTraining.model_validate(
            {"pairs": {"template": "document_first", "max_length": 24, "max_query": 8}, "engine": engine, "epochs": 1,
             "negatives": 3, "seeds": [0], "dropout": dropout}
        )  # fmt: skip
        save_memory(memory)
        try:
            train_reranker(
                examples=examples, run=tmp_path / "runs", model=model, tokenizer=model, out=tmp_path / name,
                metrics=tmp_path / f"{name}.tsv", work=tmp_path / "work/one", settings=settings, fingerprint="x",
            )  # fmt: skip
        finally:
            save_memory(TrainingMemory())
        found[name] = load_file(tmp_path / name / "seed-0/model.safetensors")
    assert (tmp_path / "kept.tsv").read_bytes() == (tmp_path / "again.tsv").read_bytes()
    assert all(torch.equal(found["again"][name], value) for name, value in found["kept"].items())
    one, other = (read_tsv(tmp_path / f"{name}.tsv") for name in ("whole", "cut"))
    np.testing.assert_allclose(one.loss, other.loss, rtol=1e-5)
    assert (one.tokens == other.tokens).all()
    for name, value in found["whole"].items():
        torch.testing.assert_close(found["cut"][name], value, rtol=0, atol=1e-6)


def test_a_training_that_does_not_fit_into_memory_is_a_result_with_a_reason(tmp_path, monkeypatch, caplog):
    """As the cells OOM of Table 4; the rows of others beside it keep their verdicts."""
    caplog.set_level("WARNING", logger="reprlab")
    model, examples = model_folder(tmp_path / "model", "opt"), collection(tmp_path / "toy.parquet")
    fits = run_all(tmp_path / "fits", model, "opt", examples)

    def too_large(*_, **__):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: 9 bytes")

    monkeypatch.setattr(passes, "train", too_large)
    (tmp_path / "unfit/work").mkdir(parents=True)
    unfit = run_all(tmp_path / "unfit", model, "opt", examples)
    assert any("delete that folder and run again" in message for message in caplog.messages)
    sources = [
        Source(path=found["scores"], factors={"model": name, "part": "document", "dataset": "toy"},
               keys={"seed": "seed"}, where={"split": "test"}, answer="ranking",
               baselines=[Baseline(name="bm25", path=fits["first"], where={"name": "bm25"})])
        for name, found in (("fits", fits), ("unfit", unfit))
    ]  # fmt: skip
    sources += [
        Source(path=unfit["contrasts"], factors={"model": "unfit", "part": CONTRAST, "dataset": "toy"},
               keys={"seed": "seed", "less": "less", "p": "p"}, differences=True)
    ]  # fmt: skip
    rows = gather_rows(RESULTS.settings("nano", sources, {}))
    by_model = rows[rows["part"] == "document"].groupby("model")
    assert by_model["value"].count().to_dict() == {"fits": 4, "unfit": 0}
    assert set(by_model.get_group("unfit")["reason"]) == {"out of memory in training"}
    assert by_model["above_trivial"].count().to_dict() == {"fits": 4, "unfit": 0}

    def broken(*_, **__):
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(passes, "train", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        run_all(tmp_path / "broken", model, "opt", examples)


def test_dense_first_stage_and_bad_input(tmp_path):
    examples = collection(tmp_path / "toy.parquet")
    settings = FirstStage(kind="dense", depth=5, splits=["test"], metrics=METRICS, max_length=16)
    with pytest.raises(ReprlabError, match="needs a model"):
        retrieve_passages(examples=examples, out=tmp_path / "x", metrics=tmp_path / "x.tsv", settings=settings)
    with pytest.raises(ReprlabError, match="validation has no query"):
        retrieve_passages(
            examples=examples, out=tmp_path / "x", metrics=tmp_path / "x.tsv",
            settings=FirstStage(depth=5, splits=["validation"], metrics=METRICS),
        )  # fmt: skip
    assert not (tmp_path / "x").exists() and not (tmp_path / "x.tsv").exists()
    plain = model_folder(tmp_path / "plain", "bert_mlm")
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    BertModel(BertConfig(**FAMILIES["bert_mlm"], pad_token_id=0)).save_pretrained(plain)
    retrieve_passages(
        examples=examples, out=tmp_path / "out", metrics=tmp_path / "m.tsv", settings=settings, model=plain
    )
    assert {len(found) for found in read_run(tmp_path / "out/test.arrow").values()} == {5}


@pytest.mark.parametrize("family", ["opt", "mamba2"])
def test_speed(family, tmp_path):
    model = model_folder(tmp_path / "model", family)
    settings = SpeedSettings(
        template="document_first", training_length=8, training_batches=[1, 2], lengths=[8, 16], batch=4, documents=2,
        repeats=2, operators=5,
    )  # fmt: skip
    measure_rerankers(model=model, out=tmp_path / "speed.tsv", settings=settings)
    rows = read_tsv(tmp_path / "speed.tsv")
    assert rows.groupby("metric").size().to_dict() == {"operator_share": 5, "scoring_speed": 2, "training_speed": 2}
    assert set(rows.kernels) == {"none" if family == "opt" else "chunked"} and (rows.value > 0).all()
    assert rows[rows.metric == "operator_share"].value.sum() <= 100


SIDES = {
    "bart": {
        "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 1, "dropout": 0.0,
    },
    "t5": {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "pad_token_id": 0, "eos_token_id": 1,
           "dropout_rate": 0.0},
}  # fmt: skip


@pytest.mark.parametrize("family", SIDES)
def test_an_encoder_alone_is_trained_kept_and_scored(family, tmp_path):
    """Of an encoder-decoder: no weight of the decoder is trained or saved, and scores are those of the encoder."""
    vocabulary, examples = make_tokenizer(tmp_path / "model"), collection(tmp_path / "toy.parquet")
    entry = ModelEntry(
        architecture=family, config=SIDES[family], source="x", tie_output=True, origin={"kind": "scratch"}
    )
    whole = build_from_config(entry, vocabulary.padded_size, seed=0)
    save_model(whole, tmp_path / "model")
    fresh = {name: value.clone() for name, value in whole.get_encoder().state_dict().items()}
    first = FirstStage(depth=8, splits=["train", "test"], metrics=METRICS)
    retrieve_passages(examples=examples, out=tmp_path / "runs", metrics=tmp_path / "first.tsv", settings=first)
    pairs = {"template": "query_first", "max_length": 24, "max_query": 8, "encoder_cls": True}
    engine = {"steps": 1, "batch_size": 4, "optimizer": {"learning_rate": 1e-2}, "log_every": 2}
    training = RerankerTraining.model_validate(
        {"pairs": pairs, "engine": engine, "epochs": 1, "negatives": 3, "seeds": [0], "dropout": 0.0}
    )
    given = {"examples": examples, "run": tmp_path / "runs", "tokenizer": tmp_path / "model", "fingerprint": "x"}
    train_reranker(
        model=tmp_path / "model", out=tmp_path / "models", metrics=tmp_path / "t.tsv", work=tmp_path / "work",
        settings=training, **given,
    )  # fmt: skip
    toy = {"name": "toy", "examples": examples, "run": tmp_path / "runs", "split": "test"}
    rerank_passages(
        models=tmp_path / "models", training=tmp_path / "t.tsv", out=tmp_path / "reranked",
        metrics=tmp_path / "scores.tsv", contrasts=tmp_path / "contrasts.tsv",
        settings=Reranking.model_validate({"pairs": pairs, "collections": [toy], "metrics": METRICS, "seeds": [0]}),
    )  # fmt: skip
    saved = load_file(tmp_path / "models/seed-0/model.safetensors")
    assert not [name for name in saved if "decoder" in name or name.startswith("lm_head")]
    kept = load_reranker(tmp_path / "models/seed-0", "first")
    wanted = sum(value.numel() for value in whole.get_encoder().parameters())
    assert wanted < sum(value.numel() for value in whole.parameters())
    assert sum(value.numel() for value in kept.backbone.parameters()) == wanted
    # The optimizer has the parameters of the network; those of the head are one for each width and a bias.
    network = reranker(encoder_alone(load_model(tmp_path / "model")), "first", 0.0)
    assert sum(value.numel() for value in network.parameters()) == wanted + 16 + 1
    trained = kept.backbone.state_dict()
    assert set(trained) == set(fresh) and any((trained[name] != value).any() for name, value in fresh.items())
    # By hand: the trained weights in the whole model's encoder, its first state, and the head.
    whole.get_encoder().load_state_dict(trained)
    scored, hits = read_run(tmp_path / "reranked/toy.test.seed-0.arrow"), read_collection(examples)
    query, documents = next(iter(scored.items()))
    inputs = pair_inputs(
        load_tokenizer(tmp_path / "model"), {query: hits.queries["test"][query]},
        {name: hits.passages[name] for name in documents}, "query_first", max_length=24, max_query=8,
    )  # fmt: skip
    whole.eval()
    for name, score in documents.items():
        ids = torch.tensor([inputs.ids(query, name)])
        with torch.no_grad():
            states = whole.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
            assert kept.head(states[:, 0]).item() == pytest.approx(score, abs=1e-5)
    # A second training starts from the encoder that the first one kept.
    train_reranker(
        model=tmp_path / "models/seed-0", out=tmp_path / "more", metrics=tmp_path / "m.tsv", work=tmp_path / "work2",
        settings=training, **given,
    )  # fmt: skip
    assert load_file(tmp_path / "more/seed-0/model.safetensors").keys() == saved.keys()


def test_an_encoder_alone_needs_a_decoder_beside_it(tmp_path):
    with pytest.raises(ReprlabError, match="encoder_cls: BertForMaskedLM has no encoder beside a decoder"):
        encoder_alone(load_model(model_folder(tmp_path / "model", "bert_mlm")))


def test_masked_lm(tmp_path):
    """Of the chosen 15 %, 80 % are masked, 10 % replaced; special tokens and padding are never chosen."""
    model = model_folder(tmp_path / "model", "bert_mlm")
    from reprlab.models.build import load_model
    from reprlab.text.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(model)
    objective = Objective(Settings(), vocabulary, 64, 64)
    ids = np.full((200, 50), 5, dtype=np.int32)
    ids[:, 0], ids[:, 40:] = vocabulary.eos_id, 0
    lengths = np.full(200, 40)
    batch = objective.collate(ids, np.zeros_like(ids), lengths, np.random.default_rng(0))
    chosen = batch["labels"] != -100
    assert not chosen[:, 0].any() and not chosen[:, 40:].any()
    assert chosen[:, 1:40].mean() == pytest.approx(0.15, abs=0.01)
    assert (batch["input_ids"][chosen] == vocabulary.first_sentinel).mean() == pytest.approx(0.8, abs=0.03)
    assert (batch["input_ids"][~chosen] == ids[~chosen]).all() and (batch["labels"][chosen] == 5).all()
    network = load_model(model)
    given = {name: torch.from_numpy(value) for name, value in batch.items()}
    loss, parts = objective.loss(network, given)
    assert int(parts["count"]) == chosen.sum()
    # Padding behind the text changes nothing.
    cut = {name: value[:, :40] for name, value in given.items()}
    torch.testing.assert_close(objective.loss(network, cut)[0], loss, rtol=0, atol=1e-5)

"""Pairs of texts from made-up passages and sentences: made, trained on, answered and scored, and the encoder's head."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from chat_endpoint import KEY, serving
from checkouts import ROOT
from reprlab.artifacts.tables import read_tsv
from reprlab.baselines.pairs import fitted, seen_in_training
from reprlab.data.schema import write_rows
from reprlab.evaluation.examples import load_examples
from reprlab.models.build import load_model, save_model
from reprlab.registry.models import load_models
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.ask_seq2seq import ask_seq2seq
from reprlab.stages.build_model import build_model
from reprlab.stages.build_seq2seq import build_seq2seq
from reprlab.stages.generate_seq2seq import generate_seq2seq
from reprlab.stages.score_seq2seq import score_seq2seq
from reprlab.stages.train_seq2seq import train_seq2seq
from reprlab.structure import pairs, restoration
from reprlab.structure.pair_scores import score_rows
from reprlab.structure.pairs import PairSource, target_ids
from reprlab.structure.seq2seq import course_of, engine_of, load_pairs, order_of, pair_task
from reprlab.structure.seq2seq_settings import ChatAnswers, GenerationSettings, PairScoring, PairSettings, PairTraining
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.text.tokenizers import save_tokenizer, train_unigram
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.finetuning_heads import EncoderHead
from reprlab.training.finetuning_settings import TaskSettings
from reprlab.training.finetuning_text import TextToText
from safetensors.torch import load_file, save_file

WORDS = ["Anna", "London", "it's", "rain,", "tea.", '"Go!"', "why?", "and", "the", "house"]
EVERYTHING = {"train": None, "validation": None, "test": None}


def sentence(number):
    return " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 6)) + "."


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A tokenizer, a model, passages with one letter that no vocabulary has, and tagged sentences."""
    folder = tmp_path_factory.mktemp("seq2seq")
    vocabulary = Vocabulary(46)
    texts = [sentence(number) for number in range(60)] + ["(Anna: PER) (London: LOC) O ; B-PER I-LOC"] * 40
    tokenizer = train_unigram(texts, vocabulary)
    (folder / "tokenizer").mkdir()
    save_tokenizer(tokenizer, vocabulary, folder / "tokenizer")
    entry = load_models(ROOT / "config/models.yaml")["t5_restoration_nano"]
    build_model(entry=entry, tokenizer=folder / "tokenizer", out=folder / "model", seed=0)
    rows = [
        {"document": f"d{n}", "passage": 0, "split": "train" if n < 40 else "test", "source": "",
         "sentences": [sentence(n), sentence(n + 7)] + ["漢"] * (n == 3) + [sentence(n)] * 9 * (n == 4)}
        for n in range(50)
    ]  # fmt: skip
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "passages.parquet")
    tagged = [
        {"id": f"t{n}", "group": str(n), "split": "train" if n < 20 else "test", "tokens": ["Anna", "and", "London"],
         "tags": ["B-PER", "O", "B-LOC"]}
        for n in range(30)
    ]  # fmt: skip
    labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    write_rows(folder / "tagged.parquet", tagged, "tags", {"kind": "tags", "labels": labels})
    return folder


def pairs_of(made, folder, *tables, **settings):
    folder.mkdir(parents=True, exist_ok=True)
    build_seq2seq(
        tables=[made / f"{name}.parquet" for name in tables],
        tokenizer=made / "tokenizer",
        out=folder / "pairs.parquet",
        metrics=folder / "sizes.tsv",
        settings=PairSettings.model_validate({"limits": EVERYTHING, **settings}),
    )
    return pyarrow.parquet.read_table(folder / "pairs.parquet").to_pylist()


def training(**values):
    engine = {"steps": 8, "batch_size": 4, "log_every": 2, "optimizer": {"learning_rate": 1e-2}}
    found = PairTraining.model_validate({"input_length": 48, "target_length": 48, "engine": engine, **values})
    assert found.group_by_length == values.get("group_by_length", False)
    return found


def train(made, folder, settings, **more):
    places = {"tokenizer": made / "tokenizer", "init": made / "model", "out": folder / "out"}
    train_seq2seq(
        **{**places, **more}, pairs=folder / "pairs.parquet", work=folder / "work",
        metrics=folder / "metrics.tsv", settings=settings, fingerprint="x",
    )  # fmt: skip
    return read_tsv(folder / "metrics.tsv")


def test_excerpts_that_cannot_be_restored_are_left_out_and_counted(made, tmp_path):
    rows = pairs_of(made, tmp_path, "passages", tasks=["restoration"], words=20)
    assert len(rows) == 48 and not {"d3-0", "d4-0"} & {row["id"] for row in rows}
    assert all(restoration.strip(row["targets"][0]) == row["source"] for row in rows)
    assert {row["definition"] for row in rows} == {restoration.PROMPT}
    counts = read_tsv(tmp_path / "sizes.tsv").set_index(["split", "metric"])["value"].to_dict()
    rates = {key: counts.pop(key) for key in list(counts) if key[1].startswith("unknown_")}
    assert counts == {("train", "pairs"): 38, ("train", "long"): 1, ("train", "unwritable"): 1, ("test", "pairs"): 10}
    # One letter of one excerpt is not a piece of the vocabulary.
    tokenizer = open_tokenizer(made / "tokenizer")
    texts = pyarrow.parquet.read_table(made / "passages.parquet").to_pylist()[:40]
    pieces = sum(len(tokenizer(" ".join(row["sentences"]), add_special_tokens=False)["input_ids"]) for row in texts)
    assert rates["train", "unknown_target"] == pytest.approx(100 / pieces, rel=1e-3)
    # The vocabulary of these tests lacks some small letters, which sources have.
    assert rates["test", "unknown_target"] == 0 < rates["test", "unknown_source"] < 100


def test_answers_that_cannot_be_written_are_counted_and_all_text_is_what_the_tokenizer_writes(made, tmp_path):
    rows = [
        {"id": f"w{n}", "group": "g", "split": "test", "tokens": [word], "tags": ["B-PER"]}
        for n, word in enumerate(["Anna", "Ａｎｎａ", "漢"])
    ]
    write_rows(made / "wide.parquet", rows, "tags", {"kind": "tags", "labels": ["O", "B-PER"]})
    found = pairs_of(made, tmp_path, "wide", tasks=["ner"])
    assert [row["targets"] for row in found] == [["(Anna: PER)"], ["(Anna: PER)"], ["(漢: PER)"]]
    assert [row["source"] for row in found] == ["Anna", "Anna", "漢"]
    counts = read_tsv(tmp_path / "sizes.tsv").set_index("metric")["value"]
    assert counts["pairs"] == 3 and counts["unwritable"] == 1
    pairs_of(made, tmp_path, "passages", tasks=["sbd"])
    counts = read_tsv(tmp_path / "sizes.tsv").set_index(["split", "metric"])["value"]
    # A boundary can be written.
    assert counts["train", "unwritable"] == 1 and ("test", "unwritable") not in counts


def test_spaces_before_marks_are_written_as_they_are(made, tmp_path):
    """Decoding must not join a mark to the word before it, as published tokenizers may be told to."""
    tokenizer = open_tokenizer(made / "tokenizer")
    tokenizer.clean_up_tokenization_spaces = True
    text = "Anna , why ? and the house ."
    assert tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) != text
    source = PairSource(made / "tagged.parquet", "ner", None, made / "tokenizer")
    source.tokenizer = tokenizer
    assert source._fault(text, target_ids(tokenizer, [text])[0]) == ""


def test_several_tasks_keep_their_prompts_and_limits_draw_the_same_rows(made, tmp_path):
    joint = pairs_of(
        made, tmp_path / "a", "tagged", "passages", tasks=["ner", "sbd"], limits={"train": 5, "test": None}
    )
    assert [row["definition"] for row in joint].count("Find named entities: ") == 5 + 10
    assert {row["split"] for row in joint} == {"train", "test"}
    assert joint[0]["targets"] == ["(Anna: PER) (London: LOC)"] and joint[0]["id"].startswith("ner-")
    assert "<EOS>" in joint[-1]["targets"][0]
    again = pairs_of(
        made, tmp_path / "b", "tagged", "passages", tasks=["ner", "sbd"], limits={"train": 5, "test": None}
    )
    assert again == joint
    with pytest.raises(ReprlabError, match="no pair is left"):
        pairs_of(made, tmp_path / "c", "passages", tasks=["restoration"], words=1)


@pytest.mark.parametrize("limit", [None, 7])
def test_rows_that_are_read_in_parts_are_those_that_are_read_at_once(made, monkeypatch, limit):
    limits = {"test": limit, "validation": None}
    whole = list(PairSource(made / "passages.parquet", "sbd", None, made / "tokenizer").rows(limits))
    assert {row["split"] for row in whole} == {"test"} and len(whole) == (limit or 10)
    assert {row["id"] for row in whole} <= {f"d{n}-0" for n in range(40, 50)}
    monkeypatch.setattr(pairs, "_ROWS", 3)
    parts = PairSource(made / "passages.parquet", "sbd", None, made / "tokenizer")
    assert list(parts.rows(limits)) == whole and parts.counts == {("test", "pairs"): len(whole)}


def test_passes_become_updates_and_an_end_of_the_schedule():
    given = training(epochs=2.5, horizon_epochs=4, engine={
        "steps": 99, "ladder": [0, 3, 7, 50], "batch_size": 4, "optimizer": {"learning_rate": 1e-2},
        "schedule": {"name": "linear", "warmup_steps": 2},
    })  # fmt: skip
    engine = engine_of(given, 10)
    assert (engine.steps, engine.ladder, engine.schedule.horizon_steps) == (7, [0, 3, 7], 10)
    assert engine.schedule.warmup_steps == 2
    plain = engine_of(given.model_copy(update={"epochs": None, "horizon_epochs": None}), 10)
    assert (plain.steps, plain.ladder, plain.schedule.horizon_steps) == (99, [0, 3, 7, 50, 99], None)


def test_training_learns_resumes_and_keeps_its_last_step(made, tmp_path):
    pairs_of(made, tmp_path, "passages", tasks=["restoration"])
    whole = train(made, tmp_path, training(epochs=2))
    assert whole["step"].iloc[-1] == 20 and whole["epoch"].iloc[-1] == pytest.approx(80 / 39)
    assert whole["loss"].iloc[-1] < whole["loss"].iloc[0] - 0.3
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["run.json", "step-00000020"]
    weights = (tmp_path / "out/step-00000020/model.safetensors").read_bytes()
    again = train(made, tmp_path, training(epochs=2), out=tmp_path / "again")
    assert again.equals(whole) and (tmp_path / "again/step-00000020/model.safetensors").read_bytes() == weights


def resumed(made, folder):
    """A run that kept its moments, and what makes another run go on with them."""
    pairs_of(made, folder, "passages", tasks=["restoration"])
    train(made, folder, training(), out=folder / "first", keep_moments=True)
    return {"init": folder / "first", "moments": folder / "first"}


def weights_of(ladder, step):
    return load_file(ladder / f"step-{step:08d}/model.safetensors")


def test_a_copy_writes_the_source_of_the_same_pairs(made, tmp_path):
    pairs_of(made, tmp_path, "passages", tasks=["restoration"])
    restored, copied = (load_pairs(tmp_path / "pairs.parquet", "train", copied=value) for value in (False, True))
    assert copied.columns["targets"] == [[source] for source in restored.columns["source"]]
    assert copied.columns["id"] == restored.columns["id"] and copied.columns["targets"] != restored.columns["targets"]
    first, second = (
        train(made, tmp_path, training(copied=value), out=tmp_path / str(value)) for value in (False, True)
    )
    assert not first["loss"].equals(second["loss"]) and first["step"].equals(second["step"])


def test_a_run_with_the_moments_of_another_goes_on_as_adamw_would(made, tmp_path):
    """By hand: eight updates of one run, then one of the next by the same optimizer."""
    start = resumed(made, tmp_path)
    engine = training().engine.model_copy(update={"steps": 1, "seed": 5})
    second = training(engine=engine.model_dump(), init_step=8)
    train(made, tmp_path, second, **start)
    train(made, tmp_path, second, init=start["init"], out=tmp_path / "anew")
    task = pair_task(made / "tokenizer", 48, 48)
    data = task.encode(load_pairs(tmp_path / "pairs.parquet", "train"))
    model = task.load(made / "model", 0.0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    for run in (training(), second):
        for step in range(run.engine.steps):
            loss, _ = task.loss(model, task.batch(data, order_of(run, data).rows(step)))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    ours, anew = weights_of(tmp_path / "out", 1), weights_of(tmp_path / "anew", 1)
    assert ours.keys() == anew.keys() and ours["shared.weight"].shape == model.shared.weight.shape
    gaps = {name: (ours[name] - one).abs().max() for name, one in model.named_parameters() if name in ours}
    # A hundredth of the learning rate, which is about the size of an update.
    assert len(gaps) == len(ours) and max(gaps.values()) < 1e-4
    assert max((anew[name] - ours[name]).abs().max() for name in ours) > 1e-3
    assert not list(tmp_path.glob("out/step-*/moments*")), "kept where they are asked for"


@pytest.mark.parametrize("damaged", [False, True])
def test_a_killed_run_keeps_the_moments_that_it_began_with(made, tmp_path, monkeypatch, damaged):
    start, settings = resumed(made, tmp_path), training(init_step=8)
    train(made, tmp_path, settings, **start)
    batch, left = TextToText.batch, []

    def dying(self, *given):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return batch(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(TextToText, "batch", dying)
        # Another run of the same job, further on, leaves its points in the same folder.
        for one, updates in ((training(init_step=8, target_length=40), 6), (settings, 3)):
            left[:] = [None] * updates
            with pytest.raises(KeyboardInterrupt):
                train(made, tmp_path, one, **start, out=tmp_path / "again", save_every=1)
    for point in (tmp_path / "work").rglob("state.json") if damaged else ():
        point.write_text("{")
    train(made, tmp_path, settings, **start, out=tmp_path / "again")
    weights = [(tmp_path / name / "step-00000008/model.safetensors").read_bytes() for name in ("out", "again")]
    assert weights[0] == weights[1]


def test_moments_of_another_model_are_refused(made, tmp_path):
    start = resumed(made, tmp_path)
    with pytest.raises(ReprlabError, match="kept no moments"):
        train(made, tmp_path, training(init_step=8), init=start["init"], moments=made / "model")
    (file,) = start["moments"].glob("step-00000008/moments.safetensors")
    moments = load_file(file)
    assert moments["optimizer.exp_avg_sq.shared.weight"].shape == weights_of(start["init"], 8)["shared.weight"].shape
    assert {float(value) for name, value in moments.items() if ".step." in name} == {8.0}
    save_file(moments | {"optimizer.exp_avg.shared.weight": torch.zeros(3, 4)}, file)
    with pytest.raises(ReprlabError, match=r"not the moments of this model \(optimizer.exp_avg.shared.weight\)"):
        train(made, tmp_path, training(init_step=8), **start)
    file.write_bytes(b"cut off")
    with pytest.raises(ReprlabError, match="not readable"):
        train(made, tmp_path, training(init_step=8), **start)


def test_the_course_is_one_of_pairs_and_settings_alone(made, tmp_path):
    pairs_of(made, tmp_path, "passages", tasks=["restoration"])
    task = pair_task(made / "tokenizer", 48, 48)
    table = load_pairs(tmp_path / "pairs.parquet", "train")
    data, ids = task.encode(table), table.columns["id"]

    def course(**values):
        settings = training(**values)
        return course_of(order_of(settings, data), engine_of(settings, len(data)), ids)

    plain = {"epochs": 2, "engine": training().engine.model_dump() | {"schedule": {"name": "linear"}}}
    assert course(**plain) == course(**plain, init_step=4) != course(**plain, horizon_epochs=10)
    warm = training().engine.model_dump() | {"schedule": {"name": "linear", "warmup_steps": 3}}
    assert course(**plain) != course(**plain | {"engine": warm}), "the rates of its first updates are others"
    resumed = engine_of(training(**plain, horizon_epochs=10), len(data))
    assert resumed.schedule.horizon_steps == 98 and resumed.steps == 20
    settings = training(**plain)
    other = course_of(order_of(settings, data), engine_of(settings, len(data)), ["another", *ids[1:]])
    assert other != course(**plain)


def test_two_models_see_the_same_course_and_other_pairs_another(made, tmp_path, caplog):
    """5.12: as the log of each training says."""
    entry = load_models(ROOT / "config/models.yaml")["t5_restoration_nano"]
    build_model(entry=entry, tokenizer=made / "tokenizer", out=tmp_path / "other", seed=9)

    def course(init, **settings):
        pairs_of(made, tmp_path, "passages", **settings)
        caplog.clear()
        with caplog.at_level("INFO"):
            losses = train(made, tmp_path, training(), init=init)
        (said,) = (record.getMessage() for record in caplog.records if "course" in record.getMessage())
        return said.rpartition(" ")[2], losses["loss"].tolist()

    first, second, again = (
        course(init, tasks=["sbd"]) for init in (made / "model", tmp_path / "other", made / "model")
    )
    assert first[0] == second[0] and first[1] != second[1] and again == first
    assert course(made / "model", tasks=["sbd"], limits={"train": 39})[0] != first[0]


@pytest.mark.parametrize("beams", [1, 3])
def test_answers_are_written_in_the_words_of_the_formats_and_scored_apart(made, tmp_path, beams):
    pairs_of(made, tmp_path, "passages", tasks=["sbd"])
    train(made, tmp_path, training())
    places = {"pairs": tmp_path / "pairs.parquet", "tokenizer": made / "tokenizer", "out": tmp_path / "answers.parquet"}
    settings = GenerationSettings(beams=beams, input_length=48, max_length=12, limit=6)
    generate_seq2seq(**places, models=tmp_path / "out", settings=settings)
    found = pyarrow.parquet.read_table(tmp_path / "answers.parquet").to_pandas()
    assert len(found) == 6 and found["target"].str.contains("<EOS>").all()
    assert not found["prediction"].str.contains("<pad>|</s>|<eosen>").any()
    score_seq2seq(answers=tmp_path / "answers.parquet", out=tmp_path / "s.tsv", settings=PairScoring(resamples=20),
                  training=tmp_path / "metrics.tsv")  # fmt: skip
    scores = read_tsv(tmp_path / "s.tsv").set_index("metric")
    assert set(scores["steps"]) == {8} and set(scores["name"]) == {"model"}
    score_seq2seq(answers=tmp_path / "answers.parquet", out=tmp_path / "b.tsv", settings=PairScoring(resamples=20),
                  training=tmp_path / "metrics.tsv", seen=tmp_path / "pairs.parquet")  # fmt: skip
    beside = read_tsv(tmp_path / "b.tsv").set_index(["name", "metric"])
    assert beside.loc[("copy", "f1"), "value"] == 0 and beside.loc[("rule", "f1"), "steps"] == 0
    assert beside.loc[("rule", "f1"), "low"] <= beside.loc[("rule", "f1"), "value"], "baselines have intervals"
    assert beside["seen"].nunique() == 1
    assert {"precision", "upstream_f1", "malformed"} <= set(scores.index)


def test_a_chat_model_is_asked_each_source_once_and_its_answers_are_scored(made, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = [row for row in pairs_of(made, tmp_path, "passages", tasks=["restoration"]) if row["split"] == "test"]
    definition, targets = rows[0]["definition"], {row["source"]: row["targets"][0] for row in rows}
    out = tmp_path / "answers.parquet"
    with serving(lambda prompt: targets[prompt.removeprefix(definition)]) as endpoint:
        chat = {"model": "m", "base_url": endpoint.address}

        def ask(**more):
            settings = ChatAnswers.model_validate({"chat": {**chat, **more}})
            ask_seq2seq(pairs=tmp_path / "pairs.parquet", out=out, cache=tmp_path / "cache", settings=settings)
            return out.read_bytes()

        first = ask()
        assert sorted(endpoint.prompts) == sorted(definition + source for source in targets)
        assert ask() == first and len(endpoint.asked) == len(targets), "an answer is kept"
        endpoint.status = 401
        with pytest.raises(ReprlabError) as refused:
            ask(model="another")
    assert KEY not in str(refused.value) and out.read_bytes() == first
    score_seq2seq(answers=out, out=tmp_path / "s.tsv", settings=PairScoring(resamples=20))
    scores = read_tsv(tmp_path / "s.tsv").set_index("metric")["value"]
    assert scores["f1"] == scores["precision"] == 100 and scores["malformed"] == 0


def test_scores_of_known_answers():
    def scores(task, *texts):
        rows = score_rows(task, *texts, PairScoring(resamples=20))
        return {row["metric"]: row for row in rows}

    gold = ["A b, c d.", "A b, c d."]
    restored = scores("restoration", ["a b c d"] * 2, gold, ["A b, c d.", "A b,"])
    assert restored["recall"]["value"] == 50 and restored["upstream_recall"]["value"] == 100
    assert restored["malformed"]["value"] == 50
    tags = scores("pos", ["a b", "c"], ["NN VB", "NN"], ["NN VB", "NN NN"])
    assert tags["precision"]["value"] == 75
    ends = scores("sbd", ["a b c a b"], ["a b <EOS> c a b"], ["a b c <EOS> a b"])
    # Labels B, I and E: 1 of 1 and of 2, 0 of 1 and of 1, 1 of 2 and of 1.
    assert ends["upstream_f1"]["value"] == pytest.approx(44.444, abs=1e-3) and ends["f1"]["value"] == 0
    items = scores("ner", ["x"], ["(T1: ORG)"], ["(T1: ORG) (T1: ORG)"])
    assert items["precision"]["value"] == 50 and items["upstream_precision"]["value"] == 100


@pytest.mark.parametrize(
    ("task", "gold", "written"),
    [
        ("pos", ["NN VB O", "NN"], ["NN VB", "VB NN"]),
        ("sbd", ["a b <EOS> c d", "e f"], ["a <EOS> b <EOS> c d", "e f"]),
        ("ner", ["(A: PER) (B: ORG) (C: PER)"], ["(A: PER) (D: PER)"]),
        ("srl", ["said (ARG0: a, ARG1: b)"], ["said (ARG0: a)"]),
        ("restoration", ["A b, c."], ["A b, c!"]),
    ],
)
def test_precision_is_the_recall_of_the_texts_exchanged(task, gold, written):
    """By our scorer and by the authors', which leaves tags that are cut off out of one side alone."""
    sources = ["a b c"] * len(gold)
    one, other = (
        {row["metric"]: row["value"] for row in score_rows(task, sources, *texts, PairScoring(resamples=2))}
        for texts in ((gold, written), (written, gold))
    )
    assert one["precision"] == pytest.approx(other["recall"]) and one["recall"] == pytest.approx(other["precision"])
    if task == "pos":
        assert (one["upstream_precision"], one["upstream_recall"]) == pytest.approx((50, 200 / 3))
        # What is cut off of the gold tags is neither right nor missed.
        assert (other["upstream_precision"], other["upstream_recall"]) == pytest.approx((200 / 3, 200 / 3))
    elif task in ("ner", "srl"):
        assert one["upstream_precision"] == pytest.approx(other["upstream_recall"])
        assert one["precision"] != one["recall"]


@pytest.fixture
def tagger(made):
    """A head over a tokenizer that cuts words into pieces, a split of a sentence, and the model."""
    task = TaskSettings(kind="tags", metrics=["entity_f1"], input_length=24, tag_pieces="words")
    head = EncoderHead(task, ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"), open_tokenizer(made / "tokenizer"), made)
    texts = {"a": (["London", "xqz", "Anna"], ["B-LOC", "O", "B-PER"]), "b": (["zzzz"], ["B-PER"])}
    rows = [{"id": n, "group": n, "split": "train", "tokens": t, "tags": tags} for n, (t, tags) in texts.items()]
    write_rows(made / "cut.parquet", rows, "tags", {"kind": "tags", "labels": list(head.labels)})
    split = head.encode(load_examples(made / "cut.parquet", ["train"], {})["train"])
    torch.manual_seed(3)
    return head, split, head.load(made / "model", 0.0)


def test_every_piece_is_labelled_and_words_are_answered_by_their_first_piece(made, tagger):
    head, split, model = tagger
    words = open_tokenizer(made / "tokenizer")([["London", "xqz", "Anna"]], is_split_into_words=True).word_ids(0)
    assert words.count(1) > 1, "the word must be cut"
    tags = [head.number["B-LOC"], head.number["O"], head.number["B-PER"]]
    first = slice(*split.targets.offsets[:2])
    assert split.targets.flat[first].tolist() == [-100 if word is None else tags[word] for word in words]
    batch = head.batch(split, np.array([0, 1]))
    with torch.inference_mode():
        logits = model.eval()(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    # The mean over all pieces of words, whatever their number in a sentence.
    kept = batch["labels"] != -100
    by_hand = -logits.log_softmax(-1)[kept].gather(1, batch["labels"][kept][:, None]).mean()
    loss, parts = head.loss(model, batch)
    assert loss.item() == pytest.approx(by_hand.item(), rel=1e-5) and int(parts["count"]) == int(kept.sum())
    best, starts = logits[0].argmax(-1).tolist(), [words.index(word) for word in (0, 1, 2)]
    found = head.predict(model, split, "generate", 2, torch.device("cpu"))
    assert found[0] == [head.labels[best[start]] for start in starts] and len(found[1]) == 1
    assert split.gold == [["B-LOC", "O", "B-PER"], ["B-PER"]]


def test_logits_before_training_depend_on_the_encoder_and_the_heads_seed_alone(made, tagger):
    """5.11: not on the decoder, which is not part of the model."""
    head, split, _ = tagger
    batch = head.batch(split, np.array([0]))

    def logits(folder, seed):
        torch.manual_seed(seed)
        with torch.inference_mode():
            model = head.load(folder, 0.0).eval()
            return model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits

    other = load_model(made / "model")
    with torch.no_grad():
        for one in [*other.decoder.block.parameters(), other.decoder.final_layer_norm.weight]:
            one.add_(1.0)
    save_model(other, made / "other_decoder")
    plain = logits(made / "model", 0)
    assert torch.equal(plain, logits(made / "other_decoder", 0)) and not torch.equal(plain, logits(made / "model", 1))
    with torch.no_grad():
        other.encoder.final_layer_norm.weight.add_(1.0)
    save_model(other, made / "other_encoder")
    assert not torch.equal(plain, logits(made / "other_encoder", 0))


def test_the_head_stands_on_the_encoder_alone_and_is_opened_again(made, tmp_path):
    task = TaskSettings(kind="tags", metrics=["entity_f1"], input_length=16)
    labels = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    head = EncoderHead(task, labels, open_tokenizer(made / "tokenizer"), made / "tokenizer")
    torch.manual_seed(0)
    first = head.load(made / "model", 0.1)
    torch.manual_seed(0)
    second = head.load(made / "model", 0.1)
    ours, theirs = first.transformer.encoder.state_dict(), load_model(made / "model").encoder.state_dict()
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert not any("decoder" in name for name in first.state_dict())
    assert all(
        torch.equal(a, b) for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    )
    width = first.config.d_model
    assert sum(one.numel() for one in first.classifier.parameters()) == width * width + width + 5 * width + 5
    assert 0.5 < first.classifier.dense.weight.std() * width**0.5 < 1.5
    first.save_pretrained(tmp_path / "kept")
    kept = head.load(tmp_path / "kept", 0.1)
    assert all(torch.equal(a, b) for a, b in zip(first.state_dict().values(), kept.state_dict().values(), strict=True))
    assert {module.p for module in kept.modules() if isinstance(module, torch.nn.Dropout)} == {0.0, 0.1}


def test_lookups_know_what_a_word_most_often_was_in_training():
    chunks = fitted("chunking", ["a b", "a c", "a b"], ["B-NP I-NP", "B-NP O", "B-VP I-NP"])
    assert chunks["word_majority"]("a b c new") == "B-NP I-NP O B-NP"
    shapes = fitted("chunking", ["Ann X X", "Y"], ["B-PER B-LOC B-LOC", "B-PER"])["next_word"]
    assert shapes("Z") == "B-PER", "words that occur once show what new ones of their shape have"
    assert chunks["majority"]("a b") == "B-NP B-NP" and list(chunks) == ["majority", "word_majority", "next_word"]
    restored = fitted("restoration", ["paris is big", "paris is"], ["Paris is big.", "Paris is,"])
    assert restored["word_majority"]("paris is big now") == "Paris is big. now"
    assert restored["next_word"]("paris is big now") == "Paris is big. now" and restored["copy"]("a b") == "a b"
    assert restored["next_word"]("paris is") == "Paris is,", "the last word of a text, and not that before another"
    names = fitted("ner", ["Ann Lee met Bob", "Ann may", "may may"], ["(Ann Lee: PER) (Bob: PER)", "(Ann: PER)", "O"])
    assert names["word_majority"]("Ann Lee may meet Bob") == "(Ann Lee: per) (Bob: per)"
    assert names["nothing"]("Ann") == names["word_majority"]("we go") == "O"
    assert fitted("sbd", ["a"], ["a"])["rule"]("a b . c ?") == "a b . <EOS> c ?"


def test_known_items_are_said_where_both_ends_are_whole_words_of_the_text():
    table = fitted("openie", ["x"] * 2, ["(Ann Lee; met; Bob) (Bob; saw; Eve)", "(An; is; Bob)"])["known_items"]
    assert table("Later Bob thanked Ann Lee.") == "(ann lee; met; bob)", "An is no word of the text, Eve neither"
    assert table("Bob alone.") == "O"
    same = fitted("openie", ["x"], ["(Ann; met; Ann Lee) (Bob; met; Eve)"])["known_items"]
    assert same("Ann Lee and Bob") == "(ann; met; ann lee)"
    order = fitted("openie", ["x"], ["(Bob; saw; Eve) (Ann; met; Eve)"])["known_items"]
    assert order("Ann, Eve, Bob") == "(ann; met; eve) (bob; saw; eve)", "in the order of the text"
    training = (["x"], ["(Ann; met; Bob)"])
    assert seen_in_training("openie", *training, ["Bob and Ann", "Bob and Eve"], ["", ""]) == 1
    roles = fitted("srl", ["x"], ["said (ARG0: She, ARG1: it)"])["known_items"]
    assert roles("She never said that") == "said (ARG0: she)"
    assert seen_in_training("ner", ["x"], ["(Ann: PER)"], ["", ""], ["(Ann: PER) (T1: ORG)", "(Ann: ORG)"]) == 1

"""What jobs of each stage cost, by hand, and that no stage with a GPU is forgotten."""

import functools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pandas
import pytest
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.audio.counted_recognisers import CountedRecogniser
from reprlab.audio.settings import Tuning
from reprlab.config.load import load_config
from reprlab.config.papers import PAPERS
from reprlab.coreference.head import CoreferenceHead
from reprlab.coreference.settings import HeadSettings
from reprlab.models.counted_models import CountedModel
from reprlab.models.flops import forward_flops, parameter_counts, training_flops
from reprlab.planning.cost_rules.jobs import Jobs, common_name
from reprlab.planning.cost_rules.rules import RULES, WITHOUT_RULE
from reprlab.planning.cost_rules.structures import head_flops, head_parameters
from reprlab.planning.cost_totals import read_total
from reprlab.planning.data_sizes import DataSizes
from reprlab.planning.plan import Plan
from reprlab.planning.published_jobs import COSTS
from reprlab.planning.stages import STAGES
from reprlab.planning.targets import main as list_main
from reprlab.plugins import load_plugin
from reprlab.preflight.published_costs import page_with, published_layout
from reprlab.registry.models import load_models
from reprlab.reporting.cost import RunCost, cost_table, with_hours
from reprlab.reporting.cost_layout import TOTAL, Accelerator, CostLayout, CostRun, OtherJobs
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]
MODELS = load_models(ROOT / "config/models.yaml")


@functools.cache
def jobs_of(slug: str) -> Jobs:
    """The jobs of a paper as published."""
    config = load_config(ROOT, {"scale": "paper", "numerics": {"dtype": "bfloat16"}}, targets=[slug])
    plan = Plan()
    load_plugin("papers", f"{slug.replace('-', '_')}.plan").add_jobs(plan, config)
    return Jobs(plan, config, slug)


def described(slug: str, stage: str, key: str) -> list[dict[str, Any]]:
    jobs = jobs_of(slug)
    return list(RULES[stage](jobs, key, jobs.plan.jobs[stage][key]))


def one(slug: str, stage: str, key: str) -> dict[str, Any]:
    (found,) = described(slug, stage, key)
    return found


def size(data: str, part: str) -> float:
    return DataSizes.load(ROOT).of(data, part).examples


def test_every_stage_with_a_gpu_has_a_rule_or_is_named_as_without() -> None:
    on_gpus = {name for name, stage in STAGES.items() if stage.gpu}
    assert set(RULES).isdisjoint(WITHOUT_RULE) and all(WITHOUT_RULE.values())
    assert on_gpus == {*RULES, *WITHOUT_RULE}
    planned = {stage for slug in PAPERS for stage in jobs_of(slug).plan.jobs}
    assert on_gpus - planned == {"post_train"}, "as published all others are planned"


def number(text: str) -> float | str:
    """A number is one however it is written; a range is a text."""
    return float(text) if text.replace(".", "").isdigit() else text


@pytest.mark.parametrize("slug", PAPERS)
def test_published_tables_are_those_of_the_plans(slug: str) -> None:
    """Rows, jobs and updates of `resources/costs`; the counts themselves are those of the other tests."""
    layout, table = published_layout(ROOT, slug), read_tsv(ROOT / COSTS / f"{slug}.tsv")
    remedy = f"meant? then `python -m reprlab.preflight.published_costs --write {slug}`"
    told = [(run.stage, run.name, run.jobs, run.steps, number(run.published_hours)) for run in layout.runs]
    rows = table[~table["stage"].isin([TOTAL, *(other.stage for other in layout.others)])]
    hours = [number(str(text)) for text in rows["paper_hours"].fillna("")]
    found = list(zip(rows["stage"], rows["name"], rows["jobs"], rows["steps"], hours, strict=True))
    assert found == told, remedy
    assert table["note"].iloc[-1] == f"{layout.accelerator.utilisation:g} of the peak of one {layout.accelerator.name}"
    # Names alone are longer where files are named; both go through a command line.
    assert len(jobs_of(slug).plan.job("estimate_cost", slug).settings["layout"].encode()) < 100_000


@pytest.mark.parametrize("slug", PAPERS)
def test_sums_are_over_all_jobs_and_their_rows(slug: str) -> None:
    table = read_tsv(ROOT / COSTS / f"{slug}.tsv")
    rows, last = table[table["stage"] != TOTAL], table.iloc[-1]
    assert last["device_hours"] == pytest.approx(rows["device_hours"].sum(), rel=1e-2)
    assert last["jobs"] == rows["jobs"].sum() and last["memory_gb"] == rows["memory_gb"].max()
    asked: Counter[str] = Counter()
    jobs = jobs_of(slug)
    for stage, key, job in jobs.behind():
        asked[stage] += sum(each["jobs"] for each in RULES[stage](jobs, key, job)) if stage in RULES else 0
    for stage in RULES:
        assert rows.loc[rows["stage"] == stage, "jobs"].sum() == asked[stage], stage


def test_pre_training_and_features_by_hand() -> None:
    masked = one("domain-adaptive-masking", "pretrain_lm", "domain_adaptive_masking_concept_s0")
    assert (masked["steps"], masked["batch_size"], masked["text_length"], masked["decoder_share"]) == (
        200_000,
        256,
        256,
        0,
    )
    assert described("domain-adaptive-masking", "pretrain_lm", "domain_adaptive_masking_none_s0") == [], "no update"
    trained = one("universal-features", "train_autoencoder", "universal_features_base_s42/a1337")
    # 24 tokens, 4 FLOPs forward and 6 backward for each pair of a neuron and a feature, which has two weights.
    width, features = 1024, 16384
    assert trained["beside"] == 24 * 10 * width * features
    assert trained["frozen"] and trained["beside_parameters"] == 2 * width * features + width + features
    neurons = one("universal-features", "encode_features", "universal_features_base_s42/neurons")
    assert neurons["forwarded"] == 3 * 2800 and neurons["beside_forward"] == 0


def test_fine_tuning_and_answers_by_hand() -> None:
    tagged = next(iter(jobs_of("domain-adaptive-masking").plan.jobs["finetune_model"]))
    key = next(key for key in jobs_of("domain-adaptive-masking").plan.jobs["finetune_model"] if "/bc2gm/" in key)
    found = one("domain-adaptive-masking", "finetune_model", key)
    assert tagged and found["steps"] == math.ceil(25 * size("bc2gm", "train") / 16) and found["headless"]
    assert found["forwarded"] == size("bc2gm", "test")
    tuned = one("amuro-char", "finetune_completions", "olmo1b/xsum/1000")
    assert (tuned["steps"], tuned["part_size"], tuned["jobs"], tuned["kept"]) == (3 * 6000 / 8, 1, 1, 1)
    pairs = one("punctuation-restoration", "train_seq2seq", "punctuation_restoration_t5_base/restoration/s0")
    assert (pairs["steps"], pairs["batch_size"], pairs["part_size"]) == (33_960, 512, 32)
    # MNLI, socialiqa, PAWS and XSum are scored in two formats more, XL-Sum and CNN in one: answers that are written.
    scored = described("amuro-char", "score_completions", "olmo1b/xsum/1000")
    reads, writes = sorted(scored, key=lambda each: each["generated"])
    assert reads["forwarded"] == size("amuro_mnli_matched", "evaluation") + size("amuro_paws", "evaluation")
    twice = 3 * size("amuro_xsum", "evaluation") + 3 * size("amuro_cnn", "evaluation")
    single = size("amuro_xlsum", "evaluation") + size("amuro_socialiqa", "evaluation")
    assert writes["forwarded"] == twice + single and writes["generated"] == 60


def test_rankings_and_encoders_by_hand() -> None:
    jobs = jobs_of("ssm-rerankers")
    found = one("ssm-rerankers", "train_reranker", "bert_base/msmarco_passages/passages_firstp")
    assert (found["steps"], found["sequences"]) == (2 * 524_000 / 8, 16)
    scored = one("ssm-rerankers", "rerank_passages", "bert_base/msmarco_passages/passages_firstp_in_domain")
    assert scored["forwarded"] == 1000 * (6980 + 43 + 54)
    assert described("ssm-rerankers", "retrieve_passages", "bm25/msmarco_passages/passages") == [], "no model"
    dense = one("ssm-rerankers", "retrieve_passages", "bge_large_en_v1_5/beir_scifact/passages")
    assert dense["forwarded"] == 5183 + 300
    # Nine windows of 512 tokens, 256 apart, cover 1,470.
    maxp = next(key for key in jobs.plan.jobs["rerank_passages"] if "bert_base" in key and "maxp" in key)
    settings = json.loads(jobs.plan.jobs["rerank_passages"][maxp].settings["settings"])
    windows = 1 + math.ceil((1470 - 512) / settings["stride"])
    assert one("ssm-rerankers", "rerank_passages", maxp)["forwarded"] == windows * 100 * (5193 + 43 + 45)
    encoder = one("overparameterized-encoders", "train_encoder", "mistral_7b/l3prune_p50")
    assert (encoder["steps"], encoder["encoder"].layers, encoder["sequences"]) == (1000, 16, 3)


def test_events_coreference_speech_and_music_by_hand() -> None:
    roberta = one("event-relations", "train_pair_classifier", "roberta/event_storyline_v0_9/none.wrapped.fold0.k5")
    assert (roberta["steps"], roberta["jobs"], roberta["forwarded"]) == (math.ceil(10 * 175 / 8), 3, 10 * 39)
    # A generative classifier reads pairs: the 5 partners of each of 18.2 events, and those that are related.
    asked = one("event-relations", "train_pair_classifier", "t5/event_storyline_v0_9/sbert_ft.wrapped.fold0.k5")
    assert asked["steps"] == math.ceil(10 * 175 * (5 * 18.2 + 21.8) / 32)
    ranked = next(key for key in jobs_of("event-relations").plan.jobs["rank_partners"] if key.startswith("random/"))
    assert described("event-relations", "rank_partners", ranked) == []
    probe = one("reverse-probing", "probe_coreference", "reverse_probing_mrpc/conll2012_coreference/mean_full")
    assert (probe["steps"], probe["sequences"], probe["jobs"]) == (100 * 2802, 2, 5) and probe["frozen"]
    assert probe["forwarded"] == 2 * (100 * 343 + 348)
    heard = one("asr-adapters", "train_recogniser", "xls_r_300m/masri_speech/ft_10min_s100")
    assert (heard["steps"], heard["batch_size"], heard["part_size"]) == (150_000, 8, 4)
    assert heard["forwarded"] == 1380 + 900, "both splits have the trained length"
    caption = one("music-video-description", "train_describer", "vicuna_7b/music4all/caption_1_s12")
    assert (caption["steps"], caption["text_length"]) == (5 * 55_000 / 2, 3 + 60 + 60)
    prefix = one("music-video-description", "train_prefix", "vicuna_7b/music4all/caption_1_s12")
    assert (prefix["steps"], prefix["text_length"]) == (caption["steps"], caption["text_length"])
    written = one("music-video-description", "describe_by_prefix", "vicuna_7b/music4all/1234_prefix_s12")
    assert written == one("music-video-description", "describe_tracks", "vicuna_7b/music4all/1234_full_s12")


def test_the_coreference_head_by_what_torch_counts() -> None:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    settings = HeadSettings(
        hidden=64, max_span_width=10, span_ratio=0.4, max_spans=400, max_antecedents=20, max_segments=3, dropout=0.0
    )
    tokens, width = 200, 48
    head = CoreferenceHead(width, settings)
    batch = {name: torch.zeros(tokens, dtype=torch.long) for name in ("sentence", "speaker", "segment")}
    counter = FlopCounterMode(display=False)
    with counter:
        head(torch.randn(tokens, width), {**batch, "genre": torch.zeros((), dtype=torch.long)})
    # Spans at the end of the text are fewer than those of the formula.
    assert head_flops(settings, width, tokens) == pytest.approx(counter.get_total_flops(), rel=0.05)
    matrices = sum(weight.numel() for name, weight in head.named_parameters() if name.endswith("weight"))
    assert head_parameters(settings, width) == pytest.approx(matrices, rel=0.05)


def test_speech_by_hand() -> None:
    """A block more is four products of width by width, two with the inner layer, and attention over all frames."""
    entry = MODELS["xls_r_300m"]
    width, inside, frames = 1024, 4096, 100

    def layers(count: int, method: str) -> CountedRecogniser:
        config = {**entry.config, "num_hidden_layers": count}
        tuning = Tuning.model_validate({"method": method, "inner": 256 if method == "ff" else None})
        return CountedRecogniser(entry.model_copy(update={"config": config}), tuning=tuning)

    block = 2 * frames * (4 * width**2 + 2 * width * inside) + 4 * width * frames**2
    found = forward_flops(layers(3, "full"), frames, 0) - forward_flops(layers(2, "full"), frames, 0)
    assert found == pytest.approx(block, rel=1e-9)
    # Two adapters a block, each of two layers.
    adapters = 2 * 2 * (2 * width * 256) * frames
    found = forward_flops(layers(3, "ff"), frames, 0) - forward_flops(layers(2, "ff"), frames, 0)
    assert found == pytest.approx(block + adapters, rel=1e-9)
    # All but the convolutions in front is trained: three times the pass forward, less their gradient.
    full = layers(2, "full")
    assert 2 < training_flops(full, frames, 0) / forward_flops(full, frames, 0) < 3
    assert parameter_counts(layers(24, "full"))[0] == pytest.approx(315_438_720, rel=1e-3)


@pytest.mark.parametrize("frames", [32, 200, 1500])
def test_the_encoder_of_whisper_by_hand(frames: int) -> None:
    """As recognisers run it: utterances of any length below 30 s, two mel frames for each frame."""
    entry = MODELS["whisper_tiny_en_encoder"]
    width, inside, mel = entry.config["d_model"], entry.config["encoder_ffn_dim"], entry.config["num_mel_bins"]

    def layers(count: int, **tuning: Any) -> CountedRecogniser:
        config = {**entry.config, "encoder_layers": count}
        return CountedRecogniser(entry.model_copy(update={"config": config}), tuning=Tuning.model_validate(tuning))

    block = 2 * frames * (4 * width**2 + 2 * width * inside) + 4 * width * frames**2
    convolutions = 2 * (2 * frames) * 3 * mel * width + 2 * frames * 3 * width**2
    found = forward_flops(layers(2, method="head"), frames, 0)
    assert found == pytest.approx(2 * block + convolutions, rel=1e-6)
    parallel = forward_flops(layers(2, method="parallel", inner=4), frames, 0) - found
    assert parallel == pytest.approx(2 * 2 * (2 * 2 * width * 4) * frames, rel=1e-6)
    trained = layers(4, method="compacter", inner=None, terms=2)
    assert training_flops(trained, frames, 0) > forward_flops(trained, frames, 0)


def test_the_gradient_of_a_convolution_in_groups_takes_no_more_than_its_pass() -> None:
    import torch
    from reprlab.models.flops import _gradients_of_convolution
    from torch.utils.flop_counter import FlopCounterMode

    layer = torch.nn.Conv1d(64, 64, 8, padding=4, groups=16, device="meta")
    mapping = {torch.ops.aten.convolution_backward: _gradients_of_convolution}
    counter = FlopCounterMode(display=False, custom_mapping=mapping)
    with counter:
        layer(torch.zeros(2, 64, 100, device="meta", requires_grad=True)).sum().backward()
    assert counter.get_total_flops() == 3 * 2 * 2 * 101 * 64 * (64 // 16) * 8


def run_of(entry: str, **given: Any) -> RunCost:
    settings: dict[str, Any] = {"steps": 0, "batch_size": 1, "part_size": 1, "dtype": "float32", "jobs": 1}
    run = CostRun(scale="paper", stage="describe_tracks", name="one", model=entry, **{**settings, **given})
    return RunCost(run, MODELS[entry])


def test_written_tokens_cost_what_reading_them_would() -> None:
    entry = MODELS["opt_nano"]
    model = CountedModel(entry)
    whole = run_of("opt_nano", text_length=40, decoder_extra=1, forwarded=7, generated=20, beams=3).flops
    read = forward_flops(model, 40, 1)
    beam = forward_flops(model, 60, 20) - forward_flops(model, 40, 0)
    assert whole == pytest.approx(7 * (read + 3 * beam)) and beam > 0
    # By hand: the products of a block and the output layer for 20 tokens, and attention of the longer text.
    width, inside, layers = 32, 128, int(entry.config["num_hidden_layers"])
    products = layers * 2 * (4 * width**2 + 2 * width * inside) * 20 + 2 * width * int(entry.config["vocab_size"]) * 20
    assert beam == pytest.approx(products + layers * 4 * width * (60**2 - 40**2), rel=1e-6)


def test_what_is_frozen_is_only_read_and_its_head_is_trained() -> None:
    frozen = run_of("bert_base_cased", headless=True, text_length=64, steps=10, frozen=True, beside=1e9, sequences=2)
    trained = run_of("bert_base_cased", headless=True, text_length=64, steps=10, sequences=2)
    assert frozen.flops == pytest.approx(10 * 1e9 + trained.flops / 3, rel=1e-3)
    assert frozen.memory_gb < trained.memory_gb / 2
    kept = run_of("bert_base_cased", headless=True, text_length=64, steps=10, kept=3, kept_bytes=5e8)
    assert kept.kept_gb == pytest.approx(3 * 4 * trained.parameters / 1e9 + 0.5)


def test_downloads_checkpoints_and_paid_calls_are_summed(tmp_path: Path) -> None:
    card = Accelerator(name="a card", peak_flops=1e12, peak_flops_float32=1e11, memory_gb=8, utilisation=0.5)
    run = run_of("opt_nano", text_length=16, forwarded=4, kept=0).run.model_copy(update={"published_hours": "5-7"})
    others = [
        OtherJobs(stage="fetch_archive", name="archives", jobs=2, downloaded_bytes=3e9),
        OtherJobs(stage="build_model", name="opt_nano", model="opt_nano", from_hub=True, jobs=2),
        OtherJobs(stage="ask_relations", name="it", calls=10, asked_tokens=500, answered_tokens=50),
    ]
    layout = CostLayout(
        accelerator=card, models={"opt_nano": MODELS["opt_nano"]}, runs=[run], others=others, published_hours="99"
    )
    table = cost_table(layout, "paper", tmp_path)
    weights = parameter_counts(CountedModel(MODELS["opt_nano"]))[0]
    last = table.iloc[-1]
    assert last["downloaded_gb"] == pytest.approx(3 + 4 * weights / 1e9, rel=1e-2)
    assert last["kept_gb"] == pytest.approx(2 * 4 * weights / 1e9, rel=1e-2)
    assert (last["calls"], last["asked_tokens"], last["answered_tokens"]) == (10, 500, 50)
    costs = tmp_path / "costs.tsv"
    write_tsv(costs, table)
    empty = pandas.DataFrame(columns=["table", "row", "column", "published", "ours", "note"])
    found = with_hours(empty, costs)
    assert found["row"].tolist() == ["describe_tracks one", "total a card"]
    assert found["published"].tolist() == ["5-7", "99"] and set(found["table"]) == {"hours"}
    assert float(found["ours"].iloc[0]) == pytest.approx(
        run_of("opt_nano", text_length=16, forwarded=4).hours(card), rel=1e-2
    )


def test_keys_have_a_common_name() -> None:
    assert common_name(["bert/cola/s1"]) == "bert/cola/s1"
    assert common_name(["bert/cola/s1", "bert/cola/s2"]) == "bert/cola/s*"
    assert common_name(["a/x_1", "b/y_1"]) == "*/*_1"
    assert common_name(["a/x", "a/y"]) == "a"


def test_a_size_that_nobody_knows_is_said(tmp_path: Path) -> None:
    sizes = DataSizes.load(ROOT)
    assert sizes.of("glue_cola", "train").note == "" and sizes.of("glue_cola", "train").at_most(100) == 100
    unknown = sizes.of("nothing", "train")
    assert unknown.examples == 10_000 and unknown.note == "nothing: number of train not known, 10000 taken"
    assert sizes.of("nothing", "train", 70).note == "", "the limit of the job is its number"
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources/data_sizes.tsv").write_text(
        "data\tpart\texamples\ttokens\tanswer\tsource\na\tb\tmany\t\t\t\n"
    )
    with pytest.raises(ReprlabError, match=r"data_sizes\.tsv"):
        DataSizes.load(tmp_path)


def test_totals_are_listed_and_stand_on_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_main(["--scale", "paper", "depth"]) == 0
    listed = capsys.readouterr().out
    for slug in PAPERS:
        total = read_total(ROOT, slug)
        assert total is not None
        text = (ROOT / f"docs/papers/{slug}.md").read_text(encoding="utf-8")
        assert page_with(text, total.in_words()) == text, "run `python -m reprlab.preflight.published_costs --write`"
        assert (total.in_words() in listed) == (slug == "depth")
    with pytest.raises(ReprlabError, match="no such markers"):
        page_with("a page", "words")

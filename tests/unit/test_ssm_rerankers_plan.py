"""The plan of state-space rerankers: first stages, lengths of queries, positions of models, widths of their heads."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from reprlab.config.load import load_config
from reprlab.models.build import build_from_config, encoder_alone
from reprlab.papers.ssm_rerankers.plan import add_jobs
from reprlab.planning.cost_rules.jobs import Jobs
from reprlab.planning.cost_rules.rules import RULES
from reprlab.planning.plan import Job, Plan
from reprlab.registry.models import ModelEntry
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.reranker import POOLED, reranker
from reprlab.runtime.errors import ReprlabError
from rerank_fixtures import Words

ROOT = Path(__file__).parents[2]
LONG_QUERIES = "beir_arguana"
# Width of the state that is scored, as in the models' own descriptions; OPT-350M puts out the width of its embeddings.
WIDTHS = {
    "bert_base": 768, "bert_large": 1024, "roberta_base": 768, "roberta_large": 1024, "electra_base": 768,
    "electra_large": 1024, "bart_base": 768, "bart_large": 1024, "opt_125m": 768, "opt_350m": 512, "opt_1_3b": 2048,
    "mamba1_130m": 768, "mamba1_370m": 1024, "mamba1_790m": 1536, "mamba1_1_4b": 2048, "mamba2_130m": 768,
    "mamba2_370m": 1024, "mamba2_780m": 1536, "mamba2_1_3b": 2048, "llama_3_2_1b": 2048,
}  # fmt: skip


@cache
def planned(edits: str = "", scale: str = "paper") -> Plan:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": scale, "set": edits}))
    return plan


def settings(job: Job) -> dict[str, Any]:
    return json.loads(job.settings["settings"])


def built(entry: str) -> Any:
    """The network of an entry, on the meta device."""
    with torch.device("meta"):
        return build_from_config(ModelEntry.model_validate_json(entry), None)


def model_of(plan: Plan, folder: str) -> Any:
    """The network of a model's job, on the meta device."""
    return built(plan.jobs["build_model"][Path(folder).name].settings["entry"])


def positions(model: Any) -> float:
    """Tokens for which a model has positions: rows of its table but those of padding; no limit where it has none."""
    tables = [module for name, module in model.named_modules() if name.endswith(("position_embeddings", "positions"))]
    rows = [
        len(one.weight) - (getattr(one, "offset", None) or (0 if one.padding_idx is None else one.padding_idx + 1))
        for one in tables
    ]
    limit = getattr(model.config, "max_position_embeddings", None)
    return min(rows, default=limit or float("inf"))


@cache
def room(entry: str) -> float:
    """Tokens for which the model of an entry has positions."""
    return positions(built(entry))


def too_long(plan: Plan) -> set[str]:
    """Jobs with sequences for which their model has no positions."""
    found = set()
    models = {name: str(job.settings["entry"]) for name, job in plan.jobs["build_model"].items()}
    for key, job in plan.jobs["train_reranker"].items():
        if room(models[Path(job.inputs["model"]).name]) < settings(job)["pairs"]["max_length"]:
            found.add(key)
    for key, job in plan.jobs["measure_rerankers"].items():
        one = settings(job)
        if room(models[Path(job.inputs["model"]).name]) < max(one["training_length"], *one["lengths"]):
            found.add(key)
    for key, job in plan.jobs["retrieve_passages"].items():
        if "model" in job.inputs and room(models[Path(job.inputs["model"]).name]) < settings(job)["max_length"]:
            found.add(key)
    return found


def test_every_planned_length_has_its_positions() -> None:
    assert positions(model_of(planned(), "models/roberta_base")) == 512
    assert positions(model_of(planned(), "models/opt_350m")) == 2048
    assert positions(model_of(planned(), "models/bart_large")) == 1024
    assert positions(model_of(planned(), "models/mamba_130m")) == float("inf")
    assert not too_long(planned())


def test_documents_at_both_lengths_have_positions_too() -> None:
    """Not planned for lack of the documents; with others in their place, only some models read the longer length."""
    plan = planned("papers.ssm-rerankers.documents.dataset=squad_sections")
    longest = [settings(job)["pairs"]["max_length"] for job in plan.jobs["train_reranker"].values()]
    assert max(longest) == 1536 and not too_long(plan)
    longer = too_long(planned("papers.ssm-rerankers.passages.lengths.firstp=513"))
    # What has 512 positions is found, which shows that the check can find something.
    families = ("bert", "roberta", "electra")
    assert longer == {
        f"{name}_{size}/msmarco_passages/passages_firstp" for name in families for size in ("base", "large")
    }


@pytest.mark.parametrize("name", WIDTHS)
def test_a_head_is_a_weight_for_each_width_and_a_bias(name: str) -> None:
    plan = planned()
    job = plan.jobs["train_reranker"][f"{name}/msmarco_passages/passages_firstp"]
    whole = model_of(plan, job.inputs["model"])
    backbone = sum(parameter.numel() for parameter in whole.base_model.parameters())
    with torch.device("meta"):
        network = reranker(whole, POOLED[settings(job)["pairs"]["template"]], 0.1)
    assert sum(parameter.numel() for parameter in network.parameters()) == backbone + WIDTHS[name] + 1
    assert sum(parameter.numel() for parameter in network.head.parameters()) == WIDTHS[name] + 1


def test_all_published_models_have_a_head_that_is_checked() -> None:
    assert set(WIDTHS) == set(load_config(ROOT, {"scale": "paper"}).papers["ssm-rerankers"].compared)


def test_both_first_stages_are_asked_in_every_collection_of_passages() -> None:
    """Table 7's recall, and the better first stage beside a reranker, on sets that were not trained on as well."""
    for scale, deepest in (("paper", 1000), ("nano", 20)):
        jobs = planned(scale=scale).jobs["retrieve_passages"]
        paper = load_config(ROOT, {"scale": scale}).papers["ssm-rerankers"]
        asked: dict[str, set[str]] = {}
        for key, job in jobs.items():
            _, dataset, task = key.split("/")
            if task == "passages":
                asked.setdefault(dataset, set()).add(settings(job).get("kind", "bm25"))
                assert f"recall_at_{deepest}" in settings(job)["metrics"]
        named = (paper.passages.dataset, *paper.passages.again, *paper.passages.further)
        assert asked == {name: {"bm25", "dense"} for name in named}


def test_recall_deeper_than_what_is_reranked_has_a_search_of_its_own() -> None:
    """Table 8 has recall at 1,000 on Dev and at 100 on TREC DL19 and DL20; 100 documents are reranked."""
    jobs = planned().jobs["retrieve_passages"]
    deep, read = (settings(jobs[f"bm25/msmarco_documents/documents{kind}"]) for kind in ("_deep", ""))
    assert (deep["depth"], deep["splits"], deep["metrics"]) == (1000, ["validation", "test"], ["recall_at_1000"])
    assert read["depth"] == 100 and "recall_at_100" in read["metrics"]
    assert not any(key.endswith("_deep") for key in planned(scale="mini").jobs["retrieve_passages"])
    with pytest.raises(ReprlabError, match=r"deep_recall_at: 9 is within depth \(10\)"):
        load_config(ROOT, {"scale": "mini", "set": "papers.ssm-rerankers.documents.deep_recall_at=9"})


def test_queries_of_arguana_keep_twice_as_many_tokens() -> None:
    """Its queries are whole arguments; all others, those of training among them, are cut where the setting says."""
    plan = planned()
    assert {settings(job)["pairs"].get("max_query", 64) for job in plan.jobs["train_reranker"].values()} == {64}
    cut: dict[str, set[int]] = {}
    for job in plan.jobs["rerank_passages"].values():
        for one in settings(job)["collections"]:
            cut.setdefault(one["name"], set()).add(settings(job)["pairs"].get("max_query", 64))
    assert cut.pop(LONG_QUERIES) == {128}
    assert len(cut) == 13 + 3 and all(limits == {64} for limits in cut.values())
    models = [key.split("/")[0] for key, job in plan.jobs["rerank_passages"].items() if "query128" in key]
    assert sorted(models) == sorted(WIDTHS), "each reranker scores them once"


@pytest.mark.parametrize("template", ["document_first", "query_first"])
@pytest.mark.parametrize("longest", [64, 128])
def test_a_whole_argument_is_cut_at_its_own_length(template: Any, longest: int) -> None:
    query = " ".join(f"q{number}" for number in range(300))
    document = " ".join(f"d{number}" for number in range(5000))
    words = Words()
    inputs = pair_inputs(words, {"q": query}, {"d": document}, template, max_length=512, max_query=longest)
    found = inputs.ids("q", "d")
    asked = [words.known.get(f"q{number}") in found for number in range(300)]
    assert sum(asked) == longest and all(asked[:longest]) and len(found) == 512


@pytest.mark.parametrize("task", ["passages", "documents"])
def test_recall_deeper_than_what_is_found_is_refused(task: str) -> None:
    """It would be the recall at the depth under another name."""
    name = f"papers.ssm-rerankers.{task}"
    load_config(ROOT, {"scale": "mini", "set": f"{name}.depth=7; {name}.recall_at=7"})
    with pytest.raises(ReprlabError, match=rf"{name} \(command line\): recall_at: 8 passages.* depth finds 7") as error:
        load_config(ROOT, {"scale": "mini", "set": f"{name}.depth=7; {name}.recall_at=8"})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("scale", "dtype", "warmups"),
    [("paper", "bfloat16", 3), ("small", "auto", 3), ("mini", "auto", 1), ("nano", "auto", 1)],
)
def test_speed_is_measured_in_half_precision_with_the_attention_of_each_family(
    scale: str, dtype: str, warmups: int
) -> None:
    config = load_config(ROOT, {"scale": scale})
    paper = config.papers["ssm-rerankers"]
    assert paper.speed.dtype == dtype and paper.speed.warmups == warmups
    for key, job in planned(scale=scale).jobs["measure_rerankers"].items():
        one, family = settings(job), paper.rerankers[key.split("/")[0]].family
        attention = ["sdpa", "eager"] if family == "opt" else [] if family.startswith("mamba") else ["sdpa"]
        assert one.get("attention", []) == attention, key
        assert one.get("warmups", 1) == warmups and one.get("dtype", "float32") == config.arithmetic(dtype), key


def test_an_encoder_alone_is_planned_where_it_is_named() -> None:
    """In training, scoring and timing; its width and its positions are those of the whole model."""
    plan = planned("papers.ssm-rerankers.encoder_cls=[bart_large]")
    for stage in ("train_reranker", "rerank_passages"):
        alone = {
            key.split("/")[0] for key, job in plan.jobs[stage].items() if settings(job)["pairs"].get("encoder_cls")
        }
        assert alone == {"bart_large"}, stage
    timed = plan.jobs["measure_rerankers"]
    assert [key for key, job in timed.items() if settings(job).get("encoder_cls")] == ["bart_large/speed"]
    published = [
        settings(job) for name in ("train_reranker", "rerank_passages") for job in planned().jobs[name].values()
    ]
    assert not any(one["pairs"]["encoder_cls"] for one in published)
    encoder = encoder_alone(model_of(plan, "models/bart_large"))
    with torch.device("meta"):
        network = reranker(encoder, "first", 0.1)
    # As counted by hand: embeddings, 1,026 positions and a norm, then 12 layers of 4 + 2 products and 2 norms.
    layer = 4 * (1024 + 1) * 1024 + (1024 + 1) * 4096 + (4096 + 1) * 1024 + 2 * 2 * 1024
    wanted = (50265 + 1026 + 2) * 1024 + 12 * layer
    assert sum(parameter.numel() for parameter in network.parameters()) == wanted + 1024 + 1


def test_an_encoder_alone_needs_an_encoder_decoder() -> None:
    with pytest.raises(ReprlabError, match=r"encoder_cls: opt_125m has no encoder beside a decoder") as error:
        planned("papers.ssm-rerankers.encoder_cls=[opt_125m]")
    assert "\n" not in str(error.value)


def test_some_data_sets_are_asked_other_numbers_of_questions():
    """`queries_of` in each first stage, and in the pairs that are scored."""
    plan = planned(scale="mini")
    asked = {name: settings(job)["queries"] for name, job in plan.jobs["retrieve_passages"].items() if "bm25" in name}
    assert asked["bm25/squad_passages/passages"] == {"train": 5000, "validation": 200, "test": 200}
    assert asked["bm25/new_wiki_passages/passages"] == asked["bm25/nyt_passages/passages"] == {"test": 60}
    assert asked["bm25/squad_sections/documents"]["test"] == 30
    jobs = Jobs(plan, load_config(ROOT, {"scale": "mini"}), "ssm-rerankers")
    scored = {
        name: sum(run["forwarded"] for run in RULES["rerank_passages"](jobs, name, job))
        for name, job in plan.jobs["rerank_passages"].items()
    }
    parts = ("in_domain", "out_of_domain")
    assert sum(scored[f"opt_mini/squad_passages/passages_firstp_{part}"] for part in parts) == 20 * (2 * 200 + 2 * 60)


@pytest.mark.parametrize("scale", ["paper", "small", "mini", "nano"])
def test_a_pair_in_another_order_has_the_updates_seeds_and_tokens_of_the_paper_s(scale: str) -> None:
    """Of its own start on as well: spans of passages are read in the order that is learnt."""
    jobs, wanted = planned(scale=scale).jobs, load_config(ROOT, {"scale": scale}).papers["ssm-rerankers"]
    read, tried = wanted.neighbours.read_twice, 0
    dataset = wanted.passages.dataset
    for name, order in ((name, order) for name in read.models for order in read.orders):
        for stage, cell in (("train_reranker", ""), ("rerank_passages", "_in_domain")):
            plain, other = (jobs[stage][f"{name}/{dataset}/passages_firstp{cell}{end}"] for end in ("", f"_{order}"))
            assert settings(plain) == settings(other) and plain.settings.keys() | {"order"} == other.settings.keys()
            assert other.settings["order"] == order and "order" not in plain.settings
        spans = [key for key in jobs["train_reranker"] if key.startswith(f"{name}/{dataset}/spans_")]
        by_order = {key: jobs["train_reranker"][key].settings.get("order") for key in spans}
        assert {key for key in spans if by_order[key] == order} == {
            f"{key}_{order}" for key in spans if by_order[key] is None
        }
        tried += 1
    assert tried == len(read.models) * len(read.orders) > 0
    others = {key for stage in ("train_reranker", "rerank_passages") for key, job in jobs[stage].items()
              if "order" in job.settings}  # fmt: skip
    assert {key.split("/")[0] for key in others} == set(read.models) and not any("out_of" in key for key in others)


def test_a_pair_that_is_read_twice_needs_its_positions() -> None:
    plan = planned()
    for key, job in plan.jobs["train_reranker"].items():
        if str(job.settings.get("order", "")).endswith("twice"):
            assert positions(model_of(plan, job.inputs["model"])) >= 1024, key
    edit = "papers.ssm-rerankers.neighbours.read_twice.models=[bert_base]"
    with pytest.raises(
        ReprlabError, match=r"bert_base_uncased has 512 .* twice reads up to 1024 tokens; take bert_base"
    ):
        planned(edit)
    planned(f"{edit}; papers.ssm-rerankers.neighbours.read_twice.orders=[reversed]")
    with pytest.raises(ReprlabError, match=r"read_twice.models names opt_1b; compared has") as error:
        planned("papers.ssm-rerankers.neighbours.read_twice.models=[opt_1b]")
    assert "\n" not in str(error.value)


def test_a_pair_that_is_read_twice_costs_twice_the_tokens() -> None:
    jobs = Jobs(planned(), load_config(ROOT, {"scale": "paper"}), "ssm-rerankers")
    lengths = {}
    for order in ("", "_reversed", "_twice"):
        for stage, cell in (("train_reranker", ""), ("rerank_passages", "_in_domain")):
            key = f"mamba2_130m/msmarco_passages/passages_firstp{cell}{order}"
            (one,) = RULES[stage](jobs, key, planned().jobs[stage][key])
            lengths.setdefault(order, []).append(one["text_length"])
    assert lengths == {"": [512, 512], "_reversed": [512, 512], "_twice": [1024, 1024]}


@pytest.mark.parametrize("scale", ["paper", "small", "mini", "nano"])
def test_lists_have_the_updates_seeds_start_and_queries_of_the_pairs_beside_them(scale: str) -> None:
    jobs, wanted = planned(scale=scale).jobs, load_config(ROOT, {"scale": scale}).papers["ssm-rerankers"]
    first, dataset = wanted.neighbours.first, wanted.passages.dataset
    own = first.pair_length is not None
    cell, lists = ("lists" if own else "passages"), {"window": first.window, "passage_tokens": first.passage_tokens}
    assert first.models
    for name in first.models:
        pairs, listed = (jobs["train_reranker"][f"{name}/{dataset}/{cell}_{end}"] for end in ("firstp", "listwise"))
        assert pairs.inputs == listed.inputs and pairs.settings.get("model") == listed.settings.get("model")
        one, other = settings(pairs), settings(listed)
        # The paper's own pairs keep their number of negatives; those that are trained beside lists have as many.
        assert other.pop("negatives") == first.window - 1
        assert one.pop("negatives") == (first.window - 1 if own else wanted.passages.negatives) and one == other
        assert json.loads(listed.settings["lists"]) == {**lists, "step": 1, "ranknet_weight": first.ranknet_weight}
        ways = ("firstp_in_domain", "listwise", "untrained")
        scored = [jobs["rerank_passages"][f"{name}/{dataset}/{cell}_{end}"] for end in ways]
        assert settings(scored[0]) == settings(scored[1]) == {**settings(scored[2]), "seeds": wanted.training.seeds}
        ranked = {**lists, "step": first.step, "ranknet_weight": 0.0}
        assert [json.loads(job.settings.get("lists", "{}")) for job in scored] == [{}, ranked, ranked]
        start = pairs.settings.get("model") or pairs.inputs["model"]
        assert scored[2].settings["models"] == start and scored[2].inputs["tokenizer"] == pairs.inputs["tokenizer"]
        assert start in scored[2].inputs["after"] or any(start.startswith(path) for path in scored[2].inputs["after"])
        collections = {one["name"] for one in settings(scored[1])["collections"]}
        assert collections == {dataset, *wanted.passages.again}
    read = [key for stage in ("train_reranker", "rerank_passages") for key, job in jobs[stage].items()
            if "lists" in job.settings]  # fmt: skip
    assert len(read) == 3 * len(first.models) and {key.split("/")[0] for key in read} == set(first.models)


FIRST = "papers.ssm-rerankers.neighbours.first"


@pytest.mark.parametrize(
    ("edits", "said"),
    [(f"{FIRST}.window=27", "window: 27 passages of a list, and there are 26 letters"),
     (f"{FIRST}.step=20", "step: 20 places leave none of 20"),
     (f"{FIRST}.models=[bert_base]", "first.models: bert_base predicts no next token"),
     (f"{FIRST}.models=[llama]", "first.models names llama; rerankers has"),
     (f"{FIRST}.models=[opt_125m]", r"opt_125m has 2048 learned positions, and a list of 20 passages has some 27\d\d")],
)  # fmt: skip
def test_lists_that_cannot_be_read_are_refused_when_planning(edits: str, said: str) -> None:
    with pytest.raises(ReprlabError, match=said) as error:
        planned(edits)
    assert "\n" not in str(error.value)


def test_a_list_is_one_sequence_and_each_window_is_read() -> None:
    plan = planned(scale="mini")
    jobs = Jobs(plan, load_config(ROOT, {"scale": "mini"}), "ssm-rerankers")
    paper = load_config(ROOT, {"scale": "mini"}).papers["ssm-rerankers"]
    first, key = paper.neighbours.first, "smollm2/squad_passages/lists_listwise"
    (trained,) = RULES["train_reranker"](jobs, key, plan.jobs["train_reranker"][key])
    (scored,) = RULES["rerank_passages"](jobs, key, plan.jobs["rerank_passages"][key])
    tokens = first.window * (first.passage_tokens + 3) + 2 * paper.passages.max_query + 12
    assert trained["sequences"] == 1 and trained["text_length"] == scored["text_length"] == tokens
    turns = -(-(paper.passages.depth - first.window) // first.step) + 1
    assert scored["forwarded"] == turns * len(paper.passages.splits) * first.queries
    untrained = plan.jobs["rerank_passages"]["smollm2/squad_passages/lists_untrained"]
    (asked,) = RULES["rerank_passages"](jobs, "smollm2/squad_passages/lists_untrained", untrained)
    assert {**asked, "apart": scored["apart"]} == scored

"""Tables, claims, comparison, audit and figures of soft prompts as encoders, from a frame whose numbers are known."""

import json
import shutil
from pathlib import Path

import pandas
import pytest
from reprlab.config.load import load_config
from reprlab.papers.prompt_tuning_encoders.audit import TABLES
from reprlab.papers.prompt_tuning_encoders.names import BACKBONES, ROWS
from reprlab.papers.prompt_tuning_encoders.results import RESULTS
from reprlab.planning.paper_plans import make_plan
from reprlab.reporting.audit_records import audit
from reprlab.reporting.published import read_published
from reprlab.results.claims import claims_table
from reprlab.results.comparison import compare
from reprlab.results.frame import frame_of
from reprlab.results.neighbour_table import neighbour_rows
from reprlab.results.neighbours import Cell
from reprlab.results.records import Drawn
from reprlab.results.schema import FIXED
from reprlab.results.sources import GatherSettings, Missing
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "resources/published/prompt-tuning-encoders"
PUBLISHED = [*sorted(FOLDER.glob("*.tsv")), FOLDER / "audit.yaml"]
SLUG = "prompt-tuning-encoders"
# What the specification lists as wrong in the paper (5.1, 5.2, traps 3, 5 and 6), by the ids of the audit.
WRONG = {
    "5.1.15", "5.1.16", "5.1.total.15", "5.1.total.16", "5.1.share.15", "5.1.share.16", "5.1.share.18",
    "5.2.table5.7", "5.2.table5.8", "5.2.table5.14", "5.2.table5.17", "5.2.table5.18", "5.2.repeat",
    "8.3", "8.5a", "8.5b", "8.6a", "8.6b", "8.6c", "8.6d", "8.6e", "8.6f", "8.6g",
}  # fmt: skip
TASKS = {
    "quora": ("retrieval", "ndcg_at_10"), "sts12": ("sts", "spearman"), "stsb": ("sts", "spearman"),
    "newsgroups": ("clustering", "v_measure"), "tweets": ("classification", "accuracy"),
}  # fmt: skip
# Score of each encoder on every task, first seed; the second has 2 more, and each task 1 more than the last.
ENCODERS = {
    ("none", 0): 20.0, ("full", 0): 61.0, ("lora_uni", 16): 60.0, ("lora_bi", 16): 59.0, ("spt_uni_eosp", 1): 50.0,
    ("spt_uni_eosp", 16): 58.0, ("spt_bi_eosp", 16): 57.5, ("spt_mntp_eosp", 16): 57.0, ("spt_v2", 10): 63.0,
}  # fmt: skip
NOTE = "made of another decoder"
METHODS = {"none": "none", "full": "full", "lora_uni": "lora", "lora_bi": "lora", "spt_v2": "prefix"}


def frame(scale="paper", without=(), best=1):
    rows = []
    for backbone, weights, gain in (("llama_2_7b", "pretrained", 0.0), ("lm_random", "random", -15.0)):
        for (encoder, size), score in ENCODERS.items():
            if encoder in without or (weights == "random" and encoder not in ("none", "spt_uni_eosp")):
                continue
            about = {
                "backbone": backbone, "model": "same", "weights": weights, "encoder": encoder, "size": size,
                "method": METHODS.get(encoder, "prompt"), "attention": "bi" if "bi" in encoder else "uni",
                "pooling": "last", "data": "Data",
            }  # fmt: skip
            for seed in (0, 1):
                for place, (task, (category, metric)) in enumerate(TASKS.items()):
                    # Of the 15 points that random weights lack the decoder itself lacks ten.
                    value = score + (2 * gain / 3 if encoder == "none" else gain) + 2 * seed + place
                    scored = {"dataset": task, "category": category, "metric": metric, "value": value, "seed": seed}
                    rows.append({**about, **scored, "n": 10, "steps": 4, "tokens": 9, "above_trivial": "above"})
                for step in (2, 4, 6, 8):
                    if encoder != "none":
                        course = {"loss": 4 - step / 10 - size / 100 + seed / 1000, "held_out": 0.01 * size + step / 99}
                        course |= {"held_out": course["held_out"] - 0.5 * (size != best and encoder == "spt_uni_eosp")}
                        for metric, value in course.items():
                            rows.append({**about, "metric": metric, "value": value, "step": step, "seed": seed})
            counts = {"trained": 4096.0 * max(size, 1), "total": 1e6, "share": 0.4096 * max(size, 1)}
            if encoder != "none":
                rows += [{**about, "metric": metric, "value": value} for metric, value in counts.items()]
    others = {"backbone": "simcse", "model": "simcse_bert_base", "weights": "pretrained", "encoder": "published",
              "size": 0, "method": "published", "attention": "bi", "pooling": "pooler", "data": "Data", "seed": 0,
              "n": 10, "steps": 0, "tokens": 0}  # fmt: skip
    for place, (task, (category, metric)) in enumerate(TASKS.items()):
        rows.append({**others, "dataset": task, "category": category, "metric": metric, "value": 70.0 + place})
    table = pandas.DataFrame(rows).reindex(columns=[*RESULTS.factors, *FIXED])
    return frame_of(table.assign(scale=scale), RESULTS.settings(scale, [], {}))


def claims(*given, **named):
    return claims_table(RESULTS.claims, frame(*given, **named), RESULTS.unjudged).set_index("id")


def test_claims_have_their_units_and_directions():
    found = claims()
    assert found.loc["P1", ["estimate", "unit"]].tolist() == [30.0, "data set"]
    assert found.loc["P2", "estimate"] == pytest.approx(-0.15)
    assert found.loc["P2", ["unit", "units"]].tolist() == ["seed", 2]
    assert found.loc["P3", "estimate"] == pytest.approx(-0.6)
    assert found.loc["P4", "estimate"] == pytest.approx(5.0)
    assert not {"P5", "P6"} & set(found.index), "counts of configurations have no verdict"
    # With as many vectors as the held-out pairs choose, not with the most.
    assert found.loc["P7", "estimate"] == -10 and "not run" in found.loc["P8", "note"]
    most = claims(best=16)
    assert [most.loc[name, "estimate"] for name in ("P7", "P8", "P9", "P10")] == pytest.approx([-2, -0.5, -1, 3])
    assert most.loc["P7", "unit"] == "data set" and "about llama_2_7b" in most.loc["P7", "note"]
    mini = claims("mini")
    for name in ("P7", "P8", "P9", "P10"):
        assert mini.loc[name, "verdict"] == "not testable at this scale", name
    assert mini.loc["P1", "verdict"] == found.loc["P1", "verdict"] != "not testable at this scale"
    assert set(claims("nano").verdict) == {"not testable at this scale"}
    assert "not run" in claims(without=("spt_v2",)).loc["P10", "note"]


def with_forms(whole):
    """Neighbours with as many vectors as the plain prompt: about 3 points above it, and 1 below or 2 above by seed."""
    plain = whole.rows[(whole.rows["backbone"] == "llama_2_7b") & (whole.rows["encoder"] == "spt_uni_eosp")]
    place = plain["dataset"].map({name: number for number, name in enumerate(TASKS)}).astype(float)
    by_form = {"residual": (3 + (place - 2) / 5, (1, 16)), "decomposed": (3 * plain["seed"].astype(float) - 1, (16,))}
    parts = [whole.rows]
    for form, (gap, sizes) in by_form.items():
        gap = gap.where(place.notna(), 0)
        rows = plain.assign(encoder=form, method=form, value=plain["value"] + gap)
        parts.append(rows[rows["size"].isin(sizes)])
    return type(whole)(pandas.concat(parts, ignore_index=True), whole.scale, whole.factors, whole.options)


def test_neighbours_are_held_against_as_many_vectors():
    whole = with_forms(frame())
    found = claims_table(RESULTS.claims, whole, RESULTS.unjudged).set_index("id")
    assert found.loc["P11", ["estimate", "verdict"]].tolist() == [pytest.approx(3), "supported"]
    assert found.loc["P12", "estimate"] == pytest.approx(0.5) and found.loc["P12", "verdict"] != "supported"
    assert found.loc["P11", "unit"] == "data set" and "these 2 seeds" in found.loc["P11", "note"]
    assert "about llama_2_7b" in found.loc["P12", "note"]
    assert "not run" in claims().loc["P11", "note"], "the plain prompt alone has nothing beside it"
    cells = {"residual": [Cell(at={"size": 1}), Cell(at={"size": 16})], "decomposed": [Cell(at={"size": 16})]}
    rows = list(neighbour_rows(SLUG, RESULTS, whole, cells, ROOT))
    assert [row["measure"].rpartition(" ")[2] for row in rows] == ["1", "16", "16"]
    # Of the scores: those of 1 and of 16 vectors, in the mean over five tasks and two seeds.
    assert [row["method_value"] for row in rows] == pytest.approx([53, 61, 61])
    assert [row["difference"] for row in rows] == pytest.approx([3, 3, 0.5])
    assert [row["method_parameters"] for row in rows] == [4096, 65_536, 65_536]


@pytest.mark.parametrize("scale", ["paper", "small", "mini", "nano"])
def test_a_neighbour_has_the_updates_rates_seeds_and_tasks_of_the_plain_prompt(scale, plans):
    paper, plan = load_config(ROOT, {"scale": scale}).papers[SLUG], plans[scale]
    forms = {"residual": ("width", "layer_norm"), "decomposed": ("rank", "spread")}
    tried = 0
    for name in paper.compared:
        sizes = paper.backbones[name].grid["spt_uni_eosp"]
        for form, fields in forms.items():
            own = getattr(paper.neighbours, form)
            for size in own.vectors:
                key = f"{name}/prompt_tuning_{form}_{size}"
                if size not in sizes or not paper.backbones[name].pretrained:
                    assert key not in plan.jobs["train_prompt"]
                    continue
                other = f"{name}/prompt_tuning_spt_uni_eosp_{size}"
                settings = settings_of(plan, "train_prompt", key)
                assert settings.pop("form") == {"kind": form, **{field: getattr(own, field) for field in fields}}
                assert settings == settings_of(plan, "train_encoder", other), "the rest is the paper's"
                one, plain = plan.jobs["train_prompt"][key], plan.jobs["train_encoder"][other]
                assert one.inputs == plain.inputs
                one, plain = (plan.jobs["evaluate_encoder"][which] for which in (key, other))
                assert one.settings == plain.settings, "it is scored as a plain prompt"
                assert f"{key}_seed_{paper.backbones[name].seeds[0]}" in plan.jobs["export_encoder"]
                tried += 1
    assert tried == {"paper": 9, "small": 3, "mini": 2, "nano": 2}[scale]


def test_a_size_that_the_plain_prompt_lacks_stays_empty_with_the_reason():
    edit = f"papers.{SLUG}.neighbours.residual.vectors=[2, 3]"
    plan = make_plan(load_config(ROOT, {"scale": "nano", "set": edit, "build": [SLUG]}))
    gathered = GatherSettings.model_validate_json(plan.jobs["gather_results"][SLUG].settings["settings"])
    missing = [one for one in gathered.entries if isinstance(one, Missing)]
    assert [(one.factors["backbone"], one.factors["size"], one.reason) for one in missing] == [
        ("lm", 3, "backbones.lm.grid has no spt_uni_eosp of 3")
    ]
    with pytest.raises(ReprlabError, match=r"neighbours.decomposed.*rank \(3\): 2 vectors have no larger rank"):
        load_config(ROOT, {"scale": "nano", "set": f"papers.{SLUG}.neighbours.decomposed.rank=3"})


def test_attention_is_compared_with_as_many_vectors_on_the_same_decoder():
    """LLaMA3 has k = 1 and 5 after MNTP and up to 20 without, and its MNTP model is built on another one (trap 2)."""
    whole = frame(best=16)
    further = whole.rows[(whole.rows["backbone"] == "llama_2_7b") & whole.rows["encoder"].eq("spt_uni_eosp")]
    further = further[(further["size"] == 16) & (further["metric"] != "held_out")]
    more = further.assign(size=20, value=further["value"] + 30)
    other = whole.rows[(whole.rows["backbone"] == "llama_2_7b") & (whole.rows["size"] == 16)]
    after = other["encoder"] == "spt_mntp_eosp"
    other = other.assign(
        backbone="llama_3_8b", value=other["value"] + 40 * after, note=after.map({True: NOTE, False: ""})
    )
    rows = pandas.concat([whole.rows, more, other], ignore_index=True)
    found = claims_table(RESULTS.claims, type(whole)(rows, "paper", whole.factors, {}), {}).set_index("id")
    assert found.loc["P8", "estimate"] == pytest.approx(-0.5)
    assert found.loc["P9", ["estimate", "unit", "units"]].tolist() == [pytest.approx(-1), "data set", 5]
    only = rows[rows["backbone"] == "llama_3_8b"]
    found = claims_table(RESULTS.claims, type(whole)(only, "paper", whole.factors, {}), {}).set_index("id")
    assert "not run" in found.loc["P9", "note"]


def test_a_row_says_where_it_is_made_of_another_decoder(plans):
    """Trap 2: the model after MNTP of LLaMA3 is built on Instruct, the rows without are of the base model."""
    whole = frame()
    noted = whole.rows["encoder"].eq("spt_mntp_eosp")
    rows = whole.rows.assign(note=noted.map({True: NOTE, False: ""}))
    for name in ("table1", "table2", "table3", "table5", "figure3"):
        table = RESULTS.table(name).make(type(whole)(rows, "paper", whole.factors, {}))
        told = table["note"].str.contains(NOTE, regex=False)
        assert set(table["encoder"][told]) == ({"spt_mntp_eosp"} if name != "table3" else set()), name
    published = read_published(PUBLISHED[:-1], TABLES)
    found = compare(RESULTS.own(type(whole)(rows, "paper", whole.factors, {})), published, RESULTS.printed)
    assert set(found[found["note"].str.contains(NOTE, regex=False)]["table"]) == {"table1", "table2", "table5"}
    (settings,) = (json.loads(job.settings["settings"]) for key, job in plans["paper"].jobs["gather_results"].items()
                   if SLUG in key)  # fmt: skip
    notes = {(one["factors"].get("backbone"), one["factors"].get("encoder")): one["factors"]["note"]
             for one in settings["entries"] if one["factors"].get("note")}  # fmt: skip
    assert set(notes) == {("llama_3_8b", "lora_bi"), ("llama_3_8b", "spt_mntp_eosp")}
    assert all("Meta-Llama-3-8B-Instruct" in note for note in notes.values())


def test_tables_have_means_sizes_and_the_choice_of_k():
    made = {table.name: table.make(frame()) for table in RESULTS.tables}
    keys = ["backbone", "encoder", "size"]
    first = made["table1"].set_index(keys)
    row = first.loc[("llama_2_7b", "spt_uni_eosp", 16)]
    assert row[["retrieval", "sts", "clustering", "classification"]].tolist() == [59.0, 60.5, 62.0, 63.0]
    assert row["average"] == pytest.approx(61.125) and row["seeds"] == 2
    assert first.loc[("llama_2_7b", "none", 0), "params_percent"] == 0
    third = made["table3"].set_index(keys)
    # The random decoder has no SPT v2, and these four are what is held beside it.
    assert set(third.index.get_level_values("backbone")) == {"llama_2_7b"} and len(third) == 5
    pandas.testing.assert_frame_equal(third, first.loc[third.index])
    fifth = made["table5"].set_index(keys)
    assert fifth.loc[("llama_2_7b", "full", 0), ["sts12", "stsb", "average"]].tolist() == [63.0, 64.0, 63.5]
    fourth = made["table4"].set_index(keys)
    assert fourth.loc[("llama_2_7b", "lora_uni", 16), "trained"] == 65_536
    assert ("llama_2_7b", "none", 0) not in fourth.index
    choice = made["choice"].set_index(["backbone", "encoder"]).loc[("llama_2_7b", "spt_uni_eosp")]
    # The held-out pairs prefer k = 1 here, the reported sets k = 16: what is reported decides nothing.
    assert choice[["chosen", "best_reported"]].tolist() == [1, 16]
    assert choice["sts"] < choice["sts_best_reported"]
    assert set(made["figure1"]["encoder"]) == {"lora_uni", "lora_bi"} and len(made["figure1"]) == 8
    assert set(made["figure3"]["encoder"]) == {"spt_uni_eosp", "spt_bi_eosp", "spt_mntp_eosp"}


def test_an_average_needs_every_category():
    whole = frame()
    part = whole.rows[whole.rows["dataset"] != "tweets"]
    table = RESULTS.table("table1").make(type(whole)(part, "paper", whole.factors, {}))
    assert table["average"].isna().all() and table["retrieval"].notna().all()


def test_printed_cells_meet_ours():
    published = read_published(PUBLISHED[:-1], TABLES)
    found = compare(RESULTS.own(frame()), published, RESULTS.printed)
    text = found.astype(str).agg(" ".join, axis=1)
    ours = found[found.ours.fillna("") != ""]
    assert len(ours) > 40 and "63.12" in set(ours.ours[found.table == "table3"])
    scored = found[text.str.contains("SimCSE") & (found.table == "table1")].set_index("column").ours
    assert (scored["params_percent"], scored["clustering"], scored["sts"]) == ("100.000000", "73.00", "71.50")
    assert (
        text[text.str.contains("LLaMA2-7B") & text.str.contains("SPT-uni") & text.str.contains("16")]
        .str.contains("61.12|60.50")
        .any()
    )
    assert "65536" in set(ours.ours)


def test_every_printed_row_is_one_of_ours():
    paper = load_config(ROOT, {"scale": "paper"}).papers[SLUG]
    for path in FOLDER.glob("table*.tsv"):
        for row in pandas.read_csv(path, sep="\t", dtype=str, keep_default_na=False).to_dict("records"):
            if row["row"] == "SimCSE":
                continue
            backbone = paper.backbones[BACKBONES[row["model"]]]
            encoder, size = ROWS[row["row"]]
            planned = {"none", *(["full"] if backbone.full else []), *backbone.grid}
            assert encoder in planned, row
            assert encoder in ("none", "full") or int(row["k"] or size) in backbone.grid[encoder], row


def test_the_audit_finds_what_is_wrong_and_nothing_else():
    rows = audit("prompt_tuning_encoders", PUBLISHED, ROOT / "config/models.yaml")
    found = {row.id: row for row in rows}
    assert {row.id for row in rows if row.verdict == "differs"} == WRONG
    assert found["5.1.15"].recomputed == "41943040" and found["5.1.kv"].recomputed == "45088768"
    assert found["5.1.share.18"].note == "printed over true: 0.098"
    assert [found[f"5.2.table5.{n}"].recomputed for n in (7, 8, 14)] == ["85.1657", "84.4286", "85.8757"]
    assert sum(row.id.startswith("5.2.table") for row in rows) == 19 + 7 + 19
    assert found["5.2.table5.14"].note == "cut, not rounded"


@pytest.mark.parametrize(
    ("table", "old", "new", "row"),
    [
        ("table1", "\t63.62\t", "\t63.92\t", "5.2.table1.4"),
        ("table4", "\t12288\t", "\t12289\t", "5.1.3"),
        ("table4", "\t125240064\t", "\t125240065\t", "5.1.total.2"),
        ("table4", "\t0.0012\t", "\t0.0013\t", "5.1.share.12"),
    ],
)
def test_a_changed_cell_is_found(table, old, new, row, tmp_path):
    copies = [Path(shutil.copy(path, tmp_path)) for path in PUBLISHED]
    changed = tmp_path / f"{table}.tsv"
    text = changed.read_text()
    assert text.count(old) == 1
    changed.write_text(text.replace(old, new))
    only = row.rpartition(".")[0] if "table" not in row else "5.2"
    rows = audit("prompt_tuning_encoders", copies, ROOT / "config/models.yaml", only)
    assert {one.id: one.verdict for one in rows}[row] == "differs"


def test_figures_are_drawn_or_say_why_not():
    for figure in RESULTS.figures:
        for source in (frame(), frame(without=("lora_bi", "spt_uni_eosp", "spt_bi_eosp", "spt_mntp_eosp"))):
            table = RESULTS.table(figure.table).make(source)
            assert figure.draw(table, Drawn("paper", {})).axes


@pytest.fixture(scope="module")
def plans():
    found = {}
    for scale in ("paper", "small", "mini", "nano"):
        found[scale] = make_plan(load_config(ROOT, {"scale": scale, "build": [SLUG]}))
    return found


def settings_of(plan, stage, key):
    return json.loads(plan.jobs[stage][key].settings["settings"])


def texts_of(plan, key):
    """How the triples are read that an encoder is trained on."""
    folder = plan.jobs["train_encoder"][key].inputs["triples"].rstrip("/")
    (own,) = [one for one in plan.jobs["tokenize_triples"] if folder.endswith(one)]
    return settings_of(plan, "tokenize_triples", own)


def test_the_published_grid_is_planned(plans):
    trained = {key for key in plans["paper"].jobs["train_encoder"] if "/prompt_tuning_" in key}
    assert sum(key.startswith("llama_2_7b/") for key in trained) == 2 + 1 + 10 * 6 + 2
    one = settings_of(plans["paper"], "train_encoder", "llama_2_7b/prompt_tuning_spt_uni_eosp_16")
    assert one["learning_rates"] == [0.02, 0.01, 0.005, 0.001] and one["epochs"] == 1 and one["seeds"] == [42]
    assert one["encoder"]["vectors"] == 16 and one["temperature"] == 0.05
    assert texts_of(plans["paper"], "llama_2_7b/prompt_tuning_spt_uni_eosp_16")["form"]["max_length"] == 32
    assert one["engine"]["batch_size"] == 32 and one["evaluate_every"] == 125
    assert one["engine"]["optimizer"]["weight_decay"] == 0.01
    lora = settings_of(plans["paper"], "train_encoder", "llama_3_8b/prompt_tuning_lora_bi_16")
    assert lora["encoder"]["bidirectional"] and lora["encoder"]["pooling"] == "mean"
    assert lora["engine"]["schedule"]["warmup_steps"] == 100 and lora["learning_rates"] == [5e-4]
    model = plans["paper"].jobs["train_encoder"]["llama_3_8b/prompt_tuning_lora_bi_16"].inputs["model"]
    tasks = settings_of(plans["paper"], "evaluate_encoder", "llama_2_7b/prompt_tuning_spt_uni_eosp_16")["tasks"]
    assert [task["name"] for task in tasks if task["drop_own"]] == ["quora"], "its queries are passages"
    # The only published LLaMA3 after MNTP is built on Instruct: the comparison is not one of attention alone.
    assert str(model).endswith("llama_3_8b_instruct_mntp")


def test_published_hyperparameters_reach_the_jobs(plans):
    """Section 3 of the specification, for each kind of encoder; alpha is 32 in section 4.4 and 16 in A.1 (trap 3)."""
    plan = plans["paper"]
    keys = {
        "soft": "opt_125m/prompt_tuning_spt_uni_mean_20", "prefix": "llama_2_7b/prompt_tuning_spt_v2_10",
        "lora": "llama_2_7b/prompt_tuning_lora_uni_1", "full": "opt_125m/prompt_tuning_full_0",
    }  # fmt: skip
    found = {name: settings_of(plan, "train_encoder", key) for name, key in keys.items()}
    for name, one in found.items():
        optimizer, engine = one["engine"]["optimizer"], one["engine"]
        assert (one["epochs"], engine["batch_size"], engine["accumulation"], one["seeds"]) == (1, 32, 1, [42]), name
        texts = texts_of(plan, keys[name])
        assert (one["temperature"], one["evaluate_every"]) == (0.05, 125)
        assert (texts["form"]["max_length"], texts["limit"], texts["split"]) == (32, None, "train")
        assert (optimizer["name"], optimizer["weight_decay"], engine["schedule"]["name"]) == ("adamw", 0.01, "linear")
        soft = name in ("soft", "prefix")
        assert engine["schedule"]["warmup_steps"] == (0 if soft else 100)
        rates = [0.02, 0.01, 0.005, 0.001] if soft else [5e-4] if name == "lora" else [5e-5]
        assert one["learning_rates"] == rates
    held_out = plan.jobs["train_encoder"]["opt_125m/prompt_tuning_full_0"].inputs["held_out"]
    assert [Path(path).parent.name for path in held_out] == ["sts_benchmark", "sick_relatedness"]
    assert found["lora"]["encoder"]["adapter"] == {
        "rank": 1, "alpha": 32, "dropout": 0.05, "partial": False,
        "targets": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    }  # fmt: skip
    assert (found["soft"]["encoder"]["start"], found["prefix"]["encoder"]["pooling"]) == ("vocabulary", "last")
    grid = load_config(ROOT, {"scale": "paper"}).papers[SLUG].backbones
    searched = [1, 2, 5, 10, 16, 20]
    assert all(one.grid["spt_uni_eosp"] == one.grid["spt_uni_mean"] == searched for one in grid.values())
    tasks = settings_of(plan, "evaluate_encoder", "opt_125m/prompt_tuning_full_0")
    assert (tasks["per_label"], tasks["draws"]) == (32, 10)
    assert [task["name"] for task in tasks["tasks"]] == [
        "quora", "sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sickr", "newsgroups", "tweets",
    ]  # fmt: skip


def test_switches_of_alpha_and_of_the_start_reach_the_jobs():
    edits = f"papers.{SLUG}.lora.alpha=16; papers.{SLUG}.training.start=normal"
    plan = make_plan(load_config(ROOT, {"scale": "nano", "set": edits, "build": [SLUG]}))
    for stage in ("train_encoder", "evaluate_encoder"):
        lora = settings_of(plan, stage, "lm/prompt_tuning_lora_bi_1")["encoder"]
        assert lora["adapter"]["alpha"] == 16
        assert settings_of(plan, stage, "lm/prompt_tuning_spt_uni_eosp_2")["encoder"]["start"] == "normal"


def test_encoders_of_others_are_scored_as_they_are(plans):
    one = settings_of(plans["paper"], "evaluate_encoder", "simcse/prompt_tuning_published")
    encoder = one["encoder"]
    assert (encoder["method"], encoder["pooling"], encoder["pooler"]) == ("none", "first", True)
    assert encoder["normalised"]
    ours = settings_of(plans["paper"], "evaluate_encoder", "opt_125m/prompt_tuning_none_0")
    shared = ("per_label", "draws", "resamples", "dtype")
    assert {name: one[name] for name in shared} == {name: ours[name] for name in shared}
    assert [task["name"] for task in one["tasks"]] == [task["name"] for task in ours["tasks"]]
    assert "minilm/prompt_tuning_published" in plans["mini"].jobs["evaluate_encoder"]
    with pytest.raises(ReprlabError, match="beside names e5; published has simcse"):
        load_config(ROOT, {"scale": "paper", "set": f"papers.{SLUG}.beside=[e5]"})


def test_a_decoder_of_a_package_is_post_trained_where_a_text_is_named(plans):
    job = plans["small"].jobs["post_train"]["smollm2/prompt_tuning"]
    assert "smollm2_135m_instruct" in str(job.inputs["model"]) and "smollm2" in str(job.inputs["tokens"])
    encoder = plans["small"].jobs["train_encoder"]["smollm2/prompt_tuning_spt_mntp_eosp_4"]
    assert "post_trained/smollm2" in str(encoder.inputs["model"])
    edit = f"papers.{SLUG}.warm_start.text.corpus=null"
    with pytest.raises(ReprlabError, match=r"smollm2.mntp is null.*or for a pre-trained one a corpus"):
        make_plan(load_config(ROOT, {"scale": "small", "set": edit, "build": [SLUG]}))


def test_vectors_count_where_texts_are_scored_and_not_where_they_are_trained_on(plans):
    """512 tokens less k (specification, section 3); 32 in training, without the vectors."""
    lengths = {
        "none_0": 512,
        "lora_uni_16": 512,
        "spt_uni_eosp_1": 511,
        "spt_mntp_before_mean_20": 492,
        "spt_v2_10": 502,
    }
    for key, length in lengths.items():
        key = f"llama_2_7b/prompt_tuning_{key}"
        assert settings_of(plans["paper"], "evaluate_encoder", key)["encoder"]["form"]["max_length"] == length
        if not key.endswith("none_0"):
            trained = settings_of(plans["paper"], "train_encoder", key)
            assert trained["encoder"]["form"]["max_length"] == length
            assert texts_of(plans["paper"], key)["form"]["max_length"] == 32
    for wrong in ("evaluation.length=17", "backbones.lm.grid.spt_uni_eosp=[1, 9]"):
        with pytest.raises(ReprlabError, match=r"evaluation.length.*beside the (2|9) vectors of backbones.lm.grid"):
            load_config(ROOT, {"scale": "nano", "set": f"papers.{SLUG}.{wrong}"})


def test_a_causal_prompt_before_the_text_is_refused_when_planning():
    edit = f"papers.{SLUG}.encoders.spt_uni_eosp.position=prepend"
    with pytest.raises(ReprlabError, match="same for all texts"):
        load_config(ROOT, {"scale": "nano", "set": edit})


def test_published_weights_are_not_called_random():
    edit = "papers.prompt-tuning-encoders.backbones.opt_125m.pretrained=false"
    with pytest.raises(ReprlabError, match="opt_125m has published weights"):
        make_plan(load_config(ROOT, {"scale": "paper", "set": edit, "build": ["prompt-tuning-encoders"]}))


@pytest.mark.parametrize(
    ("scale", "control", "expected"),
    [("mini", "smollm2_drawn", {"prompt"}), ("nano", "lm_random", {"full", "lora", "prompt", "prefix"})],
)
def test_small_scales_have_their_methods_and_a_random_control(plans, scale, control, expected):
    """The wider grid of a decoder is that of `small`; each method is made at `nano`."""
    keys = {key for key in plans[scale].jobs["train_encoder"] if "/prompt_tuning_" in key}
    methods = {settings_of(plans[scale], "train_encoder", key)["encoder"]["method"] for key in keys}
    assert methods == expected
    started = plans[scale].jobs["train_encoder"][f"{control}/prompt_tuning_spt_uni_eosp_1"]
    assert "/models/" in str(started.inputs["model"]), "nothing has trained the control before"


def test_a_twin_that_stays_random_reads_with_the_published_tokenizer(plans):
    job = plans["mini"].jobs["train_encoder"]["smollm2_drawn/prompt_tuning_spt_uni_eosp_1"]
    assert str(job.inputs["tokenizer"]).endswith("model_tokenizers/smollm2_135m_instruct")
    trained = plans["mini"].jobs["train_encoder"]["smollm2/prompt_tuning_spt_uni_eosp_1"]
    assert job.settings["settings"] == trained.settings["settings"], "the twin differs in its weights alone"

"""music-video-description at nano: from scores to descriptions, and what an edit reruns."""

import pytest
from reprlab.artifacts.tables import read_tsv

from tests.nano import PARTS, needs_audio
from tests.plans import rerun_counts

SLUG = "music-video-description"
PART = PARTS[SLUG]
pytestmark = pytest.mark.reads(SLUG)
TABLE1 = f"results/{SLUG}/table1.tsv"
SCORED = {"score_descriptions": 7, "tabulate_paper": 1}
# What needs no model is scored with the same resamples on the same tracks.
TRIVIAL = {"score_description_baselines": 1}
WRITTEN = {"describe_tracks": 6, "describe_by_prefix": 1, **SCORED}
PREFIX = {"train_prefix": 1, "describe_by_prefix": 1}
TUNED = {"train_describer": 4, "describe_tracks": 5, "score_descriptions": 6, "tabulate_paper": 1, **PREFIX}
ALL = {"train_describer": 5, **WRITTEN, "train_prefix": 2}
EDITS = {
    "resamples=101": {**SCORED, **TRIVIAL},
    "generation.max_new_tokens=9": WRITTEN,
    "description.learning_rate=0.002": TUNED,
    "caption.learning_rate=0.002": {**TUNED, "describe_tracks": 4, "score_descriptions": 5, "train_prefix": 2},
    "neighbours.prefix.vectors=3": {**PREFIX, "train_prefix": 2, "score_descriptions": 1, "tabulate_paper": 1},
    "annotation.seed=1": {"annotate_tracks": 2, **ALL, **TRIVIAL},
    "encoding.bands=16": {"encode_audio": 1, **ALL},
    # Hearing takes longest; what is heard hangs on the sound alone.
    "tracks.test_share=0.4": {
        "build_tracks": 1,
        "hear_tracks": 2,
        "annotate_tracks": 2,
        "encode_audio": 1,
        **ALL,
        **TRIVIAL,
    },
    "shown=1": {},
}


@needs_audio
def test_every_section_of_table_1_is_scored_beside_another_tracks_description(made):
    found = read_tsv(made.nano / TABLE1)
    assert found["section"].tolist() == ["baseline", "main", "ablation", "ablation", "sanity", "adaptor", "prefix"]
    assert found[["bleu1", "rouge_f1", "bert_f1"]].notna().all(axis=None)
    assert (found["encoder"] == "bert_events_nano").all()


@needs_audio
def test_what_is_heard_in_rendered_tracks_is_judged(made):
    found = read_tsv(made.nano / f"results/{SLUG}/feature_accuracy.tsv")
    every = found[found["genre"] == "all"].set_index("metric")["value"]
    assert every["tempo_candidate"] >= every["tempo_octave"] >= every["tempo"] and every["key"] > 0


@needs_audio
def test_the_page_shows_inputs_target_and_what_was_written(made):
    folder = made.nano / f"results/{SLUG}/examples"
    page = (folder / "examples.md").read_text()
    assert (folder / "tracks.png").stat().st_size > 10_000 and "](tracks.png)" in page
    assert page.count("Target:") == 2 and page.count("Written (instruction alone):") == 2 and "Known: " in page


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(edit):
    assert rerun_counts(SLUG, PART.edits, f"papers.{SLUG}.{edit}", TABLE1) == EDITS[edit]

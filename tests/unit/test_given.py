"""Files of the user's that settings name are inputs: what they hold is in the key of the jobs that read them."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from reprlab.config.load import load_config
from reprlab.planning.given_paths import nltk_model_paths, pipeline_paths
from reprlab.planning.run_plan import plan_run
from reprlab.runtime import given
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory, write_text
from reprlab.runtime.given import MISSING, stamps_of, state_of
from reprlab.runtime.plan_file import PlannedJob, parsed
from reprlab.runtime.seals import Making, sign_results
from reprlab.runtime.stale import contents, require_given, unchanged

ROOT = Path(__file__).parents[2]
MUSIC = "music-video-description"
COLUMNS = "track\tfile\tgenre\tlyrics\tsplit\tvideo"


@pytest.fixture
def folder(tmp_path):
    """Tracks of one's own: one with frames inside, one whose sound and frames lie elsewhere."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for place in (mine / "frames", other / "frames"):
        place.mkdir(parents=True)
        (place / "0.png").write_bytes(b"first")
    for place in (mine, other):
        soundfile.write(place / "a.wav", np.zeros(2000), 44_100)
    rows = [COLUMNS, "a\ta.wav\trock\t\ttrain\tframes", "b\t../other/a.wav\trock\t\ttest\t../other/frames"]
    (mine / "tracks.tsv").write_text("\n".join(rows) + "\n")
    return mine


def digests(folder, *stages, edits=""):
    named = f"papers.{MUSIC}.tracks.folder={folder}{edits}"
    config = load_config(ROOT, {"scale": "nano", "build": [MUSIC], "set": named})
    return {stage: {job.digest for name, job in plan_run(config).jobs.items() if name[0] == stage} for stage in stages}


EDITS = {
    "a row": ("mine/tracks.tsv", lambda path: path.write_text(path.read_text().replace("rock", "folk"))),
    "a sound, of the same length": ("mine/a.wav", lambda path: soundfile.write(path, np.full(2000, 0.1), 44_100)),
    "a frame": ("mine/frames/0.png", lambda path: path.write_bytes(b"FIRST")),
    "another frame": ("mine/frames/1.png", lambda path: path.write_bytes(b"first")),
    "a sound elsewhere": ("other/a.wav", lambda path: soundfile.write(path, np.full(2000, 0.1), 44_100)),
    "a frame elsewhere": ("other/frames/0.png", lambda path: path.write_bytes(b"FIRST")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_in_a_folder_of_ones_own_makes_its_tracks_again(folder, tmp_path, edit):
    stages = ("build_tracks", "annotate_tracks", "estimate_annotation")
    before = digests(folder, *stages)
    place, change = EDITS[edit]
    file = tmp_path / place
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns) if file.exists() else None
    change(file)
    if times:
        os.utime(file, ns=times)
    after = digests(folder, *stages)
    assert all(before[stage] and before[stage].isdisjoint(after[stage]) for stage in stages)


def test_dates_and_places_of_a_folder_of_ones_own_change_nothing(folder, tmp_path):
    before = digests(folder, "build_tracks")
    for file in tmp_path.rglob("*"):
        os.utime(file, (1e9, 1e9))
    assert digests(folder, "build_tracks") == before


@pytest.mark.parametrize("scale", ["nano", "mini"])
def test_a_folder_of_ones_own_lies_in_the_checkout_whatever_the_run(folder, tmp_path, scale):
    edit = f"papers.{MUSIC}.tracks.folder=mine"
    config = load_config(ROOT, {"scale": scale, "build": [MUSIC], "set": edit}, home=tmp_path)
    (job,) = (job for name, job in plan_run(config).jobs.items() if name[0] == "build_tracks")
    # The job runs in the folder of its run.
    found = config.run_folder / parsed(job.settings["settings"])["folder"]
    assert os.path.normpath(found) == str(folder) == job.given["tracks.folder"]["paths"][0]


@pytest.mark.parametrize("change", ["write", "add", "remove", "rename", "replace by a link", "append"])
def test_what_a_folder_holds(tmp_path, change):
    folder = tmp_path / "data"
    (folder / "below").mkdir(parents=True)
    for name in ("a", "below/b"):
        (folder / name).write_text(name)
    before = state_of([folder]), stamps_of([folder])
    assert before == (state_of([folder]), stamps_of([folder])) and before[0].startswith("content ")
    if change == "write":
        (folder / "below/b").write_text("below/c")
    elif change == "append":
        (folder / "a").write_text("aa")
    elif change == "add":
        (folder / "below/c").touch()
    elif change == "remove":
        (folder / "a").unlink()
    elif change == "rename":
        (folder / "a").rename(folder / "c")
    else:
        (tmp_path / "far").mkdir()
        (tmp_path / "far/b").write_text("another")
        (folder / "below/b").unlink()
        (folder / "below").rmdir()
        (folder / "below").symlink_to(tmp_path / "far")
    assert state_of([folder]) != before[0] and stamps_of([folder]) != before[1]


def test_a_large_folder_is_known_by_names_sizes_and_dates_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(given, "LARGEST", 10)
    file = tmp_path / "data/a"
    file.parent.mkdir()
    file.write_text("x" * 20)
    before = state_of([file.parent])
    assert before.startswith("names, sizes and dates ")
    file.write_text("y" * 20)
    os.utime(file, (1e9, 1e9))
    assert state_of([file.parent]) != before


def test_what_does_not_exist_and_what_links_to_itself(tmp_path):
    assert state_of([tmp_path / "nothing"]) == MISSING
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / "a").write_text("a")
    assert state_of([tmp_path]).startswith("content ")


def test_the_data_of_nltk_is_an_input_and_lies_where_nltk_looks(tmp_path, monkeypatch):
    from nltk import data

    own = [folder for folder in data.path if folder not in os.environ.get("NLTK_DATA", "").split(os.pathsep)]
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    paths = nltk_model_paths()
    looked = [path.removesuffix("/tokenizers/punkt_tab/english") for path in paths if path.endswith("english")]
    assert looked == [str(tmp_path), *own]
    edit = "papers.depth.segmentation.splitter=nltk"
    config = {"scale": "nano", "build": ["depth"], "set": edit}

    def planned():
        jobs = plan_run(load_config(ROOT, config)).jobs
        return {job.digest for (stage, _), job in jobs.items() if stage == "segment_documents" and job.given}

    model = tmp_path / "tokenizers/punkt_tab/english/abbrev_types.txt"
    before = planned()
    model.parent.mkdir(parents=True)
    model.write_text("dr\n")
    between = planned()
    model.write_text("mr\n")
    assert before and before.isdisjoint(between) and between.isdisjoint(planned())


def test_a_parser_is_a_package_or_a_folder(tmp_path):
    assert pipeline_paths(str(tmp_path)) == [str(tmp_path)]
    assert pipeline_paths("no_such_pipeline") == ["no_such_pipeline"]
    (place,) = pipeline_paths("jiwer")
    assert Path(place) == Path(sys.modules["jiwer"].__file__).parent if "jiwer" in sys.modules else Path(place).is_dir()
    parser = tmp_path / "pipeline"
    parser.mkdir()
    (parser / "meta.json").write_text("1")
    edit = f"papers.event-relations.graph.parser={parser}"

    def planned():
        jobs = plan_run(load_config(ROOT, {"scale": "mini", "build": ["event-relations"], "set": edit})).jobs
        return {job.digest for (stage, _), job in jobs.items() if stage == "parse_sentences"}

    before = planned()
    (parser / "meta.json").write_text("2")
    assert before and before.isdisjoint(planned())


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A job that reads a result and a folder of the user's."""
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/a").write_text("a")
    sign_results(Making())
    with atomic_directory(Path("results/shared/read")) as made:
        (made / "rows").write_text("one")
    own = {"folder": {"paths": ["mine"], "state": state_of([Path("mine")])}}
    yield PlannedJob("read_it", "x", {"rows": "results/shared/read"}, {"out": "results/out.tsv"}, given=own)
    sign_results(Making())


def change_a_result():
    Path("results/shared/read/rows").write_text("two")


def change_its_length():
    Path("results/shared/read/more").write_text("")


def change_a_users_file():
    Path("mine/a").write_text("b")


def remove_a_result():
    Path("results/shared/read/rows").unlink()


CHANGES = [change_a_result, change_its_length, change_a_users_file, remove_a_result]


@pytest.mark.parametrize("change", CHANGES)
def test_an_input_that_changes_while_it_is_read_is_sealed_by_nobody(reader, change):
    inputs, require = unchanged(reader, Path())
    sign_results(Making(reader.digest, "plan", inputs), require)
    change()
    for write in (write_text, lambda path, text: write_folder(path.with_suffix(""))):
        with pytest.raises(ReprlabError, match=r"read_it x: .* changed (while it was read|since the run was planned)"):
            write(Path("results/out.tsv"), "x")
    assert not Path("results/out.tsv").exists() and not Path("results/out").exists()
    assert not list(Path("results").glob("**/.*.part*"))


def write_folder(path):
    with atomic_directory(path) as folder:
        (folder / "x").touch()


def test_an_input_that_is_linked_to_or_touched_meanwhile_is_the_same(reader):
    inputs, require = unchanged(reader, Path())
    assert inputs == contents(reader, Path())
    sign_results(Making(reader.digest, "plan", inputs), require)
    os.link("results/shared/read/rows", "linked")
    os.utime("results/shared/read/rows")
    os.utime("mine/a")
    write_text(Path("results/out.tsv"), "x")
    assert Path("results/out.tsv").exists()


def test_a_users_file_that_changed_since_the_plan_stops_its_job(reader):
    require_given(reader, Path())
    change_a_users_file()
    with pytest.raises(ReprlabError, match=r"what folder names \(mine\) changed since the run was planned"):
        require_given(reader, Path())

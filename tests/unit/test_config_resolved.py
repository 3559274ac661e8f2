"""The resolved settings in the run folder: whole, readable as a config file, with what is not as published."""

from pathlib import Path

import pytest
import yaml
from reprlab.config.load import load_config
from reprlab.config.resolved import FILE, changes, scalar, settings_text, write_settings
from reprlab.settings.yaml_text import read_yaml

ROOT = Path(__file__).parents[2]
EDITED = {"scale": "nano", "run": "odd", "set": "papers.depth.loss.sentence_weight=7.5"}


@pytest.mark.parametrize("scale", ["nano", "mini", "small", "paper"])
def test_the_file_gives_the_same_config_again(tmp_path, scale):
    config = load_config(ROOT, EDITED | {"scale": scale})
    write_settings(config, tmp_path)
    path = tmp_path / FILE
    as_snakemake = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert load_config(ROOT, {}, [path]).as_dict() == config.as_dict()
    assert load_config(ROOT, as_snakemake).as_dict() == config.as_dict()
    assert read_yaml(path).values == as_snakemake


def test_an_edit_stands_beside_the_published_value():
    config = load_config(ROOT, EDITED)
    rows = {(paper, setting): (was, here) for paper, setting, was, here in changes(config)}
    was, here = rows["depth", "loss.sentence_weight"]
    assert here == "7.5" and was not in ("", "7.5")
    assert f"sentence_weight: 7.5  # published: {was}" in settings_text(config)
    assert "--configfile runs/odd/results/settings.yaml" in settings_text(config)


def test_at_paper_scale_nothing_differs():
    assert changes(load_config(ROOT, {"scale": "paper"})) == []
    assert "published" not in settings_text(load_config(ROOT, {"scale": "paper"})).partition("\n\n")[2]


def test_a_file_that_says_the_same_is_left_alone(tmp_path):
    config = load_config(ROOT, EDITED)
    write_settings(config, tmp_path)
    before = (tmp_path / FILE).stat().st_mtime_ns
    write_settings(config, tmp_path)
    assert (tmp_path / FILE).stat().st_mtime_ns == before
    write_settings(load_config(ROOT, EDITED | {"seed": 7}), tmp_path)
    assert "\nseed: 7\n" in (tmp_path / FILE).read_text()


NUMBERS = [None, True, 0, -3, 1e-05, 2.5, 1e22]
VALUES = [*NUMBERS, "no", "010", "1e-3", 'a: "b", {c} # d', "", "é\n\t", [], [1e-05, "no", [None]], {}]


@pytest.mark.parametrize("value", VALUES)
def test_odd_values_survive_both_versions_of_yaml(tmp_path, value):
    path = tmp_path / "a.yaml"
    path.write_text(f"key: {scalar(value)}\n", encoding="utf-8")
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == {"key": value}
    assert read_yaml(path).values == {"key": value}

"""The benchmark of sparse autoencoders: it times a step, and correlates drawn features."""

import numpy as np

from benchmarks import sparse_autoencoders


def test_a_step_is_timed(capsys):
    assert sparse_autoencoders.main(["--width", "8", "--features", "16", "--batch", "32", "--steps", "2"]) == 0
    name, milliseconds, ratio = capsys.readouterr().out.strip().split("\t")
    assert name == "reprlab" and float(milliseconds.split()[0]) > 0 and ratio == "1.00"


def test_drawn_features_are_correlated(capsys):
    assert sparse_autoencoders.main(["--correlate", "--features", "50", "--positions", "2000", "--l0", "5"]) == 0
    assert "GiB" in capsys.readouterr().out
    drawn = sparse_autoencoders.drawn_features(2000, 50, 5.0, 0)
    assert 3 < drawn.values.nnz / 2000 < 6 and len(np.unique(drawn.values.indices)) > 30

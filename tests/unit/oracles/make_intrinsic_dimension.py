"""Values of the reference implementations for test_geometry_estimators.py.

They are not dependencies of the project. Made in an environment of its own, on one thread, by

    pip install dadapy==0.3.4 scikit-dimension==0.5.0
    python tests/unit/oracles/make_intrinsic_dimension.py > tests/unit/oracles/intrinsic_dimension.json
"""

import json
import sys

import numpy as np
import skdim
from dadapy import Data

RANKS = [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 64)]


def clouds() -> dict[str, np.ndarray]:
    """The clouds of the test: uniform ones, one that fills 12 of 40 directions unequally, one shifted far away."""
    found = {f"uniform_{d}": np.random.default_rng(0).random((2000, d)) for d in (2, 5, 20)}
    rng = np.random.default_rng(1)
    flat = rng.standard_normal((1200, 12)) @ rng.standard_normal((12, 40)) * np.geomspace(1, 100, 40)
    found["flat_12_of_40"] = flat
    return {**found, "shifted": found["uniform_5"] + 1000.0}


def dadapy_values(points: np.ndarray) -> dict[str, float]:
    """TwoNN and GRIDE, without GRIDE's filter of large ratios."""
    data = Data(points.copy())
    data.compute_distances(maxk=100)
    values = {
        "two_nn": data.compute_id_2NN(algorithm="base", mu_fraction=0.9, set_attr=False)[0],
        "two_nn_ml": data.compute_id_2NN(algorithm="ml", set_attr=False)[0],
    }
    for n1, n2 in RANKS:
        mus = data.distances[:, n2] / data.distances[:, n1]
        found = data._compute_id_gride_single_scale(1e-3, 1e3, mus, n1, n2, 1e-12)
        values[f"gride_{n1}_{n2}"] = float(np.ravel(found)[0])
    return values


def skdim_values(points: np.ndarray) -> dict[str, float]:
    """TwoNN and Levina-Bickel."""

    def bickel(k: int, comb: str, unbiased: bool = False) -> float:
        return skdim.id.MLE(unbiased=unbiased).fit(points, n_neighbors=k, comb=comb).dimension_

    return {
        "two_nn": skdim.id.TwoNN(discard_fraction=0.1).fit(points).dimension_,
        "two_nn_ml": skdim.id.TwoNN(discard_fraction=0, method="mle").fit(points).dimension_,
        "levina_bickel_50": bickel(50, "mean"),
        "levina_bickel_20_harmonic": bickel(20, "mle"),
        "levina_bickel_50_unbiased": bickel(50, "mean", unbiased=True),
    }


def main() -> None:
    values = {name: {"dadapy": dadapy_values(c), "scikit-dimension": skdim_values(c)} for name, c in clouds().items()}
    json.dump(values, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()

"""CPU seconds of TwoNN on one cloud: ours beside DADApy, scikit-dimension and plain blocked numpy.

    python -m benchmarks.intrinsic_dimension --out intrinsic_dimension.tsv

Peers that are not installed are left out and named (`pip install dadapy scikit-dimension`, in an environment of their
own). All run in this process, one after the other, as often as `--repeats` says; the median is reported. The cloud has
N = 5000 points in 4096 float32 coordinates, the paper's size of a layer, with 64 directions of large variance.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.settings import EstimatorSettings

from benchmarks.record import write_record

TWO_NN = EstimatorSettings(name="two_nn", kind="two_nn")
BICKEL = EstimatorSettings(name="levina_bickel_50", kind="levina_bickel")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=5000, help="N")
    parser.add_argument("--width", type=int, default=4096, help="coordinates of a point")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def cloud(points: int, width: int) -> np.ndarray:
    """A low-dimensional cloud with noise in every direction, float32."""
    rng = np.random.default_rng(0)
    low = rng.standard_normal((points, 64)) @ rng.standard_normal((64, width))
    return (low + 0.1 * rng.standard_normal((points, width))).astype(np.float32)


def ours(points: np.ndarray) -> float:
    return estimate_dimension(torch.from_numpy(points), [TWO_NN])[0].value


def ours_both(points: np.ndarray) -> float:
    return estimate_dimension(torch.from_numpy(points), [TWO_NN, BICKEL])[0].value


def dadapy(points: np.ndarray) -> float:
    from dadapy import Data

    data = Data(points.copy())
    data.compute_distances(maxk=3)
    return data.compute_id_2NN(algorithm="base", mu_fraction=0.9)[0]


def scikit_dimension(points: np.ndarray) -> float:
    import skdim

    return float(skdim.id.TwoNN(discard_fraction=0.1).fit(points).dimension_)


def blocked(dtype: type, block: int = 1000) -> Callable[[np.ndarray], float]:
    """The usual way by hand: |x|^2 + |y|^2 - 2 x.y in blocks of rows."""

    def run(points: np.ndarray) -> float:
        given = points.astype(dtype)
        norms = (given**2).sum(1)
        near = np.empty((len(given), 2), dtype)
        for start in range(0, len(given), block):
            rows = np.arange(start, min(start + block, len(given)))
            squared = norms[rows, None] + norms - 2 * given[rows] @ given.T
            squared[np.arange(len(rows)), rows] = np.inf
            near[rows] = np.sort(np.partition(squared, 1, axis=1)[:, :2], axis=1)
        x = np.sort(np.log(near[:, 1] / near[:, 0]) / 2)[: int(0.9 * len(near))]
        y = -np.log1p(-np.arange(1, len(x) + 1) / len(near))
        return float(x @ y / (x @ x))

    return run


def contenders() -> dict[str, Callable[[np.ndarray], float]]:
    found = {"reprlab": ours, "reprlab with Levina-Bickel k=50": ours_both}
    for name, module, run in (("DADApy", "dadapy", dadapy), ("scikit-dimension", "skdim", scikit_dimension)):
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed and is left out")
        else:
            found[name] = run
    return {**found, "blocked numpy, float32": blocked(np.float32), "blocked numpy, float64": blocked(np.float64)}


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    points = cloud(options.points, options.width)
    lines = ["implementation\tcpu_seconds\ttwo_nn\tpeak_memory_mb"]
    for name, run in contenders().items():
        run(points[:200])
        times, value = [], 0.0
        for _ in range(options.repeats):
            start = time.process_time()
            value = run(points)
            times.append(time.process_time() - start)
        # The peak of the process so far: it grows down the table.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        lines.append(f"{name}\t{statistics.median(times):.2f}\t{value:.9f}\t{peak}")
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
        write_record("benchmarks/intrinsic_dimension.py", options)


if __name__ == "__main__":
    main()

"""Speed of sparse autoencoders, and memory of the correlation of their features.

    python -m benchmarks.sparse_autoencoders --width 256 --features 2048 --batch 512
    python -m benchmarks.sparse_autoencoders --peers           # beside dictionary_learning and sae-lens, if installed
    python -m benchmarks.sparse_autoencoders --device cuda --width 1024 --features 16384 --batch 3072
    python -m benchmarks.sparse_autoencoders --correlate --features 16384 --positions 200000 --l0 60

A step is the loss, its gradient, Adam, and what keeps atoms at unit norm, on the same drawn activations. Rounds of all
implementations take turns, and the least CPU time a step is reported, on a GPU the least wall time. The peers run as
their own trainers do it: `StandardTrainer.update` of dictionary_learning; of sae-lens the training SAE's
`training_forward_pass`, backward, clipping and Adam. Correlation prints seconds and the largest resident memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from reprlab.features.autoencoder import SparseAutoencoder  # noqa: E402
from reprlab.features.correlation import correlate  # noqa: E402
from reprlab.features.settings import AutoencoderShape, CorrelationSettings  # noqa: E402
from reprlab.features.sparse import SparseFeatures  # noqa: E402
from reprlab.training.engine import build_optimizer  # noqa: E402
from reprlab.training.settings import OptimizerSettings  # noqa: E402

Step = Callable[[torch.Tensor], None]
_ROUNDS, _DRAWN = 5, 8


def ours(width: int, features: int, device: str) -> Step:
    """A step as the stage `train_autoencoder` makes it."""
    coder = SparseAutoencoder(width, AutoencoderShape(features=features, l1=0.1)).to(device)
    optimizer = build_optimizer(coder, OptimizerSettings(learning_rate=1e-3, clip_norm=None))

    def step(batch: torch.Tensor) -> None:
        coder.loss(batch)[0].backward()
        optimizer.step()
        coder.constrain()
        optimizer.zero_grad(set_to_none=True)

    return step


def dictionary_learning(width: int, features: int, device: str) -> Step:
    """A step of its `StandardTrainer` (Bricken et al.'s recipe, April 2023)."""
    from dictionary_learning.trainers import StandardTrainer  # type: ignore[import-not-found]

    trainer = StandardTrainer(
        steps=10**6, activation_dim=width, dict_size=features, layer=0, lm_name="", device=device, warmup_steps=1,
        sparsity_warmup_steps=None,
    )  # fmt: skip
    count = iter(range(10**9))
    return lambda batch: trainer.update(next(count), batch)


def sae_lens(width: int, features: int, device: str) -> Step:
    """A step of its standard training SAE."""
    from sae_lens import StandardTrainingSAE, StandardTrainingSAEConfig  # type: ignore[import-not-found]
    from sae_lens.saes.sae import TrainStepInput  # type: ignore[import-not-found]

    sae = StandardTrainingSAE(StandardTrainingSAEConfig(d_in=width, d_sae=features, device=device))
    optimizer = torch.optim.Adam(sae.parameters(), lr=1e-3)
    coefficients = {"l1": 1.0}

    def step(batch: torch.Tensor) -> None:
        given = TrainStepInput(
            sae_in=batch, coefficients=coefficients, dead_neuron_mask=None, n_training_steps=1, is_logging_step=False
        )
        sae.training_forward_pass(given).loss.backward()
        torch.nn.utils.clip_grad_norm_(sae.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def measure(steps: dict[str, Step], width: int, batch: int, device: str, count: int) -> dict[str, float]:
    """The least milliseconds a step of each, rounds taking turns."""
    drawn = [torch.randn(batch, width, generator=torch.Generator().manual_seed(n)).to(device) for n in range(_DRAWN)]
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(_ROUNDS):
        for name, step in steps.items():
            step(drawn[0])
            started = _clock(device)
            for number in range(count):
                step(drawn[number % _DRAWN])
            best[name] = min(best[name], 1000 * (_clock(device) - started) / count)
    return best


def _clock(device: str) -> float:
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def drawn_features(positions: int, features: int, l0: float, seed: int) -> SparseFeatures:
    """Sparse features, `l0` of which fire on a position on average, some much more often than others."""
    import scipy.sparse

    random = np.random.default_rng(seed)
    weight = random.gamma(0.5, size=features)
    expected = np.minimum(weight / weight.sum() * l0 * positions, 0.5 * positions)
    counts = random.poisson(expected)
    rows = random.integers(0, positions, int(counts.sum())).astype(np.int32)
    columns = np.repeat(np.arange(features, dtype=np.int32), counts)
    values = random.random(len(rows), dtype=np.float32)
    matrix = scipy.sparse.coo_array((values, (rows, columns)), shape=(positions, features))
    return SparseFeatures(scipy.sparse.csr_array(matrix), "drawn")


def main(given: list[str] | None = None) -> int:
    """Print the figures; 1 where a peer is faster."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--steps", type=int, default=20, help="steps of a round")
    parser.add_argument("--peers", action="store_true", help="beside dictionary_learning and sae-lens")
    parser.add_argument("--correlate", action="store_true", help="correlate drawn features instead")
    parser.add_argument("--positions", type=int, default=200_000)
    parser.add_argument("--l0", type=float, default=60.0)
    options = parser.parse_args(given)
    torch.set_num_threads(1)
    if options.correlate:
        one, two = (drawn_features(options.positions, options.features, options.l0, seed) for seed in (0, 1))
        started = time.process_time()
        correlate(one, two, CorrelationSettings(floor=0.5))
        seconds, peak = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        sys.stdout.write(f"{one.values.nnz:,} and {two.values.nnz:,} values: {seconds:.1f} CPU s, {peak:.2f} GiB\n")
        return 0
    sizes = (options.width, options.features, options.device)
    steps = {"reprlab": ours(*sizes)}
    if options.peers:
        for name, make in (("dictionary_learning", dictionary_learning), ("sae_lens", sae_lens)):
            try:
                steps[name] = make(*sizes)
            except ImportError as error:
                sys.stdout.write(f"{name}: not measured ({error})\n")
    found = measure(steps, options.width, options.batch, options.device, options.steps)
    for name, value in found.items():
        sys.stdout.write(f"{name}\t{value:.2f} ms a step\t{value / found['reprlab']:.2f}\n")
    return int(min(found, key=found.__getitem__) != "reprlab")


if __name__ == "__main__":
    sys.exit(main())

"""Speed of ssm-rerankers' models with random weights: Table 5 and Figures 1 and 2 without a download.

    python -m benchmarks.reranker_speed --device cuda --out speed.tsv
    python -m benchmarks.reranker_speed --device cuda --models mamba1_370m mamba2_370m --chunked --out chunked.tsv
    python -m benchmarks.reranker_speed --device cpu --scale nano --models opt_nano mamba2_nano --out speed.tsv

Settings are those of the jobs of `measure_rerankers` at the scale, and so are the rows. At the end, on a GPU with the
compiled kernels, a Mamba-1 and a Mamba-2 of two layers go through them and through the scans of ours in float32: scores
and gradients, whose largest difference is printed as a part of the largest number. More than 0.01 is an error (exit
status 1): Mamba-2's kernels multiply matrices in TF32, with 10 bits. `--chunked` takes our scans though the kernels are
there.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow")]

import pandas  # noqa: E402
import torch  # noqa: E402
from reprlab.config.load import load_config  # noqa: E402
from reprlab.models.build import build_from_config, quiet_transformers  # noqa: E402
from reprlab.models.selective_scan import install_scans  # noqa: E402
from reprlab.planning.paper_plans import make_plan  # noqa: E402
from reprlab.registry.models import ModelEntry  # noqa: E402
from reprlab.retrieval.rerank_speed import SpeedSettings, measured_rows  # noqa: E402
from reprlab.retrieval.reranker import reranker  # noqa: E402

CHECKED = ("mamba_130m", "mamba2_130m")
MAY_DIFFER = 0.01


def differences(models: dict[str, ModelEntry]) -> dict[str, dict[str, float]]:
    """Of each checked model: scores and gradients by the compiled kernels less those by our scans, which stay."""
    gpu, found = torch.device("cuda"), {}
    for name in CHECKED:
        entry = models[name].model_copy(update={"config": {**models[name].config, "num_hidden_layers": 2}})
        network = reranker(build_from_config(entry, seed=0), "last", 0.0).to(gpu)
        ids = torch.randint(5, entry.config["vocab_size"], (4, 300), generator=torch.Generator().manual_seed(0)).to(gpu)
        found[name] = network, ids, _values(network, ids)
    install_scans(torch.device("cpu"))
    return {name: _apart(values, _values(network, ids)) for name, (network, ids, values) in found.items()}


def _values(network: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """Scores in training, scores in use, and gradients of the first."""
    network.zero_grad(set_to_none=True)
    scores = network.train()(ids, torch.ones_like(ids))
    scores.sum().backward()
    gradients = [parameter.grad.flatten() for parameter in network.parameters() if parameter.grad is not None]
    with torch.inference_mode():
        used = network.eval()(ids, torch.ones_like(ids))
    return {"training scores": scores.detach(), "scores": used.clone(), "gradients": torch.cat(gradients)}


def _apart(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> dict[str, float]:
    return {name: float((one[name] - other[name]).abs().max() / other[name].abs().max()) for name in one}


def main(given: list[str] | None = None) -> int:
    """Write the rows; 1 if kernels and scans disagree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--scale", default="paper", help="whose settings and models")
    parser.add_argument("--models", nargs="+", help="rerankers of the scale; all that are timed by default")
    parser.add_argument("--chunked", action="store_true", help="Mamba by our scans; nothing is compared")
    parser.add_argument("--out", type=Path, required=True, help="write the rows to this TSV")
    options = parser.parse_args(given)
    quiet_transformers()
    config = load_config(ROOT, {"scale": options.scale})
    jobs = make_plan(config).jobs["measure_rerankers"]
    paper: Any = config.papers["ssm-rerankers"]
    if unknown := set(options.models or []) - set(paper.speed.models):
        parser.error(f"--models: {', '.join(sorted(unknown))}: not among {', '.join(paper.speed.models)}")
    if options.chunked:
        install_scans(torch.device("cpu"))
    rows = []
    for name in options.models or paper.speed.models:
        started = time.perf_counter()
        settings = SpeedSettings.model_validate_json(jobs[f"{name}/speed"].settings["settings"])
        torch.manual_seed(0)
        with torch.device(options.device):
            whole = build_from_config(config.models[paper.rerankers[name].model])
        built = time.perf_counter()
        found = measured_rows(whole, settings, torch.device(options.device))
        if options.chunked:
            # They are in the place of the kernels, which are found all the same.
            found = [{**row, "kernels": row["kernels"].replace("compiled", "chunked")} for row in found]
        rows += [{"model": name, **row} for row in found]
        pandas.DataFrame(rows).to_csv(options.out, sep="\t", index=False)
        sys.stdout.write(f"{name}: built in {built - started:.0f} s, timed in {time.perf_counter() - built:.0f} s\n")
        sys.stdout.flush()
        del whole
        gc.collect()
        torch.cuda.empty_cache()
    if options.device == "cpu" or options.chunked or install_scans(torch.device("cuda")) == "chunked":
        return 0
    apart = differences(config.models)
    for name, parts in apart.items():
        sys.stdout.write(f"{name}: " + ", ".join(f"{what} {value:.1e}" for what, value in parts.items()) + "\n")
    return int(any(value > MAY_DIFFER for parts in apart.values() for value in parts.values()))


if __name__ == "__main__":
    sys.exit(main())

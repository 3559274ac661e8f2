"""Rerankers beside sentence-transformers (pairs a CPU second), and Mamba's scans beside those of transformers.

    python benchmarks/reranking.py --model results/shared/models/minilm_l6 \\
        --examples results/shared/tasks/squad_passages/examples.parquet --out reranking.tsv

CrossEncoder (`pip install sentence-transformers`) reads the same words with the same encoder; its head has one matrix
more. Both tokenise, batch and score in this process, in turn, on one thread: medians of process time.
The scans are those of a random model of two layers, width 64, batch 64: forward and backward, whatever is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from reprlab.models.build import load_model, quiet_transformers
from reprlab.models.selective_scan import install_scans
from reprlab.retrieval.bm25 import bm25_run
from reprlab.retrieval.collections import read_collection
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.reranker import rerank, reranker
from reprlab.text.tokenizer_folder import open_tokenizer

COLUMNS = ("what", "implementation", "items", "cpu_seconds", "items_per_cpu_second")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a BERT with its tokenizer")
    parser.add_argument("--examples", type=Path, required=True, help="examples of the kind ranking")
    parser.add_argument("--queries", type=int, default=10, help="queries of the test split")
    parser.add_argument("--depth", type=int, default=20, help="passages of each")
    parser.add_argument("--max-length", type=int, default=128, help="tokens of a pair, of both")
    parser.add_argument("--batch", type=int, default=32, help="pairs at once, of both")
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 128], help="tokens of the scans")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def pair_scoring(options: argparse.Namespace) -> tuple[int, dict[str, Callable[[], Any]]]:
    """The number of pairs, and what scores them."""
    collection, tokenizer = read_collection(options.examples), open_tokenizer(options.model)
    queries = dict(list(collection.queries["test"].items())[: options.queries])
    run = bm25_run(queries, collection.passages, options.depth)
    model = reranker(load_model(options.model), "first", 0.0)

    def ours() -> Any:
        found = {name: collection.passages[name] for documents in run.values() for name in documents}
        given = pair_inputs(
            tokenizer, queries, found, "query_first", max_length=options.max_length, max_query=options.max_length // 2
        )
        return rerank(model, given, run, tokenizer.pad_token_id, batch_size=options.batch)

    runs: dict[str, Callable[[], Any]] = {"reprlab": ours}
    if importlib.util.find_spec("sentence_transformers") is None:
        print("sentence_transformers is not installed and is left out")
    else:
        from sentence_transformers import CrossEncoder

        with tempfile.TemporaryDirectory() as folder:
            load_model(options.model).save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            peer = CrossEncoder(folder, num_labels=1, max_length=options.max_length, device="cpu")
        # The words that our template adds; its separator is one token more.
        pairs = [
            (f"query: {queries[query]};", f"document: {collection.passages[name]}")
            for query, found in run.items()
            for name in found
        ]
        runs["sentence-transformers"] = lambda: peer.predict(
            pairs, batch_size=options.batch, show_progress_bar=False, convert_to_numpy=True
        )
    return sum(map(len, run.values())), runs


def scan_model(name: str) -> Any:
    """A random Mamba of two layers."""
    from transformers import Mamba2Config, Mamba2Model, MambaConfig, MambaModel

    torch.manual_seed(0)
    small = {"vocab_size": 4096, "hidden_size": 64, "num_hidden_layers": 2}
    if name == "mamba":
        return MambaModel(MambaConfig(**small))
    return Mamba2Model(Mamba2Config(**small, num_heads=4, head_dim=32, state_size=32, n_groups=1))


def step(model: Any, length: int) -> None:
    """Forward and backward of 64 sequences."""
    ids = torch.randint(5, 4096, (64, length), generator=torch.Generator().manual_seed(0))
    model.zero_grad()
    model(input_ids=ids, use_cache=False).last_hidden_state.sum().backward()


def measured(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            started = time.process_time()
            run()
            times[name].append(time.process_time() - started)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def main() -> None:
    options = arguments()
    torch.set_num_threads(1)
    quiet_transformers()
    lines = ["\t".join(COLUMNS)]

    def report(what: str, items: int, found: dict[str, float]) -> None:
        for name, seconds in found.items():
            lines.append(f"{what}\t{name}\t{items}\t{seconds:.3f}\t{items / seconds:.1f}")
            print(lines[-1], flush=True)

    count, runs = pair_scoring(options)
    report("pairs", count, measured(runs, options.repeats))
    for path in ("transformers", "reprlab"):
        if path == "reprlab" and install_scans() == "compiled":
            break
        for name in ("mamba", "mamba2"):
            for length in options.lengths:
                model = scan_model(name)
                given = {path: lambda model=model, length=length: step(model, length)}
                report(f"{name} step, length {length}", 64 * length, measured(given, options.repeats))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Rerankers beside sentence-transformers (pairs a CPU second), and Mamba's scans beside those of transformers.

    python -m benchmarks.reranking --model results/shared/models/minilm_l6 \\
        --examples results/shared/tasks/squad_passages/examples.parquet --out reranking.tsv

CrossEncoder (`pip install sentence-transformers`) reads the same ids with the same encoder and the same head, which is
put in place of its own. Both tokenise, batch and score in this process on one thread, in turn, first one and then the
other first: medians of process time, on passages as they are and on passages cut to any length. It ends with an error
where two scores differ by more than 1e-4.
The scans are those of a random model of two layers, width 64, batch 64: forward and backward, whatever is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import random
import statistics
import tempfile
import time
from collections import ChainMap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from reprlab.models.build import load_model, quiet_transformers
from reprlab.models.selective_scan import install_scans
from reprlab.retrieval.bm25 import bm25_runs
from reprlab.retrieval.collections import read_collection
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.reranker import rerank, reranker
from reprlab.text.tokenizer_folder import open_tokenizer

from benchmarks.record import write_record

COLUMNS = ("what", "implementation", "items", "cpu_seconds", "items_per_cpu_second")


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a BERT with its tokenizer")
    parser.add_argument("--examples", type=Path, required=True, help="examples of the kind ranking")
    parser.add_argument("--queries", type=int, default=10, help="queries of the test split")
    parser.add_argument("--depth", type=int, default=20, help="passages of each")
    parser.add_argument("--max-length", type=int, nargs="+", default=[64, 128, 256], help="tokens of a pair, of both")
    parser.add_argument("--batch", type=int, nargs="+", default=[8, 32], help="pairs at once, of both")
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 128], help="tokens of the scans")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args(given)


def pair_scoring(
    options: argparse.Namespace, cut: bool, max_length: int, batch: int
) -> tuple[int, dict[str, Callable[[], Any]]]:
    """The number of pairs, and what scores them, in the order of the run; `cut`: passages cut to any length."""
    collection, tokenizer = read_collection(options.examples), open_tokenizer(options.model)
    queries = dict(list(collection.queries["test"].items())[: options.queries])
    run = dict(ChainMap(*bm25_runs(queries, collection.passages, options.depth)))
    words = {name: collection.passages[name].split() for documents in run.values() for name in documents}
    rng = random.Random(0)
    texts = {name: " ".join(found[: rng.randint(1, len(found)) if cut else None]) for name, found in words.items()}
    model = reranker(load_model(options.model), "first", 0.0)

    def ours() -> list[float]:
        given = pair_inputs(tokenizer, queries, texts, "query_first", max_length=max_length, max_query=max_length // 2)
        found = rerank(model, given, run, tokenizer.pad_token_id, batch_size=batch)
        return [found[query][name] for query, documents in run.items() for name in documents]

    runs: dict[str, Callable[[], Any]] = {"reprlab": ours}
    if importlib.util.find_spec("sentence_transformers") is None:
        print("sentence_transformers is not installed and is left out")
    else:
        peer = cross_encoder(options.model, tokenizer, model, max_length)
        # The words that our template adds.
        pairs = [
            (f"query: {queries[query]};", f"document: {texts[name]}")
            for query, documents in run.items()
            for name in documents
        ]
        runs["sentence-transformers"] = lambda: peer.predict(
            pairs, batch_size=batch, show_progress_bar=False, activation_fn=torch.nn.Identity()
        ).tolist()
    return sum(map(len, run.values())), runs


def cross_encoder(folder: Path, tokenizer: Any, model: Any, max_length: int) -> Any:
    """sentence-transformers' reranker with the ids and the head of ours."""
    from sentence_transformers import CrossEncoder
    from tokenizers.processors import TemplateProcessing

    with tempfile.TemporaryDirectory() as place:
        load_model(folder).save_pretrained(place)
        tokenizer.save_pretrained(place)
        peer = CrossEncoder(place, num_labels=1, max_length=max_length, device="cpu")
    names = [(name, tokenizer.convert_tokens_to_ids(name)) for name in (tokenizer.cls_token, tokenizer.sep_token)]
    (first, _), (last, _) = names
    peer.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A:0 $B:0 {last}:0", special_tokens=names
    )

    class First(torch.nn.Module):
        def forward(self, states: torch.Tensor) -> torch.Tensor:
            return states[:, 0]

    peer.model.bert.pooler = First()
    peer.model.classifier.load_state_dict(model.head.state_dict())
    return peer


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
    """Median of process time of each; every other repeat goes through them backwards."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(repeats):
        for name in list(runs)[:: 1 if repeat % 2 else -1]:
            started = time.process_time()
            runs[name]()
            times[name].append(time.process_time() - started)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def largest_difference(runs: dict[str, Callable[[], Any]]) -> float:
    """Between the scores of any two."""
    first, *others = (run() for run in runs.values())
    return max((abs(a - b) for other in others for a, b in zip(first, other, strict=True)), default=0.0)


def main(given: list[str] | None = None) -> None:
    """Measure and print; arguments are those of the process by default."""
    options = arguments(given)
    torch.set_num_threads(1)
    quiet_transformers()
    lines = ["\t".join(COLUMNS)]

    def report(what: str, items: int, found: dict[str, float]) -> None:
        for name, seconds in found.items():
            lines.append(f"{what}\t{name}\t{items}\t{seconds:.3f}\t{items / seconds:.1f}")
            print(lines[-1], flush=True)

    for cut, max_length, batch in itertools.product((False, True), options.max_length, options.batch):
        count, runs = pair_scoring(options, cut, max_length, batch)
        what = f"{'cut' if cut else 'whole'} passages, at most {max_length} tokens, batch {batch}"
        if (apart := largest_difference(runs)) > 1e-4:
            raise SystemExit(f"{what}: two scores differ by {apart:g}")
        report(f"{what} (scores differ by {apart:.0e})", count, measured(runs, options.repeats))
    for path in ("transformers", "reprlab"):
        if path == "reprlab":
            install_scans(torch.device("cpu"))
        for name in ("mamba", "mamba2"):
            for length in options.lengths:
                model = scan_model(name)
                given = {path: lambda model=model, length=length: step(model, length)}
                report(f"{name} step, length {length}", 64 * length, measured(given, options.repeats))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
        write_record("benchmarks/reranking.py", options, [options.examples])


if __name__ == "__main__":
    main()

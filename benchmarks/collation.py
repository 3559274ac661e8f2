"""Speed of the collators: tokens per CPU second of corrupting batches, on one thread.

    python benchmarks/collation.py --out collation.tsv
    python benchmarks/collation.py --tokens NAME.parquet --tokenizer FOLDER

Without token files the batches are full rows of random tokens in sentences of 10 to 40. The attention masks, which are
made on the model's device and not by the collator, are timed apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
from reprlab.artifacts.tables import write_tsv
from reprlab.objectives import depth, t5
from reprlab.text.token_store import TokenStore
from reprlab.text.vocabulary import Vocabulary


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=128, help="rows of a batch")
    parser.add_argument("--length", type=int, default=512, help="tokens of a row")
    parser.add_argument("--repeats", type=int, default=50, help="batches that are timed")
    parser.add_argument("--tokens", type=Path, help="token file in DEPTH's format (default: random tokens)")
    parser.add_argument("--tokenizer", type=Path, help="its tokenizer's folder")
    parser.add_argument("--split", default="train", help="split of the token file")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def random_rows(options: argparse.Namespace, vocabulary: Vocabulary) -> TokenStore:
    """As many full DEPTH rows as a batch has; sentences of 10 to 40 tokens."""
    rng = np.random.Generator(np.random.Philox(key=0))
    ids, types = [], []
    for _ in range(options.batch):
        row, numbers = [vocabulary.eosen_id], [1]
        for number, sentence in enumerate(rng.permutation(vocabulary.sentence_ids)):
            words = rng.integers(3, vocabulary.pieces, size=rng.integers(10, 41))
            row += [int(sentence), *words.tolist(), vocabulary.eosen_id]
            numbers += [number + 1] * (len(words) + 2)
        short = max(options.length - len(row), 0)
        ids.append([*row, *rng.integers(3, vocabulary.pieces, size=short).tolist()][: options.length])
        types.append([*numbers, *[numbers[-1]] * short][: options.length])
    offsets = np.arange(options.batch + 1) * options.length
    return TokenStore(np.array(ids, np.int32).reshape(-1), np.array(types, np.int16).reshape(-1), offsets)


def cpu_seconds(run: Callable[[], object], repeats: int) -> float:
    """Median CPU time of one call of `run`, in seconds."""
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return float(np.median(times))


def collation_rows(options: argparse.Namespace, store: TokenStore, vocabulary: Vocabulary) -> list[dict[str, object]]:
    """One row for each collator and variant."""
    indices = np.arange(options.batch) % len(store)
    ids, types, lengths = store.batch(indices, options.length, fixed_length=True)
    # The same text for T5: its own format has no sentence marks.
    plain = np.where(ids >= vocabulary.pieces, 3, ids)
    rng = np.random.Generator(np.random.Philox(key=1))
    cases: list[tuple[str, object, dict[str, object]]] = [
        ("t5", t5.Settings(), {}),
        ("depth in order", depth.Settings(), {"shuffled": False}),
        ("depth shuffled", depth.Settings(), {"shuffled": True}),
        ("depth shuffled, distinct sentinels", depth.Settings(sentinel_replacement=False), {"shuffled": True}),
    ]
    rows = []
    for name, wanted, keywords in cases:
        module, text = (t5, plain) if isinstance(wanted, t5.Settings) else (depth, ids)
        objective = module.Objective(wanted, vocabulary, options.length, options.length)
        seconds = cpu_seconds(
            lambda o=objective, x=text, k=keywords: o.collate(x, types, lengths, rng, fixed_length=True, **k),
            options.repeats,
        )
        rows.append({"what": f"collate {name}", "milliseconds": 1e3 * seconds, "tokens": int(lengths.sum())})
    gather = cpu_seconds(lambda: store.batch(indices, options.length), options.repeats)
    rows.append({"what": "gather from the store", "milliseconds": 1e3 * gather, "tokens": int(lengths.sum())})
    return rows


def mask_rows(options: argparse.Namespace, store: TokenStore, vocabulary: Vocabulary) -> list[dict[str, object]]:
    """Attention masks of a DEPTH batch, on the CPU."""
    import torch
    from reprlab.objectives.attention_masks import pretraining_masks

    torch.set_num_threads(1)
    indices = np.arange(options.batch) % len(store)
    objective = depth.Objective(depth.Settings(), vocabulary, options.length, options.length)
    rng = np.random.Generator(np.random.Philox(key=1))
    ids, types, lengths = store.batch(indices, options.length)
    arrays = objective.collate(ids, types, lengths, rng)
    encoder, numbers, decoder = (
        torch.from_numpy(arrays[name]) for name in ("encoder_ids", "encoder_types", "decoder_ids")
    )
    seconds = cpu_seconds(
        lambda: pretraining_masks(encoder, numbers, decoder, vocabulary, dtype=torch.float32),
        max(options.repeats // 10, 3),
    )
    return [{"what": "attention masks of depth", "milliseconds": 1e3 * seconds, "tokens": int(lengths.sum())}]


def main() -> None:
    options = arguments()
    vocabulary = Vocabulary.load(options.tokenizer) if options.tokenizer else Vocabulary(32_000)
    store = TokenStore.open(options.tokens, options.split) if options.tokens else random_rows(options, vocabulary)
    frame = pandas.DataFrame(collation_rows(options, store, vocabulary) + mask_rows(options, store, vocabulary))
    frame["million_tokens_per_cpu_second"] = frame["tokens"] / frame["milliseconds"] / 1e3
    frame = frame.round({"milliseconds": 3, "million_tokens_per_cpu_second": 2})
    print(frame.to_string(index=False))
    if options.out:
        write_tsv(options.out, frame)


if __name__ == "__main__":
    main()

"""Texts a CPU second: our vectors of texts beside those of sentence-transformers, same weights, texts and batches.

    python -m benchmarks.embedding \\
        --models results/shared/models/minilm_l6 results/shared/models/smollm2_135m_instruct \\
        --examples results/shared/tasks/wordnet_search/examples.parquet --out embedding.tsv

Both read the same folder with the same pooling: the mean of the tokens, or the last token's state where a model reads
from left to right, in float32. Both tokenise, sort by length, run and give an array [texts, d] in this process, in turn
and on one thread; process time is reported, which other load disturbs little: the median over `--repeats`, and the
ratio of the two in each turn as its median, least and greatest. `difference` is the largest between two vectors.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import torch
from reprlab.models.build import load_model, quiet_transformers
from reprlab.sentences.encoder import build_encoder, embed
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.texts import encode_texts
from reprlab.text.tokenizer_folder import open_tokenizer
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from benchmarks.record import write_record

COLUMNS = ("model", "texts", "implementation", "cpu_seconds", "texts_per_cpu_second", "ratio", "range", "difference")
# Of a chat model's folder the texts would be written as a conversation, with a system message before each.
_PLAIN = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, nargs="+", required=True, help="model folders with their tokenizers")
    parser.add_argument("--examples", type=Path, required=True, help="examples, of which `--column` holds texts")
    parser.add_argument("--column", default="passage", help="the column")
    parser.add_argument("--texts", type=int, default=512, help="texts, the first that differ")
    parser.add_argument("--max-length", type=int, default=128, help="tokens of a text, of both")
    parser.add_argument("--batch", type=int, default=32, help="texts at once, of both")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each, after one that is not counted")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def encoders(folder: Path, options: argparse.Namespace) -> dict[str, Callable[[list[str]], np.ndarray]]:
    """What makes vectors of texts, by name."""
    model, tokenizer = load_model(folder), open_tokenizer(folder)
    causal = type(model).__name__.endswith("ForCausalLM")
    # An encoder's text is between two tokens of its own.
    before, after = ("", "") if causal else (tokenizer.cls_token, tokenizer.sep_token)
    form = {"before": before, "after": after, "max_length": options.max_length - (0 if causal else 2)}
    settings = EncoderSettings.model_validate({"method": "none", "pooling": "last" if causal else "mean", "form": form})
    encoder = build_encoder(model, settings, 0)
    peer = SentenceTransformer(
        modules=[
            Transformer(
                str(folder),
                max_seq_length=options.max_length,
                model_kwargs={"dtype": torch.float32},
                modality_config=_PLAIN,
                module_output_name="token_embeddings",
            ),
            Pooling(model.config.hidden_size, "lasttoken" if causal else "mean"),
        ],
        device="cpu",
    )

    def ours(texts: list[str]) -> np.ndarray:
        found = encode_texts(tokenizer, texts, settings.form)
        # The other library pools the first token too.
        found = replace(found, starts=np.zeros_like(found.starts))
        return embed(encoder, found, batch_size=options.batch)

    return {
        "reprlab": ours,
        "sentence-transformers": lambda texts: peer.encode(texts, batch_size=options.batch, show_progress_bar=False),
    }


def measured(runs: dict[str, Callable[[list[str]], np.ndarray]], texts: list[str], repeats: int) -> dict[str, Any]:
    """CPU seconds of each run, in turn, and the largest difference of the vectors."""
    vectors = {name: run(texts) for name, run in runs.items()}
    difference = float(np.abs(np.subtract(*vectors.values())).max())
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            started = time.process_time()
            run(texts)
            seconds[name].append(time.process_time() - started)
    return {"seconds": seconds, "difference": difference}


def main() -> None:
    options = arguments()
    torch.set_num_threads(1)
    quiet_transformers()
    column = pyarrow.parquet.read_table(options.examples, columns=[options.column])[options.column]
    texts = [text for text in dict.fromkeys(column.to_pylist()) if text.strip()][: options.texts]
    lines = ["\t".join(COLUMNS)]
    for folder in options.models:
        found = measured(encoders(folder, options), texts, options.repeats)
        mine, theirs = found["seconds"].values()
        ratios = [other / one for one, other in zip(mine, theirs, strict=True)]
        for name, seconds in found["seconds"].items():
            middle = statistics.median(seconds)
            row = [folder.name, len(texts), name, f"{middle:.2f}", f"{len(texts) / middle:.1f}"]
            if name == "reprlab":
                spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
                row += [f"{statistics.median(ratios):.3f}", spread, f"{found['difference']:.1e}"]
            else:
                row += ["", "", ""]
            lines.append("\t".join(map(str, row)))
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
        write_record("benchmarks/embedding.py", options, [options.examples])


if __name__ == "__main__":
    main()

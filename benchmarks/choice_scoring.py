"""CPU seconds of scoring choices by their log-likelihood: ours beside lm-evaluation-harness, on the same ids.

    python benchmarks/choice_scoring.py --model results/shared/models/smollm2_135m_instruct \\
        --examples results/shared/tasks/physical_intuition/examples.parquet --out choice_scoring.tsv

The harness is its own class for Hugging Face models (`pip install lm_eval`, in an environment of its own beside this
project's packages); without it ours runs alone. Both run in this process, in turn, as often as `--repeats` says, on one
thread: the medians of process time are reported, which other load disturbs little. A request is one choice behind its
question, whole or cut to its first token, as where the choices are yes and no: of those the harness, too, runs a
question once. `difference` is the largest between a sum of ours and the harness's.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from reprlab.inference.causal_batches import shot_prompts
from reprlab.inference.choice_likelihood import Question, choice_ids, log_likelihoods
from reprlab.models.build import load_model
from reprlab.stages.build_completions import build_completions
from reprlab.text.completion_settings import CompletionFile
from reprlab.text.completions import read_completions
from reprlab.text.tokenizer_folder import open_tokenizer

COLUMNS = (
    "choices",
    "shots",
    "dtype",
    "implementation",
    "requests",
    "cpu_seconds",
    "requests_per_cpu_second",
    "difference",
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a decoder with its tokenizer")
    parser.add_argument("--examples", type=Path, required=True, help="examples of a task with choices")
    parser.add_argument("--split", default="validation", help="their split")
    parser.add_argument("--rows", type=int, default=32, help="questions")
    parser.add_argument("--shots", type=int, nargs="+", default=[0, 5], help="solved examples before each question")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"], help="types of the weights")
    parser.add_argument("--batch", type=int, default=32, help="requests at once, of both")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    parser.add_argument("--out", type=Path, help="write the table to this TSV")
    return parser.parse_args()


def questions_of(options: argparse.Namespace, tokenizer: Any, shots: int, tokens: int | None) -> list[Question]:
    """The questions as the stage `score_completions` encodes them, with this many tokens of each choice."""
    settings = {"template": "choice", "kind": "choice", "formats": ["default"], "splits": [options.split],
                "rows": options.rows, "shots": max(options.shots)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prompts.parquet"
        wanted = {"evaluation": {"examples": options.examples, "settings": settings}}
        build_completions(settings=CompletionFile.model_validate(wanted), out=path)
        rows, _ = read_completions(path)
    tests, solved = ([row for row in rows if row["role"] == role] for role in ("test", "shot"))
    prompts = shot_prompts(
        tokenizer,
        [(row["prompt"], row["completion"]) for row in solved[:shots]],
        [row["prompt"] for row in tests],
        2000,
    )
    choices = [[ids[:tokens] for ids in choice_ids(tokenizer, row["choices"])] for row in tests]
    return [Question(ids, own) for ids, own in zip(prompts.ids, choices, strict=True)]


def ours(model: Any, tokenizer: Any, questions: list[Question], batch: int) -> np.ndarray:
    return np.concatenate(log_likelihoods(model, questions, batch, tokenizer.eos_token_id, "cpu"))


def harness(model: Any, tokenizer: Any, batch: int) -> Callable[[list[Question]], np.ndarray]:
    """Its scoring of encoded requests: sorted by length, of equal inputs one run, all logits of a batch."""
    from lm_eval.models.huggingface import HFLM

    peer = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=batch, max_length=2048, device="cpu")

    def run(questions: list[Question]) -> np.ndarray:
        # The first part names a request in its cache; there is none.
        requests = [(("", ""), question.prompt, choice) for question in questions for choice in question.choices]
        return np.array([value for value, _ in peer._loglikelihood_tokens(requests, disable_tqdm=True)])

    return run


def measured(run: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.process_time()
    values = run()
    return time.process_time() - start, values


def main() -> None:
    options = arguments()
    torch.set_num_threads(1)
    tokenizer = open_tokenizer(options.model)
    known = importlib.util.find_spec("lm_eval") is not None
    if not known:
        print("lm_eval is not installed and is left out")
    lines = ["\t".join(COLUMNS)]
    for dtype in options.dtypes:
        model: Any = load_model(options.model).to(getattr(torch, dtype)).eval()  # type: ignore[call-arg]
        peer = harness(model, tokenizer, options.batch) if known else None
        for tokens, shots in itertools.product([None, 1], options.shots):
            questions = questions_of(options, tokenizer, shots, tokens)
            requests = sum(len(question.choices) for question in questions)
            runs: dict[str, Callable[[], np.ndarray]] = {
                "reprlab": lambda given=questions, model=model: ours(model, tokenizer, given, options.batch)
            }
            if peer is not None:
                runs["lm_eval"] = lambda given=questions, peer=peer: peer(given)
            times: dict[str, list[float]] = {name: [] for name in runs}
            values: dict[str, np.ndarray] = {}
            for _ in range(options.repeats):
                for name, run in runs.items():
                    seconds, values[name] = measured(run)
                    times[name].append(seconds)
            for name, seconds in times.items():
                middle = statistics.median(seconds)
                difference = np.abs(values[name] - values["reprlab"]).max()
                kind = "whole" if tokens is None else "one token"
                row = (
                    kind,
                    shots,
                    dtype,
                    name,
                    requests,
                    f"{middle:.2f}",
                    f"{requests / middle:.1f}",
                    f"{difference:.2g}",
                )
                lines.append("\t".join(map(str, row)))
                print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

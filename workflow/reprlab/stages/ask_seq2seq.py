"""Let a chat model answer pairs without training."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.structure.seq2seq_settings import ChatAnswers


def ask_seq2seq(*, pairs: Path, out: Path, cache: Path, settings: ChatAnswers) -> None:
    """Write `out`: id, task, split, source, target and prediction of each pair.

    Args:
        cache: the folder of downloads, where each answer is kept.

    Raises:
        ReprlabError: unreadable inputs, no key in OPENAI_API_KEY, or the endpoint refuses or cannot be reached.
    """
    from reprlab.inference.chat import ask
    from reprlab.inference.written_forms import without_fence
    from reprlab.structure.answers import write_answers
    from reprlab.structure.seq2seq import load_pairs

    table = load_pairs(pairs, settings.split, settings.limit)
    asked = zip(table.columns["definition"], table.columns["source"], strict=True)
    prompts = [prompt + source for prompt, source in asked]
    answers = ask(prompts, settings.chat, cache / "answers")
    write_answers(out, table, [without_fence(answer) for answer in answers])


if __name__ == "__main__":
    run_stage(ask_seq2seq)

"""Draw spans of a collection's training passages as queries, with the windows that they ask for."""

from pathlib import Path

from reprlab.retrieval.spans import SpanSettings
from reprlab.runtime.cli import run_stage


def build_span_queries(*, examples: Path, out: Path, run: Path, settings: SpanSettings) -> None:
    """Write `out`, examples of the kind `ranking`, and `run`, a folder with the run `train.arrow` over them.

    Args:
        examples: a collection; the passages that answer its training queries are drawn from, and no other text.

    Raises:
        ReprlabError: unreadable input, or fewer than two training passages have words.
    """
    import numpy as np

    from reprlab.data.schema import write_rows
    from reprlab.retrieval.collections import read_collection
    from reprlab.retrieval.run_files import ENDING, write_run
    from reprlab.retrieval.spans import draw_windows, span_queries, span_rows, span_run
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory

    collection = read_collection(examples)
    relevant = [
        name for grades in collection.judged_passages("train").values() for name, grade in grades.items() if grade > 0
    ]
    rng = np.random.Generator(np.random.Philox(key=settings.seed))
    passages = {name: collection.passages[name] for name in dict.fromkeys(relevant)}
    windows = draw_windows(passages, settings, rng)
    if windows.passages < 2:
        raise ReprlabError(
            f"{examples}: fewer than two passages of the train split have words; name another data set, or train on no "
            "spans"
        )
    found = span_run(windows, settings, rng)
    rows = span_rows(windows, span_queries(windows, found, settings, rng))
    write_rows(out, rows, "ranking", {"source": examples.name, "settings": settings.model_dump()})
    with atomic_directory(run) as folder:
        write_run(folder / f"train.{ENDING}", found, "spans")


if __name__ == "__main__":
    run_stage(build_span_queries)

"""Write prompts with their completions: of a training set, or of an evaluation set with solved examples."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.text.completion_settings import CompletionFile


def build_completions(*, settings: CompletionFile, out: Path) -> None:
    """Write Parquet with the columns of `text.completions.COLUMNS`; the metadata names the data, template and kind.

    Raises:
        ReprlabError: too few rows, labels outside the set, or examples that do not fit the template.
    """
    from reprlab.artifacts.tables import read_parquet
    from reprlab.data.schema import read_metadata
    from reprlab.text.completions import evaluation_rows, training_rows, write_completions

    rows, titles = [], []
    for part in settings.training:
        table = read_parquet(part.examples)
        about = read_metadata(part.examples, table, ["kind", "title"])
        rows += training_rows(table.to_pylist(), about["kind"], part.settings, str(part.examples))
        titles.append(about["title"])
    template, kind = "", "training"
    if settings.evaluation is not None:
        evaluation = settings.evaluation
        table = read_parquet(evaluation.examples)
        about = read_metadata(evaluation.examples, table, ["kind", "title"])
        rows = evaluation_rows(table.to_pylist(), about["kind"], evaluation.settings, str(evaluation.examples))
        titles = [about["title"]]
        template, kind = evaluation.settings.template, evaluation.settings.kind
    write_completions(out, rows, {"title": " + ".join(titles), "template": template, "kind": kind})


if __name__ == "__main__":
    run_stage(build_completions)

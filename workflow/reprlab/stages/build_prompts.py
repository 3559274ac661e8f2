"""Write the prompts of one data set and condition."""

from pathlib import Path

from reprlab.representations.settings import PromptSettings
from reprlab.runtime.cli import run_stage


def build_prompts(*, examples: Path, out: Path, settings: PromptSettings) -> None:
    """Write Parquet with id, prompt, label and text, one row for each item; the metadata names data and label words.

    Raises:
        ReprlabError: too few examples, or the template does not fit them.
    """
    import json

    import pyarrow

    from reprlab.artifacts.tables import read_parquet, write_parquet
    from reprlab.data.schema import METADATA_KEY, read_metadata
    from reprlab.representations.prompts import build_rows, label_words

    table = read_parquet(examples)
    about = read_metadata(examples, table, ["labels", "title"])
    rows = build_rows(table.to_pylist(), about["labels"], settings)
    words = label_words(about["labels"], settings)
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "prompt", "label", "text")])
    metadata = {METADATA_KEY: json.dumps({"title": about["title"], "labels": words}).encode()}
    write_parquet(out, pyarrow.Table.from_pylist(rows, schema=schema).replace_schema_metadata(metadata))


if __name__ == "__main__":
    run_stage(build_prompts)

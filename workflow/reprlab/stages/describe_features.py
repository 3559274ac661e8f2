"""Show what the features of a lineage fire on."""

from pathlib import Path

from reprlab.features.settings import DescriptionSettings
from reprlab.runtime.cli import run_stage

_LINKS = ("case", "feature", "corpus", "model", "partner", "r", "mass_share", "token_share")
_CONTEXTS = ("case", "model", "partner", "context", "place", "token", "activation")


def describe_features(
    *, sample: Path, tokenizer: Path, links: Path, out: Path, contexts: Path, formatting: Path,
    settings: DescriptionSettings,
) -> None:  # fmt: skip
    """Write the links of each case study's feature (`out`) and the tokens of its contexts, each with the activation in
    percent of the feature's highest (`contexts`); and how much of the features that persist is formatting.

    A case that no feature fits has no row.
    """
    from reprlab.artifacts.tsv import write_lines, write_rows
    from reprlab.features.description import Description, token_texts
    from reprlab.features.sample import TokenSample
    from reprlab.text.tokenizer_folder import open_tokenizer

    opened = TokenSample.load(sample)
    described = Description(settings, opened, token_texts(open_tokenizer(tokenizer), opened.ids), links)
    cases = [described.case(name) for name in settings.cases]
    for path, names, place in ((out, _LINKS, 0), (contexts, _CONTEXTS, 1)):
        rows = [row for case in cases for row in case[place]]
        if rows:
            write_rows(path, rows)
        else:
            write_lines(path, [names])
    write_rows(formatting, list(described.formatting()))


if __name__ == "__main__":
    run_stage(describe_features)

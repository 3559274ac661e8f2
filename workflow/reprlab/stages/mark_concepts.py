"""Mark the concepts of a curriculum in blocks of tokens, once for all epochs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.runtime.cli import run_stage

if TYPE_CHECKING:
    from collections import Counter

_BLOCKS = 10_000


def mark_concepts(*, blocks: Path, tokenizer: Path, concepts: Path, out: Path, metrics: Path) -> None:
    """Write the blocks as a token file whose types say where concepts are (see `reprlab.concepts.marks`).

    Args:
        metrics: TSV with the columns split, metric, value, n: of each split the share of tokens inside concepts and of
            blocks without one, in percent, and concepts a block.

    Raises:
        ReprlabError: the text that is trained or validated on names no concept.
    """
    from collections import Counter

    import pyarrow

    from reprlab.artifacts.tsv import write_rows
    from reprlab.concepts.files import BLOCK_COLUMNS, concept_lines
    from reprlab.concepts.matching import ConceptMatcher
    from reprlab.runtime.errors import ReprlabError
    from reprlab.text.mask_vocabulary import MaskVocabulary
    from reprlab.text.parquet_batches import data_metadata, write_batches

    schema = pyarrow.schema(BLOCK_COLUMNS[:3], metadata=data_metadata(blocks))
    sums: dict[str, Counter[str]] = {}
    matcher, vocabulary = ConceptMatcher(concept_lines(concepts)), MaskVocabulary.load(tokenizer)
    write_batches(out, schema, _marked(blocks, matcher, vocabulary, schema, sums))
    for split in ("train", "validation"):
        if split in sums and not sums[split]["concepts"]:
            raise ReprlabError(
                f"{concepts}: none of its concepts stands in the {split} split of {blocks}, so that nothing would be "
                "masked; let the curriculum have more (frequency, hops, domain_least), or take more text of the domain"
            )
    rows = []
    for split, found in sorted(sums.items()):
        n = found["blocks"]
        shares = {
            "concept_tokens": 100 * found["marked"] / max(found["tokens"], 1),
            "blocks_without": 100 * (n - found["filled"]) / n,
            "concepts_per_block": found["concepts"] / n,
        }
        rows += [{"split": split, "metric": name, "value": value, "n": n} for name, value in shares.items()]
    write_rows(metrics, rows)


def _marked(path: Path, matcher: Any, vocabulary: Any, schema: Any, sums: "dict[str, Counter[str]]") -> Iterator[Any]:
    from collections import Counter

    import numpy as np
    import pyarrow

    from reprlab.concepts.files import BLOCK_COLUMNS
    from reprlab.concepts.marks import CONCEPT, OPENS, mark_words
    from reprlab.text.parquet_batches import read_batches

    for batch in read_batches(path, [name for name, _ in BLOCK_COLUMNS], _BLOCKS):
        ids, types, words, joined = (batch[name].flatten() for name, _ in BLOCK_COLUMNS[1:])
        lengths = batch["words"].value_lengths().to_numpy()
        rows, special = np.repeat(np.arange(len(lengths)), lengths), vocabulary.is_special(ids.to_numpy())
        marked = mark_words(types.to_numpy(), special, rows, words.to_pylist(), joined.to_pylist(), matcher)
        tokens = batch["input_ids"].value_lengths().to_numpy()
        owner = np.repeat(np.arange(len(tokens)), tokens)
        kinds = {"tokens": ~special, "marked": (marked & CONCEPT) > 0, "concepts": (marked & OPENS) > 0}
        of_block: dict[str, Any] = {
            name: np.bincount(owner, weights=kind, minlength=len(tokens)) for name, kind in kinds.items()
        }
        of_block |= {"blocks": np.ones(len(tokens)), "filled": of_block["concepts"] > 0}
        splits = batch["split"].to_numpy(zero_copy_only=False)
        for split in np.unique(splits):
            found = sums.setdefault(str(split), Counter())
            found.update({name: int(values[splits == split].sum()) for name, values in of_block.items()})
        lists = pyarrow.ListArray.from_arrays(batch["token_types"].offsets, pyarrow.array(marked, pyarrow.int16()))
        yield pyarrow.RecordBatch.from_arrays([batch["split"], batch["input_ids"], lists], schema=schema)


if __name__ == "__main__":
    run_stage(mark_concepts)

"""Parse the sentences of documents with events: the head of every token."""

from pathlib import Path

from reprlab.events.settings import SentenceParsing
from reprlab.runtime.cli import run_stage


def parse_sentences(*, examples: Path, out: Path, settings: SentenceParsing) -> None:
    """Write `out`, one row for each document with the heads of its tokens.

    Args:
        examples: documents with events; their tokens and sentences are kept.

    Raises:
        ReprlabError: unreadable documents, or the parser is not installed.
    """
    from reprlab.events.documents import load_events
    from reprlab.events.parses import open_parser, parse_documents, write_parses

    documents, pipeline = load_events(examples)[0], open_parser(settings.parser)
    meta = pipeline.meta
    about = f"{settings.parser} {meta['version']}, spaCy {meta['spacy_version']}"
    write_parses(out, documents, parse_documents(documents, pipeline), about)


if __name__ == "__main__":
    run_stage(parse_sentences)

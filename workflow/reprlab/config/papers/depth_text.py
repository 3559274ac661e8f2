"""Settings of DEPTH's pre-training text: corpus, passages, vocabulary, lengths."""

from typing import Annotated, Literal

from pydantic import Field

from reprlab.config.settings import (
    CorpusName,
    PositiveInt,
    Settings,
    decision,
    paper,
    upstream,
)


class CorpusSettings(Settings):
    """The pre-training text."""

    corpus: Annotated[CorpusName, paper("section 3"), upstream("hydra_configs/default.yaml")] = "c4"
    """Data set of documents, an entry of datasets.yaml."""

    shards: Annotated[PositiveInt, upstream("data loading of the pre-training scripts")] = 1_024
    """Training shards of C4 that are read; other corpora are read whole."""


class SegmentationSettings(Settings):
    """Documents into sentences and passages."""

    splitter: Annotated[Literal["nltk", "punkt_package", "punkt_trained"], paper("section 2.1")] = "nltk"
    """Sentence splitter: NLTK's Punkt model (needs its data), the one in a package, or one trained on the corpus."""

    max_sentences: Annotated[PositiveInt, paper("section 2.1, footnote 1")] = 20
    """Sentences of a passage that are kept; at most the number of sentence tokens."""

    passages: Annotated[Literal["document", "window"], paper("appendix A.2")] = "document"
    """document: one passage per document, the rest is dropped; window: documents are cut into consecutive passages."""

    passage_words: Annotated[PositiveInt, decision("about one input of 512 pieces")] = 380
    """Words of a passage when passages is window; at least one sentence."""


class TokenizerSettings(Settings):
    """Vocabulary: pieces, sentinels and the sentence tokens of DEPTH."""

    source: Annotated[Literal["model", "trained"], paper("section 2.1")] = "model"
    """model: the tokenizer published with pretraining.model; trained: a Unigram one trained on the passages."""

    pieces: Annotated[Annotated[PositiveInt, Field(ge=64)], upstream("T5's vocabulary")] = 32_000
    """Pieces of the vocabulary, without the tokens below."""

    sentinels: Annotated[PositiveInt, paper("section 2.2")] = 100
    """Sentinel tokens <extra_id_0> and following that stand for masked spans."""

    sentence_tokens: Annotated[PositiveInt, paper("section 2.1, footnote 1")] = 20
    """Sentence tokens <sent_0> and following; each sentence of a passage gets one of them, without replacement."""


class LengthSettings(Settings):
    """Sequence lengths in pre-training, in tokens."""

    input: Annotated[PositiveInt, paper("appendix A.1, point 2")] = 512
    """Tokens of the encoder input; longer passages are truncated."""

    target: Annotated[PositiveInt, upstream("run_configs/")] = 512
    """Tokens of the decoder target."""

"""Text: from documents to token ids, and counts of tokens."""

from reprlab.planning.stage import FIRST, Stage, within

STAGES = (
    Stage(
        "segment_documents",
        "Split {corpus} into sentences and passages",
        {"out": "results/shared/corpora/{corpus}/{segmentation}/sentences.parquet"},
        mb=3000,
        minutes=120,
        priority=FIRST,
    ),
    Stage(
        "train_tokenizer",
        "Make the tokenizer {tokenizer}",
        {"out": "results/shared/tokenizers/{tokenizer}/"},
        mb=3000,
        minutes=120,
        priority=FIRST,
    ),
    Stage(
        "tokenize_corpus",
        "Tokenize {tokens}",
        {"out": "results/shared/tokens/{tokens}.parquet"},
        mb=3000,
        minutes=240,
    ),
    Stage(
        "tokenize_blocks",
        "Cut blocks of tokens for {tokens}",
        {"out": "results/shared/blocks/{tokens}.parquet"},
        mb=3000,
        minutes=600,
    ),
    Stage(
        "mark_concepts",
        "Mark concepts in {tokens}",
        within("results/shared/marked/{tokens}", out="tokens.parquet", metrics="metrics.tsv"),
        mb=3000,
        minutes=600,
    ),
    Stage(
        "extract_tokenizer",
        "Take the tokenizer of {model}",
        {"out": "results/shared/model_tokenizers/{model}/"},
    ),
    Stage(
        "count_tokens",
        "Count the tokens of {model} in {dataset}",
        within("results/shared/token_counts/{model}", out="{dataset}.safetensors", summary="{dataset}.tsv"),
        minutes=120,
    ),
    Stage(
        "unite_counts",
        "Put the token counts of {dataset} together",
        {"out": "results/shared/vocabulary_use/{dataset}.tsv"},
    ),
    Stage(
        "count_parameters",
        "Count the parameters of the models of {model}",
        {"out": "results/shared/model_sizes/{model}.tsv"},
    ),
)

"""From documents to token ids."""


rule segment_documents:
    input:
        documents="results/shared/corpora/{corpus}/documents.parquet",
        splitter=given("segment_documents", "splitter"),
    output:
        "results/shared/corpora/{corpus}/{segmentation}/sentences.parquet",
    log:
        "results/logs/segment_documents/{corpus}.{segmentation}.log",
    benchmark:
        "results/benchmarks/segment_documents/{corpus}.{segmentation}.tsv"
    threads: LOADED.threads("segment_documents")
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        settings=setting("segment_documents", "settings"),
        splitter=option("segment_documents", "--receipt", "splitter"),
        code=code("segment_documents"),
    message:
        "Split {wildcards.corpus} into sentences and passages"
    shell:
        "python -m reprlab.stages.segment_documents --documents {input.documents} {params.splitter}"
        " --cache {CACHE:q} --settings {params.settings:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule train_tokenizer:
    input:
        sentences=given("train_tokenizer", "sentences"),
    output:
        directory("results/shared/tokenizers/{tokenizer}"),
    log:
        "results/logs/train_tokenizer/{tokenizer}.log",
    benchmark:
        "results/benchmarks/train_tokenizer/{tokenizer}.tsv"
    threads: LOADED.threads("train_tokenizer")
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        settings=setting("train_tokenizer", "settings"),
        sentences=option("train_tokenizer", "--sentences", "sentences"),
        code=code("train_tokenizer"),
    message:
        "Make the tokenizer {wildcards.tokenizer}"
    shell:
        "python -m reprlab.stages.train_tokenizer {params.sentences} --settings {params.settings:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule tokenize_corpus:
    input:
        sentences=given("tokenize_corpus", "sentences"),
        tokenizer=given("tokenize_corpus", "tokenizer"),
    output:
        "results/shared/tokens/{tokens}.parquet",
    log:
        "results/logs/tokenize_corpus/{tokens}.log",
    benchmark:
        "results/benchmarks/tokenize_corpus/{tokens}.tsv"
    threads: LOADED.threads("tokenize_corpus")
    resources:
        mem_mb=3000,
        runtime=240,
    params:
        settings=setting("tokenize_corpus", "settings"),
        code=code("tokenize_corpus"),
    message:
        "Tokenize {wildcards.tokens}"
    shell:
        "python -m reprlab.stages.tokenize_corpus --sentences {input.sentences} --tokenizer {input.tokenizer}"
        " --settings {params.settings:q} --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"

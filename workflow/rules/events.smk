"""Events in documents: retrievers, rankings of partners, classifiers of pairs."""


rule parse_sentences:
    input:
        inputs("parse_sentences"),
    output:
        **outputs("parse_sentences"),
    log:
        log_of("parse_sentences"),
    benchmark:
        benchmark_of("parse_sentences")
    threads: LOADED.threads("parse_sentences")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(120),
    params:
        key=key_of,
        job=digest("parse_sentences"),
    message:
        "Parse the sentences of {wildcards.dataset}"
    shell:
        COMMAND


rule train_retriever:
    input:
        inputs("train_retriever"),
    output:
        **outputs("train_retriever"),
    log:
        log_of("train_retriever"),
    benchmark:
        benchmark_of("train_retriever")
    # Ranks, a classifier and its scores wait for it: left to the end they would run alone.
    priority: 10
    threads: LOADED.threads("train_retriever")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("train_retriever"),
    message:
        "Fine-tune {wildcards.model} to retrieve events of {wildcards.dataset} ({wildcards.cell})"
    shell:
        TRAINING_COMMAND


rule rank_partners:
    input:
        inputs("rank_partners"),
    output:
        **outputs("rank_partners"),
    log:
        log_of("rank_partners"),
    benchmark:
        benchmark_of("rank_partners")
    threads: LOADED.threads("rank_partners")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(240),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("rank_partners"),
    message:
        "Rank partners of the events of {wildcards.dataset} by {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND


rule train_pair_classifier:
    input:
        inputs("train_pair_classifier"),
    output:
        **outputs("train_pair_classifier"),
    log:
        log_of("train_pair_classifier"),
    benchmark:
        benchmark_of("train_pair_classifier")
    # Ranks and scores are short and fill what trainings leave.
    priority: 5
    threads: LOADED.threads("train_pair_classifier")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("train_pair_classifier"),
    message:
        "Train {wildcards.model} on pairs of events of {wildcards.dataset} ({wildcards.cell})"
    shell:
        TRAINING_COMMAND


rule classify_pairs:
    input:
        inputs("classify_pairs"),
    output:
        **outputs("classify_pairs"),
    log:
        log_of("classify_pairs"),
    benchmark:
        benchmark_of("classify_pairs")
    threads: LOADED.threads("classify_pairs")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("classify_pairs"),
    message:
        "Classify pairs of events of {wildcards.dataset} with {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND


rule ask_relations:
    input:
        inputs("ask_relations"),
    output:
        **outputs("ask_relations"),
    log:
        log_of("ask_relations"),
    benchmark:
        benchmark_of("ask_relations")
    threads: LOADED.threads("ask_relations")
    resources:
        mem_mb=2000,
        runtime=1440,
    params:
        key=key_of,
        job=digest("ask_relations"),
    message:
        "Ask a chat model for the relations of {wildcards.dataset} ({wildcards.cell})"
    shell:
        COMMAND


rule contrast_answers:
    input:
        inputs("contrast_answers"),
    output:
        **outputs("contrast_answers"),
    log:
        log_of("contrast_answers"),
    benchmark:
        benchmark_of("contrast_answers")
    threads: LOADED.threads("contrast_answers")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("contrast_answers"),
    message:
        "Test the answers of {wildcards.model} on {wildcards.dataset} against others ({wildcards.cell})"
    shell:
        COMMAND


rule time_pairs:
    input:
        inputs("time_pairs"),
    output:
        **outputs("time_pairs"),
    log:
        log_of("time_pairs"),
    benchmark:
        benchmark_of("time_pairs")
    # Waits for one training and takes a tenth of a small run: left to the end it would run alone.
    priority: 5
    threads: LOADED.threads("time_pairs")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(240),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("time_pairs"),
    message:
        "Measure the seconds of {wildcards.model} over growing documents of {wildcards.dataset}"
    shell:
        COMMAND


rule compare_answers:
    input:
        inputs("compare_answers"),
    output:
        **outputs("compare_answers"),
    log:
        log_of("compare_answers"),
    benchmark:
        benchmark_of("compare_answers")
    threads: LOADED.threads("compare_answers")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("compare_answers"),
    message:
        "List pairs of events that retrieval corrects in {wildcards.paper}"
    shell:
        COMMAND

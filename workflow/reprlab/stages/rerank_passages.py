"""Score the runs of first stages with rerankers, and measure the new order."""

from pathlib import Path
from typing import Any

from reprlab.retrieval.read_orders import Order
from reprlab.retrieval.rerank_settings import ListSettings, Reranking
from reprlab.runtime.cli import run_stage


def rerank_passages(
    *,
    models: Path,
    out: Path,
    metrics: Path,
    contrasts: Path,
    settings: Reranking,
    training: Path | None = None,
    tokenizer: Path | None = None,
    order: Order = "once",
    lists: ListSettings | None = None,
    device: str = "cpu",
    inference_batch: int = 32,
) -> None:
    """Write `out`, `metrics`, a row for each metric, and `contrasts`, the same less first stage and less random order.

    `metrics` has the parameters of the model, and the tokens of a pair in the mean, `pair_tokens`, but where the best
    of several passages counts; of lists those of all windows, for each document of a query.
    `out` has a run `<collection>.<split>.seed-<seed>.arrow` for each, and `queries.parquet`, the metrics of each
    query that the first stage was asked: one without hits counts 0. Documents with equal scores stay in its order.
    Rerankers whose training did not fit into memory give rows without values and with the `reason`, and no runs.

    Args:
        models: folder of rerankers, by seed. training: their losses, for steps and tokens; without it, `models` is the
            folder of one language model that nothing has trained to rerank, and stands for each seed.
        tokenizer: folder of the tokenizer, where it is not that of the reranker.
        order, lists: that the rerankers were trained with (`retrieval.read_orders`, `retrieval.listwise`).
        inference_batch: sequences in a forward pass.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import pandas

    from reprlab.artifacts.json_files import write_json
    from reprlab.artifacts.tables import read_tsv, write_tsv
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.models.selective_scan import install_scans
    from reprlab.retrieval.collections import (
        contrast_rows,
        first_stage_scores,
        metric_rows,
        query_scores,
        read_collection,
        write_query_scores,
    )
    from reprlab.retrieval.list_inputs import list_inputs
    from reprlab.retrieval.listwise import list_reranker, rerank_lists
    from reprlab.retrieval.memory_limits import unfit
    from reprlab.retrieval.read_orders import inputs_in_order, pair_tokens
    from reprlab.retrieval.reranker import POOLED, load_reranker, rerank
    from reprlab.retrieval.run_files import ENDING, read_run, write_run
    from reprlab.retrieval.trec import without_ties
    from reprlab.runtime.files import atomic_directory
    from reprlab.text.encoding import padding_id
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.processes import choose_device

    quiet_transformers()
    install_scans(choose_device(device))
    if reason := unfit(models):
        empty = [
            {"seed": seed, "dataset": one.name, "split": one.split, "metric": metric, "value": None, "reason": reason}
            for seed in settings.seeds
            for one in settings.collections
            for metric in settings.metrics
        ]
        with atomic_directory(out) as folder:
            write_json(folder / "reason.json", {"reason": reason})
        write_tsv(metrics, pandas.DataFrame(empty))
        write_tsv(contrasts, pandas.DataFrame(empty).assign(less="", p=None))
        return
    losses = None if training is None else read_tsv(training).groupby("seed").last()
    pairs = settings.pairs
    rows: list[dict[str, Any]] = []
    gaps: list[dict[str, Any]] = []
    tables = []
    with atomic_directory(out) as folder:
        for seed in settings.seeds:
            place = models if losses is None else models / f"seed-{seed}"
            reader = load_tokenizer(tokenizer or place)
            computed: dict[str, Any] = {"dtype": settings.dtype, "device": choose_device(device)}
            model: Any = load_reranker(place, POOLED[pairs.template]) if lists is None else load_model(place)
            about = {"seed": seed, "parameters": sum(value.numel() for value in model.parameters())}
            for name, column in (("steps", "step"), ("tokens", "tokens")):
                about[name] = 0 if losses is None else int(losses[column][seed])
            model.to(choose_device(device))
            for wanted in settings.collections:
                collection = read_collection(wanted.examples)
                hits = read_run(wanted.run / f"{wanted.split}.{ENDING}")
                beside = first_stage_scores(wanted.run, wanted.split, settings.metrics)
                # A run has no line of a query without hits.
                run = {name: hits.get(name, {}) for rows_of in beside.values() for name in rows_of["query"]}
                queries = {name: collection.queries[wanted.split][name] for name in run}
                found = {document for documents in run.values() for document in documents}
                documents = {name: text for name, text in collection.passages.items() if name in found}
                length: float | None
                if lists is None:
                    inputs = inputs_in_order(reader, queries, documents, pairs, order)
                    reranked = rerank(
                        model,
                        inputs,
                        run,
                        padding_id(reader),
                        stride=settings.stride,
                        batch_size=inference_batch,
                        **computed,
                    )
                    # Of the best of several passages no single sequence is the pair.
                    length = None if settings.stride else pair_tokens(inputs, run)
                else:
                    prompts = list_inputs(reader, queries, documents, lists, pairs.max_query)
                    ranker = list_reranker(model, prompts.letters).to(choose_device(device))
                    reranked, length = rerank_lists(
                        ranker, prompts, run, padding_id(reader), lists, batch_size=inference_batch, **computed
                    )
                reranked = without_ties(reranked)
                write_run(folder / f"{wanted.name}.{wanted.split}.seed-{seed}.{ENDING}", reranked, "reranked")
                judged = {name: collection.judgements[wanted.split][name] for name in queries}
                scores = query_scores(reranked, judged, settings.metrics)
                row = {**about, "dataset": wanted.name, "split": wanted.split}
                tables.append(scores.assign(**row))
                rows += metric_rows(scores, settings.metrics, **row, pair_tokens=length)
                for name, first in beside.items():
                    gaps += contrast_rows(scores, first, settings.metrics, **row, less=name)
        write_query_scores(folder, tables)
    write_tsv(metrics, pandas.DataFrame(rows))
    write_tsv(contrasts, pandas.DataFrame(gaps))


if __name__ == "__main__":
    run_stage(rerank_passages)

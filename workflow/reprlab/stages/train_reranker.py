"""Fine-tune a language model to rerank, on groups of a first stage: as a cross-encoder of pairs, or of lists."""

from pathlib import Path
from typing import Any

from reprlab.retrieval.read_orders import Order
from reprlab.retrieval.rerank_settings import ListSettings, RerankerTraining
from reprlab.retrieval.trec import Run
from reprlab.runtime.cli import run_stage


def train_reranker(
    *,
    examples: Path,
    run: Path,
    model: Path,
    tokenizer: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: RerankerTraining,
    fingerprint: str,
    order: Order = "once",
    lists: ListSettings | None = None,
    save_every: int = 200,
    device: str = "cpu",
) -> None:
    """Write `out`, a folder for each seed with model, tokenizer and head, and `metrics`, losses by step and seed.

    Where the training does not fit into memory, `out` says so in place of the models, and the log what to do.

    Args:
        examples: queries and passages.
        run: folder of the first stage's runs; that of the training split is read.
        model: folder of the language model, or of a reranker: its head is trained further. tokenizer: its folder.
        order: in which query and document are read (`retrieval.read_orders`).
        lists: the groups are read as lists (`retrieval.listwise`), from the language model alone, without a head: of
            `pairs` the longest query counts, and dropout and rate of the head do not.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.

    Raises:
        ReprlabError: unreadable inputs, no training query has a negative, or lists that cannot be read.
    """
    import functools

    import torch

    from reprlab.models.build import encoder_alone, load_model, quiet_transformers
    from reprlab.models.selective_scan import install_scans
    from reprlab.retrieval.bi_encoder import save_encoder
    from reprlab.retrieval.collections import read_collection
    from reprlab.retrieval.list_inputs import ListBatches, in_first_order, list_inputs
    from reprlab.retrieval.listwise import list_loss, list_reranker
    from reprlab.retrieval.memory_limits import is_out_of_memory, write_unfit
    from reprlab.retrieval.read_orders import inputs_in_order
    from reprlab.retrieval.rerank_groups import GroupBatches, mine_groups, only_judged
    from reprlab.retrieval.reranker import HEAD, POOLED, group_loss, load_head, reranker, save_reranker
    from reprlab.retrieval.run_files import ENDING, read_run
    from reprlab.runtime.errors import ReprlabError
    from reprlab.text.encoding import padding_id
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.training.passes import train_passes
    from reprlab.training.processes import choose_device
    from reprlab.training.seeds import seeded, train_each_seed

    quiet_transformers()
    install_scans(choose_device(device))
    collection, reader, pairs = read_collection(examples), load_tokenizer(tokenizer), settings.pairs
    ranked: Run = read_run(run / f"train.{ENDING}")
    queries = {name: text for name, text in collection.queries.get("train", {}).items() if name in ranked}
    judgements = collection.judged_passages("train")
    judged = {name: judgements[name] for name in queries}
    if settings.judged_negatives:
        ranked = only_judged(ranked, judgements)
    pad = padding_id(reader)
    if lists is None:
        inputs = inputs_in_order(reader, queries, collection.passages, pairs, order)
        for split, asked in collection.queries.items():
            if split != "train":
                # Whether queries that are ranked afterwards leave room for a document is told before the first update.
                inputs_in_order(reader, asked, {}, pairs, order)
    elif settings.negatives >= lists.window:
        raise ReprlabError(
            f"lists: {1 + settings.negatives} passages of a group, and a window of {lists.window}; raise it"
        )
    else:
        prompts = list_inputs(reader, queries, collection.passages, lists, pairs.max_query)

    def alone(seed: int) -> RerankerTraining:
        return settings.model_copy(update={"engine": seeded(settings.engine, seed), "seeds": [seed]})

    def train_one(one: RerankerTraining, folder: Path, identity: str) -> Any:
        groups = mine_groups(ranked, judged, one.negatives, one.engine.seed)
        if not groups:
            raise ReprlabError(f"{run}: no training query has a negative; retrieve deeper")
        torch.manual_seed(one.engine.seed)
        whole = load_model(model)
        network: Any
        batches: Any
        loss: Any
        if lists is None:
            whole = encoder_alone(whole) if pairs.encoder_cls else whole
            network = reranker(whole, POOLED[pairs.template], one.dropout, one.head_factor)
            if (model / HEAD).exists():
                load_head(network, model)
            batches, loss = GroupBatches(groups, inputs, pad), group_loss
            save = functools.partial(save_reranker, network, whole, reader)
        else:
            network, loss = list_reranker(whole, prompts.letters), list_loss(lists.ranknet_weight)
            batches = ListBatches(in_first_order(groups, ranked), prompts, pad, one.engine.seed)
            save = functools.partial(save_encoder, whole, reader)
        trained = train_passes(
            network,
            len(groups),
            batches,
            loss,
            one.engine,
            epochs=one.epochs,
            warmup_share=one.warmup_share,
            work=folder,
            save_every=save_every,
            fingerprint=identity,
            device=device,
        )
        return trained, save

    files = [examples, run / f"train.{ENDING}", *model.glob("*.*"), tokenizer / "tokenizer.json"]
    try:
        train_each_seed(
            settings.seeds,
            alone,
            lambda seed: files,
            train_one,
            out=out,
            metrics=metrics,
            work=work,
            fingerprint=fingerprint,
        )
    except (RuntimeError, MemoryError) as error:
        # Table 4 has such cells: that a model does not fit is a result of the comparison.
        if not is_out_of_memory(error):
            raise
        write_unfit(out, metrics, settings.seeds, error)


if __name__ == "__main__":
    run_stage(train_reranker)

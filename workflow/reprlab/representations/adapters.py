"""Low-rank adapters (LoRA) by peft: training and its ladder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.representations.settings import AdapterSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.storage import storage_errors
from reprlab.text.tokenizer_folder import copy_tokenizer
from reprlab.training.attention_kernel import attention_for_training
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.ladder import step_folder

if TYPE_CHECKING:
    import torch


def add_adapter(model: Any, settings: AdapterSettings) -> Any:
    """The model with fresh adapters: the second matrix is 0, so that nothing changes before the first update.

    Raises:
        ReprlabError: the model has no layer of a wanted name.
    """
    import torch
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.targets),
        bias="none",
        task_type="CAUSAL_LM",
    )
    torch.manual_seed(settings.engine.seed)
    try:
        return get_peft_model(model, config)
    except ValueError as error:
        raise ReprlabError(f"adapter targets {', '.join(settings.targets)}: {error}") from None


def save_adapter(model: Any, ladder: Path, step: int, base: Path, tokenizer: Path) -> None:
    """Keep the adapters of a step with their tokenizer, whole or not at all; the same weights give the same bytes.

    The folder names the model `base` as it was given, so that peft's own classes open it from where the run lies.
    """
    with atomic_directory(step_folder(ladder, step)) as folder, storage_errors():
        config = model.peft_config["default"]
        config.base_model_name_or_path = base.as_posix()
        # peft keeps a set, which each process writes in an order of its own.
        config.target_modules = sorted(config.target_modules)
        model.save_pretrained(folder)
        for path in folder.iterdir():
            if path.name == "README.md":
                path.unlink()
            else:
                path.chmod(0o644)
        copy_tokenizer(tokenizer, folder)


def load_adapter(model: Any, folder: Path) -> Any:
    """The model with saved adapters merged into its weights, for inference."""
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(folder), trust_remote_code=False).merge_and_unload()


class TextBatches:
    """Batches of whole texts, every token a label (as the authors train: nothing is masked, no end token is added)."""

    def __init__(self, texts: list[list[int]], settings: AdapterSettings) -> None:
        self.texts = [text[: settings.max_length] for text in texts]
        self.engine = settings.engine
        self.order = TrainingOrder(len(texts), settings.engine.batch_size, settings.engine.seed)

    def __call__(self, step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        """The texts of (step, part, rank), right-padded: `input_ids`, `attention_mask`, `labels` [B, T]."""
        import torch

        rows = self.order.rows(step).reshape(self.engine.accumulation, world, -1)[part, rank]
        texts = [torch.tensor(self.texts[row]) for row in rows]
        pad = torch.nn.utils.rnn.pad_sequence
        ids = pad(texts, batch_first=True)
        mask = pad([torch.ones_like(text) for text in texts], batch_first=True)
        return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def language_model_loss(
    model: torch.nn.Module, batch: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean cross-entropy of the next token, with its sum, its count and the tokens read."""
    with attention_for_training(batch["input_ids"]):
        loss = model(**batch, use_cache=False).loss
    count = (batch["labels"][:, 1:] != -100).sum()
    return loss, {"loss_sum": loss.detach() * count, "count": count, "tokens": batch["attention_mask"].sum()}

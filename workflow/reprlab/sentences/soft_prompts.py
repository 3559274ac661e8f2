"""A frozen decoder steered by trained vectors: SPT's suffix, and keys and values in every layer (SPT v2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from reprlab.models.pooling import Pooling, pool
from reprlab.objectives.decoder_attention import attention_inputs
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.early_exit import headless

if TYPE_CHECKING:
    import torch

Position = Literal["append", "prepend"]
Start = Literal["vocabulary", "normal"]


def first_vectors(model: Any, count: int, start: Start, seed: int) -> torch.Tensor:
    """[k, d] float32 to start a prompt from: embeddings of drawn tokens, or N(0, 1) as peft draws them."""
    import torch

    table = headless(model).get_input_embeddings().weight
    generator = torch.Generator().manual_seed(seed)
    if start == "normal":
        return torch.randn(count, table.shape[1], generator=generator)
    rows = torch.randperm(len(table), generator=generator)[:count]
    return table[rows.to(table.device)].detach().float().cpu().clone()


def prompted(model: Any, vectors: torch.Tensor, position: Position, pooling: Pooling, *, bidirectional: bool) -> Any:
    """The frozen decoder with k trained vectors behind or before each text, as a module from a batch to [B, d].

    The text's vector is that of the prompt's last or first state (EOSP, SOSP), or their mean. The prompt is kept in
    float32, whatever the model's arithmetic: in bfloat16 a small update rounds away.

    Raises:
        ReprlabError: before a text, a causal decoder sees nothing of it: all texts would have the same vector.
    """
    import torch

    if position == "prepend" and not bidirectional:
        raise ReprlabError(
            "a prompt before the text is the same for every text under causal attention; append it, or use "
            "bidirectional attention"
        )

    class Prompted(torch.nn.Module):
        train = _without_dropout

        def __init__(self) -> None:
            super().__init__()
            self.model = frozen(model)
            self.prompt = torch.nn.Parameter(vectors.clone())

        def states(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
            """States [B, k + L, d], their attention and where the prompt is, both [B, k + L]."""
            decoder = headless(self.model)
            words = decoder.get_input_embeddings()(input_ids)
            rows = self.prompt.to(words.dtype).expand(len(words), -1, -1)
            ones = attention_mask.new_ones(rows.shape[:2])
            parts = [(words, attention_mask, torch.zeros_like(attention_mask)), (rows, ones, ones)]
            if position == "prepend":
                parts.reverse()
            embeddings, attention, prompt = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
            inputs = attention_inputs(attention, words.dtype, bidirectional=bidirectional)
            return decoder(inputs_embeds=embeddings, use_cache=False, **inputs).last_hidden_state, attention, prompt

        def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            states, attention, prompt = self.states(batch["input_ids"], batch["attention_mask"])
            return pool(states, attention, pooling, prompt)

    return Prompted()


def prefixed(model: Any, count: int, pooling: Pooling, seed: int) -> Any:
    """The frozen decoder with `count` trained keys and values before the text in every layer (SPT v2).

    2 x layers x count x (key and value heads x their size) numbers, as peft's prefix tuning without projection; peft
    itself ignores positions, so that padding would move the text away from its prefix. Of a text its own tokens are
    pooled, where the batch has `text_mask`: not its first token, nor an instruction.
    """
    import torch

    config = model.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    shape = (2, config.num_hidden_layers, heads, count, width)

    class Prefixed(torch.nn.Module):
        train = _without_dropout

        def __init__(self) -> None:
            super().__init__()
            self.model = frozen(model)
            self.prefix = torch.nn.Parameter(torch.randn(shape, generator=torch.Generator().manual_seed(seed)))

        def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            from transformers.cache_utils import DynamicCache

            attention = batch["attention_mask"]
            decoder = headless(self.model)
            dtype = decoder.get_input_embeddings().weight.dtype
            cache = DynamicCache(config=config)
            for layer, (keys, values) in enumerate(self.prefix.to(dtype).unbind(1) if count else ()):
                cache.update(keys.expand(len(attention), -1, -1, -1), values.expand(len(attention), -1, -1, -1), layer)
            inputs = attention_inputs(attention, dtype, bidirectional=False, before=count)
            found = decoder(input_ids=batch["input_ids"], past_key_values=cache, use_cache=True, **inputs)
            return pool(found.last_hidden_state, attention, pooling, batch.get("text_mask"))

    return Prefixed()


def frozen(model: Any) -> Any:
    """The model without a gradient of its own; gradients still flow through it to what is trained."""
    return model.requires_grad_(False)


def _without_dropout(module: Any, mode: bool = True) -> Any:
    """Switch a module to training, but not the frozen model in it: OPT's dropout would act on its states."""
    module.training = mode
    module.model.eval()
    return module

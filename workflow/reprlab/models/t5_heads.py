"""The encoder of a T5 with a head: over every token (Min et al. 2025, appendix B), or over the mean of all."""

from __future__ import annotations

from typing import Any

from transformers import T5ForTokenClassification, initialization
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.models.t5.modeling_t5 import T5ClassificationHead


class T5Tagger(T5ForTokenClassification):
    """Dropout, a dense layer of the model's width, tanh, dropout, and a layer to the labels; there is no decoder.

    transformers' own class has one linear layer. `from_pretrained` opens a sequence-to-sequence checkpoint, of which it
    takes the encoder, or what this class saved.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        # The head has its own.
        self.dropout.p = 0.0
        self.classifier: Any = T5ClassificationHead(config)  # type: ignore[assignment]
        self.post_init()

    def _init_weights(self, module: Any) -> None:
        """The head as T5's other heads are drawn; transformers would draw its layers with a deviation of 1."""
        if module is self:
            return
        head = self.classifier
        if isinstance(head, T5ClassificationHead) and module in (head.dense, head.out_proj):
            deviation = self.config.initializer_factor * self.config.d_model**-0.5
            initialization.normal_(module.weight, mean=0.0, std=deviation)
            initialization.zeros_(module.bias)
        else:
            super()._init_weights(module)


class T5EncoderClassifier(T5Tagger):
    """The same head over the mean of the encoder's states, one answer a text.

    transformers' own class for sequences runs the decoder as well, which a short training has to teach first where to
    look.
    """

    def forward(self, input_ids: Any, attention_mask: Any) -> SequenceClassifierOutput:
        """Logits [B, labels] of ids [B, L] with their 0/1 mask."""
        states = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        kept = attention_mask.unsqueeze(-1).to(states.dtype)
        return SequenceClassifierOutput(logits=self.classifier((states * kept).sum(1) / kept.sum(1)))

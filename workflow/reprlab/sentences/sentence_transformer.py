"""The module that exported encoders name: sentence-transformers imports it from here when it opens their folder.

Its own modules cannot say what ours do: pooling that leaves the instruction out, a chat format behind the text, trained
vectors beside it, keys and values in every layer.
"""

from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sentence_transformers.base.modules import InputModule
from transformers import AutoModel

from reprlab.models.build import quiet_transformers
from reprlab.sentences.encoder import load_encoder, read_settings
from reprlab.sentences.export import export_encoder
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.texts import encode_texts
from reprlab.text.tokenizer_folder import open_tokenizer


class DecoderEncoder(InputModule):
    """A decoder as a sentence encoder, from the folder that `export_encoder` wrote, in float32."""

    def __init__(self, encoder: Any, decoder: Any, tokenizer: Any, settings: EncoderSettings) -> None:
        super().__init__()
        self.encoder, self.decoder, self.tokenizer, self.settings = encoder, decoder, tokenizer, settings

    @classmethod
    def load(cls, model_name_or_path: str, *args: Any, **kwargs: Any) -> Self:
        """Open the folder; arguments that name a revision or a hub do not apply."""
        folder = Path(model_name_or_path)
        quiet_transformers()
        decoder = AutoModel.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )
        return cls(load_encoder(decoder, folder), decoder, open_tokenizer(folder), read_settings(folder))

    @property
    def max_seq_length(self) -> int:
        """Tokens of the text alone."""
        return self.settings.form.max_length

    def get_embedding_dimension(self) -> int:
        """Width of a vector."""
        return int(self.decoder.config.hidden_size)

    def preprocess(self, inputs: Any, prompt: str | None = None, **_: Any) -> dict[str, torch.Tensor]:
        """A batch of texts; `prompt` is their instruction with what divides it from the text, and is never pooled."""
        texts = encode_texts(self.tokenizer, list(inputs), self.settings.form, prompt or "")
        return texts.batch(np.arange(len(texts)))

    def forward(self, features: dict[str, torch.Tensor], **_: Any) -> dict[str, torch.Tensor]:
        """The batch with `sentence_embedding` [B, d] beside it."""
        return {**features, "sentence_embedding": self.encoder(features)}

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Write the folder again."""
        export_encoder(self.encoder, self.decoder, self.settings, Path(output_path))
        self.save_tokenizer(output_path)

"""Where a decoder stops that is to write up to a text: by a token, or by the text where no token is it."""

import pytest
import torch
from music_samples import make_language_model
from reprlab.inference.stop_texts import stop_options
from reprlab.models.build import load_model
from reprlab.text.encoding import piece_ids
from reprlab.text.tokenizer_folder import open_tokenizer


class Words:
    """A tokenizer of whole words whose first has a space before it, as Llama's: `###` alone is another token."""

    eos_token_id, unk_token_id, name_or_path, added_tokens_decoder, all_special_ids = 0, None, "words", {}, [0]
    pieces = ("</s>", "\u2581###", "###", "\n", "a", ".", "\u2581a", "#")

    def __init__(self, *lacking: str) -> None:
        self.lacking = lacking

    def __call__(self, texts, **_):
        return {"input_ids": [self._ids("\u2581" + text) for text in texts]}

    def _ids(self, text):
        ids = []
        while text:
            known = [one for one in self.pieces if text.startswith(one) and one not in self.lacking]
            best = max(known, key=len, default="")
            ids.append(self.pieces.index(best) if best else 7)
            text = text[max(len(best), 1) :]
        return ids

    def decode(self, ids):
        return "".join(self.pieces[one].replace("\u2581", " ") for one in ids)


def test_the_token_is_that_of_the_text_behind_others():
    found = stop_options(Words(), "\n###")
    assert found == {"eos_token_id": [2, 0], "pad_token_id": 0}, "not that of the text alone, which would never match"


def test_a_text_of_several_tokens_is_compared_as_text():
    """Its last token alone would end every heading."""
    found = stop_options(Words("###"), "\n###")
    assert found["stop_strings"] == ["###"] and found["eos_token_id"] == [0]


@pytest.mark.parametrize("sign", ["\n###", "zq xj"])
def test_generation_ends_with_the_text(tmp_path, sign):
    folder = make_language_model(tmp_path / "model")
    tokenizer, model = open_tokenizer(folder), load_model(folder).eval()
    options, ids = stop_options(tokenizer, sign), piece_ids(tokenizer, ["The words"])[0]
    # A model that writes the sign over and over, whatever is asked.
    written, steps = piece_ids(tokenizer, [f"One.{sign} Two.{sign} Three."])[0], iter(range(10**6))

    def forced(_, scores):
        place = next(steps)
        return torch.full_like(scores, -1e9).index_fill(1, torch.tensor([written[place % len(written)]]), 0.0)

    found = model.generate(
        input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), do_sample=False,
        max_new_tokens=60, logits_processor=[forced], **options,
    )[0, len(ids) :]  # fmt: skip
    text = tokenizer.decode(found)
    assert text.count(sign.strip()) == 1 and text.rstrip().endswith(sign.strip())

"""Let a frozen language model behind a linear prefix write descriptions of the tracks of the test split."""

from pathlib import Path

from reprlab.music.prefix_settings import PrefixDescription
from reprlab.runtime.cli import run_stage


def describe_by_prefix(
    *, model: Path, prefix: Path, annotations: list[Path], states: Path, out: Path, settings: PrefixDescription,
    device: str = "cpu",
) -> None:  # fmt: skip
    """Write `out`: the prompt's text, the target and the text of each track.

    Args:
        prefix: the trained map.

    Raises:
        ReprlabError: unreadable inputs, or a map of states of another shape.
    """
    from reprlab.music.describer import write_texts
    from reprlab.music.linear_prefix import ABOUT, load_prefix, prefix_prompts, told_by
    from reprlab.music.training import load_examples, write_descriptions
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.processes import choose_device

    tracks, audio = load_examples(annotations, states, "test")
    tracks, audio = tracks[: settings.limit], audio[: settings.limit]
    tokenizer = open_tokenizer(model)
    network = load_prefix(model, prefix, (audio.shape[1], audio.shape[2]))
    said, prompts = prefix_prompts(tokenizer, tracks, settings.inputs, told_by(network))
    texts = write_texts(
        network.to(choose_device(device)),
        tokenizer,
        prompts,
        audio,
        batch_size=settings.batch_size,
        max_new_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
    )
    write_descriptions(out, tracks, said, texts, about=prefix / ABOUT)


if __name__ == "__main__":
    run_stage(describe_by_prefix)

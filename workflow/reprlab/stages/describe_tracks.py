"""Let a describer write descriptions of the tracks of the test split."""

from pathlib import Path

from reprlab.music.settings import DescriptionGeneration
from reprlab.runtime.cli import run_stage


def describe_tracks(
    *, model: Path, annotations: list[Path], states: Path, out: Path, settings: DescriptionGeneration,
    describer: Path | None = None, device: str = "cpu",
) -> None:  # fmt: skip
    """Write `out`: the prompt, the target and the text of each track.

    Args:
        describer: what was trained; none: the language model as it is, with a drawn adaptor.

    Raises:
        ReprlabError: unreadable inputs.
    """
    import numpy as np

    from reprlab.music.describer import asked, prompt_ids, write_texts
    from reprlab.music.training import ABOUT, load_describer, load_examples, write_descriptions
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.processes import choose_device

    tracks, audio = load_examples(annotations, states, "test")
    tracks, audio = tracks[: settings.limit], audio[: settings.limit]
    tokenizer = open_tokenizer(model)
    network = load_describer(model, describer, audio.shape[-1], settings.seed).to(choose_device(device))
    questions = [asked(one, settings.task, settings.inputs, blank=settings.blank) for one in tracks]
    prompts = [prompt_ids(tokenizer, *pair, audio.shape[1]) for pair in questions]
    # A blank question is the same for all, and so is its greedy answer: one is enough.
    several = len(tracks) if not settings.blank or settings.temperature else min(1, len(tracks))
    texts = write_texts(
        network,
        tokenizer,
        prompts[:several],
        audio[:several],
        batch_size=settings.batch_size,
        max_new_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
    )
    texts = list(np.resize(np.array(texts, dtype=object), len(tracks)))
    write_descriptions(
        out,
        tracks,
        [text for text, _ in questions],
        texts,
        about=describer and describer / ABOUT,
        wanted=settings.task,
    )


if __name__ == "__main__":
    run_stage(describe_tracks)

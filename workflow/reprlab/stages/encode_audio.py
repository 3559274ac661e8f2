"""Encode the audio of a set of tracks once, by a frozen encoder."""

from pathlib import Path

from reprlab.music.settings import EncodingSettings
from reprlab.runtime.cli import run_stage


def encode_audio(*, tracks: Path, out: Path, settings: EncodingSettings, model: Path | None = None) -> None:
    """Write `out`: the states [clips, width] of each track.

    Args:
        model: the Audio Spectrogram Transformer, where the settings ask for one.

    Raises:
        ReprlabError: unreadable inputs, or madmom is not installed.
    """
    from reprlab.music.states import encode
    from reprlab.music.tracks import read_tracks
    from reprlab.music.training import write_states

    found = read_tracks(tracks)
    write_states(out, found, encode(found, settings, model))


if __name__ == "__main__":
    run_stage(encode_audio)

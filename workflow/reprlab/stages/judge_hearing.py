"""Hold what madmom hears in rendered tracks against what is known of them."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def judge_hearing(*, tracks: Path, heard: list[Path], out: Path, features: Path) -> None:
    """Write `features`, one row a track, and `out`, the accuracy of tempo, key, metre and downbeats by genre (%).

    Beside what is heard it has the best constant answer, fitted on the tracks of training.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.music.accuracy import BEST_CONSTANT, accuracy_rows, constant_rows, feature_rows
    from reprlab.music.annotated import heard_features
    from reprlab.music.tracks import read_tracks

    known = read_tracks(tracks, audio=False)
    rows = feature_rows(known, heard_features(heard))
    write_rows(features, rows)
    write_rows(out, [*accuracy_rows(rows), *accuracy_rows(constant_rows(known), BEST_CONSTANT)])


if __name__ == "__main__":
    run_stage(judge_hearing)

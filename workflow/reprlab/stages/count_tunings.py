"""Count what tunings of speech encoders train, without weights and without the network."""

from pathlib import Path

from reprlab.audio.settings import CountedTunings
from reprlab.runtime.cli import run_stage


def count_tunings(*, settings: CountedTunings, out: Path) -> None:
    """Write one row for each tuning and part: adapters, norms, head, trained, backbone (with head)."""
    import torch

    from reprlab.artifacts.tsv import write_rows
    from reprlab.audio.adapters import counts, tune
    from reprlab.models.build import build_from_config

    rows = []
    for one in settings.tunings:
        with torch.device("meta"):
            encoder = build_from_config(settings.entries[one.model])
            tune(encoder, one.tuning)
        for metric, value in counts(encoder, one.tuning, settings.symbols).items():
            rows.append({"model": one.model, "method": one.name, "metric": metric, "value": value})
    write_rows(out, rows)


if __name__ == "__main__":
    run_stage(count_tunings)

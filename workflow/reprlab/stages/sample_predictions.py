"""Stage `sample_predictions`: predictions for annotation by hand."""

from pathlib import Path

from reprlab.evaluation.prediction_sample import SampleSettings
from reprlab.runtime.cli import run_stage


def sample_predictions(*, inputs: list[Path] | None = None, settings: SampleSettings, out: Path) -> None:
    """Write sampled predictions of fine-tuned models, with the text of their examples and an empty category.

    Args:
        inputs: every file that the settings name.
        settings: the models and the size of the sample.
        out: the TSV.

    Raises:
        ReprlabError: a model has no prediction, or no selected learning rate.
    """
    from reprlab.artifacts.tables import write_tsv
    from reprlab.evaluation.prediction_sample import sample_rows
    from reprlab.reporting.provenance import write_provenance

    write_tsv(out, sample_rows(settings))
    about = settings.model_dump(mode="json", exclude={"models"})
    write_provenance(out, stage="sample_predictions", settings=about, inputs=inputs or [])


if __name__ == "__main__":
    run_stage(sample_predictions)

"""Where libraries find data that is no archive of ours: paths of `Job.given`."""

import os
import sys
from importlib import metadata
from pathlib import Path


def nltk_model_paths() -> list[str]:
    """Every place where NLTK looks for Punkt's English model: those of NLTK_DATA first, then its own."""
    named = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    own = [str(Path("~/nltk_data").expanduser()), *(f"{sys.prefix}/{one}nltk_data" for one in ("", "share/", "lib/"))]
    shared = [f"/usr/{one}/nltk_data" for one in ("share", "local/share", "lib", "local/lib")]
    return [
        f"{folder}/tokenizers/{name}"
        for folder in dict.fromkeys([*named, *own, *shared])
        for name in ("punkt_tab/english", "punkt_tab.zip")
    ]


def pipeline_paths(name: str) -> list[str]:
    """The folder of a spaCy pipeline: that of the installed package of this name, or else the folder that is named."""
    try:
        found = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return [name]
    folders = {Path(str(file)).parts[0] for file in found.files or [] if str(file).endswith("__init__.py")}
    return [str(found.locate_file(folder)) for folder in sorted(folders)] or [name]

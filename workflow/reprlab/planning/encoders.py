"""What `make export` can export: whether `ENCODER=…` names a trained encoder that the config plans."""

import argparse
import sys

from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root
from reprlab.settings.errors import nearest


def require_encoder(name: str, known: list[str], scale: str) -> None:
    """Refuse a name that is not among the `known` ones.

    Raises:
        ReprlabError: it is not; with the nearest.
    """
    if name not in known:
        given = f"ENCODER={name}: no such encoder" if name else "give an encoder, ENCODER=<backbone>/<encoder>"
        example = f"; the first of {len(known)} is {known[0]}" if known else "; the config trains none"
        raise ReprlabError(f"{given} at scale {scale}{(name and nearest(name, known)) or example}")


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """1 with one line where there is no such encoder."""
    parser = argparse.ArgumentParser(prog="make export", description=__doc__)
    parser.add_argument("encoder")
    parser.add_argument("--scale", default=None)
    parser.add_argument("--set", default=None)
    given = parser.parse_args(arguments)
    asked = {name: value for name, value in (("scale", given.scale), ("set", given.set)) if value}
    config = load_config(checkout_root(), asked)
    require_encoder(given.encoder, list(make_plan(config).jobs.get("export_encoder", {})), config.scale)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Serve the published layouts until standard input ends: `python -m tests.published_hub --folder F --config C`.

The registries in C are rewritten to fit what is served, and beside C lies what users bring; then one line of JSON says
by which variables it is found.
"""

import argparse
import json
import sys
from pathlib import Path

from tests.checkouts import ROOT
from tests.published_hub import published_hub
from tests.published_hub.brought import write_brought

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--folder", type=Path, required=True, help="what is made is kept in it")
parser.add_argument("--config", type=Path, required=True, help="a copy of config/ whose registries are rewritten")
given = parser.parse_args()
given.folder.mkdir(parents=True, exist_ok=True)
with published_hub(given.folder, ROOT / "config") as hub:
    hub.write_registries(given.config)
    write_brought(given.config.parent)
    print(json.dumps(dict(hub.environment)), flush=True)
    sys.stdin.read()

"""The nearest valid name: what a message proposes for a misspelt one."""

import difflib
import random

import pytest
from reprlab.config.load import load_config
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.errors import nearest

from tests.checkouts import ROOT


def compared_with_all(name: str, names: list[str]) -> list[str]:
    """The first names of the highest likeness, each compared in full, if it is half or more."""

    def likeness(known: str) -> float:
        parts = known.split("_")
        tails = {*parts, *("_".join(parts[place:]) for place in range(1, len(parts)))} if len(parts) > 1 else set()
        whole = difflib.SequenceMatcher(None, name, known).ratio()
        long = [part for part in tails if min(len(name), len(part)) > 3]
        partial = [0.9 * difflib.SequenceMatcher(None, name, part).ratio() for part in long]
        return max([whole, *partial])

    scores = {known: likeness(known) for known in sorted(names)}
    best = max(scores.values())
    return [known for known, score in scores.items() if score == best][:3] if best >= 0.5 else []


@pytest.mark.parametrize("seed", range(12))
def test_names_that_cannot_be_near_are_passed_over_and_no_other(seed: int) -> None:
    names = [name for name in load_config(ROOT).datasets.tasks if "/" not in name]
    draw = random.Random(seed)
    name = draw.choice(names)
    place = draw.randrange(len(name))
    misspelt = [name[:place], name[:place] + "q" + name[place + 1 :], name[place:] + name[:place]][seed % 3]
    wanted = compared_with_all(misspelt, names)
    proposed = f"; did you mean {' or '.join(map(repr, wanted))}?" if wanted else ""
    assert nearest(misspelt, names) == proposed


@pytest.mark.parametrize("address", ["https://h/v1?api-key=sek-ret", "https://u:sek-ret@h/v1", "https://h/v1#sek-ret"])
@pytest.mark.parametrize("given", ["setting", "environment"])
def test_an_address_with_a_key_is_refused_without_showing_it(address, given, monkeypatch):
    edit = {"set": f"papers.punctuation-restoration.zero_shot.chat.base_url={address}"} if given == "setting" else {}
    if given == "environment":
        monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(ReprlabError, match=r"chat\.base_url = .*a key belongs in OPENAI_API_KEY") as refused:
        load_config(ROOT, {"scale": "mini", "build": ["punctuation-restoration"], **edit})
    assert "sek" not in str(refused.value)

"""docs/library.md: every example runs as it is printed there, and the page shows every stable name."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import reprlab.library

PAGE = (Path(__file__).resolve().parents[2] / "docs/library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.M | re.S)
# What the functions of the page raise, return or take in another place.
RAISED_OR_RETURNED = {"ReprlabError", "Dimension", "Estimate", "Rule", "Verdict", "PairedDifference", "BELOW_ZERO"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: re.findall(r"library import (\w+)", text)[0])
def test_an_example_prints_what_the_page_says(example):
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(example, "docs/library.md", "exec"), {})

    assert printed.getvalue().splitlines() == re.findall(r"^print\(.*\)  # (.*)$", example, flags=re.M)
    assert len(example.splitlines()) <= 12


def test_the_page_names_all_that_is_stable_and_the_module_has_all_that_the_page_imports():
    assert len(EXAMPLES) == 12
    for name in reprlab.library.__all__:
        assert getattr(reprlab.library, name) is not None
        assert re.search(rf"\b{name}\b", PAGE) or name in RAISED_OR_RETURNED, name
    with pytest.raises(AttributeError, match=r"docs/library\.md"):
        _ = reprlab.library.two_mm

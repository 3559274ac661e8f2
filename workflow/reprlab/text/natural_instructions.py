"""The prompt of Super-NaturalInstructions: definition, positive examples, the input (spec 2.6)."""

import string
from collections.abc import Sequence

DEFAULT_EXAMPLES = 2


def instruction_prompt(
    source: str,
    definition: str | None,
    positive_inputs: Sequence[str] | None,
    positive_outputs: Sequence[str] | None,
    examples: int = DEFAULT_EXAMPLES,
) -> str:
    """The prompt of one instance, with at most `examples` of the task's positive examples."""
    pairs = list(zip(positive_inputs or (), positive_outputs or (), strict=True))[:examples]
    shown = [
        f" Positive Example {number} -\nInput: {_closed(given)}\n Output: {_closed(wanted)}\n\n"
        for number, (given, wanted) in enumerate(pairs, start=1)
    ]
    head = f"Definition: {_closed(definition)}\n\n" if definition else ""
    return f"{head}{''.join(shown)}Now complete the following example -\nInput: {_closed(source)}\nOutput: "


def _closed(text: str) -> str:
    """`text` without outer blanks, with a full stop where its last character is not punctuation."""
    text = text.strip()
    return text if text and text[-1] in string.punctuation else f"{text}."

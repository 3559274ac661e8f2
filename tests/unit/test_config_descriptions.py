"""What a setting means, read from the source."""

from reprlab.settings.base import Settings
from reprlab.settings.descriptions import description


class Above(Settings):
    """Settings with words."""

    rate: float
    """Peak learning
    rate."""
    steps: int
    passes: int
    """Passes."""


class Below(Above):
    """Settings that define one anew."""

    passes: int = 2


def test_the_string_below_a_field_says_what_it_means() -> None:
    assert description(Above, "rate") == description(Below, "rate") == "Peak learning\nrate."


def test_a_field_without_a_string_has_none_and_one_that_is_defined_anew_has_its_own() -> None:
    assert [description(Above, "steps"), description(Below, "passes"), description(Above, "absent")] == ["", "", ""]

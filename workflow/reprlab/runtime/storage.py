"""Failed writes of safetensors, as the errors that the rest of the package knows."""

import contextlib
import os
import re
from collections.abc import Iterator


@contextlib.contextmanager
def storage_errors() -> Iterator[None]:
    """Raise the `OSError` that safetensors hides in the text of its own error, so that a full disk is named as one."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error

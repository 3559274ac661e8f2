"""The one error class that users see, and what says nothing of the file that was read."""

import errno
import functools
import sys
from collections.abc import Callable

_SHORT = (errno.ENOMEM, errno.EMFILE, errno.ENFILE)


class ReprlabError(Exception):
    """A problem that the user can mend.

    The message is one line: it names the file or the setting, what is wrong with it, and the remedy. A line break in a
    name or value that it quotes is shown as a space.
    A stage that raises it ends with exit status 1 and prints that line; the traceback goes to the log.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


def told_in_one_line(status: int = 1) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Around the `main` of a command: a `ReprlabError` becomes one line on standard error and the exit status."""

    def around(main: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(main)
        def told(arguments: list[str] | None = None) -> int:
            try:
                return main(arguments)
            except ReprlabError as error:
                sys.stderr.write(f"error: {error}\n")
                return status

        return told

    return around


def raise_if_machine_is_short(error: BaseException) -> None:
    """Raise an error that is none of a file: memory or handles ran out, and the file may be whole.

    Whoever calls a file damaged, and advises to delete it, asks here first.

    Raises:
        MemoryError: memory is short, also where the system or a library says so in another way.
        OSError: too many files are open.
    """
    short = isinstance(error, OSError) and error.errno in _SHORT
    if isinstance(error, MemoryError) or (short and getattr(error, "errno", None) == errno.ENOMEM):
        raise MemoryError(first_line(error)) from error  # type: ignore[arg-type]
    if short:
        raise error


def first_line(error: Exception) -> str:
    """The first line of a library's message; the error's name where it has none."""
    return next(iter(str(error).splitlines()), type(error).__name__)

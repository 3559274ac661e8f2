"""The one error class that users see."""


class ReprlabError(Exception):
    """A problem that the user can mend.

    The message is one line: it names the file or the setting, what is wrong with it, and the remedy. A line break in a
    name or value that it quotes is shown as a space.
    A stage that raises it ends with exit status 1 and prints that line; the traceback goes to the log.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


def first_line(error: Exception) -> str:
    """The first line of a library's message; the error's name where it has none."""
    return next(iter(str(error).splitlines()), type(error).__name__)

"""The one error class that users see."""


class ReprlabError(Exception):
    """A problem that the user can mend.

    The message is one line: it names the file or the setting, what is wrong with it, and the remedy.
    A stage that raises it ends with exit status 1 and prints that line; the traceback goes to the log.
    """

"""The view of a run as a logger plugin of Snakemake, `--logger reprlab`, which `profiles/default` asks for.

Snakemake loads it before it reads the Snakefile, which says from where `reprlab` is imported; so it imports nothing of
it, and the Snakefile hands it the view (`reprlab.terminal.engine`).
"""

import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase


def name_settings(record: logging.LogRecord) -> bool:
    """Say in one line how a setting is typed that the engine refuses by a traceback; every record passes.

    It reads `--config` before there is a view, or a Snakefile.
    """
    if "Invalid config definition" in str(record.msg):
        given = sys.argv[sys.argv.index("--config") + 1 :] if "--config" in sys.argv else []
        beside = [one for one in given if "=" not in one and not one.startswith("-")]
        if beside:
            said = f"write -- before it: … --config {' '.join(one for one in given if '=' in one)} -- {beside[0]}"
            record.msg = f"error: {beside[0]} follows --config and is not name=value; if it is a target, {said}"
            return True
        wrong = [one for one in given if "." in one.partition("=")[0]] or ["papers.depth.loss.sentence_weight=5"]
        record.msg = f'error: --config takes name=value; a setting below another is typed --config set="{wrong[0]}"'
    return True


logging.getLogger("snakemake.logging").addFilter(name_settings)


class LogHandler(LogHandlerBase):
    """Passes the engine's records on to the view of the run; before there is one, only what went wrong is shown."""

    def __post_init__(self) -> None:
        given = self.common_settings
        other = given.dryrun or given.quiet or given.verbose or given.debug_dag or given.printshellcmds
        self.view: logging.Handler | None = None
        self.shows = not other
        """False where the user asked for the engine's own words; a dry run is its own listing."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        if self.view is not None:
            self.view.handle(record)
        elif self.shows and record.levelno >= logging.WARNING:
            sys.stderr.write(f"{self.format(record)}\n")

    @property
    def writes_to_stream(self) -> bool:
        """Whether the engine leaves standard error to it."""
        return self.shows

    @property
    def writes_to_file(self) -> bool:
        """The engine keeps a log file of its own."""
        return False

    @property
    def has_filter(self) -> bool:
        """The engine's filter will do."""
        return False

    @property
    def has_formatter(self) -> bool:
        """The engine's words will do, where there is no view."""
        return False

    @property
    def needs_rulegraph(self) -> bool:
        """Jobs are told one by one."""
        return False

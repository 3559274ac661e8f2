"""A live view: what runs, how far each job is, what is done of how much, and what is left."""

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from reprlab.terminal.display import Display
from reprlab.terminal.estimate import in_words
from reprlab.terminal.jobs import Jobs, RunningJob


class Screen(Display):
    """Lines that stay above, and below them the jobs that run now."""

    def __init__(self, jobs: Jobs, run: Path, stream: TextIO, retries: Callable[[str], int]) -> None:
        # Our own way to the terminal: while the view is up, standard error of this process and its jobs is read.
        super().__init__(jobs, run, os.fdopen(os.dup(stream.fileno()), "w", encoding="utf-8"), retries)
        self.console = Console(file=self.stream, highlight=False, soft_wrap=True)
        self.live = Live(
            get_renderable=self._view, console=self.console, refresh_per_second=2, transient=True, redirect_stderr=False
        )
        atexit.register(self.end)

    def say(self, line: str) -> None:
        """One line that stays."""
        head, colon, rest = line.partition(":")
        style = {"failed": "bold red", "error": "red", "warning": "yellow", "stopping": "yellow"}.get(head.strip(), "")
        self.console.print(f"[{style}]{escape(head)}[/]{colon}{escape(rest)}" if style else Text(line))

    def begin(self) -> None:
        """Start the view."""
        self.live.start()
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        threading.Thread(target=self._pass_on, args=(read,), daemon=True, name="stderr").start()

    def end(self) -> None:
        """Leave the terminal as it was."""
        super().end()
        if self.live.is_started:
            self.live.stop()
            os.dup2(self.stream.fileno(), 2)

    def _pass_on(self, read: int) -> None:
        """Output of jobs is shown above the view, which it would tear apart."""
        with os.fdopen(read, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self.say(line.rstrip("\n"))

    def done(self, job: RunningJob) -> None:
        """The view shows it; a line for each of hundreds of jobs would push away what matters."""

    def show_made(self) -> None:
        """The tables and verdicts that the run has made."""
        from reprlab.terminal.tables import show_made

        folder = os.path.relpath(self.run, self.called_from)
        show_made(self.console, self.run, self.made, "" if folder == "." else f"{folder}/", self.again)

    def _view(self) -> RenderableType:
        jobs = self.jobs
        head = Table.grid(padding=(0, 2))
        head.add_row(jobs.counted, ProgressBar(total=max(jobs.total, 1), completed=jobs.done, width=30), jobs.left[2:])
        listed = Table.grid(padding=(0, 2))
        for job in jobs.listed():
            title = Text(f"  {job.title}", overflow="ellipsis", no_wrap=True)
            listed.add_row(title, in_words(job.seconds), job.progress)
        if more := len(jobs.running) - listed.row_count:
            listed.add_row(f"  and {more} more", "", "")
        return Group(head, listed)

"""Sums of what the papers cost as published, from `resources/costs`."""

from dataclasses import dataclass
from pathlib import Path

from reprlab.planning.measured_tables import read_rows
from reprlab.planning.published_jobs import COSTS
from reprlab.reporting.cost_layout import TOTAL


@dataclass(frozen=True)
class Total:
    """The last row of a paper's costs."""

    device: str
    """The accelerator."""
    device_hours: float
    """Hours of one device."""
    memory_gb: float
    """Most memory of a job."""
    downloaded_gb: float
    """Gigabytes that are downloaded, as far as they are known."""
    kept_gb: float
    """Gigabytes that stay."""
    calls: float
    """Requests to paid endpoints."""
    tokens: float
    """Tokens that are sent to them and answered."""
    paper_hours: str
    """Hours that the paper says."""
    note: str
    """What the hours assume."""

    def in_words(self) -> str:
        """One line."""
        known = f"{self.downloaded_gb:,.0f}" if self.downloaded_gb >= 10 else f"{self.downloaded_gb:.1f}"
        parts = [
            f"{self.device_hours:,.0f} hours at {self.note}",
            f"up to {self.memory_gb:,.0f} GB a job",
            f"at least {known} GB to download" if self.downloaded_gb else "downloads of unknown size",
            f"{self.kept_gb:,.0f} GB kept",
        ]
        if self.calls:
            parts.append(f"{self.calls:,.0f} calls of a paid endpoint with {self.tokens / 1e6:,.0f} million tokens")
        return ", ".join(parts) + (f"; the paper says {self.paper_hours} hours" if self.paper_hours else "")


def read_total(root: Path, paper: str) -> Total | None:
    """The total of a paper; None where its costs were not written."""
    row = next((row for row in read_rows(root / COSTS / f"{paper}.tsv") if row["stage"] == TOTAL), None)
    if row is None:
        return None
    number = {name: float(row[name] or 0) for name in _NUMBERS}
    tokens = number.pop("asked_tokens") + number.pop("answered_tokens")
    return Total(device=row["name"], tokens=tokens, paper_hours=row["paper_hours"], note=row["note"], **number)


_NUMBERS = ("device_hours", "memory_gb", "downloaded_gb", "kept_gb", "calls", "asked_tokens", "answered_tokens")

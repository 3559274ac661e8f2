"""Download one archive of the data registry, verify it and unpack the members that the registry lists."""

from pathlib import Path

from reprlab.registry.dataset_entries import Wanted
from reprlab.runtime.cli import run_stage


def fetch_archive(
    *,
    archive: str,
    registry: Path,
    cache: Path,
    receipt: Path,
    wanted: Wanted = Wanted(),  # noqa: B008 - a command-line default, never changed
) -> None:
    """Bring `archive` into `cache/<sha256>/` from the first origin that delivers it, and write `receipt`.

    Of an archive that is read in part, only the `wanted` files are fetched.

    Raises:
        ReprlabError: the registry does not know it, every origin failed (each is named with its reason), or it holds
            something that is refused.
    """
    from reprlab.data.downloads import listed_files, obtain, write_receipt
    from reprlab.hub.commits import beside, read_lock
    from reprlab.registry.datasets import load_registry

    entry = wanted.of(load_registry(registry).pinned(read_lock(beside(registry))).archive(archive))
    fetched = [obtain(entry, file, cache) for file in entry.files]
    for cached in fetched if entry.members else []:
        cached.ensure(entry.members, entry.member_limit)
    fetched += [obtain(entry, file, cache) for file in listed_files(entry, cache)]
    write_receipt(entry, fetched, receipt)


if __name__ == "__main__":
    run_stage(fetch_archive)

"""Load, merge and check the config."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from reprlab.config.hub import Adopted, adopt, restored
from reprlab.config.names import check_names
from reprlab.config.papers import APART, PAPERS, ByPaper, papers_needed
from reprlab.config.rehearsal import cut
from reprlab.config.runtime import REHEARSAL, SCALES, NumericsSettings, RuntimeSettings, WorkflowSettings
from reprlab.config.schema import published_as_shipped
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.machine import resolve_dtype
from reprlab.settings.base import Settings
from reprlab.settings.errors import nearest, setting_error, unknown_key, validation_error
from reprlab.settings.overrides import COMMAND_LINE, Layer, Merged, merge, normalise, parse_edits
from reprlab.settings.yaml_text import Key, read_yaml

if TYPE_CHECKING:
    from reprlab.config.variations import Variation

WORKFLOW_FILE = "config/config.yaml"
MODELS_FILE = "config/models.yaml"
DATASETS_FILE = "config/datasets.yaml"
DEFAULT_SCALE = "mini"


@dataclass(frozen=True)
class LoadedConfig:
    """The config of one run; `papers` holds the settings of each paper as the scale and the user set them."""

    root: Path
    workflow: WorkflowSettings
    papers: Mapping[str, Any]
    needed: tuple[str, ...]
    """The papers whose jobs are planned; their settings are checked, those of others when they are looked up."""
    warnings: list[str] = field(default_factory=list)
    home: Path | None = None
    """Folder in which runs lie and that may have a `config/` of its own; None: the checkout `root`."""
    hub: Mapping[str, tuple[str, Adopted]] = field(default_factory=dict)
    """Models of the hub without an entry: paper and setting, by the names that stand for them."""

    @property
    def config_root(self) -> Path:
        """The folder whose `config/` this is."""
        return config_root(self.root, self.home)

    @property
    def scale(self) -> str:
        """paper, small, mini, nano or rehearsal."""
        return self.workflow.scale

    @property
    def run(self) -> str:
        """Name of the run; that of the scale unless the user gives one."""
        return self.workflow.run or self.workflow.scale

    @property
    def run_folder(self) -> Path:
        """Folder in which results/ lies: home for the default run, else runs/<run> below it."""
        return self.own_folder if self.run == DEFAULT_SCALE else self.own_folder / "runs" / self.run

    @property
    def own_folder(self) -> Path:
        """Folder in which runs lie, and from which files of the user's are named."""
        return self.home or self.root

    @property
    def again(self) -> list[str]:
        """The settings that ask for the same run: its scale and name, where they are not the default ones."""
        scale = [] if self.scale == DEFAULT_SCALE else [f"scale={self.scale}"]
        return scale if self.run == self.scale else [*scale, f"run={self.run}"]

    @property
    def runtime(self) -> RuntimeSettings:
        """Result-neutral settings."""
        return self.workflow.runtime

    @property
    def numerics(self) -> NumericsSettings:
        """Arithmetic."""
        return self.workflow.numerics

    def arithmetic(self, wanted: str) -> Literal["float32", "bfloat16"]:
        """The arithmetic of a setting of type `Computed` on this machine; auto is `numerics.dtype`."""
        return resolve_dtype(self.numerics.dtype if wanted == "auto" else wanted, self.runtime.device)

    @property
    def preloads(self) -> bool:
        """Whether jobs are forked from one process that has the libraries loaded."""
        return self.scale in self.runtime.preloaded

    def threads(self, stage: str) -> int:
        """Threads of a stage."""
        threads = self.workflow.threads
        return threads.get(stage, threads.get("default", 1))

    @cached_property
    def models(self) -> Any:
        """The registry of models, `config/models.yaml`, with those of the hub that settings name.

        Raises:
            ReprlabError: the file is damaged, or a setting cannot take its model.
        """
        from reprlab.registry.hub_models import entry_of
        from reprlab.registry.models import load_models

        entries = load_models(self.config_root / MODELS_FILE)
        own = dict(entries)
        for name, (slug, one) in self.hub.items():
            try:
                entries[name] = entry_of(one.model, one.beside, own)
            except ReprlabError as error:
                raise setting_error(("papers", slug, *one.path), str(one.model), one.place, str(error)) from None
        if self.scale == REHEARSAL:
            from reprlab.models.cut import cut_entry

            # The weights of a hub are as large as they are.
            entries = {name: one if one.origin.kind == "hub" else cut_entry(one) for name, one in entries.items()}
        return {name: entry.pinned(self.commits) for name, entry in entries.items()} if self.commits else entries

    @cached_property
    def commits(self) -> dict[str, str]:
        """Commits of the branches that the registries name, from the lock file; empty where there is none."""
        from reprlab.hub.commits import beside, read_lock

        return read_lock(beside(self.config_root / MODELS_FILE))

    @cached_property
    def datasets(self) -> Any:
        """The registry of archives, corpora and tasks, `config/datasets.yaml`."""
        from reprlab.registry.datasets import load_registry

        registry = load_registry(self.config_root / DATASETS_FILE)
        return registry.pinned(self.commits) if self.commits else registry

    @cached_property
    def published(self) -> Mapping[str, Any]:
        """The settings of each paper at its own scale: the base of its file, without anybody's edits on top."""
        return ByPaper(lambda slug: published_settings([self.config_root / paper_file(slug)], slug))

    def variations(self, slug: str) -> "list[Variation]":
        """What is varied to see whether verdicts on a paper's claims turn, at this scale.

        Raises:
            ReprlabError: the list in the paper's file is not one of variations.
        """
        from reprlab.config.variations import variations_of

        return variations_of(_layer(self.config_root, paper_file(slug)), slug, self.scale)

    def as_dict(self) -> dict[str, Any]:
        """Plain values of the workflow and the needed papers, as JSON would hold them; `load_config(root,
        config.as_dict())` gives the same config."""
        values = self.workflow.model_dump(mode="json")
        return {**values, "papers": {slug: self.plain(slug) for slug in self.needed}}

    def plain(self, slug: str) -> dict[str, Any]:
        """Plain values of a paper, as they can be given again."""
        hub = {name: one for name, (paper, one) in self.hub.items() if paper == slug}
        values = self.papers[slug].model_dump(mode="json")
        return restored(values, hub) if hub else values

    def as_named(self, message: str) -> str:
        """A message that calls models of the hub as the settings do."""
        for name, (_, one) in self.hub.items():
            message = message.replace(name, str(one.model))
        return message


def load_config(
    root: Path,
    overrides: Mapping[str, Any] | None = None,
    configfiles: Sequence[Path] = (),
    home: Path | None = None,
    targets: Sequence[str] = (),
) -> LoadedConfig:
    """Load `config/` below `home`, if it has one, or `root`, with the user's settings on top.

    Precedence, from the weakest: base of a paper's file, its scale, `config.yaml`, `overrides`, edits under `set`.

    Args:
        root: folder of the Snakefile.
        overrides: what `--config` gives; `set` holds dotted edits, `settings` names further files.
        configfiles: what `--configfile` gives.
        home: the folder in which runs lie, if it is not `root`.
        targets: what is asked for, if it is not all that `build` names.

    Raises:
        ReprlabError: a key, type, value or name is wrong; one line with the key, its place and the nearest valid name.
    """
    root = Path(root)
    files = config_root(root, home)
    shipped = _layer(files, WORKFLOW_FILE)
    users = [shipped, *_user_layers(files, overrides or {}, configfiles)]
    top = merge(_without(layer, "papers") for layer in users)
    for key in top.values.keys() - WorkflowSettings.model_fields.keys():
        known = [*WorkflowSettings.model_fields, "papers", "set", "settings"]
        raise unknown_key((key,), top.values[key], top.place((key,)), known)
    workflow = _validated(WorkflowSettings, top, ())
    _check_workflow(files, workflow, top)
    workflow = workflow.model_copy(update={"build": workflow.build or list(PAPERS)})
    edits = [_below(layer, ("papers",)) for layer in users]
    _check_slugs(edits)
    needed = papers_needed(targets, workflow.build)

    @functools.cache
    def paper(slug: str) -> tuple[Settings, list[str], dict[str, Adopted]]:
        return _paper(files, slug, PAPERS[slug], workflow.scale, edits)

    # A wrong edit is refused wherever it is, whatever is asked for.
    edited = {slug for layer in edits for slug in layer.values}
    warnings = [line for slug in PAPERS if slug in needed or slug in edited for line in paper(slug)[1]]
    hub = {name: (slug, one) for slug in PAPERS if slug in edited for name, one in paper(slug)[2].items()}
    return LoadedConfig(root, workflow, ByPaper(lambda slug: paper(slug)[0]), needed, warnings, home, hub)


def config_root(root: Path, home: Path | None) -> Path:
    """The folder whose `config/` holds: that of the runs where it has one, else the checkout."""
    return home if home is not None and (home / WORKFLOW_FILE).is_file() else root


def published_settings(files: Sequence[Path], slug: str) -> Any:
    """The settings of a paper at its own scale, from its YAML file, which is one of `files`.

    Raises:
        ReprlabError: the file is not among them, or not valid.
    """
    path = next((path for path in files if path.name == Path(paper_file(slug)).name), None)
    if path is None:
        raise ReprlabError(f"{paper_file(slug)}: the published settings were not given; pass it with --published")
    document = read_yaml(path, name=paper_file(slug))
    base = merge([_without(Layer(paper_file(slug), document.values, document.lines), *APART)])
    return _validated(PAPERS[slug], base, ("papers", slug))


def paper_file(slug: str) -> str:
    """Path of a paper's settings file below the root."""
    return f"config/papers/{slug}.yaml"


def _layer(root: Path, name: str) -> Layer:
    document = read_yaml(root / name, name=name)
    return Layer(name, document.values, document.lines)


def _user_layers(root: Path, overrides: Mapping[str, Any], configfiles: Sequence[Path]) -> list[Layer]:
    """The user's files and what was typed, the stronger later; last the dotted edits of the strongest that has some."""
    values = normalise(overrides)
    named = values.pop("settings", None)
    paths = [path for path in map(Path, configfiles) if path.resolve() != (root / WORKFLOW_FILE).resolve()]
    paths += [Path(str(path)) for path in (named if isinstance(named, list) else [named]) if path]
    layers = [*(_user_file(path.absolute()) for path in paths), Layer(COMMAND_LINE, values)]
    edits = [Layer(layer.origin, parse_edits(layer.values["set"])) for layer in layers if "set" in layer.values]
    return [*(_without(layer, "set") for layer in layers), *edits[-1:]]


def _user_file(path: Path) -> Layer:
    name = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    document = read_yaml(path, name=name)
    return Layer(name, document.values, document.lines)


def _without(layer: Layer, *keys: str) -> Layer:
    return Layer(layer.origin, {name: value for name, value in layer.values.items() if name not in keys}, layer.lines)


def _below(layer: Layer, path: Key) -> Layer:
    """The part of a layer under `path`, as a layer of its own."""
    values: Any = layer.values
    for depth, key in enumerate(path):
        values = values.get(key)
        if values is None:
            return Layer(layer.origin, {})
        if not isinstance(values, Mapping):
            raise setting_error(
                path[: depth + 1], values, layer.place(path[: depth + 1]), "must be a mapping of settings"
            )
    size = len(path)
    lines = {key[size:]: line for key, line in layer.lines.items() if key[:size] == path and len(key) > size}
    return Layer(layer.origin, values, lines)


def _validated(model: type[BaseModel], merged: Merged, prefix: Key) -> Any:
    try:
        # Strict also where a group is a stage's own model: true is not a number, and neither is "8".
        return model.model_validate(merged.values, strict=True)
    except ValidationError as error:
        raise validation_error(error, model, merged, prefix) from None


def _check_workflow(root: Path, workflow: WorkflowSettings, top: Merged) -> None:
    for slug in workflow.build:
        if slug not in PAPERS:
            raise setting_error(("build",), slug, top.place(("build",)), f"unknown paper{nearest(slug, PAPERS)}")
    run = workflow.run
    if run in (*SCALES, REHEARSAL) and run != workflow.scale:
        problem = f"is the run of scale {run}, and this is scale {workflow.scale}; choose another name"
        raise setting_error(("run",), run, top.place(("run",)), problem)
    stages = {path.stem for path in Path(__file__).parents[1].joinpath("stages").glob("[a-z]*.py")}
    for stage in workflow.threads:
        if stage not in stages | {"default"}:
            place = top.place(("threads", stage))
            raise unknown_key(("threads", stage), workflow.threads[stage], place, stages | {"default"}, "stage")


def _check_slugs(edits: Sequence[Layer]) -> None:
    for layer in edits:
        for slug in layer.values:
            if slug not in PAPERS:
                raise unknown_key(("papers", slug), layer.values[slug], layer.place((slug,)), PAPERS, "paper")


def _paper(
    root: Path, slug: str, model: type[Settings], scale: str, edits: Sequence[Layer]
) -> tuple[Settings, list[str], dict[str, Adopted]]:
    file = _layer(root, paper_file(slug))
    scales = _below(file, ("scales",))
    for name in scales.values:
        if name not in SCALES or name == "paper":
            place = file.place(("scales", name))
            raise unknown_key(("scales", name), scales.values[name], place, set(SCALES) - {"paper"}, "scale")
    base = _without(file, *APART)
    scaled = _below(file, ("scales", scale))
    merged = merge([base, scaled, *(_below(layer, (slug,)) for layer in edits)])
    if scale == REHEARSAL:
        # Over the user's edits too: a rehearsal of them is as small.
        merged = merge([base, *(_below(layer, (slug,)) for layer in edits), Layer("a rehearsal", cut(merged.values))])
    merged, hub = adopt(merged, [merge([base, scaled]).values, base.values], ("papers", slug))
    settings = _validated(model, merged, ("papers", slug))
    check_names(root, settings, merged, ("papers", slug), hub)
    return settings, list(_shadowed(root, slug, scale, base, scaled, merged)), hub


def _shadowed(root: Path, slug: str, scale: str, base: Layer, scaled: Layer, merged: Merged) -> Iterator[str]:
    """Edits of the base that the scale overrides."""
    shipped = dict(leaves(published_as_shipped(root).get(slug, base.values)))
    scale_leaves = dict(leaves(scaled.values))
    for path, value in leaves(base.values):
        edited = path not in shipped or shipped[path] != value
        if edited and path in scale_leaves and merged.layers.get(path) is scaled:
            name = f"papers.{slug}.{'.'.join(path)}"
            yield (
                f"{base.place(path)}: {name} = {value!r} is not used at scale {scale}, which sets "
                f"{scale_leaves[path]!r} ({scaled.place(path)}); edit it there, or pass set={name}=..."
            )


def leaves(values: Mapping[str, Any], path: Key = ()) -> Iterator[tuple[Key, Any]]:
    """The dotted paths of all values that are not mappings (an empty mapping counts), with the values."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value

"""The command line of a stage, made from the signature of its function."""

import atexit
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import describe_os_error
from reprlab.runtime.log import configure_logging, get_logger, log_use, write_error
from reprlab.runtime.process import end_with_parent
from reprlab.runtime.progress import report_beside


def run_stage(function: Callable[..., None], arguments: list[str] | None = None) -> None:
    """Run a stage function from command-line arguments (default: those of the process) and exit.

    Every parameter of `function` becomes a named option: `Path`, `str`, `int`, `float` and `bool` as they are,
    `list[...]` by repeating the option, a pydantic model as one JSON object. The docstring is the help text.
    `--log`, `--log-level` and `--threads` are added. A `ReprlabError` becomes one line and exit status 1.
    With `--plan FILE --job KEY` all of it comes from the plan of a run (`runtime.planned`), and the results are signed
    with the job.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if any(argument == "--plan" or argument.startswith("--plan=") for argument in given):
        _run_planned(function, given)
        if arguments is None:
            _end_process()
        return
    import typer

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(_command(function))
    app(args=arguments, standalone_mode=True)


def _run_planned(function: Callable[..., None], given: list[str]) -> None:
    from reprlab.runtime.planned import parse_arguments, planned_call, show
    from reprlab.runtime.seals import Making, sign_results
    from reprlab.runtime.stale import unchanged
    from reprlab.runtime.training_memory import TrainingMemory, save_memory
    from reprlab.runtime.versions import versions_of

    options = parse_arguments(function.__name__, given)
    try:
        if options.show:
            sys.stdout.write(show(function.__name__, options) + "\n")
            return
        _limit_threads(options.threads)
        save_memory(TrainingMemory(options.accumulation, bool(options.activation_checkpointing)))
        end_with_parent()
        _close_input()
        arguments, job, log = planned_call(function, options)
    except ReprlabError as error:
        _fail(error)
    if options.into is None:
        inputs, require = unchanged(job, Path())
        versions = versions_of(job.distributions)
        sign_results(Making(job.digest, options.plan.name, inputs, versions, options.threads), require)
    _run(function, arguments, log, options.log_level)


def _end_process() -> typing.NoReturn:
    """Exit without taking torch and transformers apart object by object, which costs more than a second."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _close_input() -> None:
    """No library may ask a question and take for an answer what happens to be on standard input."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _command(function: Callable[..., None]) -> Callable[..., None]:
    import typer

    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    parameters = []
    for name, parameter in signature.parameters.items():
        parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_option(name, hints[name])))
    common = {
        "log": Annotated[Path | None, typer.Option(help="Write the log to this file.")],
        "log_level": Annotated[str, typer.Option(help="debug, info, warning or error.")],
        "threads": Annotated[int, typer.Option(help="Threads for torch and BLAS.")],
    }
    defaults: dict[str, Any] = {"log": None, "log_level": "info", "threads": 1}
    for name, annotation in common.items():
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=defaults[name])
        )

    def command(**options: Any) -> None:
        log, level, threads = (options.pop(name) for name in common)
        _limit_threads(threads)
        end_with_parent()
        _close_input()
        _run(function, options, log, level)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    return command


def _option(name: str, hint: Any) -> Any:
    import typer
    from pydantic import BaseModel

    flag = "--" + name.replace("_", "-")
    inner = _without_none(hint)
    if inspect.isclass(inner) and issubclass(inner, BaseModel):
        return Annotated[Any, typer.Option(flag, parser=_json_parser(inner), metavar="JSON")]
    if inner is bool:
        return Annotated[hint, typer.Option(f"{flag}/--no-{name.replace('_', '-')}")]
    return Annotated[hint, typer.Option(flag)]


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        if len(members) == 1:
            return members[0]
    return hint


def _json_parser(model: Any) -> Callable[[Any], Any]:
    from pydantic import ValidationError

    def parse(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return model.model_validate_json(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            _fail(ReprlabError(f"{model.__name__}.{where}: {first['msg']} (got {first.get('input')!r})"))

    parse.__name__ = model.__name__
    return parse


def _limit_threads(threads: int) -> None:
    # Read by OpenMP and BLAS when torch or numpy is first imported, which stages do inside their functions.
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(threads)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _run(function: Callable[..., None], options: dict[str, Any], log: Path | None, level: str) -> None:
    try:
        configure_logging(level, log)
        if log is not None:
            report_beside(log)
    except OSError as error:
        _fail(describe_os_error(error, log or Path()))
    try:
        function(**options)
        log_use()
    except ReprlabError as error:
        get_logger().debug("traceback", exc_info=True)
        _write_traceback(log)
        _fail(error)
    except OSError as error:
        _write_traceback(log)
        _fail(describe_os_error(error, Path(error.filename or ".")))
    except KeyboardInterrupt:
        _fail(ReprlabError(f"{function.__name__}: interrupted"), status=130)
    except MemoryError:
        _write_traceback(log)
        _fail(ReprlabError(f"{function.__name__}: out of memory; run with fewer jobs (--cores) or a smaller batch"))
    except Exception as error:
        _write_traceback(log)
        where = f"; traceback in {log}" if log else ""
        if log is None:
            raise
        _fail(ReprlabError(f"{function.__name__}: unexpected {type(error).__name__}: {error}{where}"))


def _write_traceback(log: Path | None) -> None:
    import traceback

    if log is not None:
        try:
            with log.open("a", encoding="utf-8") as handle:
                handle.write(traceback.format_exc())
        except OSError as error:
            sys.stderr.write(f"{log}: the traceback could not be written ({error.strerror})\n")


def _fail(error: ReprlabError, status: int = 1) -> typing.NoReturn:
    line = " ".join(str(error).split())
    write_error(f"error: {line}\n")
    raise SystemExit(status)

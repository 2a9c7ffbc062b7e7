"""The commands as functions. Their keywords come from the registry (_settings.py); here is what each adds to them."""
from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

from . import results
from ._run import Progress, run
from ._settings import Settings, options_of, parameters_of
from ._tables import path_of
from ._types import Path, Table
from .policy import Policy

SMALL = 20_000  # rows


def _is_small(data: Any) -> bool:
    """Whether a report, which looks at risks from many sides, takes no time that anybody notices."""
    try:
        if isinstance(data, Mapping):
            return all(len(column) <= SMALL for column in data.values())
        path = path_of(data)
        return len(data) <= SMALL if path is None else os.path.getsize(path) <= 40 * SMALL
    except (TypeError, OSError):
        return False


def _command(about: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the registry's keywords in its signature, and in its documentation."""
    name = about.__name__.rstrip("_")

    @functools.wraps(about)
    def function(*arguments: Any, **keywords: Any) -> Any:
        return about(*arguments, **keywords)

    own = inspect.signature(about)
    fixed = [parameter for parameter in own.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    function.__signature__ = own.replace(parameters=fixed + parameters_of(name))  # type: ignore[attr-defined]
    lines = [f"    {option.keyword}: {option.help}" for option in options_of(name)]
    function.__doc__ = inspect.cleandoc(about.__doc__ or "").rstrip() + "\n\nKeywords of the registry:\n" + \
        "\n".join(lines) + "\n"
    function.__name__ = function.__qualname__ = name
    return function


@_command
def anonymize(data: Table, *, policy: Policy | Path | None = None, progress: bool | Progress = False,
              on_interrupt: Literal["raise", "best"] = "raise", **options: Any) -> results.Release:
    """Release a table in which everybody hides among at least k.

    The release is verified before you get it, by code that shares nothing with the search. It stays in memory unless
    ``output`` names a file.

    >>> import kanon
    >>> kanon.anonymize({"age": [31, 33, 38, 52, 57, 58]}, qi="age", k=3).to_dict()
    {'age': ['31..38', '31..38', '31..38', '52..58', '52..58', '52..58']}

    Args:
        data: anything with ``__arrow_c_stream__`` (pandas, polars, pyarrow, DuckDB, ...), a path, or a dict of columns.
        policy: a :class:`Policy`, or the path of one; keywords override it.
        progress: True for a bar, or a function of stage and fraction (negative when unknown) that returns True to stop.
        report: made by itself of tables with up to 20,000 rows, for notebooks; on large ones it takes its time.
        on_interrupt: what Ctrl-C does: ``"raise"`` KeyboardInterrupt, or return the ``"best"`` release so far where
            the search has one.

    Raises:
        NotMet: no release exists that meets what was asked for.
        UsageError: the settings are wrong. InputError: the data is. ResourceError: memory ran out.
    """
    if options.get("output") is True:  # it is kept anyway
        del options["output"]
    settings = Settings("anonymize").with_tables(data=data).set_all({"report": _is_small(data)} | options)
    if not settings.has("output"):
        settings.add("output", "table:")
    return run(settings, results.Release, policy=policy, progress=progress, on_interrupt=on_interrupt)


@_command
def verify(release: Table, *, policy: Policy | Path | None = None, must_hold: bool = True,
           progress: bool | Progress = False, **options: Any) -> results.Verdict:
    """Check a released table, ours or not, by recounting it.

    Args:
        release: the released table.
        policy: what it has to fulfil.
        must_hold: False returns the verdict whatever it is; otherwise one that is not "holds" raises NotMet, with the
            verdict as its ``result``.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("verify").with_tables(release=release).set_all(options)
    return run(settings, results.Verdict, policy=policy, progress=progress, keep_failed=not must_hold)


@_command
def measure(data: Table, release: Table, *, policy: Policy | Path | None = None, progress: bool | Progress = False,
            **options: Any) -> results.Losses:
    """Tell what a release lost, by every measure, from the two tables alone.

    Args:
        data: the table that the release was made from.
        release: the released table.
        policy: the policy of the release.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("measure").with_tables(data=data, release=release).set_all(options)
    return run(settings, results.Losses, policy=policy, progress=progress)


@_command
def risk(data: Table, *, policy: Policy | Path | None = None, progress: bool | Progress = False,
         **options: Any) -> results.Risks:
    """Tell who could be found in a table or a release, and how.

    Args:
        data: the table, or the release.
        policy: which columns an attacker may know.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("risk").with_tables(data=data).set_all({"report": True} | options)
    return run(settings, results.Risks, policy=policy, progress=progress)


@_command
def compare(data: Table, *, policy: Policy | Path | None = None, progress: bool | Progress = False,
            **options: Any) -> results.Comparison:
    """Compare algorithms and k on one table: loss against risk. ``plot()`` of the result draws the frontier.

    Args:
        data: the table.
        policy: what a release has to fulfil.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("compare").with_tables(data=data).set_all({"report": True, "output": True} | options)
    return run(settings, results.Comparison, policy=policy, progress=progress)


@_command
def lattice(data: Table, *, policy: Policy | Path | None = None, progress: bool | Progress = False,
            **options: Any) -> results.Lattice:
    """List every full-domain generalization with what it costs. ``plot()`` of the result draws the lattice.

    Args:
        data: the table.
        policy: what a release has to fulfil.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("lattice").with_tables(data=data).set_all({"report": True, "output": True} | options)
    return run(settings, results.Lattice, policy=policy, progress=progress)


@_command
def profile(data: Table, *, progress: bool | Progress = False, **options: Any) -> results.Profile:
    """Suggest types, roles and a policy for a table.

    Args:
        data: the table.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("profile").with_tables(data=data).set_all({"output": True} | options)
    return run(settings, results.Profile, progress=progress)


@_command
def check(data: Table, *, policy: Policy | Path | None = None, progress: bool | Progress = False,
          **options: Any) -> results.Check:
    """Check a policy against a table; nothing is released. The result is true where the policy fits.

    Args:
        data: the table.
        policy: the policy.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("check").with_tables(data=data).set_all(options)
    return run(settings, results.Check, policy=policy, progress=progress, keep_failed=True)


@_command
def hierarchy_(what: Literal["make", "check", "show", "rectify"], data: Table, *, progress: bool | Progress = False,
               **options: Any) -> results.Hierarchy:
    """Make, check, draw or rectify a generalization hierarchy.

    >>> import kanon
    >>> tree = kanon.hierarchy("make", {"age": [31, 38, 52]}, hierarchy={"age": "intervals(10,50)"})
    >>> tree.rows[0]
    ['31', '30..39', '0..49', '*']

    Args:
        what: what to do.
        data: a hierarchy, or a table together with ``hierarchy``.
        progress: as for :func:`anonymize`.
    """
    settings = Settings("hierarchy", [("what", what)]).with_tables(data=data).set_all(options)
    return run(settings, results.Hierarchy, progress=progress)


@_command
def list_(what: Literal["algorithms", "measures", "models", "hierarchies"], **options: Any) -> results.Listing:
    """Show what there is to choose from.

    >>> import kanon
    >>> kanon.list("models").names()[:2]
    ['k-anonymity', 'l-diversity']

    Args:
        what: what to list.
    """
    settings = Settings("list", [("what", what)]).set_all(options)
    return run(settings, results.Listing)


COMMANDS = (anonymize, verify, measure, risk, profile, check, compare, lattice, hierarchy_, list_)

"""Keywords from the registry: which options a command takes, what type each has in Python, and how a value in Python
becomes the text that the option takes. A new option of the library is a new keyword here without a line of code.
"""
from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _kanon
from ._tables import is_table, path_of, stream_of
from .errors import UnknownOption

# The terminal's business, and what has a parameter of its own.
_NOT_KEYWORDS = {"color", "progress", "quiet", "verbose", "help", "version", "policy",
                 "sql"}  # DuckDB's own package hands over what a query answers
# Options whose value a job writes: True keeps it with the result.
_TARGETS = {"output", "report", "json", "codebook"}
# Files that may be tables in memory; every other one is a path.
_TABLES = {"original", "attack", "population", "domains", "given"}


@dataclass(frozen=True)
class Option:
    """One option of the registry."""

    name: str  # "max-suppressed"
    argument: str | None  # "N|P%"; None: a switch
    group: str
    help: str
    commands: tuple[str, ...]

    @property
    def keyword(self) -> str:
        return self.name.replace("-", "_")

    @property
    def choices(self) -> list[str]:
        """The words of an option that takes one of them."""
        return self.argument.split("|") if self.argument and re.fullmatch(r"[a-z0-9|-]+", self.argument) and \
            "|" in self.argument else []

    def is_target(self, command: str) -> bool:
        """Whether the command writes it; others read a schema or a certificate."""
        return self.name in _TARGETS or (self.name in ("schema", "certificate") and command == "anonymize")

    def annotation(self, command: str) -> str:
        """The type of the keyword, as source."""
        form = self.argument
        if form is None:
            return "bool"
        if self.choices:
            return "Literal[" + ", ".join(f'"{word}"' for word in self.choices) + "]"
        if self.is_target(command):
            return "Path | bool"
        if form.startswith("COL="):
            return "Mapping[str, Table | Scalar] | Names" if "FILE" in form else "Mapping[str, Scalar] | Names"
        by_form = {"FILE": "Table" if self.name in _TABLES else "Path", "FRACTION|FILE": "float | Table", "N": "int", "P": "float", "S": "float",
                   "BYTES": "int | str", "N|P%": "int | str", "COL": "str", "C": "str", "NAME": "Spec",
                   "NAME[:param=v,...]": "Spec"}
        if self.name == "k" and command == "compare":
            return "int | Iterable[int] | str"
        if self.name == "model":
            return "Spec | Iterable[Spec] | Mapping[str, Mapping[str, Any]]"
        return by_form.get(form, "Names" if "," in form or re.fullmatch("[a-z]", form) else "Scalar")


OPTIONS = [Option(name, argument, group, help, tuple(commands))
           for name, argument, group, help, commands in _kanon.options()]


def options_of(command: str) -> list[Option]:
    """What a command takes as keywords, in the order of its help."""
    return [option for option in OPTIONS if command in option.commands and option.name not in _NOT_KEYWORDS]


def parameters_of(command: str) -> list[inspect.Parameter]:
    """The same for a signature. What has None as its default is as the library has it."""
    return [inspect.Parameter(option.keyword, inspect.Parameter.KEYWORD_ONLY, default=None,
                              annotation=f"{option.annotation(command)} | None") for option in options_of(command)]


def find_option(command: str, keyword: str) -> Option:
    for option in options_of(command):
        if option.keyword == keyword:
            return option
    near = _kanon.nearest(keyword, command)
    hint = f" (did you mean {near.replace('-', '_')}?)" if near and near not in _NOT_KEYWORDS else ""
    raise UnknownOption(f"{command}() takes no '{keyword}'{hint}", option=keyword)


# --- Values ---------------------------------------------------------------------------------------------------------


@dataclass
class Settings:
    """Options and tables of one call, as the library takes them."""

    command: str
    options: list[tuple[str, str]] = field(default_factory=list)
    tables: list[tuple[str, Any]] = field(default_factory=list)

    def with_tables(self, **tables: Any) -> Settings:
        for name, value in tables.items():
            self.add_table(name, value)
        return self

    def set_all(self, keywords: Mapping[str, Any]) -> Settings:
        for keyword, value in keywords.items():
            option = find_option(self.command, keyword)
            if value is not None:
                self._set(option, value)
        return self

    def add(self, name: str, value: str) -> None:
        self.options.append((name, value))

    def add_table(self, name: str, value: Any) -> None:
        """A table argument: data, release, or an option of that kind."""
        path = path_of(value)
        if path is not None:
            self.add(name, path)
        else:
            self.tables.append((name, stream_of(value)))

    def has(self, name: str) -> bool:
        return any(option == name for option, _ in self.options)

    def _set(self, option: Option, value: Any) -> None:
        form = option.argument or ""
        if option.argument is None or option.choices:
            self.add(option.name, _scalar(value))
        elif option.is_target(self.command):
            if value is not False:
                self.add(option.name, "text:" if value is True else _path(value))
        elif form.startswith("COL="):
            for pair in self._column_pairs(value):
                self.add(option.name, pair)
        elif option.name in _TABLES and not isinstance(value, (int, float)):
            self.add_table(option.name, value)
        elif form == "FILE":
            self.add(option.name, _path(value))
        elif option.name == "model":
            for spec in [value] if isinstance(value, (str, tuple)) else _items(value):
                self.add(option.name, self._spec(spec))
        elif form.startswith("NAME"):
            self.add(option.name, self._spec(value))
        else:
            self.add(option.name, value if isinstance(value, str) else _comma_list(value))

    def _column_pairs(self, value: Any) -> Iterable[str]:
        """{"age": "intervals(5,10)"} as "age=intervals(5,10)"; such texts are taken, too."""
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            for column, detail in value.items():
                yield f"{column}={self._detail(detail)}"
        else:
            yield from value

    def _detail(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, os.PathLike):
            return _path(value)
        if is_table(value):
            return self._memory_table(value)
        if isinstance(value, range):
            return f"{value.start}..{value.stop - 1}"
        if isinstance(value, Sequence):
            low, high = value
            return f"{'' if low is None else low}..{'' if high is None else high}"
        return _scalar(value)

    def _spec(self, value: Any) -> str:
        """("l-diversity", {"l": 3}) as "l-diversity:l=3"."""
        if isinstance(value, str):
            return value
        name, parameters = value
        pairs = [f"{key}={self._parameter(detail)}" for key, detail in parameters.items()]
        return f"{name}:{','.join(pairs)}" if pairs else str(name)

    def _parameter(self, value: Any) -> str:
        if isinstance(value, os.PathLike):
            return _escaped(os.fsdecode(value))
        if is_table(value):
            return self._memory_table(value)
        if not isinstance(value, str) and isinstance(value, Iterable):
            return "|".join(_escaped(str(item)).replace("|", "\\|") for item in value)
        return _escaped(_scalar(value))

    def _memory_table(self, value: Any) -> str:
        name = f"memory{len(self.tables) + 1}"
        self.tables.append((name, stream_of(value)))
        return f"table:{name}"


def _items(value: Any) -> Iterable[Any]:
    return value.items() if isinstance(value, Mapping) else value


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else str(value)


def _path(value: Any) -> str:
    path = path_of(value)
    if path is None:
        raise TypeError(f"{type(value).__name__} is no path")
    return path if "/" in path or path == "-" else f"./{path}"


def _escaped(text: str) -> str:
    return text.replace(",", "\\,")


def _comma_list(value: Any) -> str:
    if isinstance(value, Iterable):
        return ",".join(_escaped(_scalar(item)) for item in value)
    return _scalar(value)

"""What can go wrong, and what is only said.

Every exception of the library is a :class:`KanonError`. It carries what its message is about, so that a program need
not read sentences: ``code``, ``option``, ``file``, ``line``, ``character``, ``column``, and where there is one the
``result`` beside it, such as the findings of a verification that failed. Of a policy with several slips every one has
its line in the message, and an exception of its own in ``others``.
"""
from __future__ import annotations

import re
from typing import Any

from . import _kanon


class KanonError(Exception):
    """Something did not work. The message is a sentence for a person; the attributes say what it is about.

    Attributes:
        code: the program's exit code: 1 not met, 2 usage, 3 input, 4 resources, 130 interrupted.
        option: the keyword to correct (``max_suppressed``), or ``""``.
        file: the table, hierarchy or policy, or ``""``.
        line: the line there, from 1 (the row of a table in memory), or 0.
        character: the place in that line, from 1 (of a policy), or 0.
        column: the table's column, or ``""``.
        result: what was found all the same, or None.
        others: what else is wrong with a policy, in the order of the file: an exception each.
    """

    code: int = 0

    def __init__(self, message: str, *, code: int | None = None, option: str = "", file: str = "", line: int = 0,
                 character: int = 0, column: str = "", result: Any = None,
                 others: tuple[KanonError, ...] = ()) -> None:
        super().__init__(message)
        self.code = type(self).code if code is None else code
        self.option = option.replace("-", "_")
        self.file = file
        self.line = line
        self.character = character
        self.column = column
        self.result = result
        self.others = others


class NotMet(KanonError):
    """A guarantee does not hold or could not be checked, or no release exists that meets it."""

    code = 1


class UsageError(KanonError, ValueError):
    """The settings or the policy are wrong."""

    code = 2


class UnknownOption(UsageError, TypeError):
    """There is no such keyword; the message suggests one that is near."""


class InputError(KanonError, ValueError):
    """The data or a file is wrong, or cannot be read or written."""

    code = 3


class ResourceError(KanonError, MemoryError):
    """Memory or threads ran out."""

    code = 4


class Interrupted(KanonError, KeyboardInterrupt):
    """The progress function asked to stop before there was a release."""

    code = 130


class KanonWarning(UserWarning):
    """Something the user should know: a column left out, a sensitive column that no model protects."""


_BY_CODE = {kind.code: kind for kind in (NotMet, UsageError, InputError, ResourceError, Interrupted)}


_FLAG = re.compile(r"--(" + "|".join(sorted((name for name, *_ in _kanon.options()), key=len, reverse=True)) + r")\b(?!-)")


def in_python(message: str) -> str:
    """A message of the library, with keywords in place of flags."""
    return _FLAG.sub(lambda flag: flag.group(1).replace("-", "_"), message)


def error_of(about: dict[str, Any], result: Any = None) -> KanonError:
    """The exception for what the library reported."""
    kind = _BY_CODE.get(about["code"], KanonError)
    others = tuple(error_of(other) for other in about.pop("others", []))
    message = "\n".join([in_python(about.pop("message")), *(str(other) for other in others)])
    return kind(message, result=result, others=others, **about)

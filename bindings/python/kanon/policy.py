"""Policies: the same YAML that the program reads."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _kanon
from ._settings import Settings
from .errors import error_of


class Policy(Mapping[str, Any]):
    """What a release has to fulfil, to be kept, compared, saved and signed.

    Made of keywords, or read from a file with :meth:`load`. It is a mapping of what was set: one text, or a list of
    texts where an option may be repeated.

    >>> import kanon
    >>> policy = kanon.Policy(qi=["age", "zip"], sensitive="illness", k=5, hierarchy={"age": "intervals(5,10)"})
    >>> policy["k"]
    '5'
    >>> print(policy.text, end="")
    version: 1
    columns:
      age: {role: quasi, hierarchy: "intervals(5,10)"}
      zip: {role: quasi}
      illness: {role: sensitive}
    models:
      - k-anonymity: {k: 5}
    """

    def __init__(self, text: str | None = None, /, *, name: str = "policy", **options: Any) -> None:
        """A policy of keywords, or of the text of a policy file, which keywords override.

        Args:
            text: YAML, as in a file. Names of files in it are relative to the folder of ``name``.
            name: what messages call the policy.
            options: as for :func:`kanon.anonymize`.
        """
        settings = Settings("anonymize").set_all(options)
        if settings.tables:
            raise TypeError("a policy holds no tables: write them to files and name those")
        given = None if text is None else (text, name)
        changed = bool(settings.options) or text is None
        error, saved, in_force = _kanon.policy(given, settings.options, changed)
        if error is not None:
            raise error_of(error)
        self._name = name
        self._text: str = saved if changed else str(text)
        self._options: dict[str, Any] = {}
        for option, value in in_force:
            keyword = option.replace("-", "_")
            if keyword in self._options:
                known = self._options[keyword]
                self._options[keyword] = (known if isinstance(known, list) else [known]) + [value]
            else:
                self._options[keyword] = value

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Policy:
        """The policy in a file, with keywords that override it."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            error, _, _ = _kanon.policy(None, [("policy", os.fsdecode(path))], False)
            if error is None:
                raise
            raise error_of(error) from None
        return cls(text, name=os.fsdecode(path), **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy where the program and :meth:`load` can read it. One that was read from a file and not
        changed keeps its bytes, comments and all."""
        Path(path).write_text(self._text, encoding="utf-8")

    def with_(self, **options: Any) -> Policy:
        """The same policy, with keywords that override it."""
        return Policy(self._text, name=self._name, **options)

    @property
    def text(self) -> str:
        """The policy as YAML."""
        return self._text

    @property
    def name(self) -> str:
        """What messages call it: the path it was read from."""
        return self._name

    def __getitem__(self, option: str) -> Any:
        return self._options[option]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._options == other._options

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Policy {self._name}: {', '.join(self._options)}>"

    def _repr_html_(self) -> str:
        from .results import escaped

        return f"<pre>{escaped(self._text)}</pre>"



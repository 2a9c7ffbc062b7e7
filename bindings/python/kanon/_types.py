"""Names for the types of keywords."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias


class ArrowStream(Protocol):
    """Anything that gives its table as a stream of Arrow batches."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Path: TypeAlias = str | os.PathLike[str]
Table: TypeAlias = ArrowStream | Path | Mapping[str, Any]
Names: TypeAlias = str | Iterable[str]
Scalar: TypeAlias = str | int | float | bool | tuple[int | None, int | None] | range | os.PathLike[str]
Spec: TypeAlias = str | tuple[str, Mapping[str, Any]]

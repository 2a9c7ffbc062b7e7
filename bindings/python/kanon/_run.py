"""One run of the library: its progress shown, its warnings said, its error raised."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from . import _kanon, results
from ._settings import Settings
from .errors import Interrupted, UsageError, error_of
from .policy import Policy

Progress = Callable[[str, float], Any]
Found = TypeVar("Found", bound=results.Result)


class _Bar:
    """Progress for people: tqdm's bar where it is installed, otherwise one line on standard error."""

    def __init__(self) -> None:
        self.stage = ""
        self.bar: Any = None

    def __call__(self, stage: str, fraction: float) -> None:
        try:
            tqdm = import_module("tqdm.auto").tqdm
        except ImportError:
            share = f" {fraction:4.0%}" if fraction >= 0 else ""
            sys.stderr.write(f"\r{stage}{share}\x1b[K")
            sys.stderr.flush()
            self.stage = stage
            return
        if stage != self.stage or self.bar is None:
            self.close()
            self.stage, self.bar = stage, tqdm(total=1.0, desc=stage, bar_format="{desc} {percentage:3.0f}% {bar}")
        if fraction >= 0:
            self.bar.update(fraction - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.stage:
            sys.stderr.write("\r\x1b[K")
        self.bar = None


def policy_of(settings: Settings, policy: Any) -> tuple[str, str] | None:
    """A policy as its text and name. One in a file is read by the library, which then lets no output replace it."""
    if isinstance(policy, Policy):
        return policy.text, policy.name
    if policy is not None:
        settings.add("policy", os.fsdecode(policy))
    return None


def run(settings: Settings, make: Callable[[_kanon.Result], Found], *, policy: Any = None, progress: bool | Progress = False,
        on_interrupt: str = "raise", keep_failed: bool = False) -> Found:
    """A command with its settings: what it found, made of the raw result, or what went wrong as an exception."""
    if on_interrupt not in ("raise", "best"):
        raise UsageError(f"on_interrupt is 'raise' or 'best', not '{on_interrupt}'", option="on_interrupt")
    bar = _Bar() if progress is True else None
    told = bar or (progress if callable(progress) else None)
    try:
        text = policy_of(settings, policy)
        error, raw = _kanon.run(settings.command, settings.options, settings.tables, text, told, on_interrupt == "best")
    finally:
        if bar is not None:
            bar.close()
    result = None if raw is None else make(raw)
    if result is not None:
        result._say_warnings()
    if result is not None and (error is None or keep_failed or error["code"] == Interrupted.code):
        return result  # interrupted: the best release so far, as asked
    raise error_of(error or {"code": 0, "message": "there is no result"}, result)

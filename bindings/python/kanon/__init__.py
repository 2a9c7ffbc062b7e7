"""kanon: tables about people in which everybody hides among at least k.

    anonymize   release a table, verified
    verify      check any released table by recounting it
    measure     what a release lost, by every measure
    risk        who could be found, and how
    profile     types, suggested roles, a policy to start from
    check       a policy against a table: every problem at once
    compare     algorithms and k on one table: loss against risk
    lattice     every full-domain generalization with what it costs
    hierarchy   make, check, draw and rectify hierarchies
    list        algorithms, measures, models, hierarchies
    Policy      what a release has to fulfil, in the program's own YAML

Tables are anything with ``__arrow_c_stream__`` (pandas, polars, pyarrow, DuckDB, ...), a path, or a dict of columns. The
same policy and seed give the same bytes as the program. Keywords are the program's options, with ``_`` for ``-``.
"""
from . import _kanon
from ._functions import anonymize, check, compare, lattice, measure, profile, risk, verify
from ._functions import hierarchy_ as hierarchy
from ._functions import list_ as list
from .errors import (InputError, Interrupted, KanonError, KanonWarning, NotMet, ResourceError, UnknownOption,
                     UsageError)
from .policy import Policy
from .results import (Check, Comparison, Hierarchy, Lattice, Listing, Losses, Picture, Profile, Record, Release, Result,
                      Risks, Verdict)

__version__: str = _kanon.version()

__all__ = [
    "anonymize", "verify", "measure", "risk", "profile", "check", "compare", "lattice", "hierarchy", "list",
    "Policy",
    "Release", "Verdict", "Losses", "Risks", "Profile", "Check", "Comparison", "Lattice", "Hierarchy", "Listing",
    "Result", "Record", "Picture",
    "KanonError", "NotMet", "UsageError", "UnknownOption", "InputError", "ResourceError", "Interrupted", "KanonWarning",
    "__version__",
]

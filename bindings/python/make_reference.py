#!/usr/bin/env python3
"""make_reference.py OUT: the reference of the package `kanon`, from its docstrings, as Markdown. The package must be on
the path: PYTHONPATH=build/bindings/python bindings/python/make_reference.py docs/python-api.md"""
import inspect
import re
import sys

del sys.path[0]  # the sources beside this file are no package that can be imported
import kanon  # noqa: E402
from kanon import _functions  # noqa: E402
from kanon._settings import OPTIONS, options_of  # noqa: E402

SHOWN_ALWAYS = {"__arrow_c_stream__", "__bool__"}


def prose(text):
    """A docstring: roles of other tools are plain code, examples and lists of arguments are blocks."""
    text = re.sub(r":(?:func|meth|class):`([^`]+)`", r"`\1`", inspect.cleandoc(text or ""))
    text = text.replace("``", "`").partition("\n\nKeywords of the registry:")[0]
    out, block = [], None
    for line in text.splitlines():
        heading = re.fullmatch(r"(Args|Raises|Attributes):", line)
        if heading:
            out.append(f"**{heading[1]}**" if block is None else f"```\n\n**{heading[1]}**")
            block = None
            out.append("")
        elif line.startswith(">>>") and block is None:
            block = "pycon"
            out += ["```pycon", line]
        elif block and not line:
            block = None
            out += ["```", ""]
        elif block is None and re.match(r"    (\S+?): ", line):
            out.append(re.sub(r"^    (\S+?): ", r"- `\1`: ", line))
        elif block is None and line.startswith("        "):
            out.append("  " + line.strip())
        else:
            out.append(line.strip() if block is None else line)
    return "\n".join(out + (["```"] if block else [])).rstrip() + "\n"


def head(function):
    """Its own parameters; the registry's are in a table of their own."""
    own = {option.keyword for option in OPTIONS} - {"policy", "progress"}
    signature = inspect.signature(function)
    shown = [parameter for name, parameter in signature.parameters.items()
             if name != "self" and (name not in own or parameter.kind is not parameter.KEYWORD_ONLY)]
    words = []
    for parameter in shown:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        words.append(f"{parameter.name}: {parameter.annotation}{default}")
    return f"({', '.join(words)}) -> {signature.return_annotation}"


def class_text(name, kind):
    bases = [f"`{base.__name__}`" for base in kind.__bases__ if base.__name__ in kanon.__all__]
    text = f"## {name}\n\n" + (f"A {', '.join(bases)}. " if bases else "") + prose(kind.__doc__)
    rows = []
    for member, value in vars(kind).items():
        if member.startswith("_") and member not in SHOWN_ALWAYS:
            continue
        if isinstance(value, property):
            kind_of = inspect.signature(value.fget).return_annotation
            rows.append((f"`{member}`", f"{inspect.cleandoc(value.__doc__ or '').replace('``', '`')} (`{kind_of}`)"))
        elif inspect.isfunction(value) or isinstance(value, classmethod):
            function = value.__func__ if isinstance(value, classmethod) else value
            parameters = list(inspect.signature(function).parameters.values())[1:]
            signature = inspect.Signature(parameters).replace(parameters=[p.replace(annotation=p.empty) for p in parameters])
            first = prose(value.__doc__).partition("\n\n")[0].replace("\n", " ").strip()
            rows.append((f"`{member}{signature}`", first))
    if rows:
        text += "\n| | |\n|---|---|\n" + "".join(f"| {a} | {b} |\n".replace(" | None", " \\| None").replace("\n", " ").rstrip() + "\n"
                                                    for a, b in rows)
    return text


text = "# The Python package, function by function\n\nMade from the docstrings by `bindings/python/make_reference.py`; " \
    "[python.md](python.md) is the way in.\n\n"
for function in _functions.COMMANDS:
    name = function.__name__
    text += f"## {name}\n\n`kanon.{name}{head(function)}`\n\n{prose(function.__doc__)}\n"
text += "## Keywords\n\nOptions of the program, which say more with `kanon COMMAND --help`. All are optional.\n\n" \
    "| keyword | functions | what |\n|---|---|---|\n"
everywhere = {command.__name__: {option.name for option in options_of(command.__name__)} for command in _functions.COMMANDS}
for option in OPTIONS:
    names = [command for command, options in everywhere.items() if option.name in options]
    if names:
        shown = "all" if len(names) == len(everywhere) else ", ".join(names)
        text += f"| `{option.keyword}` | {shown} | {option.help.replace('|', chr(92) + '|').replace('<', '&lt;')} |\n"
text += "\n"
for name in kanon.__all__:
    thing = getattr(kanon, name)
    if isinstance(thing, type):
        text += class_text(name, thing) + "\n"
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write(text.rstrip("\n") + "\n")

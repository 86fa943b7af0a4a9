"""Makes `losscause/scenario.py` from the JSON schema of scenario files, which the Rust types give.

    python tools/scenario_types.py          # writes the module
    python tools/scenario_types.py --check  # fails if it would change
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

PYTHON = Path(__file__).resolve().parents[1]
SCHEMA = PYTHON.parent / "docs" / "scenario.schema.json"
MODULE = PYTHON / "losscause" / "scenario.py"

HEAD = '''"""Scenarios as typed objects: one class per table of a scenario file, with its keys as arguments.

    from losscause.scenario import BernoulliChannel, Flow, Link, Measure, Scenario

    Scenario(
        title="a video over a radio link",
        duration_s=60,
        measure=Measure(bottleneck="radio"),
        link=[Link(name="radio", rate_bps=1e6, delay_ms=50, queue_packets=20, channel=BernoulliChannel(loss=0.05))],
        flow=[Flow(name="video", protocol="tfrc", path=["radio"], measured=True)],
    )

Every object is a dictionary and can be used wherever a scenario or a part of it is a dictionary. A key that does not exist
and one that is missing raise `losscause.Error`; None leaves a key out.

Made by tools/scenario_types.py from docs/scenario.schema.json; change the Rust types instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from losscause._table import Table

'''


def main() -> int:
    made = module(json.loads(SCHEMA.read_text()))
    if "--check" in sys.argv[1:]:
        return int(MODULE.read_text() != made)
    MODULE.write_text(made)
    return 0


def module(schema: dict[str, Any]) -> str:
    """The text of the module."""
    # Aliases are texts, and stand behind everything that they may name.
    classes, aliases, names = [], [], ["Table"]
    for name, definition in [*sorted(schema["$defs"].items()), ("Scenario", schema)]:
        if "properties" in definition:
            classes.append(table(name, definition))
            names.append(name)
            continue
        variants = definition.get("oneOf", [])
        if variants and all("properties" in variant for variant in variants):
            made = [variant_name(name, variant) for variant in variants]
            classes += [table(made, variant) for made, variant in zip(made, variants, strict=True)]
            names += made
            aliases.append((name, union(made), definition))
        else:
            aliases.append((name, of(definition), definition))
        names.append(name)
    exported = "".join(f'    "{name}",\n' for name in sorted(names))
    text = HEAD + f"__all__ = [\n{exported}]\n"
    for name, type_, definition in aliases:
        comment = textwrap.fill(first_sentence(definition), 118, initial_indent="# ", subsequent_indent="# ")
        text += f'\n{comment}\n{name}: TypeAlias = "{type_}"\n'
    return text + "\n\n" + "\n\n".join(classes)


def table(name: str, definition: dict[str, Any]) -> str:
    """A class with the keys of a table."""
    properties = definition["properties"]
    fixed = {key: value["const"] for key, value in properties.items() if "const" in value}
    required = [key for key in definition.get("required", []) if key not in fixed]
    # In the schema's order keys are sorted; those that are required come first.
    keys = required + [key for key in properties if key not in fixed and key not in required]
    lines = [f"class {name}(Table):", *doc(definition, {key: properties[key] for key in keys}), ""]
    if fixed:
        lines += [f"    _fixed = {json.dumps(fixed)}".replace("'", '"'), ""]
    if keys:
        lines += ["    def __init__(", "        self,", "        *,"]
        for key in keys:
            type_ = of(properties[key])
            optional = "" if key in required else " = None"
            type_ = type_ if key in required or type_.endswith("| None") else f"{type_} | None"
            lines.append(f"        {key}: {type_}{optional},")
        lines.append("    ) -> None: ...")
    else:
        lines.append("    def __init__(self) -> None: ...")
    return "\n".join(lines) + "\n"


def doc(definition: dict[str, Any], properties: dict[str, Any]) -> list[str]:
    """The description of a table and of its keys."""
    lines = wrapped(definition.get("description", ""), "    ", "    ")
    lines[0] = f'    """{lines[0].strip()}'
    if properties:
        lines.append("")
    for key, value in properties.items():
        lines += wrapped(f"{key}: {text_of(value)}", "    ", "        ")
    lines.append('    """')
    return lines


def wrapped(text: str, first: str, rest: str) -> list[str]:
    text = " ".join(text.split()).replace("\\", "\\\\")
    return textwrap.wrap(text, 118, initial_indent=first, subsequent_indent=rest, break_long_words=False) or [first]


def text_of(definition: dict[str, Any]) -> str:
    return str(definition.get("description", ""))


def first_sentence(definition: dict[str, Any]) -> str:
    return " ".join(text_of(definition).split()).split(". ")[0].rstrip(".") + "."


def variant_name(union_name: str, variant: dict[str, Any]) -> str:
    """`GilbertElliottChannel` for the kind "gilbert-elliott" of `Channel`."""
    consts = [value["const"] for value in variant["properties"].values() if "const" in value]
    assert len(consts) == 1, f"{union_name}: a variant has one key that tells it from the others"
    words = consts[0].replace("_", "-").split("-")
    return "".join(word.capitalize() for word in words) + union_name.removesuffix("Kind")


def of(definition: dict[str, Any]) -> str:
    """The type of a value."""
    match definition:
        case {"$ref": reference}:
            return str(reference).rsplit("/", 1)[1]
        case {"const": value}:
            return f"Literal[{value!r}]".replace('"', "'")
        case {"anyOf": variants} | {"oneOf": variants}:
            return union([of(variant) for variant in variants])
        case {"type": list(types)}:
            return union([of({**definition, "type": type_}) for type_ in types])
        case {"type": "array", "minItems": least, "maxItems": most, "items": items} if least == most:
            return f"tuple[{', '.join([of(items)] * least)}] | list[{of(items)}]"
        case {"type": "array", "items": items}:
            return f"Sequence[{of(items)}]"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"Mapping[str, {of(values)}]"
        case {"type": "object"}:
            return "Mapping[str, Any]"
        case {"type": type_}:
            return {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None"}[type_]
    raise AssertionError(f"a form of schema that this script does not know: {definition}")


def union(types: list[str]) -> str:
    """Types joined, words as one literal, None last."""
    words = [type_.removeprefix("Literal[").removesuffix("]") for type_ in types if type_.startswith("Literal[")]
    others = [type_ for type_ in types if not type_.startswith("Literal[") and type_ != "None"]
    joined = ([f"Literal[{', '.join(words)}]"] if words else []) + others
    return " | ".join(dict.fromkeys(joined + ["None"] * ("None" in types)))


if __name__ == "__main__":
    sys.exit(main())

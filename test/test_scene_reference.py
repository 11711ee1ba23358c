#!/usr/bin/python3
"""docs/scene-reference.md against scenes/schema.json: each key of the schema is in the section that describes its block, with the same default,
and tables name no key that the schema does not have; and a page for each method in docs/method. Usage: test_scene_reference.py"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Blocks of the schema ("" is the top), the heading of their section, and what stands before their keys there.
SECTIONS = {
    "": ("The top", ""), "contact": ("contact", ""), "solver": ("solver", ""), "sa": ("solver", ""), "air": ("air", ""), "model": ("model", ""),
    "newton": ("newton and step_control", "newton."), "local-global": ("newton and step_control", "local-global."), "pbd": ("newton and step_control", "pbd."),
    "hpbd": ("newton and step_control", "hpbd."), "imex": ("newton and step_control", "imex."), "aimex": ("newton and step_control", "aimex."),
    "step_control": ("newton and step_control", "step_control."), "cloth": ("cloth", ""), "grid": ("grids", ""), "transform": ("transform", ""),
    "material": ("material", ""), "pin": ("pins", ""), "region": ("regions", ""), "select": ("where", ""), "strands": ("strands", ""), "brush": ("strands", ""),
    "volumes": ("volumes", ""), "obstacle": ("obstacles", ""), "shape": ("shapes", ""), "deform": ("deforming meshes", ""), "tie": ("ties", ""), "exclusion": ("contact", ""),
}
INHERITED = {"strands": "cloth", "volumes": "cloth"}  # "Keys are those of cloth but for these"
ELSEWHERE = {"$schema"}  # described in the text above the tables


def sections(text):
    """Heading to its text, without blocks of code."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    parts = re.split(r"^#{1,4} +(.*)$", text, flags=re.M)
    return {parts[k]: parts[k + 1] for k in range(1, len(parts) - 1, 2)}


def rows(section):
    """Key to the text of its default, for each key in the first cell of a table's row."""
    out = {}
    for line in section.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) >= 2:
            keys = re.findall(r"`([^`]+)`", cells[0])
            prefix = keys[0].rpartition(".")[0]
            defaults = [d.strip() for d in cells[1].split(",")] if len(keys) > 1 and "[" not in cells[1] else [cells[1]] * len(keys)
            for key, default in zip(keys, defaults + [""] * len(keys)):
                out[key if "." in key or not prefix else prefix + "." + key] = default
    return out


def properties(block):
    """Key to its default ("none" where it has none), of all alternatives of a block."""
    out = {}
    if isinstance(block, dict):
        for key, value in block.get("properties", {}).items():
            if isinstance(value, dict) and value is not False:
                out[key] = value.get("default", "none")
        for name in ("anyOf", "oneOf", "allOf"):
            for part in block.get(name, []):
                for key, value in properties(part).items():
                    out.setdefault(key, value)
    return out


def all_keys(node):
    """Keys of all blocks, and names that a key can have as its value."""
    out = set()
    if isinstance(node, dict):
        out |= set(node.get("properties", {}))
        out |= {v for v in node.get("enum", []) + [node.get("const")] if isinstance(v, str)}
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            out |= all_keys(part)
    return out


def value(text):
    """A default as the table has it; None where it is words."""
    text = text.strip().strip("`")
    try:
        return json.loads(text.replace("−", "-"))
    except ValueError:
        return None


def method_pages(schema):
    """docs/method has a page for each method, which names each setting with its default, and choose.md leads there."""
    wrong, choose = [], (ROOT / "docs/choose.md").read_text(encoding="utf-8")
    table = (ROOT / "src/step/method_table.c").read_text(encoding="utf-8")
    methods = [name.replace("_", "-") for name in re.findall(r"\{\.method = &method_(\w+)", table)]
    for method in methods:
        page = ROOT / "docs/method" / (method + ".md")
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        if "(method/%s.md)" % method not in choose or not text:
            wrong.append("docs/method/%s.md is not there, or choose.md does not lead to it" % method)
        block = schema["properties"].get(method, {})
        block = schema["$defs"][block["$ref"].rpartition("/")[2]] if "$ref" in block else block
        for key, about in block.get("properties", {}).items():
            if "\n| `%s` | %g | " % (key, about["default"]) not in text:
                wrong.append("docs/method/%s.md does not have `%s` with the default %g" % (method, key, about["default"]))
    if len(methods) < 11:
        wrong.append("only %d methods were found" % len(methods))
    return wrong


def main():
    schema = json.loads((ROOT / "scenes" / "schema.json").read_text(encoding="utf-8"))
    parts = sections((ROOT / "docs" / "scene-reference.md").read_text(encoding="utf-8"))
    blocks = dict(schema["$defs"], contact=schema["properties"]["contact"])
    blocks[""] = {"properties": schema["properties"]}
    wrong, keys, defaults = [], 0, 0
    for block, (heading, prefix) in SECTIONS.items():
        section = parts.get(heading)
        if section is None:
            wrong.append("there is no section `%s` for the block `%s`" % (heading, block))
            continue
        table = rows(section)
        said = set(re.findall(r"`\"?([\w.-]+)", section)) | set(re.findall(r'"([\w-]+)"', section))
        more = parts["cloth"] if block in INHERITED else ""
        for key, default in properties(blocks[block]).items():
            keys += 1
            name = prefix + key
            if name in table:
                found = value(table[name])
                if found is not None and default != "none" and default is not None:
                    defaults += 1
                    if found != default:
                        wrong.append("`%s` of `%s`: the default is %s in the schema and %s in the reference" % (key, block or "the top", default, found))
            elif key not in said and name not in said and key not in ELSEWHERE and "`%s`" % key not in more:
                wrong.append("`%s` of `%s` is not in the section `%s`" % (key, block or "the top", heading))
    known = all_keys(schema)
    for heading in sorted({heading for heading, _ in SECTIONS.values()}):
        for key in rows(parts.get(heading, "")):
            if re.fullmatch(r"[\w.-]+", key) and key.rpartition(".")[2] not in known:
                wrong.append("`%s` in the section `%s` is no key of the schema" % (key, heading))
    wrong += method_pages(schema)
    for line in wrong:
        print("scene-reference.md: " + line)
    print("%d keys, %d defaults" % (keys, defaults))
    if keys < 150 or defaults < 80:
        wrong.append("too little was compared")
    print("[  FAILED  ] 1 test(s)." if wrong else "[  PASSED  ] 1 test(s).")
    return 1 if wrong else 0


sys.exit(main())

"""results/index.html, results/numbers.csv and the drawings, from what steps left. Runs at any time: what is missing says so."""
import csv
import html
import os
import re

from items import ITEMS, WORKS, Missing, Source
from steps import STEPS, read_state, step_folder

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.7em } h2 { margin-top: 2.2em; border-bottom: 1px solid var(--line) } h3 { margin: 1.6em 0 0.3em }
table { border-collapse: collapse; margin: 0.6em 0; font-variant-numeric: tabular-nums } td, th { padding: 2px 12px 2px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
svg { max-width: 100%; height: auto; width: 640px } .picture { display: inline-block; width: 48%; margin: 0 1% 0.6em 0; font-size: 0.85em; opacity: 0.9 } img { max-width: 100%; border-radius: 4px } figure { margin: 0.6em 0 }
code { background: var(--soft); padding: 1px 4px; border-radius: 3px; font-size: 0.88em; overflow-wrap: anywhere } .remark { opacity: 0.85 } .missing { opacity: 0.6 } nav a { margin-right: 0.8em }
"""


def _anchor(work, label):
    return "%s-%s" % (work, re.sub(r"[^A-Za-z0-9]+", "-", label))


def _unique(svg, prefix):
    """Identifiers of a drawing that is put into a page with others."""
    return re.sub(r'(\bid="|url\(#|href="#)', lambda m: m.group(1) + prefix, re.sub(r"<\?xml.*?\?>", "", svg))


def build(context, machine):
    """Writes the files; returns (items shown, items in all)."""
    source = Source(context.folder)
    os.makedirs(os.path.join(context.folder, "drawings"), exist_ok=True)
    sections, numbers, shown_count = [], [], 0
    for work, label, title, builder in ITEMS:
        anchor = _anchor(work, label)
        head = '<h3 id="%s">%s: %s</h3>' % (anchor, html.escape(label), html.escape(title))
        try:
            shown = builder(source)
            shown_count += 1
        except Missing as missing:
            step = next((s for s in STEPS if s.name == str(missing)), None)
            command = step and step.command(context.form)
            text = "Not run yet: <code>%s</code>" % html.escape(command) if command else "Not in the %s form of this book." % context.form
            sections.append((work, head + '<p class="missing">%s</p>' % text))
            continue
        sections.append((work, head + _section(context, anchor, shown)))
        numbers += [(work, label) + tuple(fact) for fact in shown.facts]
    _write_numbers(os.path.join(context.folder, "numbers.csv"), numbers)
    _write_page(context, machine, sections, shown_count)
    return shown_count, len(ITEMS)


LONG = 16  # rows; longer tables are folded, below the drawing of the same numbers


def _facts(facts):
    rows = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(str(v)) for v in fact) for fact in facts)
    return "<table><tr><th></th><th>here</th><th>published</th></tr>%s</table>" % rows


def _section(context, anchor, shown):
    out = []
    folded = len(shown.facts) > LONG and (shown.drawings or shown.pictures)
    if shown.facts and not folded:
        out.append(_facts(shown.facts))
    for k, svg in enumerate(shown.drawings):
        with open(os.path.join(context.folder, "drawings", "%s-%d.svg" % (anchor, k + 1)), "w", encoding="utf-8") as file:
            file.write(svg)
        out.append("<figure>%s</figure>" % _unique(svg, "%s-%d-" % (anchor, k)))
    if shown.pictures:
        parts = [(html.escape(path.replace(os.sep, "/")), html.escape(caption)) for path, caption in shown.pictures]
        out.append("<figure>%s</figure>" % "".join('<span class="picture"><img src="%s" alt="%s"><br>%s</span>' % (path, caption, caption) for path, caption in parts))
    if folded:
        out.append("<details><summary>All %d numbers</summary>%s</details>" % (len(shown.facts), _facts(shown.facts)))
    if shown.remark:
        out.append('<p class="remark">%s</p>' % html.escape(shown.remark))
    return "".join(out)


def _write_numbers(path, numbers):
    with open(path + ".part", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("work", "item", "what", "here", "published"))
        writer.writerows(numbers)
    os.replace(path + ".part", path)


def _steps_table(context):
    rows = []
    for step in STEPS:
        command = step.command(context.form)
        state = read_state(step_folder(context, step))
        how = "not in this form" if command is None else "%.0f s, of the processor %.0f s; %s" % (state.get("seconds", 0), state.get("processor_s", 0), state.get("began", "")) if state.get("ended") else "failed or stopped" if state else "not run"
        if command and state and state.get("command") != command:
            how += " (sizes of another form: %s)" % state["command"]
        rows.append("<tr><td>%s</td><td><code>%s</code></td><td>%s</td></tr>" % (step.name, html.escape(command or "–"), html.escape(how)))
    return "<table><tr><th>step</th><th>command</th><th></th></tr>%s</table>" % "".join(rows)


def _write_page(context, machine, sections, shown_count):
    facts = "".join("<tr><td>%s</td><td>%s</td></tr>" % (html.escape(k), html.escape(str(v))) for k, v in machine.items())
    body = ["<h1>Results of Weft beside five published works</h1>",
            "<p>%d of %d tables and figures, %s form. Published numbers are as their text states them; where a work has a picture or a curve only, that is said. Wall-clock times are of the machine below, and of what else ran on it.</p>" % (shown_count, len(ITEMS), context.form),
            "<p><strong>Sizes of this form are for the test of the book itself: its numbers prove nothing.</strong></p>" if context.form == "tiny" else "",
            "<table>%s</table>" % facts, "<nav>%s</nav>" % "".join('<a href="#%s">%s</a>' % (w, w) for w in WORKS)]
    for work, name in WORKS.items():
        body.append('<h2 id="%s">%s</h2>' % (work, html.escape(name)))
        body += [text for of, text in sections if of == work]
    body += ["<h2>How it was run</h2>", _steps_table(context)]
    path = os.path.join(context.folder, "index.html")
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Weft: results</title><style>%s</style></head><body>%s</body></html>\n' % (STYLE, "\n".join(body)))
    os.replace(path + ".part", path)

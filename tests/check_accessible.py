#!/usr/bin/env python3
"""Every HTML report in a real browser: axe-core finds no violation of WCAG 2.1 A and AA, wide and narrow, and nothing
is wider than the screen, cut off, or written over something else in a picture. Printed on A4 and Letter, every cell is there in full, inside the margins; what is to be signed
takes at most five pages, and its first one has the date, the hash and the verdict.

    check_accessible.py KANON KANON_GENERATE CACHE_FOLDER

axe-core is fetched once into CACHE_FOLDER, as part of a Python package, and checked against its hash. Without Chromium or
without axe-core the test is skipped, and says so. Prints TAP.
"""
import csv
import hashlib
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

AXE = "axe-playwright-python==0.1.8"
AXE_SHA256 = "84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=30000"]
# Each page stands in a frame of its own width, several inside one page, so that the browser is not started for each.
AT_ONCE = 8
PROBE = """
var unseen = [];
document.querySelectorAll('body *').forEach(function (e) {
  var cuts = getComputedStyle(e).overflowX;
  if (e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && (cuts === 'hidden' || cuts === 'clip'))
    unseen.push('cut off: ' + e.textContent.slice(0, 80));
});
document.querySelectorAll('caption').forEach(function (caption) {
  var box = caption.getBoundingClientRect();
  if (box.right > window.innerWidth + 1) unseen.push('runs off: ' + caption.textContent);
  if (box.height > 60 && caption.textContent.length < 60 && window.innerWidth > 600) unseen.push('narrow: ' + caption.textContent);
});
// What is asked for and guaranteed is read on a phone without moving tables.
document.querySelectorAll('[aria-labelledby=asked] .scroll, [aria-labelledby=guaranteed] .scroll, main > .scroll').forEach(function (table) {
  if (table.scrollWidth > table.clientWidth + 1) unseen.push('has to be moved: ' + table.getAttribute('aria-label'));
});
// Words of headings are whole, but for those that are longer than a column may be.
document.querySelectorAll('th').forEach(function (heading) {
  var walk = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (walk.nextNode()) {
    var text = walk.currentNode, words = /[A-Za-z0-9.\u00c0-\u04ff]+/g, word;
    while ((word = words.exec(text.data)) !== null) {
      if (word[0].length > 12) continue;
      range.setStart(text, word.index);
      range.setEnd(text, words.lastIndex);
      var tops = [...range.getClientRects()].map(function (box) { return Math.round(box.top); });
      if (new Set(tops).size > 1) unseen.push('broken inside: ' + word[0]);
    }
  }
});
// A figure and the label behind it are not taken for one.
document.querySelectorAll('td.n + td:not(.n)').forEach(function (behind) {
  var ends = [behind.previousElementSibling, behind].map(function (cell) {
    var range = document.createRange();
    range.selectNodeContents(cell);
    return range.getBoundingClientRect();
  });
  if (ends[0].width > 0 && ends[1].width > 0 && ends[1].left - ends[0].right < 12) unseen.push('joined: ' + behind.parentNode.textContent);
});
document.querySelectorAll('svg').forEach(function (svg) {
  var frame = svg.getBoundingClientRect(), seen = [];
  svg.querySelectorAll('text').forEach(function (text) {
    var box = text.getBoundingClientRect();
    if (box.width === 0) return;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      unseen.push('outside its picture: ' + text.textContent);
    seen.forEach(function (other) {
      var wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      var high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (wide > 2 && high > box.height / 3) unseen.push('one over the other: ' + other.text + ' / ' + text.textContent);
    });
    seen.push({box: box, text: text.textContent});
  });
  svg.querySelectorAll('path.axis').forEach(function (line) {
    var place = line.getScreenCTM(), length = line.getTotalLength();
    for (var step = 1; step < 20; step++) {
      var at = line.getPointAtLength(length * step / 20).matrixTransform(place);
      seen.forEach(function (other) {
        if (at.x > other.box.left + 1 && at.x < other.box.right - 1 && at.y > other.box.top + 2 && at.y < other.box.bottom - 2)
          unseen.push('a line over a name: ' + other.text);
      });
    }
  });
});
axe.run({runOnly: %s}).then(function (found) {
  var violations = found.violations.map(function (v) {
    return {id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 200); })};
  });
  parent.found(NAME, {violations: violations, passes: found.passes.length, unseen: unseen.slice(0, 5),
                      width: document.documentElement.scrollWidth, screen: window.innerWidth});
});
""" % json.dumps(RULES)
HARNESS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>probe</title></head><body><pre id="result"></pre>
<script>
var results = {}, left = LEFT;
function found(name, result) {
  results[name] = result;
  if (--left === 0) document.getElementById('result').textContent = JSON.stringify(results);
}
</script>
"""


def skip(reason):
    print("1..0 # SKIP", reason)
    sys.exit(0)


def axe_script(cache):
    kept = cache / "axe.min.js"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--retries",
                                   "1", "--timeout", "20", "-d", folder, AXE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode != 0:
                said = done.stdout.decode("utf-8", "replace").strip().splitlines()
                skip(f"axe-core cannot be fetched: {said[-1] if said else 'pip failed'}")
            wheel = next(pathlib.Path(folder).iterdir())
            kept.write_bytes(zipfile.ZipFile(wheel).read("axe_playwright_python/axe.min.js"))
    if hashlib.sha256(kept.read_bytes()).hexdigest() != AXE_SHA256:
        kept.unlink()
        raise SystemExit("axe-core has another hash than expected")
    return kept.read_text(encoding="utf-8")


# Names of columns as people give them: wide letters, other scripts, questions, no blank for long.
NAMES = ["Geburtsdatum", "m", "ж", "<b>0</b>", "Embarked", "WWWWWWWWWWWW", "Ö", "Æ", "年齢", "المدينة", "Wie viele Personen leben in Ihrem Haushalt, Kinder eingeschlossen?",
         "Сколько вам полных лет на момент заполнения анкеты", "x" * 300, "%"]


def named(kanon, folder, names, title):
    """A table whose columns have these names, and the pages about it."""
    with open(folder / "names.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows([str((row * (c + 3)) % (4 + c)) + (names[c] if c % 3 else "") for c in range(len(names))] for row in range(40))
    listed = ",".join(name.replace(",", "\\,") for name in names)
    subprocess.run([kanon, "anonymize", "names.csv", "-k", "4", "--qi", listed, "--algorithm", "mondrian", "-o", "release.csv", "-q",
                    "--report", title + ".html", "--codebook", title + "_book.html"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    yield title, folder / (title + ".html")
    yield title + " in the codebook", folder / (title + "_book.html")


def codebooks(kanon, folder):
    """Cells that are longer than a column of a phone: intervals of large numbers, sets of words that are joined."""
    with open(folder / "large.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["balance", "purpose", "YEARLY_EXPENSES_PAID"])
        table.writerows([(row * 7919 % 101 - 50) * 10_000_000 - 1, ["radio/television", "furniture/equipment", "car", "repairs"][row % 4],
                         row % 3] for row in range(200))
    subprocess.run([kanon, "anonymize", "large.csv", "-k", "5", "--qi", "balance,purpose", "--sensitive", "YEARLY_EXPENSES_PAID",
                    "--model", "t-closeness:distance=ordered,t=0.4", "--algorithm", "mondrian", "-o", "release.csv", "-q", "--codebook",
                    "large_book.html", "--report", "large.html"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    yield "large numbers in the codebook", folder / "large_book.html"
    yield "large numbers", folder / "large.html"


def survey(kanon, folder):
    """A table of forty questions: what is to be signed does not grow with it."""
    names = [f"question_{number:02}" for number in range(40)]
    with open(folder / "survey.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(names + ["diagnosis"])
        table.writerows([(row * 7 + row // (c + 1)) % (2 + c % 7) if c % 2 else "abcdefg"[(row // (c + 2) + row) % (2 + c % 5)]
                         for c in range(40)] + ["xyz"[row % 3]] for row in range(400))
    subprocess.run([kanon, "anonymize", "survey.csv", "-k", "5", "--qi", ",".join(names), "--sensitive", "diagnosis", "--model",
                    "l-diversity:l=2", "--algorithm", "mondrian", "-o", "release.csv", "-q", "--report", "survey.html"], cwd=folder,
                   check=True, stderr=subprocess.DEVNULL)
    return folder / "survey.html"


def bank(kanon, folder):
    """What `profile` makes of 22 columns: five models, a class of each in eighteen columns, protected values."""
    names = ["checking-account", "duration", "purpose", "savings-account", "employment-since", "installment-rate", "residence-since",
             "property", "age", "other-installment", "housing", "job", "people-provide-maintenance-for", "telephone", "foreign-worker",
             "sex", "marital-status", "class-label"]
    values = ["no account of any kind", "below 200 DM", "200 DM and more", "unknown / no property", "skilled employee / official"]
    with open(folder / "bank.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(names + ["credit-history", "credit-amount", "other-debtors", "existing-credits"])
        for row in range(600):
            table.writerow([(row * 7 + row // (c + 1)) % (3 + c % 5) if c % 3 else values[(row // (c + 2) + row) % (2 + c % 4)]
                            for c in range(18)] + ["abcd"[row % 4], row % 97, "xyz"[row // 2 % 3], row // 3 % 4])
    models = ["alpha-k:column=credit-history,alpha=0.5,values=a|b", "t-closeness:column=credit-amount,distance=ordered,t=0.4",
              "alpha-k:column=other-debtors,alpha=0.6,values=x", "alpha-k:column=existing-credits,alpha=0.6,values=2|3"]
    subprocess.run([kanon, "anonymize", "bank.csv", "-k", "5", "--qi", ",".join(names), "--sensitive",
                    "credit-history,credit-amount,other-debtors,existing-credits", *[word for model in models for word in ("--model", model)],
                    "--algorithm", "mondrian", "-o", "release.csv", "-q", "--report", "bank.html"], cwd=folder, check=True,
                   stderr=subprocess.DEVNULL)
    return folder / "bank.html"


def reports(kanon, generate, folder):
    roles = ["--qi", "age,sex,marital_status,education", "--sensitive", "diagnosis", "--unlisted", "drop"]
    trees = ["--hierarchy", "age=intervals(5,10,20)", "--hierarchy", "education=education.csv", "--hierarchy",
             "marital_status=marital_status.csv"]
    jobs = {
        "anonymize": ["anonymize", "people.csv", "-k", "5", *roles, *trees, "-o", "release.csv", "--algorithm", "mondrian"],
        "german": ["anonymize", "people.csv", "-k", "5", *roles, *trees, "-o", "release.csv", "--language", "de",
                   "--algorithm", "mondrian"],
        "lattice": ["anonymize", "people.csv", "-k", "5", *roles, *trees, "-o", "release.csv", "--algorithm", "optimal",
                    "--max-suppressed", "5%"],
        "wide": ["anonymize", "people.csv", "-k", "5", "--qi", "age,sex,zip,marital_status,education,occupation,country",
                 "--sensitive", "diagnosis,income", "--model", "l-diversity:l=2,column=diagnosis", "--unlisted", "drop", "-o",
                 "release.csv", "--algorithm", "mondrian"],
        "nodes": ["lattice", "people.csv", "-k", "5", *roles, *trees, "-o", "nodes.csv"],
        "risk": ["risk", "people.csv", *roles, "--population", "0.05", "--attack", "people.csv"],
        "compare": ["compare", "people.csv", "-k", "2,5,20", *roles, *trees, "--algorithms", "mondrian,optimal"],
    }
    subprocess.run([generate, "600", "-o", "people.csv", "--hierarchies", "."], cwd=folder, check=True)
    for name, words in jobs.items():
        subprocess.run([kanon, *words, "--report", name + ".html", "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        yield name, folder / (name + ".html")
    for name, language in (("codebook", "en"), ("codebook in German", "de")):
        subprocess.run([kanon, *jobs["wide"], "--codebook", name + ".html", "--language", language, "-q"], cwd=folder, check=True)
        yield name, folder / (name + ".html")
    yield "survey", survey(kanon, folder)
    yield "bank", bank(kanon, folder)
    yield from codebooks(kanon, folder)
    for count in (3, len(NAMES)):  # short names stand left of their bars
        yield from named(kanon, folder, NAMES[:count], f"{count} names")


def on_screen(page, folder):
    """The page as it is printed, where the probe can see it: 680 pixels are an A4 page between its margins."""
    shown = folder / ("as_printed_" + page.name)
    shown.write_text(page.read_text(encoding="utf-8").replace("@media print{", "@media screen{"), encoding="utf-8")
    return shown


def framed(page, name, width, axe):
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)  # it forbids the probe, as it should
    probe = PROBE.replace("NAME", json.dumps(name))
    text = text.replace("</body>", f"<script>{axe}</script><script>{probe}</script></body>")
    return f'<iframe title="{name}" style="width:{width}px;height:900px" srcdoc="{html.escape(text)}"></iframe>\n'


def look(chromium, axe, pages, folder):
    """A few pages at a time: all at once take a browser longer than anybody waits on a busy machine."""
    found = {}
    for first in range(0, len(pages), AT_ONCE):
        found.update(look_at(chromium, axe, pages[first:first + AT_ONCE], folder))
    return found


def look_at(chromium, axe, pages, folder):
    probe = folder / "probe.html"
    frames = "".join(framed(page, name, width, axe) for name, page, width in pages)
    probe.write_text(HARNESS.replace("LEFT", str(len(pages))) + frames + "</body></html>", encoding="utf-8")
    done = subprocess.run([chromium, *FLAGS, f"--user-data-dir={tempfile.mkdtemp(dir=folder)}", "--window-size=1400,1000",
                           "--dump-dom", probe.as_uri()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240)
    found = re.search(r'<pre id="result">(.+?)</pre>', done.stdout.decode("utf-8", "replace"), re.S)
    return json.loads(html.unescape(found.group(1))) if found else {}


class Cells(html.parser.HTMLParser):
    """Texts of table cells that are printed: not those behind a picture."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.hidden, self.inside = [], 0, False
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.hidden += tag == "details"
        if tag == "wbr" and self.inside:  # a line may break here, as between words
            self.texts[-1] += " "
        if tag in ("td", "th") and not self.hidden:
            self.inside = True
            self.texts.append("")

    def handle_endtag(self, tag):
        self.hidden -= tag == "details"
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


def printed(chromium, page, size, folder):
    """Pages of the printed report: lists of words with their boxes, and the width of the paper."""
    text = page.read_text(encoding="utf-8").replace("@page{", "@page{size:%s;" % size)
    source, pdf, boxes = folder / "print.html", folder / "print.pdf", folder / "print.xml"
    source.write_text(text, encoding="utf-8")
    subprocess.run([chromium, *FLAGS, f"--user-data-dir={tempfile.mkdtemp(dir=folder)}", "--no-pdf-header-footer",
                    f"--print-to-pdf={pdf}", source.as_uri()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
    subprocess.run(["pdftotext", "-bbox", pdf, boxes], check=True)
    pages = []
    for width, body in re.findall(r'<page width="([\d.]+)"[^>]*>(.*?)</page>', boxes.read_text(encoding="utf-8"), re.S):
        words = re.findall(r'<word xMin="([-\d.]+)"[^>]* xMax="([-\d.]+)"[^>]*>(.*?)</word>', body, re.S)
        pages.append((float(width), [(float(low), float(high), html.unescape(word)) for low, high, word in words]))
    return pages


def letters(text):
    return re.sub(r"\s+", "", text)


def signature_problems(texts, html_text):
    """The block to sign stands below something else, and its hash and all its lines are on its page."""
    block = html.unescape(re.sub(r"<[^>]*>", "", html_text.split('id="sign">')[1].split("</section>")[0]))
    heading, hashed = letters(block.strip().splitlines()[0]), re.search(r"[0-9a-f]{64}", block)
    on = [text for text in texts if heading + letters(block.strip().splitlines()[1])[:40] in text]
    if len(on) != 1 or on[0].startswith(heading):
        return ["the signature stands alone on its page, or on none"]
    below = on[0].split(heading)[-1]
    if hashed is None or hashed.group() not in below:
        return ["no hash beside the signature"]
    missing = [line for line in block.strip().splitlines()[2:] if line.strip() and letters(line) not in below]
    return [f"not beside the signature: {missing}"] if missing else []


def print_problems(chromium, page, size, folder, signed):
    margin, problems = 15 / 25.4 * 72, []
    pages = printed(chromium, page, size, folder)
    texts = [letters("".join(word for _, _, word in words)) for _, words in pages]
    everything = "".join(texts)
    for number, (width, words) in enumerate(pages, 1):
        outside = [word for low, high, word in words if low < margin - 2 or high > width - margin + 2]
        if outside:
            problems.append(f"page {number}: outside the margins: {outside[:5]}")
    # Lines of neighbouring cells may stand between those of one; its words, and what a hyphen parts, are all there in any case.
    missing = [text for text in Cells(page).texts
               if letters(text) not in everything and any(word not in everything for word in text.replace("-", "- ").split())]
    if missing:
        problems.append(f"not on paper: {missing[:5]}")
    if signed:
        before = next((i for i, text in enumerate(texts) if text.startswith(signed)), len(texts))
        if not 1 <= before <= 5:
            problems.append(f"{before} pages before the appendix")
        html_text = page.read_text(encoding="utf-8")
        for what in re.findall(r"<code>([0-9a-f]{64}|\d{4}-\d\d-\d\d [^<]*)</code>", html_text)[:2] + re.findall(
                r'<p class="verdict[^"]*">([^<]*)', html_text):
            if letters(html.unescape(what)) not in texts[0]:
                problems.append(f"not on the first page: {what}")
        problems += signature_problems(texts, html_text)
        if "--" in re.sub(r"<[^>]*>", "", html_text.split('class="appendix"')[0].split("</style>")[1]):
            problems.append("a flag in what is to be signed")
    return problems


def check_print(chromium, made, folder):
    jobs = [(title, page, size) for title, page in made for size in ("A4", "Letter") if title in ("wide", "german", "risk", "codebook", "survey", "bank")]
    signed = {"wide": "Appendix", "german": "Anhang", "survey": "Appendix", "bank": "Appendix"}
    results = []
    for title, page, size in jobs:
        problems = print_problems(chromium, page, size, folder, signed.get(title))
        results.append((not problems, f"{title} on {size}", problems))
    # Cells that do not break run off the paper: the check must refuse it.
    wrong = folder / "wrong_print.html"
    wrong.write_text(dict(made)["wide"].read_text(encoding="utf-8").replace("</style>", "td{white-space:nowrap}wbr{display:none}</style>"),
                     encoding="utf-8")
    problems = print_problems(chromium, wrong, "A4", folder, None)
    results.append((bool(problems), "cells that run off the paper are refused", problems))
    return results


def is_bad(result):
    return (result is None or bool(result["violations"]) or result["passes"] < 10 or result["width"] > result["screen"] + 1
            or bool(result["unseen"]))


def main():
    kanon, generate, cache = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        skip("there is no Chromium")
    axe = axe_script(pathlib.Path(cache))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = list(reports(kanon, generate, folder))
        pages = [(f"{title} at {width} pixels", page, width) for title, page in made for width in (1200, 800, 380)]
        pages += [(f"{title} as on A4", on_screen(page, folder), 680) for title, page in made if "book" not in title]
        # A page with grey text on grey and a picture without a name: the check must refuse it.
        wrong = folder / "wrong.html"
        wrong.write_text(made[0][1].read_text(encoding="utf-8").replace("color:var(--ink)", "color:#bbb").replace(
            'role="img" aria-labelledby', "role=\"img\" data-was"), encoding="utf-8")
        results = look(chromium, axe, [*pages, ("wrong", wrong, 380)], folder)
        on_paper = check_print(chromium, made, folder)
    checks = []
    for title, _, _ in pages:
        checks.append((not is_bad(results.get(title)), title, results.get(title)))
    refused = results.get("wrong") is not None and is_bad(results["wrong"])
    checks.append((refused, "a page that is not accessible is refused", results.get("wrong")))
    checks += on_paper
    print(f"1..{len(checks)}")
    for number, (good, title, details) in enumerate(checks, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
        if not good:
            print("#", json.dumps(details, indent=1).replace("\n", "\n# "))
    sys.exit(not all(good for good, _, _ in checks))


main()

#!/usr/bin/env python3
"""Every HTML report in a real browser: axe-core finds no violation of WCAG 2.1 A and AA, wide and narrow, and nothing
is wider than the screen.

    check_accessible.py KANON KANON_GENERATE CACHE_FOLDER

axe-core is fetched once into CACHE_FOLDER and checked against its hash. Without Chromium or without axe-core the test
is skipped, and says so. Prints TAP.
"""
import hashlib
import html
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.2.tgz"
AXE_SHA256 = "9ea2d2d6917da998122bdacfd3b473e31ead53f4b87146c716a12edf89158100"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=30000"]
# Each page stands in a frame of its own width inside one page, so that the browser is started once.
PROBE = """
axe.run({runOnly: %s}).then(function (found) {
  var violations = found.violations.map(function (v) {
    return {id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 200); })};
  });
  parent.found(NAME, {violations: violations, passes: found.passes.length,
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
        try:
            packed = urllib.request.urlopen(AXE, timeout=20).read()
        except OSError as problem:
            skip(f"axe-core cannot be fetched: {problem}")
        if hashlib.sha256(packed).hexdigest() != AXE_SHA256:
            raise SystemExit("axe-core has another hash than expected")
        member = tarfile.open(fileobj=io.BytesIO(packed)).extractfile("package/axe.min.js")
        kept.write_bytes(member.read())
    return kept.read_text(encoding="utf-8")


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
        "nodes": ["lattice", "people.csv", "-k", "5", *roles, *trees, "-o", "nodes.csv"],
        "risk": ["risk", "people.csv", *roles, "--population", "0.05", "--attack", "people.csv"],
        "compare": ["compare", "people.csv", "-k", "2,5,20", *roles, *trees, "--algorithms", "mondrian,optimal"],
    }
    subprocess.run([generate, "600", "-o", "people.csv", "--hierarchies", "."], cwd=folder, check=True)
    for name, words in jobs.items():
        subprocess.run([kanon, *words, "--report", name + ".html", "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        yield name, folder / (name + ".html")


def framed(page, name, width, axe):
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)  # it forbids the probe, as it should
    probe = PROBE.replace("NAME", json.dumps(name))
    text = text.replace("</body>", f"<script>{axe}</script><script>{probe}</script></body>")
    return f'<iframe title="{name}" style="width:{width}px;height:900px" srcdoc="{html.escape(text)}"></iframe>\n'


def look(chromium, axe, pages, folder):
    probe = folder / "probe.html"
    frames = "".join(framed(page, name, width, axe) for name, page, width in pages)
    probe.write_text(HARNESS.replace("LEFT", str(len(pages))) + frames + "</body></html>", encoding="utf-8")
    done = subprocess.run([chromium, *FLAGS, f"--user-data-dir={tempfile.mkdtemp(dir=folder)}", "--window-size=1400,1000",
                           "--dump-dom", probe.as_uri()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240)
    found = re.search(r'<pre id="result">(.+?)</pre>', done.stdout.decode("utf-8", "replace"), re.S)
    return json.loads(html.unescape(found.group(1))) if found else {}


def is_bad(result):
    return result is None or bool(result["violations"]) or result["passes"] < 10 or result["width"] > result["screen"] + 1


def main():
    kanon, generate, cache = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        skip("there is no Chromium")
    axe = axe_script(pathlib.Path(cache))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = list(reports(kanon, generate, folder))
        pages = [(f"{title} at {width} pixels", page, width) for title, page in made for width in (1200, 380)]
        # A page with grey text on grey and a picture without a name: the check must refuse it.
        wrong = folder / "wrong.html"
        wrong.write_text(made[0][1].read_text(encoding="utf-8").replace("color:var(--ink)", "color:#bbb").replace(
            'role="img" aria-labelledby', "role=\"img\" data-was"), encoding="utf-8")
        results = look(chromium, axe, [*pages, ("wrong", wrong, 380)], folder)
    print(f"1..{len(pages) + 1}")
    failed = False
    for number, (title, _, _) in enumerate(pages, 1):
        bad = is_bad(results.get(title))
        failed = failed or bad
        print(f"{'not ok' if bad else 'ok'} {number} - {title}")
        if bad:
            print("#", json.dumps(results.get(title), indent=1).replace("\n", "\n# "))
    refused = results.get("wrong") is not None and is_bad(results["wrong"])
    print(f"{'ok' if refused else 'not ok'} {len(pages) + 1} - a page that is not accessible is refused")
    sys.exit(failed or not refused)


main()

#!/usr/bin/env python3
"""The experiments of Goldberger and Tassa 2010, section 8, on Adult (45,222 rows, 14 columns, suppression only).

    bench/sc_experiments.py BUILD [--output FOLDER] [--rows N] [--only table2,table3,figure1,figure3,figure4,figure5,figure6]

Writes table2.csv, table3.csv and figure1.csv to figure6.csv with the paper's printed numbers beside ours where it prints
any, and a picture (SVG) of each; one JSON line per run on stdout, time beside quality. Figures 1 and 2 come from the same
runs. Seconds are CPU seconds of the whole run, reading and checking included, on one thread: other work on the machine
then matters little. Runs are kept in BUILD/sc_experiments/runs.jsonl, so that a second call with the same program
continues where the first one stopped. Without KANON_DATA there is nothing to do, and it says so. `--rows` takes the
first rows only."""
import argparse
import csv
import hashlib
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ("age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
           "capital-loss,hours-per-week,native-country").split(",")
NO_EDUCATION = [c for c in COLUMNS if c != "education"]
KS = [10, 20, 30, 40, 50, 75, 100]
# k: (minimum, average); the row printed as 60 is k=75
TABLE_2 = {10: (.298, .302), 20: (.338, .340), 30: (.361, .364), 40: (.378, .380), 50: (.390, .394), 75: (.416, .419),
           100: (.433, .439)}
WEIGHTS = [0, .25, .5, .75, 1]
TABLE_3 = {50: [.07, .14, .31, .51, .54], 75: [.08, .14, .32, .51, .56], 100: [.08, .15, .34, .54, .58]}
ALGORITHMS = ["sequential", "agglomerative", "k-member", "hilbert", "mondrian:choose=median", "mondrian"]
# text of 8.3: what no diversity costs with education sensitive, k=50
EDUCATION = {"hilbert": .645, "mondrian:choose=median": .735}
PAPER = "the paper"


class Bench:
    def __init__(self, build, data, output):
        self.kanon, self.data, self.output = pathlib.Path(build) / "kanon", data, output
        self.program = hashlib.sha256(self.kanon.read_bytes()).hexdigest()[:16]
        self.commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                                     check=False).stdout.strip()
        folder = pathlib.Path(build) / "sc_experiments"
        folder.mkdir(parents=True, exist_ok=True)
        self.journal = folder / "runs.jsonl"
        self.known = {}
        if self.journal.exists():
            for text in self.journal.read_text().splitlines():
                entry = json.loads(text)
                self.known[entry["key"]] = entry

    def run(self, name, algorithm, k, columns=COLUMNS, sensitive="income", seed=1, extra=(), rows=None):
        """What kanon tells of one run, with its CPU seconds as "cpu"; None when it met no release."""
        key = json.dumps([self.program, rows or 0, str(self.data), algorithm, k, list(columns), sensitive, seed, list(extra)])
        if key not in self.known:
            self.known[key] = {"key": key, "result": self.measure(algorithm, k, columns, sensitive, seed, extra, rows)}
            with open(self.journal, "a") as file:
                file.write(json.dumps(self.known[key]) + "\n")
        answer = self.known[key]["result"]
        if answer:
            print(json.dumps({"bench": name, "commit": self.commit, "algorithm": algorithm, "k": k, "seed": seed,
                              "columns": len(columns), "extra": list(extra), "lm": answer["loss"]["lm"],
                              "cpu_seconds": round(answer["cpu"], 2), "search_seconds": answer["seconds"]["search"],
                              "peak_bytes": answer["peak_bytes"]}), flush=True)
        return answer

    def measure(self, algorithm, k, columns, sensitive, seed, extra, rows):
        with tempfile.TemporaryDirectory() as folder:
            data, result = self.data, pathlib.Path(folder) / "result.json"
            if rows:
                data = first_rows(self.data, rows, pathlib.Path(folder) / "extract.csv")
            command = [self.kanon, "anonymize", data, "-k", str(k), "--qi", ",".join(columns), "--sensitive", sensitive,
                       "--algorithm", algorithm, "--seed", str(seed), "--threads", "1", "-o",
                       pathlib.Path(folder) / "release.csv", "--json", result, "-q", *extra]
            for column in columns:
                command += ["--hierarchy", f"{column}=suppress"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode != 0:
                print(f"{algorithm}, k={k}: {done.stderr.strip()}", file=sys.stderr)
                return None
            answer = json.loads(result.read_text())
        answer.pop("progress", None)
        answer["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return answer

    def write(self, name, header, rows):
        with open(self.output / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([f"{x:.5g}" if isinstance(x, float) else x for x in row] for row in rows)

    def draw(self, name, *args, **settings):
        (self.output / f"{name}.svg").write_text(picture(*args, **settings))


def first_rows(data, n, path):
    with open(data) as file:
        path.write_text("".join(line for _, line in zip(range(n + 1), file)))
    return path


# --- Pictures -----------------------------------------------------------------------------------------------------

COLOURS = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555"]
LEFT, RIGHT, TOP, BOTTOM = 70, 520, 60, 340


def nice_ticks(low, high, n=5):
    step = 10 ** math.floor(math.log10((high - low) / n or 1))
    step *= next(m for m in (1, 2, 2.5, 5, 10) if (high - low) / (m * step) <= n)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def marker(shape, x, y, colour):
    if shape == "paper":
        return f'<path d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z" fill="white" stroke="{colour}" stroke-width="1.5"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'


def picture(title, x_name, y_name, curves, paper=None, lines=None, log=False, from_zero=True, x_ticks=None):
    """curves: {label: [(x, y), ...]} of ours; paper: the same, printed numbers, in the colour of the curve of ours that
    has the same place; lines: {label: y}, levels of other algorithms, the paper's dashed."""
    paper, lines = paper or {}, lines or {}
    points = [p for curve in (*curves.values(), *paper.values()) for p in curve]
    ys = [p[1] for p in points] + list(lines.values())
    x0, x1 = min(p[0] for p in points), max(p[0] for p in points)
    if log:
        y0, y1 = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys)))
        y_ticks = [10 ** e for e in range(round(math.log10(y0)), round(math.log10(y1)) + 1)]
    else:
        y0 = 0 if from_zero else min(ys) - (max(ys) - min(ys)) / 10
        y_ticks = nice_ticks(y0, max(ys))
        y1 = max(ys) + (max(ys) - y0) / 20

    def at(x, y):
        up = (math.log(y / y0) / math.log(y1 / y0)) if log else (y - y0) / (y1 - y0)
        return LEFT + 10 + (RIGHT - LEFT - 20) * ((x - x0) / (x1 - x0) if x1 > x0 else .5), BOTTOM - (BOTTOM - TOP) * up

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" width="760" height="400" role="img" '
           'font-family="sans-serif" font-size="13">',
           f'<title>{title}</title><rect width="760" height="400" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="16">{title}</text>', f'<text x="14" y="48">{y_name}</text>',
           f'<text x="{(LEFT + RIGHT) / 2}" y="388" text-anchor="middle">{x_name}</text>']
    for y in y_ticks:
        out.append(f'<path d="M{LEFT} {at(x0, y)[1]:.1f}H{RIGHT}" stroke="#dddddd"/>'
                   f'<text x="{LEFT - 8}" y="{at(x0, y)[1] + 4:.1f}" text-anchor="end">{y:.4g}</text>')
    for x in x_ticks or nice_ticks(x0, x1):
        out.append(f'<path d="M{at(x, y1)[0]:.1f} {BOTTOM}v5" stroke="black"/>'
                   f'<text x="{at(x, y1)[0]:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{x:.6g}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="black"/>')
    row, lowest = TOP + 10, 0
    for label, y in sorted(lines.items(), key=lambda line: -line[1]):
        dash = ' stroke-dasharray="6 4"' if label.startswith(PAPER) else ""
        lowest = max(lowest + 15, at(x0, y)[1] + 4)
        out.append(f'<path d="M{LEFT} {at(x0, y)[1]:.1f}H{RIGHT}l6 {lowest - 4 - at(x0, y)[1]:.1f}" fill="none" '
                   f'stroke="#555555"{dash}/><text x="{RIGHT + 10}" y="{lowest:.1f}" font-size="12">{label}</text>')
        row = lowest + 24
    for i, (label, curve, shape) in enumerate([(k, v, "ours") for k, v in curves.items()] +
                                              [(k, v, "paper") for k, v in paper.items()]):
        colour = COLOURS[(i - len(curves) if shape == "paper" else i) % len(COLOURS)]
        dash = ' stroke-dasharray="3 3"' if shape == "paper" else ""
        spots = [at(*p) for p in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [marker(shape, x, y, colour) for x, y in spots]
        y = row + 22 * i
        out.append(f'<path d="M{RIGHT + 10} {y}h28" stroke="{colour}" stroke-width="2"{dash}/>'
                   f'{marker(shape, RIGHT + 24, y, colour)}<text x="{RIGHT + 46}" y="{y + 4}">{label}</text>')
    return "\n".join(out) + "\n</svg>\n"


# --- Experiments --------------------------------------------------------------------------------------------------

def table2(bench):
    rows, ours, printed = [], {"average of ten": [], "best of ten": []}, {f"{PAPER}, average": [], f"{PAPER}, best": []}
    for k in KS:
        losses = [a["loss"]["lm"] for a in (bench.run("table2", "sequential", k, seed=s) for s in range(1, 11)) if a]
        minimum, average = TABLE_2[k]
        rows.append([k, min(losses), statistics.mean(losses), statistics.pstdev(losses), minimum, average,
                     100 * (min(losses) / minimum - 1), 100 * (statistics.mean(losses) / average - 1)])
        ours["average of ten"].append((k, statistics.mean(losses)))
        ours["best of ten"].append((k, min(losses)))
        printed[f"{PAPER}, average"].append((k, average))
        printed[f"{PAPER}, best"].append((k, minimum))
    bench.write("table2", ["k", "minimum", "average", "standard_deviation", "paper_minimum", "paper_average",
                           "minimum_above_paper_percent", "average_above_paper_percent"], rows)
    bench.draw("table2", "Table 2: loss of sequential clustering, ten runs", "k", "LM", ours, printed, from_zero=False,
               x_ticks=KS)


def table3(bench):
    rows, ours, printed = [], {}, {}
    for k, numbers in TABLE_3.items():
        for weight, paper in zip(WEIGHTS, numbers):
            answer = bench.run("table3", "sequential", k, extra=["--measure", f"weighted-mi:w={weight}"])
            if answer:
                per_cluster = answer["clusters"]["average_diversity"]  # what the paper averages over
                rows.append([k, weight, per_cluster, paper, answer["loss"]["average-diversity"], answer["cpu"]])
                ours.setdefault(f"k={k}", []).append((weight, per_cluster))
                printed.setdefault(f"{PAPER}, k={k}", []).append((weight, paper))
    bench.write("table3", ["k", "w", "average_diversity", "paper_average_diversity", "average_diversity_of_released_classes",
                           "cpu_seconds"], rows)
    bench.draw("table3", "Table 3: average entropy of income in a cluster", "w (0: PMI, 1: MI)", "bits", ours, printed)


def figure1(bench):
    """Figures 1 (loss) and 2 (time), over k."""
    rows, loss, seconds = [], {}, {}
    for algorithm in ALGORITHMS:
        for k in KS:
            answer = bench.run("figure1", algorithm, k)
            if answer:
                paper = TABLE_2[k][1] if algorithm == "sequential" else ""
                rows.append([algorithm, k, answer["loss"]["lm"], paper, answer["cpu"]])
                loss.setdefault(algorithm, []).append((k, answer["loss"]["lm"]))
                seconds.setdefault(algorithm, []).append((k, answer["cpu"]))
    bench.write("figure1", ["algorithm", "k", "lm", "paper_lm"], [row[:4] for row in rows])
    bench.write("figure2", ["algorithm", "k", "cpu_seconds"], [[row[0], row[1], row[4]] for row in rows])
    printed = {f"{PAPER}, sequential": [(k, TABLE_2[k][1]) for k in KS]}
    bench.draw("figure1", "Figure 1: loss", "k", "LM", loss, printed, x_ticks=KS)
    bench.draw("figure2", "Figure 2: time over k", "k", "CPU seconds", seconds, log=True, x_ticks=KS)


def figure3(bench):
    with open(bench.data) as file:
        n_rows = sum(1 for _ in file) - 1
    rows, seconds = [], {}
    for algorithm in ALGORITHMS:
        for part in (1, 2, 3, 4):
            n = n_rows * part // 4
            answer = bench.run("figure3", algorithm, 50, rows=n if part < 4 else None)
            if answer:
                rows.append([algorithm, n, answer["loss"]["lm"], answer["cpu"]])
                seconds.setdefault(algorithm, []).append((n, answer["cpu"]))
    bench.write("figure3", ["algorithm", "rows", "lm", "cpu_seconds"], rows)
    bench.draw("figure3", "Figure 3: time over the number of rows, k=50", "rows", "CPU seconds", seconds, log=True)


def figure4(bench):
    rows, curves = [], {}
    for k in (20, 50):
        for n in (5, 8, 11, 14):
            answer = bench.run("figure4", "sequential", k, columns=COLUMNS[:n])
            if answer:
                rows.append([k, n, answer["loss"]["lm"], answer["cpu"]])
                curves.setdefault(f"k={k}", []).append((n, answer["cpu"]))
    bench.write("figure4", ["k", "columns", "lm", "cpu_seconds"], rows)
    bench.draw("figure4", "Figure 4: time of sequential over the number of columns", "columns", "CPU seconds", curves,
               x_ticks=[5, 8, 11, 14])


def diversity(bench, name, title, sensitive, columns, levels, lines):
    """Each point: the diversity of the least diverse class, and the loss."""
    rows, curve = [], []
    for level in levels:
        model = ["--model", f"l-diversity:kind=frequency,l={level}"]
        answer = bench.run(name, "sequential", 50, columns=columns, sensitive=sensitive, extra=model)
        if answer:
            worst = next(m["worst"] for m in answer["models"] if m["name"] == "l-diversity")
            rows.append(["sequential", level, worst, answer["loss"]["lm"], "", answer["cpu"]])
            curve.append((worst, answer["loss"]["lm"]))
    levels = {}
    for algorithm in ("hilbert", "mondrian:choose=median"):
        answer = bench.run(name, algorithm, 50, columns=columns, sensitive=sensitive)
        rows.append([algorithm, "", "", answer["loss"]["lm"], lines.get(algorithm, ""), answer["cpu"]])
        levels[f"{algorithm.split(':')[0]}, no diversity: {answer['loss']['lm']:.3f}"] = answer["loss"]["lm"]
    for algorithm, loss in lines.items():
        levels[f"{PAPER}, {algorithm.split(':')[0]}: {loss}"] = loss
    bench.write(name, ["algorithm", "l", "diversity", "lm", "paper_lm", "cpu_seconds"], rows)
    bench.draw(name, title, "diversity of the least diverse class", "LM", {"sequential, k=50": sorted(curve)}, lines=levels)


def figure5(bench):
    diversity(bench, "figure5", "Figure 5: loss over diversity of income", "income", COLUMNS,
              [1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.29, 1.31, 1.32], {})


def figure6(bench):
    diversity(bench, "figure6", "Figure 6: loss over diversity of education", "education", NO_EDUCATION,
              [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 2.9], EDUCATION)


def main():
    experiments = {f.__name__: f for f in (table2, table3, figure1, figure3, figure4, figure5, figure6)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--output", help="folder for the tables and pictures; default BUILD/sc_experiments")
    parser.add_argument("--rows", type=int, help="only the first rows of the table")
    parser.add_argument("--only", default=",".join(experiments))
    options = parser.parse_args()
    if "KANON_DATA" not in os.environ:
        print("sc_experiments: KANON_DATA is not set; nothing done", file=sys.stderr)
        return
    data = pathlib.Path(os.environ["KANON_DATA"]) / "adult" / "adult_45222.csv"
    output = pathlib.Path(options.output or pathlib.Path(options.build) / "sc_experiments")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if options.rows:
            data = first_rows(data, options.rows, pathlib.Path(folder) / "adult.csv")
        bench = Bench(options.build, data, output)
        for name in options.only.split(","):
            experiments[name](bench)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The experiments of Goldberger and Tassa 2010, section 8, on Adult (45,222 rows, 14 columns, suppression only).

    bench/sc_experiments.py BUILD [--output FOLDER] [--rows N] [--only table2,table3,figure1,figure4,figure5,figure6]

Writes table2.csv, table3.csv and figure1.csv to figure6.csv with the paper's printed numbers beside ours where it prints
any, and a picture (SVG) of each figure; one JSON line per run on stdout, time beside quality. Figures 1 to 3 come
from the same runs. Without KANON_DATA there is nothing to do, and it says so. `--rows` takes the first rows only."""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ("age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
           "capital-loss,hours-per-week,native-country").split(",")
KS = [10, 20, 30, 40, 50, 75, 100]
# k: (minimum, average); the row printed as 60 is k=75
TABLE_2 = {10: (.298, .302), 20: (.338, .340), 30: (.361, .364), 40: (.378, .380), 50: (.390, .394), 75: (.416, .419),
           100: (.433, .439)}
WEIGHTS = [0, .25, .5, .75, 1]
TABLE_3 = {50: [.07, .14, .31, .51, .54], 75: [.08, .14, .32, .51, .56], 100: [.08, .15, .34, .54, .58]}
ALGORITHMS = ["sequential", "agglomerative", "k-member", "hilbert", "mondrian:choose=median", "mondrian"]


class Bench:
    def __init__(self, build, data, output):
        self.kanon, self.data, self.output = pathlib.Path(build) / "kanon", data, output
        self.commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                                     check=False).stdout.strip()

    def run(self, name, algorithm, k, columns=COLUMNS, sensitive="income", seed=1, extra=(), data=None):
        """The result of one run as kanon tells it, or None when it met no release."""
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "result.json"
            command = [self.kanon, "anonymize", data or self.data, "-k", str(k), "--qi", ",".join(columns),
                       "--sensitive", sensitive, "--algorithm", algorithm, "--seed", str(seed), "-o",
                       pathlib.Path(folder) / "release.csv", "--json", result, *extra]
            for column in columns:
                command += ["--hierarchy", f"{column}=suppress"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{name}, k={k}: {done.stderr.strip()}", file=sys.stderr)
                return None
            answer = json.loads(result.read_text())
        print(json.dumps({"bench": name, "commit": self.commit, "algorithm": algorithm, "k": k, "seed": seed,
                          "extra": list(extra), "lm": answer["loss"]["lm"], "search": answer["seconds"]["search"],
                          "total": answer["seconds"]["total"], "peak_bytes": answer.get("peak_bytes")}), flush=True)
        return answer

    def write(self, name, header, rows):
        with open(self.output / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)

    def draw(self, name, title, x_name, y_name, curves):
        (self.output / f"{name}.svg").write_text(picture(title, x_name, y_name, curves))


def picture(title, x_name, y_name, curves):
    """Curves as SVG: {label: [(x, y), ...]}."""
    colours = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555"]
    points = [p for curve in curves.values() for p in curve]
    if not points:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    x0, x1 = min(p[0] for p in points), max(p[0] for p in points)
    y1 = max(p[1] for p in points) or 1

    def at(x, y):
        return 60 + 440 * ((x - x0) / (x1 - x0) if x1 > x0 else .5), 340 - 290 * y / y1

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" font-family="sans-serif" font-size="12">',
           f'<title>{title}</title><rect width="720" height="400" fill="white"/>',
           f'<text x="60" y="24" font-size="15">{title}</text>',
           '<path d="M60 50V340H500" fill="none" stroke="black"/>',
           f'<text x="280" y="385" text-anchor="middle">{x_name}</text>', f'<text x="8" y="42">{y_name}</text>']
    for tick in range(5):
        x, y = x0 + (x1 - x0) * tick / 4, y1 * tick / 4
        out.append(f'<text x="{at(x, 0)[0]:.0f}" y="358" text-anchor="middle">{x:.4g}</text>')
        out.append(f'<text x="54" y="{at(x0, y)[1] + 4:.0f}" text-anchor="end">{y:.3g}</text>')
    for i, (label, curve) in enumerate(curves.items()):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*p) for p in curve))
        colour = colours[i % len(colours)]
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="515" y="{70 + 20 * i}" fill="{colour}">{label}</text>')
    return "\n".join(out) + "\n</svg>\n"


def table2(bench):
    rows = []
    for k in KS:
        losses = [a["loss"]["lm"] for a in (bench.run("table2", "sequential", k, seed=s) for s in range(1, 11)) if a]
        if losses:
            rows.append([k, min(losses), statistics.mean(losses), statistics.pstdev(losses), *TABLE_2[k]])
    bench.write("table2", ["k", "minimum", "average", "standard_deviation", "paper_minimum", "paper_average"], rows)


def table3(bench):
    rows = []
    for k, printed in TABLE_3.items():
        for weight, paper in zip(WEIGHTS, printed):
            answer = bench.run("table3", "sequential", k, extra=["--measure", f"weighted-mi:w={weight}"])
            if answer:
                rows.append([k, weight, answer["loss"].get("average-diversity"), paper])
    bench.write("table3", ["k", "w", "average_diversity", "paper_average_diversity"], rows)


def figure1(bench):
    """Figures 1 (loss), 2 (time over k) and 3 (time over rows, k=50)."""
    rows, loss, seconds = [], {}, {}
    for algorithm in ALGORITHMS:
        for k in KS:
            answer = bench.run("figure1", algorithm, k)
            if answer:
                rows.append([algorithm, k, answer["loss"]["lm"], answer["seconds"]["search"]])
                loss.setdefault(algorithm, []).append((k, answer["loss"]["lm"]))
                seconds.setdefault(algorithm, []).append((k, answer["seconds"]["search"]))
    bench.write("figure1", ["algorithm", "k", "lm", "seconds"], rows)
    bench.write("figure2", ["algorithm", "k", "lm", "seconds"], rows)
    bench.draw("figure1", "Figure 1: loss", "k", "LM", loss)
    bench.draw("figure2", "Figure 2: time of the search", "k", "seconds", seconds)
    lines = pathlib.Path(bench.data).read_text().splitlines(keepends=True)
    rows, seconds = [], {}
    for algorithm in ALGORITHMS:
        for part in (1, 2, 3, 4):
            n = (len(lines) - 1) * part // 4
            with tempfile.NamedTemporaryFile("w", suffix=".csv") as extract:
                extract.writelines(lines[: n + 1])
                extract.flush()
                answer = bench.run("figure3", algorithm, 50, data=extract.name)
            if answer:
                rows.append([algorithm, n, answer["loss"]["lm"], answer["seconds"]["search"]])
                seconds.setdefault(algorithm, []).append((n, answer["seconds"]["search"]))
    bench.write("figure3", ["algorithm", "rows", "lm", "seconds"], rows)
    bench.draw("figure3", "Figure 3: time of the search, k=50", "rows", "seconds", seconds)


def figure4(bench):
    rows, curves = [], {}
    for k in (20, 50):
        for n in (5, 8, 11, 14):
            answer = bench.run("figure4", "sequential", k, columns=COLUMNS[:n])
            if answer:
                rows.append([k, n, answer["loss"]["lm"], answer["seconds"]["search"]])
                curves.setdefault(f"k={k}", []).append((n, answer["seconds"]["search"]))
    bench.write("figure4", ["k", "columns", "lm", "seconds"], rows)
    bench.draw("figure4", "Figure 4: time over the number of columns", "columns", "seconds", curves)


def diversity(bench, name, title, sensitive, columns, levels):
    """Each point: the diversity of the least diverse class, and the loss."""
    rows, curve = [], []
    for level in levels:
        model = ["--model", f"l-diversity:kind=frequency,l={level}"]
        answer = bench.run(name, "sequential", 50, columns=columns, sensitive=sensitive, extra=model)
        if answer:
            worst = next(m["worst"] for m in answer["models"] if m["name"] == "l-diversity")
            rows.append([level, worst, answer["loss"]["lm"]])
            curve.append((worst, answer["loss"]["lm"]))
    bench.write(name, ["l", "diversity", "lm"], rows)
    bench.draw(name, title, "diversity of the least diverse class", "LM", {"sequential, k=50": sorted(curve)})


def figure5(bench):
    diversity(bench, "figure5", "Figure 5: loss over diversity of income", "income", COLUMNS,
              [1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.29])


def figure6(bench):
    diversity(bench, "figure6", "Figure 6: loss over diversity of education", "education",
              [c for c in COLUMNS if c != "education"], [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--output", help="folder for the tables and pictures; default BUILD/sc_experiments")
    parser.add_argument("--rows", type=int, help="only the first rows of the table")
    parser.add_argument("--only", default="table2,table3,figure1,figure4,figure5,figure6")
    options = parser.parse_args()
    if "KANON_DATA" not in os.environ:
        print("sc_experiments: KANON_DATA is not set; nothing done", file=sys.stderr)
        return
    data = pathlib.Path(os.environ["KANON_DATA"]) / "adult" / "adult_45222.csv"
    output = pathlib.Path(options.output or pathlib.Path(options.build) / "sc_experiments")
    output.mkdir(parents=True, exist_ok=True)
    experiments = {f.__name__: f for f in (table2, table3, figure1, figure4, figure5, figure6)}
    with tempfile.TemporaryDirectory() as folder:
        if options.rows:
            extract = pathlib.Path(folder) / "adult.csv"
            with open(data) as file:
                extract.write_text("".join(line for _, line in zip(range(options.rows + 1), file)))
            data = extract
        bench = Bench(options.build, data, output)
        for name in options.only.split(","):
            experiments[name](bench)


if __name__ == "__main__":
    main()

"""Tables and rows of the benchmarks that time `oddcell fit` as a whole."""

import csv, datetime, os, pathlib, platform, random, subprocess, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ODDCELL = ROOT / "target/release/oddcell"


def make(path, rows, columns):
    """Columns that share half of their variance."""
    random.seed(1)
    with open(path, "w") as file:
        print(*(f"m{column + 1}" for column in range(columns)), sep=",", file=file)
        for _ in range(rows):
            common = random.gauss(0, 1)
            print(*(f"{100 + 7 * (common + random.gauss(0, 1)):.3f}" for _ in range(columns)), sep=",", file=file)


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet", "--workspace", "--bins"], cwd=ROOT, check=True)


def seconds_of_fit(folder, *flags):
    """Of the whole command, on `table.csv` of the folder."""
    command = [ODDCELL, "fit", folder / "table.csv", "-o", folder / "model.oddcell", "--quiet", *flags]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - start


def write(name, rows, what):
    """Writes benchmarks/speed/NAME-DATE.csv."""
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.processor())
    with open(ROOT / f"benchmarks/speed/{name}-{datetime.date.today()}.csv", "w", newline="") as file:
        file.write(f"# {cpu}, {os.cpu_count()} cores; {what}\n")
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)

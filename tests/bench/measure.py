"""What the measurements share: where things are, rounds, interleaved starts, bars."""
import json
import os
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
BENCH = CHECKOUT / "build" / "bench"
IMAGE = BENCH / "image"
PINFOLD = Path(os.environ.get("PINFOLD", CHECKOUT / "build" / "bin" / "pinfold"))


def rounds(count, scale, least=3):
    return max(least, round(count * scale))


def pinfold(*words):
    return [str(PINFOLD), "run", *map(str, words)]


def spawn(commands, count, *options, **more):
    """ns of each round of each command."""
    words = []
    for command in commands:
        words += [":::"] * bool(words) + command
    done = subprocess.run([BENCH / "spawn", "-n", str(count), "-j", *options, *words], check=True,
                          stdout=subprocess.PIPE, **more)
    return json.loads(done.stdout)


def children(pid):
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def look_up(figures, path):
    for key in path:
        figures = figures.get(key) if figures else None
    return figures


def held(figures, bars):
    """name -> {value, at_most, met} of the bars, name -> (path in the figures, at most), that this run has measured."""
    values = {name: (look_up(figures, path), bar) for name, (path, bar) in bars.items()}
    return {name: {"value": value, "at_most": bar, "met": value <= bar}
            for name, (value, bar) in values.items() if value is not None}


def print_bars(bars):
    for name, row in bars.items():
        print(f"{'met   ' if row['met'] else 'MISSED'} {name}: {round(row['value'], 3)} (at most {row['at_most']})")


def missed(figures):
    return not all(row["met"] for row in figures["bars"].values())

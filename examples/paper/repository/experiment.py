"""Wigner's semicircle: how the eigenvalues of large random symmetric matrices lie.

    experiment.py SIZE [SEED]

Leaves result.json and plot.png in the working folder. Time grows with the third power of SIZE, memory with the second.
"""
import json
import struct
import sys
import zlib

import numpy as np

BINS, WIDTH, HEIGHT, MARGIN = 60, 720, 420, 40


def eigenvalues(size, seed):
    """Of a symmetric matrix of independent normal entries, scaled so that they fill -2 to 2."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((size, size))
    return np.linalg.eigvalsh((matrix + matrix.T) / np.sqrt(2 * size))


def semicircle(x):
    return np.sqrt(np.clip(4 - x * x, 0, None)) / (2 * np.pi)


def picture(density, edges):
    """The histogram as bars, the law as a line: rows of RGB."""
    image = np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)
    inner_width, inner_height, top = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN, 0.4

    def column(x):
        return MARGIN + np.round((np.asarray(x) + 2.4) / 4.8 * (inner_width - 1)).astype(int)

    def row(y):
        return HEIGHT - MARGIN - 1 - np.round(np.clip(np.asarray(y) / top, 0, 1) * (inner_height - 1)).astype(int)

    for height, left, right in zip(density, edges[:-1], edges[1:]):
        image[row(height):HEIGHT - MARGIN, column(left):column(right)] = (120, 160, 210)
    x = np.linspace(-2.4, 2.4, 6 * inner_width)
    for thick in (-1, 0, 1):
        image[np.clip(row(semicircle(x)) + thick, 0, HEIGHT - 1), column(x)] = (200, 60, 40)
    image[HEIGHT - MARGIN, MARGIN:WIDTH - MARGIN] = image[MARGIN:HEIGHT - MARGIN, MARGIN] = 0
    return image


def write_png(path, image):
    """ISO 15948: a signature and three chunks. What is in an image for a picture need not be a library."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main():
    size, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1955
    values = eigenvalues(size, seed)
    density, edges = np.histogram(values, bins=BINS, range=(-2.4, 2.4), density=True)
    middle = (edges[:-1] + edges[1:]) / 2
    distance = float(np.abs(density - semicircle(middle)).max())
    print(f"{size} eigenvalues from {values[0]:.3f} to {values[-1]:.3f}; at most {distance:.3f} from the law")
    with open("result.json", "w", encoding="utf-8") as file:
        json.dump({"size": size, "seed": seed, "least": float(values[0]), "greatest": float(values[-1]),
                   "distance": distance, "density": [round(float(d), 6) for d in density]}, file, indent=1)
    write_png("plot.png", picture(density, edges))


main()

"""A program of the kind that one would rather not run unconfined: somebody's numpy code.

Three small pieces of real work, each checked against what mathematics says:
the spectrum of a noisy signal, a least-squares fit, and the eigenvalues of a
matrix whose eigenvalues are known. Exit code 0 means that all three agree.
"""
import sys

import numpy as np


def spectrum(rng):
    """Find two tones in noise of the same strength."""
    rate, seconds = 2048, 4
    t = np.arange(rate * seconds) / rate
    signal = np.sin(2 * np.pi * 50 * t) + 0.7 * np.sin(2 * np.pi * 120 * t)
    power = np.abs(np.fft.rfft(signal + rng.normal(0, 1, t.size))) ** 2
    found = sorted(int(bin_ / seconds) for bin_ in np.argsort(power)[-2:])
    print(f"spectrum: tones at {found[0]} Hz and {found[1]} Hz")
    return found == [50, 120]


def fit(rng):
    """Recover the coefficients of a cubic from noisy samples."""
    true = np.array([2.0, -1.0, 0.5, 0.25])
    x = np.linspace(-3, 3, 2000)
    y = np.polynomial.polynomial.polyval(x, true) + rng.normal(0, 0.1, x.size)
    got, *_ = np.linalg.lstsq(np.vander(x, 4, increasing=True), y, rcond=None)
    print("fit: " + " ".join(f"{c:+.3f}" for c in got))
    return bool(np.allclose(got, true, atol=0.02))


def eigenvalues():
    """The second-difference matrix: eigenvalues are 2 - 2 cos(k pi / (n + 1))."""
    n = 200
    matrix = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    got = np.linalg.eigvalsh(matrix)
    exact = 2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))
    print(f"eigenvalues: {n}, largest error {np.abs(got - exact).max():.1e}")
    return bool(np.allclose(got, exact, atol=1e-10))


def main():
    rng = np.random.default_rng(20240229)
    agree = [spectrum(rng), fit(rng), eigenvalues()]
    print("all three agree" if all(agree) else f"disagreement: {agree}")
    return 0 if all(agree) else 1


sys.exit(main())

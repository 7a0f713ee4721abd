"""Which part of a measured signal is noise: its spectrum, the floor of that, and the cutoff between the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwise.motion.trajectory import Array

ORDER = 8  # of the filter's fall: its gain is 1 / (1 + (f / cutoff)^ORDER)
PER_DECADE = 20  # bands of a spectrum
NARROWEST = 4  # frequencies of a transform in a band
SHORTEST = 32  # rows of a run that has a spectrum
FEWEST = 4  # bands of a spectrum
STEEPEST = 2.0  # power of the frequency by which noise falls at most; positions of motions fall by 4 or more
ABOVE = 2.5  # times the floor of noise, from which on a band holds signal
LINE, SLIGHT = 10.0, 1e-6  # times the floor, and part of the power of the speed: from which on a line is signal
SURE = 3.0  # standard deviations by which a band of few frequencies must be above that
WHITE = 0.2  # power of the frequency: noise that falls by less is white
NEAR = 0.2  # of the frequencies above the signal: where noise that falls is looked at, to go on with it below
JUDGED = 0.25  # of the rate, up to which noise is judged: beyond, interpolation has taken from it
HIGHEST = 0.45  # of the rate, beyond which a cutoff leaves everything as it is
TINY = 1e-300  # of a power, for logarithms
ROUNDED = 1e-13  # of a column's size, by which it differs that is constant
NEGLIGIBLE = 5e-3  # of the accelerations' root mean square: errors that do not matter
GEOMETRIC = float(np.exp(np.euler_gamma))  # mean power of noise beside the geometric mean of its periodogram


class Spectrum(NamedTuple):
    """Power densities of columns in bands of frequency.

    Attributes:
        f: (bands,) the bands' middles in Hz.
        width: (bands,) in Hz.
        mean: (bands, columns) mean power density, squared units per Hz.
        floor: (bands, columns) the same without lines that stick out.
        many: (bands,) independent frequencies in a band.
    """

    f: Array
    width: Array
    mean: Array
    floor: Array
    many: Array


class Noise(NamedTuple):
    """What of columns is noise, as `noise_of` judges.

    Attributes:
        spectrum: of signal and noise together.
        density: (bands, columns) power density of the noise.
        top: (columns,) in Hz, above which there is noise alone.
    """

    spectrum: Spectrum
    density: Array
    top: Array

    def deviation(self, cutoff: Array, derivative: int) -> Array:
        """(columns,) standard deviation of a smooth derivative by the noise that the filter lets through."""
        s = self.spectrum
        weight = s.width * (2.0 * np.pi * s.f) ** (2 * derivative)
        return np.sqrt(weight @ (self.density * gain(s.f[:, None], cutoff) ** 2))

    def level(self) -> Array:
        """(columns,) standard deviation of noise that is white, as strong as it is at high frequencies."""
        f = self.spectrum.f
        high = (f > 0.25 * f[-1]) & (f < 2.0 * JUDGED * f[-1])
        density = np.median(self.spectrum.floor[high if high.any() else slice(None)], axis=0)
        return np.sqrt(density * f[-1])


def gain(f: Array, cutoff: Array) -> Array:
    """What a Butterworth filter of half the order lets through that runs forwards and backwards, without shift."""
    return 1.0 / (1.0 + np.power(f / cutoff, ORDER))


def spectrum(x: Array, rate: float, runs: Sequence[slice]) -> Spectrum | None:
    """The spectrum of columns (rows, columns), averaged over the runs; None where all runs are too short."""
    from scipy.fft import next_fast_len, rfft

    long = [run for run in runs if run.stop - run.start >= SHORTEST]
    if not long:
        return None
    seconds = max(run.stop - run.start for run in long) / rate
    edges = _edges(NARROWEST / seconds, rate / 2.0, NARROWEST / seconds)
    power, logs = np.zeros((2, len(edges) - 1, x.shape[1]))
    count = np.zeros(len(edges) - 1)
    for run in long:
        rows = run.stop - run.start
        y = x[run].T
        line = np.linspace(0.0, 1.0, rows)
        ends = max(rows // 50, 1)
        y = np.where(np.ptp(y, axis=1, keepdims=True) > ROUNDED * np.abs(y).max(axis=1, keepdims=True), y, 0.0)
        first, last = y[:, :ends].mean(1, keepdims=True), y[:, -ends:].mean(1, keepdims=True)
        window = np.sin(np.pi * (np.arange(rows) + 0.5) / rows) ** 4  # whose leakage falls by the tenth power
        size = next_fast_len(rows, real=True)
        P = np.abs(rfft((y - first - (last - first) * line) * window, n=size)) ** 2 * 2.0 / (rate * window @ window)
        f = np.arange(P.shape[1]) * rate / size
        at = np.searchsorted(f, edges)
        for k in np.flatnonzero((np.diff(at) > 0) & (edges[:-1] >= 0.999 * NARROWEST * rate / rows)):
            band = P[:, at[k] : at[k + 1]]
            power[k] += band.sum(1)
            logs[k] += np.log(np.maximum(band, TINY)).sum(1)
            count[k] += band.shape[1]
    kept = count > 0
    if np.count_nonzero(kept) < FEWEST:
        return None
    power, logs, count = power[kept] / count[kept, None], logs[kept] / count[kept, None], count[kept]
    f, width = np.sqrt(edges[1:] * edges[:-1])[kept], np.diff(edges)[kept]
    return Spectrum(f, width, power, np.exp(logs) * GEOMETRIC, count / 2.0)  # the window joins neighbours


def _edges(first: float, last: float, least: float) -> Array:
    """Bounds of bands, evenly spaced in the logarithm but none narrower than `least`."""
    edges, step = [first], 10.0 ** (1.0 / PER_DECADE)
    while edges[-1] < last:
        edges.append(max(edges[-1] * step, edges[-1] + least))
    edges[-1] = last * (1.0 + 1e-9)
    return np.array(edges)


def noise_of(s: Spectrum) -> Noise:
    """The noise of columns, from where their spectra stop to fall as those of motions must.

    The acceleration of a motion has a spectrum that falls with the frequency, so that of its positions falls by its
    fourth power or more. Noise is white, or falls by less than the second power (counts of encoders, stamps that
    jitter). Coming from high frequencies, signal begins where the spectrum rises faster than noise could; below, noise
    goes on as it is above. A motion that is repeated has lines, between which there is noise: lines are signal if they
    are more than a slight part of the speed; those of mains and vibrations are less.
    """
    judged = int(np.searchsorted(s.f, JUDGED * 2.0 * s.f[-1])) + 1
    f, floor = s.f[:judged], s.floor[:judged]
    least = np.minimum.accumulate((floor * f[:, None] ** STEEPEST)[::-1], axis=0)[::-1] / f[:, None] ** STEEPEST
    scatter = np.sqrt(np.pi**2 / 6.0 / s.many[:judged, None])  # of the logarithm of a band's floor
    signal = np.log(floor) > np.log(ABOVE * least) + SURE * scatter
    speed = s.mean * (s.width * s.f**2)[:, None]
    told = speed[:judged] > SLIGHT * np.maximum(speed.sum(axis=0), TINY)
    signal |= told & (s.mean[:judged] > LINE * floor)  # of a motion that is repeated
    density, top = s.mean.copy(), np.zeros(s.mean.shape[1])
    for k in range(len(top)):
        found = np.flatnonzero(signal[:, k])
        if not len(found):
            continue
        edge = min(int(found[-1]) + 1, judged - 1)
        slope, level = _fall(np.log(f[edge:]), np.log(floor[edge:, k]), s.many[edge:judged])
        model = np.exp(level - slope * np.log(f))
        while edge < judged - 1 and s.mean[edge, k] > ABOVE * model[edge]:  # the signal's skirt
            edge += 1
        top[k] = f[edge]
        density[:edge, k] = np.minimum(model[:edge], s.mean[:edge, k])
    return Noise(s, density, top)


def _fall(x: Array, y: Array, many: Array) -> tuple[float, float]:
    """By which power a floor falls, and its logarithm at x = 0; white where a fall is not clear."""
    mean = float(many @ x / many.sum())
    spread = float(many @ (x - mean) ** 2)
    slope = -float(many @ ((x - mean) * y)) / spread if spread > 0.0 else 0.0
    doubt = SURE * np.sqrt(np.pi**2 / 6.0 / spread) if spread > 0.0 else np.inf
    slope = min(slope, STEEPEST) if slope > max(doubt, WHITE) else 0.0
    near = np.cumsum(many) <= max(float(many[0]), NEAR * float(many.sum())) if slope else np.ones(len(x), dtype=bool)
    return slope, float(many[near] @ (y + slope * x)[near] / many[near].sum())


def best_cutoff(noise: Noise, rate: float) -> Array:
    """(columns,) the highest cutoff in Hz by which the expected error of smooth accelerations is least, or negligible.

    That error has two parts: what the filter takes from the signal, and what it lets through of the noise.
    """
    s = noise.spectrum
    signal = np.maximum(s.mean - noise.density, 0.0) * (s.f[:, None] < noise.top)
    weight = s.width * (2.0 * np.pi * s.f) ** 4
    lowest = min(2.0 * s.f[0], HIGHEST * rate)
    tried = np.geomspace(lowest, HIGHEST * rate, 1 + int(60 * np.log10(HIGHEST * rate / lowest)))
    H = gain(s.f[None, :], tried[:, None])
    risk = ((1.0 - H) ** 2 * weight) @ signal + (H**2 * weight) @ noise.density
    good = np.maximum(risk.min(axis=0), NEGLIGIBLE**2 * (weight @ signal))
    return np.asarray(tried[len(tried) - 1 - np.argmax((risk <= good)[::-1], axis=0)])

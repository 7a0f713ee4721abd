"""Published bands: what others published of the same, laws that they keep, and how curves compare with them."""

from dataclasses import replace

import numpy as np
import pytest

from linkwise.errors import UnknownNameError
from linkwise.walking import Person, band, walk
from linkwise.walking.features import EXTREME_TITLES, compared, features, leg
from linkwise.walking.norms import EXTREMES, TITLES, bands, norms, sources

ANGLES = ("hip_angle", "knee_angle", "ankle_angle")

# points of the mean over 42 adults at 1.27 m/s: Fukuchi et al., PeerJ 6:e4640, 2018; per cent of the stride, then
# degrees or body weights; hip angles less the 9 degrees of a tilted pelvis
FUKUCHI = {
    "hip_angle": [(0, 22.1), (54, -17.6), (88, 23.3)],
    "knee_angle": [(0, 1.3), (12, 16.3), (44, 4.1), (57, 19.8), (74, 63.0), (82, 50.3), (97, 0.4)],
    "ankle_angle": [(0, 1.5), (7, -4.3), (21, 6.3), (42, 13.1), (54, 9.2), (65, -11.6), (86, 6.7), (95, 1.7)],
    "ground_up": [(14, 1.05), (30, 0.76), (48, 1.10), (63, 0.01)],
}
# mean torque of the ankle over the 20 adults of Bovi et al. 2011 at natural speed, N m/kg
BOVI_ANKLE = [(10, -0.007), (20, -0.291), (30, -0.655), (40, -1.125), (46, -1.313), (50, -1.241)]
# extremes of the textbook: Perry and Burnfield, Gait Analysis, 2010, degrees
TEXTBOOK = {"knee_stance": 18.0, "knee_swing": 60.0, "ankle_dorsiflexion": 10.0, "ankle_plantarflexion": 15.0}


@pytest.mark.parametrize("name", FUKUCHI)
def test_other_adults_are_within_two_standard_deviations(name):
    b = band(name)
    at, values = np.array(FUKUCHI[name]).T
    mean, high = (np.interp(at, b.percent, x) for x in (b.mean, b.high))
    assert np.abs((values - mean) / (high - mean)).max() < 2.0


def test_the_ankle_torque_of_adults_is_within_the_band_of_children():
    b = band("ankle_torque")
    at, values = np.array(BOVI_ANKLE).T
    low, high = (np.interp(at, b.percent, x) for x in (b.low, b.high))
    assert (low < values).all()
    assert (values < high).all()


def test_extremes_agree_with_the_textbook():
    for key, value in TEXTBOOK.items():
        assert norms()[key].low <= value <= norms()[key].high
    # of the hip the range is free of the zero: 30 of flexion and 10 of extension
    assert np.ptp(band("hip_angle").mean) == pytest.approx(40.0, abs=3.0)


def test_a_leg_carries_half_of_the_weight_and_keeps_the_speed():
    """Over a stride: means over people of what holds for each of them."""
    up, forward = band("ground_up"), band("ground_forward")
    assert np.trapezoid(up.mean, up.percent) / 100.0 == pytest.approx(0.5, abs=0.025)
    assert np.trapezoid(forward.mean, forward.percent) / 100.0 == pytest.approx(0.0, abs=0.003)


@pytest.mark.parametrize("name", bands())
def test_bands_are_curves_over_a_stride(name):
    b = band(name)
    np.testing.assert_array_equal(b.percent, np.arange(0.0, 101.0, 2.0))
    assert len(b.mean) == len(b.low) == len(b.high) == 51
    assert (b.low <= b.mean).all()
    assert (b.mean <= b.high).all()
    np.testing.assert_allclose(b.high - b.mean, b.mean - b.low, atol=1e-12)
    assert abs(b.mean[-1] - b.mean[0]) <= b.high[0] - b.mean[0] + 1e-3
    assert b.people
    assert b.speed
    assert b.note
    assert "(20" in b.source
    assert b.unit in TITLES[name]
    assert not b.mean.flags.writeable


def test_all_sources_are_named():
    text = "; ".join(sources())
    assert all(TITLES[name].split(",")[0] in text for name in bands())
    assert "20 adults, Bovi et al. 2011" in text


def test_matches():
    b = band("knee_angle")
    fine = np.linspace(0.0, 100.0, 101)
    mean, sd = np.interp(fine, b.percent, b.mean), np.interp(fine, b.percent, b.high - b.mean)
    assert b.match(fine, mean) == (1.0, 0.0, 0.0)
    assert b.match(fine, mean + 0.99 * sd).inside == 1.0
    assert b.match(fine, mean - 1.01 * sd).inside == 0.0
    shifted = b.match(fine, mean - 7.0)
    assert shifted.rms == pytest.approx(7.0)
    assert shifted.offset == pytest.approx(-7.0)
    half = b.match(fine, np.where(fine < 50.0, mean, mean + 3.0 * sd))
    assert half.inside == pytest.approx(50 / 101)


def test_a_swinging_foot_is_not_counted():
    b = band("ground_up")
    stance = b.mean > 0.005
    off = b.match(b.percent, np.where(stance, b.mean + 1.0, 0.0))
    assert off.inside == 0.0
    assert off.rms == pytest.approx(1.0)
    late = b.match(b.percent, np.where(b.percent > 80.0, 0.5, b.mean))
    assert late.inside == pytest.approx(stance.sum() / (stance.sum() + (b.percent > 80.0).sum()))


def test_norms_are_read_off_the_bands():
    assert set(norms()) == set(EXTREMES)
    low, high = norms()["knee_swing"]
    assert (low, high) == pytest.approx((63.4 - 4.85, 63.4 + 4.85))
    assert norms()["knee_swing"].text == "58.5 to 68.2"
    low, high = norms()["hip_extension"]  # without its sign, from upright
    assert (low, high) == pytest.approx((17.3 - 7.8, 17.3 + 7.8))


@pytest.fixture(scope="module")
def stopped():
    return walk(solver="scipy", time_limit=0.0, progress=False)


def test_a_notebook_shows_a_walk_as_a_card(stopped):
    html = stopped._repr_html_()
    assert html.count("<svg") == 2  # positions and torques
    assert "features of the right leg" in html


@pytest.fixture(scope="module")
def noise(stopped):
    """A stride of random numbers."""
    rng, stride = np.random.default_rng(0), stopped.stride(11)
    return replace(stride, **{name: rng.normal(size=getattr(stride, name).shape) for name in ("q", "tau", "ground")})


def test_every_extreme_has_a_title_that_says_when(stopped):
    assert set(stopped.features()) == set(EXTREME_TITLES)
    assert EXTREME_TITLES["knee_stance"] == "peak knee flexion in stance, deg"
    assert EXTREME_TITLES["vertical_between"] == "vertical force, mid-stance minimum, body weights"
    for key, extreme in EXTREMES.items():
        assert extreme.title.endswith(bands()[extreme.curve].unit), key


def test_unknown_names_are_answered(stopped):
    with pytest.raises(UnknownNameError, match="Did you mean 'knee_angle'"):
        band("knee_angel")
    for ask in (stopped.compared, stopped.features):
        with pytest.raises(UnknownNameError, match="Valid names: 'r', 'l'"):
            ask("right")


def test_each_leg_has_its_own_stride(noise):
    right, left = leg(noise, "r"), leg(noise, "l")
    assert set(right) == set(left) == set(TITLES)
    np.testing.assert_array_equal(right["ground_up"][:-1], noise.ground_force("r")[:-1, 1])
    np.testing.assert_array_equal(left["ground_up"][:-1], np.roll(noise.ground_force("l")[:-1, 1], -10))
    np.testing.assert_array_equal(left["ground_outward"][:-1], np.roll(-noise.ground_force("l")[:-1, 2], -10))
    np.testing.assert_array_equal(left["ankle_angle"][:10], np.rad2deg(noise.angle("ank_flex_l")[10:20]))
    np.testing.assert_allclose(left["hip_torque"][0], noise.torque("hip_flex_l")[10] / 73.0)
    assert all(len(curve) == len(noise.percent) and curve[0] == curve[-1] for curve in left.values())


def test_a_frozen_ankle_has_an_angle_but_no_torque(stopped, noise, tmp_path):
    frozen = replace(noise, names=tuple("" if name.startswith("ank_flex") else name for name in noise.names))
    assert set(bands()) - set(compared(frozen)) == {"ankle_torque"}
    assert features(frozen)["ankle_dorsiflexion"] == 0.0
    found = replace(stopped)
    found.__dict__["_stride"] = frozen
    found.plot(tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").read_text().count("frozen") == 1


@pytest.mark.slow
def test_a_predicted_walk_is_like_people():
    """Right in sign and shape; the shares within are those of the documentation."""
    found = walk(Person(), 1.2, 0.6, solver="ipopt", smooth=True, progress=False)
    percent, curves = found.stride().percent, leg(found.stride(), "r")
    for name, b in bands().items():
        assert np.corrcoef(curves[name], np.interp(percent, b.percent, b.mean))[0, 1] > 0.6
    matches = found.compared()
    assert list(matches) == list(bands())
    assert matches["hip_angle"].inside == pytest.approx(0.86, abs=0.05)
    assert matches["knee_angle"].inside == pytest.approx(0.50, abs=0.05)
    assert all(abs(matches[name].offset) < 6.0 for name in ANGLES)

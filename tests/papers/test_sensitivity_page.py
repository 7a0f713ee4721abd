"""The experiment on sensitivities: it agrees, notices a wrong arm, and differences make the V that is drawn."""

import json

import numpy as np

import linkwise as lw
from papers import sensitivities
from papers.experiments import run
from papers.html import page


def test_the_experiment_agrees_and_makes_a_page():
    found = run("sensitivities")
    assert found.agrees
    assert found.assumptions
    assert len(found.pictures) == 3
    assert 'id="sensitivities"' in page([found])
    json.dumps(found.as_data(), allow_nan=False)


def test_a_wrong_arm_is_noticed():
    """The errors are not zero by construction: a heavier bundled robot is far from the thesis's."""
    arm = sensitivities.ARMS[0]
    heavier = lw.load("rr").with_payload(0.1, at="link2")
    assert sensitivities.exactness(heavier, arm)["torques against Barman as corrected"] > 1e-2
    assert sensitivities.exactness(heavier, arm)["torques against complex steps"] < sensitivities.TOLERANCE


def test_differences_make_a_v():
    """Errors fall with the step by its first or second power, and rise again when it is small."""
    for arm in sensitivities.ARMS:
        found = sensitivities.step_errors(lw.load(arm.robot), arm)
        large = (sensitivities.STEPS > 1e-4) & (sensitivities.STEPS < 1e-2)
        for name, order in (("forward", 1), ("central", 2)):
            slope = np.polyfit(np.log(sensitivities.STEPS[large]), np.log(found[name][large]), 1)[0]
            assert abs(slope - order) < 0.1
            assert found[name][0] > 1e3 * found[name].min()
        assert found["recursion"].max() < 1e-15

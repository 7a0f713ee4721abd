"""The works whose algorithms and experiments are here, by the keys that docstrings cite."""

from __future__ import annotations

SOURCES = {
    "Hua": "M. T. Hua, M. Poursina, F. Sanfilippo. Dynamic Modelling of Mixed Rigid-Flexible Joint Robotic Manipulator"
    " Using Recursive Newton-Euler Formulation.",
    "Barman": "S. Barman. Recursive Newton-Euler Dynamics and Sensitivity Analysis for Dynamic Motion Planning."
    " Master's thesis, Oklahoma State University, 2020.",
    "GuarinoLoBianco": "C. Guarino Lo Bianco. Evaluation of generalized force derivatives by means of a recursive"
    " Newton-Euler approach. IEEE, 2009.",
    "Khalil": "W. Khalil. Dynamic Modeling of Robots Using Recursive Newton-Euler Techniques. ICINCO, 2010.",
    "Nasser": "M. G. Nasser. Recursive Newton-Euler Formulation of Manipulator Dynamics. Lockheed Engineering &"
    " Sciences Company.",
}

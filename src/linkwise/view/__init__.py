"""Robots and their motions to look at: a scene of a robot, and pages of one file that any browser opens.

`scene` says what is drawn of a robot, `page` writes it.
"""

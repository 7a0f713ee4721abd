"""Platforms on legs: robots with loops, from their legs, and well-known ones by their dimensions."""

from linkwise.platforms.builders import delta as delta
from linkwise.platforms.builders import gough_stewart as gough_stewart
from linkwise.platforms.builders import three_rrr as three_rrr
from linkwise.platforms.legs import Leg as Leg
from linkwise.platforms.legs import on_legs as on_legs

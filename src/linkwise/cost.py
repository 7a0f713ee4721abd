"""What a plan makes small: terms of its objective, which add and are multiplied by numbers.

>>> lw.plan(robot, start, goal, minimize=lw.cost.time() + 0.01 * lw.cost.effort())
"""

from linkwise.planning.information import information as information
from linkwise.planning.terms import effort as effort
from linkwise.planning.terms import effort_rate as effort_rate
from linkwise.planning.terms import energy as energy
from linkwise.planning.terms import function as function
from linkwise.planning.terms import jerk as jerk
from linkwise.planning.terms import power as power
from linkwise.planning.terms import reaction as reaction
from linkwise.planning.terms import time as time
from linkwise.planning.terms import tool_path as tool_path

"""What a plan respects: constraints of joints and drives, reactions, frames, and of your own.

>>> lw.plan(robot, start, goal, subject_to=[lw.limit.joints("effort"), lw.limit.reaction("elbow", force=500.0)])
"""

from linkwise.planning.clearance import clearance as clearance
from linkwise.planning.constraints import cyclic as cyclic
from linkwise.planning.constraints import function as function
from linkwise.planning.constraints import mirrored as mirrored
from linkwise.planning.constraints import passive as passive
from linkwise.planning.constraints import reaction as reaction
from linkwise.planning.contact import contact as contact
from linkwise.planning.joint_limits import joints as joints
from linkwise.planning.tool import tool_path as tool_path
from linkwise.planning.tool import via as via

"""The MAX78000 and MAX78002: networks described or lowered, placed, simulated to the last bit, and written as C.

Everything meets in `network.Network`: descriptions are read into it (`description`), graphs are lowered into it, the
planner fills in its places, and simulator, registers, memory images and generated code are made from it alone.
"""

from buildtool.targets.max7800x.target import Max7800xTarget

TARGET = Max7800xTarget()

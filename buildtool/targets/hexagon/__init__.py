"""Qualcomm's Hexagon DSP, together with the CPU beside it: libraries with parts of models for a program on the DSP."""

from buildtool.targets.hexagon.capabilities import HEXAGON
from buildtool.targets.hexagon.target import HexagonTarget

TARGET = HexagonTarget("hexagon", HEXAGON)

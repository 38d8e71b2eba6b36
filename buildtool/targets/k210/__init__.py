"""The Kendryte K210: kmodel files (version 3), made of graphs, read, written and simulated to the last bit."""

from buildtool.targets.k210.target import K210Target

TARGET = K210Target()

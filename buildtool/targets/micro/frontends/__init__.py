"""Front ends: what makes a model's input of audio or images, in integers, as C and as its twin in NumPy.

The twin computes the same bits as the C, so that a network can be trained with what it will see on the chip.
"""

from buildtool.targets.micro.frontends.audio import Audio
from buildtool.targets.micro.frontends.image import Picture
from buildtool.targets.micro.frontends.reading import frontend
from buildtool.targets.micro.frontends.sources import sources

__all__ = ["Audio", "Picture", "frontend", "sources"]

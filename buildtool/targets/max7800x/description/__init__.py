"""Descriptions of networks in the language of ai8xize, and what they say once nothing is left out.

`fields` and `keys` say what a file may hold, `sections` reads one, `chosen` fills in the defaults of a layer, `rules`
checks it, `order` resolves references, `binding` hands out the weights, `shapes` follows channels and sizes, `layers`
adds the places.
"""

from buildtool.targets.max7800x.description.adapted import Options
from buildtool.targets.max7800x.description.reading import Described, outline, read

__all__ = ["Described", "Options", "outline", "read"]

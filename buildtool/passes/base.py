"""The contract of a pass, and the conveniences that most passes share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from buildtool.ir.graph import Graph


class Pass(ABC):
    """One rewrite. It computes the same outputs, and it keeps names:

    - a value that replaces another takes over its source names, and the name of a graph output stays what it was;
    - a node that stands for several has the name of the one that does the work.
    """

    name: ClassVar[str]
    summary: ClassVar[str]  # one line, for people
    #: Names of passes without which this one finds nothing to do; they come earlier in the pipeline.
    requires: ClassVar[tuple[str, ...]] = ()
    #: Operators that it introduces for the sake of their kernels: what has none of worth has no use for the pass.
    makes: ClassVar[tuple[str, ...]] = ()
    #: Whether it runs last, once, and only for targets that name it in their capabilities.
    lowers: ClassVar[bool] = False

    @abstractmethod
    def run(self, graph: Graph) -> bool:
        """Rewrites the graph; tells whether anything changed. A second run right after changes nothing."""

    def ensures(self, graph: Graph) -> Iterator[str]:
        """What is wrong with the graph after a run, in words: nothing, unless the pass has a defect."""
        yield from ()

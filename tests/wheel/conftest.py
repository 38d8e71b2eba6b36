"""The wheel and the environment of the tests of packaging."""

from __future__ import annotations

from tests.packaging.conftest import environment, wheel

__all__ = ["environment", "wheel"]

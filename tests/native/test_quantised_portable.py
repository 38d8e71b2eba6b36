"""Models of quantised values in portable form, where the runtime itself chooses the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.errors import UnsupportedError
from buildtool.plan import manifest
from buildtool.plan.select import select
from buildtool.runtime import Library
from tests.native_builds import full_library
from tests.ops.stored import MAKERS, stored_cases


@pytest.mark.slow
@pytest.mark.parametrize("operator", MAKERS)
def test_kernels_for_stored_numbers_are_taken(operator: str) -> None:
    """Others of the same operator take the same types, as numbers that stand for themselves."""
    library = Library(full_library())
    kernels = manifest.load()
    ran = 0
    for case in stored_cases(operator):
        try:
            select(case.graph, kernels, abi="host", isas=["portable"])
        except UnsupportedError:
            continue
        files = container.write(case.graph, name="case", half=False, plan=None)
        inputs = {value.name: array for value, array in zip(case.graph.inputs, case.inputs, strict=True)}
        found = library.engine(model=files.model, data=files.data).run(inputs)
        for value, wanted in zip(case.graph.outputs, case.expected, strict=True):
            atol = 1.0 if wanted.dtype.kind in "iu" else 1e-4 * max(1.0, np.abs(wanted).max(initial=0))
            np.testing.assert_allclose(found[value.name].astype(float), wanted, rtol=0, atol=atol, err_msg=case.name)
        ran += 1
    assert ran

"""The other half of the notebooks, in a file of its own so that two processes share the work."""

import pytest
from test_notebooks_perturbed import NOTEBOOKS, assert_that_only_derivations_fail


@pytest.mark.parametrize("path", NOTEBOOKS[1::2], ids=lambda p: p.stem)
def test_every_derivation_fails_on_a_perturbed_ledger(path, monkeypatch):
    assert_that_only_derivations_fail(path, monkeypatch)

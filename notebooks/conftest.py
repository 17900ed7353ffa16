"""Make ``pytest --nbval`` stricter: every cell has been run and is compared, and pictures are compared too.

The cells of a notebook stay in one process of a parallel run (they share a kernel); other tests go where room is.
Kernels that start at the same time may take each other's port and die: then another one is started, once.
"""

import gc
import warnings

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile
from refresh import pictures, same_picture

_compare, _run, _start = IPyNbCell.compare_outputs, IPyNbCell.runtest, IPyNbFile.setup


@pytest.hookimpl(optionalhook=True)  # nothing to do where xdist is not used
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class NotebooksWhole(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid.partition("::")[0] if ".ipynb::" in nodeid else nodeid

    return NotebooksWhole(config, log)


def compare_outputs(self, test, ref, skip_compare=None):
    if not _compare(self, test, ref, skip_compare):
        return False
    drawn, stored = pictures({"outputs": test}), pictures({"outputs": ref})
    if len(drawn) != len(stored) or not all(map(same_picture, stored, drawn)):
        self.comparison_traceback.append(f"The stored picture is stale: make notebooks ONLY=notebooks/{self.path.name}")
        return False
    return True


def runtest(self):
    if self.cell.execution_count is None:
        self.raise_cell_error(f"This cell has no stored run: make notebooks ONLY=notebooks/{self.path.name}")
    if not self.options["check"] or self.options["skip"]:
        self.raise_cell_error("This cell asks not to be compared; print less, or round, instead")
    _run(self)


def setup(self):
    try:
        _start(self)
        return
    except RuntimeError as error:
        if "Kernel" not in str(error):
            raise
    with warnings.catch_warnings():  # what the dead kernel left open
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    _start(self)


IPyNbCell.compare_outputs, IPyNbCell.runtest, IPyNbFile.setup = compare_outputs, runtest, setup

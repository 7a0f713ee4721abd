"""Measurements of real robots, which are not in the repository: the folder `shared/data` beside it, if it is there."""

from pathlib import Path

import pytest

DATA = next(
    (p / "shared" / "data" for p in Path(__file__).parents if (p / "shared" / "data").is_dir()), Path("shared/data")
)
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the measurements in ../shared/data are not here")

"""Names for the types of arrays, once for the whole package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]
"""Floats of either precision: a kernel keeps the precision that it is given."""

Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]
"""Indices and counts."""

Int64Array = NDArray[np.int64]
"""Amounts that are counted exactly, in whole units."""

AnyArray = NDArray[Any]

"""Output files of fields: checkpoints for restarts, NetCDF and Zarr."""

from ..public import all_explained, explain_methods
from .checkpoint import Checkpoint, digest, load, save
from .computed import Computed
from .dataset import to_xarray
from .places import check_place, publish
from .writer import Writer

__all__ = [
    "Checkpoint",
    "Computed",
    "Writer",
    "check_place",
    "digest",
    "load",
    "publish",
    "save",
    "to_xarray",
]

globals().update(all_explained(globals(), __all__))
explain_methods(globals(), __all__)

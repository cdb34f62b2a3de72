"""Output files of fields: checkpoints for restarts, NetCDF and Zarr."""

from ..public import explain_public
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

explain_public(globals(), __all__)

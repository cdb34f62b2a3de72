"""Files of fields: checkpoints from which runs continue."""

from ..public import all_explained, explain_methods
from .checkpoint import Checkpoint, digest, load, save
from .places import check_place, publish

__all__ = [
    "Checkpoint",
    "check_place",
    "digest",
    "load",
    "publish",
    "save",
]

globals().update(all_explained(globals(), __all__))
explain_methods(globals(), __all__)

"""Time integrators for fields: ordinary differential equations of the method of lines."""

from ..public import explain_public
from .adaptive import AdaptiveRungeKutta
from .flat import FlatRightSide
from .implicit.adi import ADI
from .implicit.methods import ImexTableau, theta_method
from .implicit.stages import BDF2, ImexRungeKutta, ImplicitRungeKutta
from .ivp import OdeResult, solve_ivp
from .methods import explicit
from .multistep import AdamsBashforth, Leapfrog
from .right_side import RightSide, rhs
from .runge_kutta import RungeKutta, step_program
from .stepper import Stepper
from .tableaux import ButcherTableau, LowStorage, ShuOsher

__all__ = [
    "ADI",
    "BDF2",
    "AdamsBashforth",
    "AdaptiveRungeKutta",
    "ButcherTableau",
    "FlatRightSide",
    "ImexRungeKutta",
    "ImexTableau",
    "ImplicitRungeKutta",
    "Leapfrog",
    "LowStorage",
    "OdeResult",
    "RightSide",
    "RungeKutta",
    "ShuOsher",
    "Stepper",
    "explicit",
    "rhs",
    "solve_ivp",
    "step_program",
    "theta_method",
]

explain_public(globals(), __all__)

"""Heat with cold walls, periodic along x, in py-pde."""

import pde


def solver(u, r):
    ny, nx = u.shape
    grid = pde.CartesianGrid([[0, ny], [0, nx]], u.shape, periodic=[False, True])
    field = pde.ScalarField(grid, u)
    equation = pde.DiffusionPDE(r, bc={"x": {"value": 0}, "y": "periodic"})
    step = pde.EulerSolver(equation).make_stepper(field, dt=1.0)

    def advance(steps):
        step(field, 0.0, steps)
        return field.data

    return advance

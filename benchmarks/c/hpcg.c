/* Conjugate gradients with a V-cycle, on matrices in CSR form, on one rank or on two that lie side
   by side along x: the algorithm of HPCG as its specification has it. */

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#define LEVELS 4

/* A grid: its matrix, whose columns behind the own rows are the neighbour's plane; which row of the
   finer grid each row is; the own plane beside the neighbour; and vectors. */
typedef struct {
    int rows, plane;
    int *first, *column, *origin, *beside;
    double *value, *diagonal, *packed;
    double *r, *x, *q;
} Grid;

typedef struct {
    MPI_Comm comm;
    int rank, neighbour;
    Grid grids[LEVELS];
    double *b, *x, *p;
} Solver;

static void *room(size_t count, size_t size) { return calloc(count ? count : 1, size); }

static void build(Grid *g, int n, int rank, int ranks)
{
    const int rows = g->rows = n * n * n;
    int entries = 0;
    g->plane = ranks > 1 ? n * n : 0;
    g->first = room(rows + 1, sizeof(int));
    g->column = room((size_t)27 * rows, sizeof(int));
    g->value = room((size_t)27 * rows, sizeof(double));
    g->diagonal = room(rows, sizeof(double));
    g->origin = room(rows / 8, sizeof(int));
    g->beside = room(g->plane, sizeof(int));
    g->packed = room(g->plane, sizeof(double));
    g->r = room(rows, sizeof(double));
    g->x = room(rows + g->plane, sizeof(double));
    g->q = room(rows, sizeof(double));
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int row = x + n * (y + n * z);
                for (int c = z - 1; c <= z + 1; c++)
                    for (int b = y - 1; b <= y + 1; b++)
                        for (int a = x - 1; a <= x + 1; a++) {
                            const int whole = rank * n + a;
                            if (c < 0 || c >= n || b < 0 || b >= n) continue;
                            if (whole < 0 || whole >= ranks * n) continue;
                            const int own = a >= 0 && a < n;
                            const int here = own ? a + n * (b + n * c) : rows + b + n * c;
                            g->column[entries] = here;
                            g->value[entries++] = here == row ? 26.0 : -1.0;
                        }
                g->first[row + 1] = entries;
                g->diagonal[row] = 26.0;
            }
    for (int k = 0; k < g->plane; k++) g->beside[k] = (rank ? 0 : n - 1) + n * k;
    for (int z = 0; z < n / 2; z++)
        for (int y = 0; y < n / 2; y++)
            for (int x = 0; x < n / 2; x++)
                g->origin[x + n / 2 * (y + n / 2 * z)] = 2 * x + n * (2 * y + n * 2 * z);
}

static void exchange(const Solver *s, Grid *g, double *x)
{
    if (!g->plane) return;
    for (int k = 0; k < g->plane; k++) g->packed[k] = x[g->beside[k]];
    MPI_Sendrecv(g->packed, g->plane, MPI_DOUBLE, s->neighbour, 0, x + g->rows, g->plane,
                 MPI_DOUBLE, s->neighbour, 0, s->comm, MPI_STATUS_IGNORE);
}

static void multiply(const Solver *s, Grid *g, double *x, double *y)
{
    exchange(s, g, x);
    for (int i = 0; i < g->rows; i++) {
        double sum = 0.0;
        for (int k = g->first[i]; k < g->first[i + 1]; k++) sum += g->value[k] * x[g->column[k]];
        y[i] = sum;
    }
}

static void relax(const Grid *g, const double *r, double *x, int i)
{
    double sum = r[i];
    for (int k = g->first[i]; k < g->first[i + 1]; k++) sum -= g->value[k] * x[g->column[k]];
    x[i] = (sum + x[i] * g->diagonal[i]) / g->diagonal[i];
}

static void smooth(const Solver *s, Grid *g, const double *r, double *x)
{
    exchange(s, g, x);
    for (int i = 0; i < g->rows; i++) relax(g, r, x, i);
    for (int i = g->rows - 1; i >= 0; i--) relax(g, r, x, i);
}

static void cycle(Solver *s, int level)
{
    Grid *g = &s->grids[level];
    for (int i = 0; i < g->rows + g->plane; i++) g->x[i] = 0.0;
    smooth(s, g, g->r, g->x);
    if (level == LEVELS - 1) return;
    Grid *below = g + 1;
    multiply(s, g, g->x, g->q);
    for (int i = 0; i < below->rows; i++) {
        const int f = g->origin[i];
        below->r[i] = g->r[f] - g->q[f];
    }
    cycle(s, level + 1);
    for (int i = 0; i < below->rows; i++) g->x[g->origin[i]] += below->x[i];
    smooth(s, g, g->r, g->x);
}

static double dot(const Solver *s, const double *a, const double *b)
{
    double mine = 0.0, all;
    for (int i = 0; i < s->grids[0].rows; i++) mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    return all;
}

/* Return a solver for n^3 points on each of the ranks, one or two, of a communicator. */
void *hpcg_new(MPI_Fint comm, int n)
{
    Solver *s = room(1, sizeof(Solver));
    int ranks;
    s->comm = MPI_Comm_f2c(comm);
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &ranks);
    s->neighbour = 1 - s->rank;
    for (int level = 0; level < LEVELS; level++) build(&s->grids[level], n >> level, s->rank, ranks);
    const Grid *g = s->grids;
    s->b = room(g->rows, sizeof(double));
    s->x = room(g->rows, sizeof(double));
    s->p = room(g->rows + g->plane, sizeof(double));
    for (int i = 0; i < g->rows; i++) s->b[i] = 27.0 - (g->first[i + 1] - g->first[i]);
    return s;
}

/* Solve from zero; the norms of residuals, relative to the first one, go to `norms`. */
void hpcg_solve(void *solver, int iterations, double *norms)
{
    Solver *s = solver;
    Grid *g = s->grids;
    double *r = g->r, *z = g->x, *q = g->q, *p = s->p, *x = s->x, old = INFINITY;
    for (int i = 0; i < g->rows; i++) x[i] = p[i] = 0.0;
    multiply(s, g, p, q);
    for (int i = 0; i < g->rows; i++) r[i] = s->b[i] - q[i];
    const double first = dot(s, r, r);
    for (int k = 0; k < iterations; k++) {
        cycle(s, 0);
        const double rz = dot(s, r, z), beta = rz / old;
        for (int i = 0; i < g->rows; i++) p[i] = z[i] + beta * p[i];
        multiply(s, g, p, q);
        const double alpha = rz / dot(s, p, q);
        for (int i = 0; i < g->rows; i++) x[i] += alpha * p[i];
        for (int i = 0; i < g->rows; i++) r[i] -= alpha * q[i];
        norms[k] = sqrt(dot(s, r, r) / first);
        old = rz;
    }
}

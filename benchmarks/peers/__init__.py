"""The programs that every tool shows first, as users of each tool would write them.

All run on one thread, which is set here in the environment, before their packages are imported.
"""

import os

for _variable in "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS":
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("DEVITO_LANGUAGE", "C")

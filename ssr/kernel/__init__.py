"""The last representation of a kernel: functions of loops, branches and accesses to memory."""

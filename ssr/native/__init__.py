"""The LLVM back end: machine code from kernel IR, through the public interface of llvmlite."""

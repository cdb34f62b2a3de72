"""The back end: kernel IR as machine code, by the public interface of llvmlite."""

"""A program made into something that runs: interpreters, LLVM, C."""

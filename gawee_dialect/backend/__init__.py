"""From the llvm dialect to LLVM IR text, machine code, and files for C."""

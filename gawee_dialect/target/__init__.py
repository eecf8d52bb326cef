"""What a processor can do: LLVM's name of it, its vectors, its memories, and how fast they are."""

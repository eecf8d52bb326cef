"""How nodes of a graph become ops: what every vocabulary of ops shares.

A vocabulary (ATen in `npu_ir/aten`) is a `Registry` of functions, each of which makes with an
`Emitter` what one op means, and whose parameters are the op's schema. A format binds the arguments
of its nodes to those parameters, builds an `EntryFunction` of what the functions return, and
reports every `Refusal` at once.
"""

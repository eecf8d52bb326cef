"""Why some ops of ONNX cannot become ops on tensors of known sizes."""

from collections.abc import Mapping

SIZE = "how large its result is depends on elements"
RANDOM = "it draws other numbers every time"
SEQUENCE = "it is on sequences or optional values, not tensors"
TEXT = "it is on text"

REASONS: Mapping[str, str] = {
    **dict.fromkeys(("NonZero", "Unique"), SIZE),
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"), RANDOM),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(
        ("SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceAt"), SEQUENCE
    ),
    **dict.fromkeys(
        (
            "SequenceInsert",
            "SequenceLength",
            "SequenceMap",
            "Optional",
            "OptionalHasElement",
            "OptionalGetElement",
        ),
        SEQUENCE,
    ),
    **dict.fromkeys(("ConcatFromSequence", "SplitToSequence"), SEQUENCE),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), TEXT),
    "ai.onnx.ml.LabelEncoder": TEXT,
    "ImageDecoder": "it decodes a file",
}
"""By full type; `onnx_backend` runs them on the host. What is known when the graph is read is
computed then, whatever it is."""

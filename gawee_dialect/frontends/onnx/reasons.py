"""Why some ops of ONNX cannot become ops on tensors of known sizes."""

from collections.abc import Mapping

SIZE = "how large its result is depends on elements"
RANDOM = "it draws other numbers every time"
SEQUENCE = "it is on sequences or optional values, not tensors"
TEXT = "it is on text"
TRAINING = "it is a step of training"

REASONS: Mapping[str, str] = {
    **dict.fromkeys(("NonZero", "Unique"), SIZE),
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"), RANDOM),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(
        ("SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceAt"), SEQUENCE
    ),
    **dict.fromkeys(("SequenceInsert", "SequenceLength", "SequenceMap", "Optional"), SEQUENCE),
    **dict.fromkeys(("ConcatFromSequence", "SplitToSequence"), SEQUENCE),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), TEXT),
    **{f"ai.onnx.preview.training.{op}": TRAINING for op in ("Adagrad", "Adam", "Momentum")},
    "ai.onnx.preview.training.Gradient": TRAINING,
}
"""By full type; what is known when the graph is read is computed then, whatever it is."""

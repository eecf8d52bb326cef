"""The page of what `benchmarks.onnx_against_aten` found, and what it keeps for that page."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "onnx_against_aten.jsonl"
PAGE = ROOT / "docs" / "onnx_against_aten.md"


@dataclass(frozen=True)
class Comparison:
    """How many kernels a network has by each way, and how many are the same."""

    network: str
    library: str
    aten: int = 0
    onnx: int = 0
    same: int = 0
    failure: str = ""

    @property
    def differing(self) -> int:
        """The kernels of one way that the other has not, of the way that has more of them."""
        return max(self.aten, self.onnx) - self.same


JOINED = "products of heads: ATen's join batch and heads, and copy for it; ONNX's read in place"

SAME_SIZE = "an adaptive pool to the size that there is: a mean over axes of one by ONNX"

POSITIONS = "biases of positions: transposed by torch.onnx.export, in the kernel by ATen"

CAUSES: Mapping[str, str] = {
    **dict.fromkeys(("alexnet", "vgg11", "vgg11_bn"), SAME_SIZE),
    "cait_xxs24_224": "products across heads: the scores are stored with heads last by ONNX",
    "mobilevit_xxs": "attention of one position: as products by ATen, as attention by ONNX",
    "lambda_resnet26t": JOINED,
    "halonet26t": "windows: ATen takes them one by one (`unfold`), ONNX by two slices; " + JOINED,
    "gcresnet33ts": "a bias of zeros before a softmax, which torch.onnx.export leaves out",
    "mixer_s32_224": "a weight of 4 rows is read as it is stored, by ONNX transposed",
    **dict.fromkeys(("swin_tiny_patch4_window7_224", "swin_t"), POSITIONS),
    "swin_v2_t": "`Not` of `Equal` in the place of one comparison; " + JOINED,
    "maxvit_t": "attention with biases of positions, whose parts by ATen are not fused",
    "tiny_vit_5m_224": "attention with biases of positions, whose parts by ATen are not fused",
    "bloom": JOINED,
    "gemma2": "capped scores; " + JOINED,
    "gpt_neo": JOINED,
    "falcon": "keys and values of one head, which ONNX picks by `Gather`",
    "mobilebert": "a scale and a shift of rows, which ATen has in the product after it",
    "pvt_v2_b0": "a product whose rows ONNX lays out for it, and ATen's kernel reads as they are",
    "segformer": "a product whose rows ONNX lays out for it, and ATen's kernel reads as they are",
    "mpnet": "biases of positions: with heads first by ONNX, last by ATen; `Not` of `Equal`",
    "roberta": "`Not` of `Equal` in the place of one comparison",
    "mamba": "a product with the weight on the left; softplus with a threshold; states in blocks",
}
"""What the kernels that differ come from, by network."""


def keep(comparison: Comparison) -> None:
    """Append a comparison to the file of all of them."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(comparison)) + "\n")


def read_results() -> dict[str, Comparison]:
    """Return the latest comparison of every network."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    results = (Comparison(**json.loads(line)) for line in lines)
    return {each.network: each for each in results}


def write_page(networks: Iterable[str]) -> None:
    """Write the page of what is kept, if that is all of these networks; else say what is not."""
    found = read_results()
    left = [name for name in networks if name not in found]
    if left:
        print(f"{PAGE.name} is left as it is: no result of {left[0]}", file=sys.stderr)
    else:
        PAGE.write_text(page(found.values()), encoding="utf-8")


def page(found: Iterable[Comparison]) -> str:
    """Return the page: how many networks are the same, and a row for each."""
    results = sorted(found, key=lambda each: (each.library, each.network))
    compared = [each for each in results if not each.failure]
    alike = sum(1 for each in compared if not each.differing)
    rows = [
        f"| {each.network} | {each.aten} | {each.onnx} | {each.differing or ''} | {_cause(each)} |"
        for each in compared
    ]
    failed = [f"| {each.network} | {each.failure} |" for each in results if each.failure]
    return "\n".join(
        [
            "# The same networks from PyTorch and from ONNX",
            "",
            f"{alike} of {len(compared)} networks of the [zoo](zoo.md) become the same kernels "
            "whether they enter by their ATen graph or by what `torch.onnx.export` writes of them: "
            "the same arithmetic in the same loops, which read and write at the same distances in "
            "memory.",
            "Of the others the table says how many kernels one way has and the other has not, and "
            "why.",
            "",
            "`python -m benchmarks.onnx_against_aten --table` writes this page.",
            "",
            "| network | kernels by ATen | by ONNX | differ | what differs |",
            "|---|---|---|---|---|",
            *rows,
            *(("", "Not compared:", "", "| network | reason |", "|---|---|") if failed else ()),
            *failed,
            "",
        ]
    )


def _cause(comparison: Comparison) -> str:
    return CAUSES.get(comparison.network, "") if comparison.differing else ""

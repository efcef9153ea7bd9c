# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the two layers of digits.facet on the first 1437 images, with NumPy alone.

    python train.py             writes w1.npy b1.npy w2.npy b2.npy beside the images
    python train.py --validate  trains on 1077, says how well it does on the next 360

The last 360 images are held out: nothing here was chosen by looking at them; the
settings below were chosen with --validate. The file keeps its order, in which
neighbours often come from one hand, so the last 360 are hands hardly seen before.

The network computes in bf16 what it will compute in bf16 later: weights and hidden
values are rounded in the forward pass and the gradient passes through (a straight-
through estimate). The seed is fixed: the same machine writes the same bytes; on
another one sums run in another order and last bits may differ.
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TRAIN, HELD_OUT = slice(0, 1437), slice(1437, 1797)
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 64, 60, 32, 3e-3, 2e-3


def bf16_bits(x):
    """float32 → the bits of the nearest bfloat16, ties to even (no NaN here)."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def bf16(x):
    """Rounds to bfloat16 and back to float64."""
    return (bf16_bits(x).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def shifted(rng, images):
    """Each image moved by up to one pixel, with zeros moving in."""
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    out = np.empty((len(images), 8, 8))
    move = rng.integers(0, 3, (len(images), 2))
    # Half of them stay where they are.
    move[rng.random(len(images)) < 0.5] = 1
    for y in range(3):
        for x in range(3):
            at = (move == [y, x]).all(axis=1)
            out[at] = padded[at, y:y + 8, x:x + 8]
    return out.reshape(-1, 64)


def forward(p, images):
    hidden = bf16(np.maximum(images @ bf16(p["w1"]) + p["b1"], 0))
    return hidden, hidden @ bf16(p["w2"]) + p["b2"]


def accuracy(p, images, labels):
    return (forward(p, images)[1].argmax(axis=1) == labels).mean()


def train(images, labels):
    rng = np.random.default_rng(1998)
    # Pixels are 0 … 16; the scale 1/16 is inside the weights.
    p = {"w1": rng.standard_normal((64, HIDDEN)) * np.sqrt(2 / 64) / 16, "b1": np.zeros(HIDDEN),
         "w2": rng.standard_normal((HIDDEN, 10)) * np.sqrt(2 / HIDDEN), "b2": np.zeros(10)}
    scale = {"w1": 1 / 16, "b1": 1, "w2": 1, "b2": 1}  # steps in each parameter's own unit
    first, second = ({k: np.zeros_like(v) for k, v in p.items()} for _ in range(2))
    steps, total = 0, EPOCHS * -(-len(images) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for start in range(0, len(order), BATCH):
            rows = order[start:start + BATCH]
            x = shifted(rng, images[rows].astype(np.float64))
            hidden, logits = forward(p, x)
            e = np.exp(logits - logits.max(axis=1, keepdims=True))
            dy = e / e.sum(axis=1, keepdims=True)
            dy[np.arange(len(rows)), labels[rows]] -= 1
            dy /= len(rows)
            dh = (dy @ bf16(p["w2"]).T) * (hidden > 0)
            gradient = {"w1": x.T @ dh, "b1": dh.sum(0), "w2": hidden.T @ dy, "b2": dy.sum(0)}
            steps += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * steps / total))
            for k, g in gradient.items():  # Adam, with decoupled decay of the weights
                first[k] += 0.1 * (g - first[k])
                second[k] += 0.001 * (g * g - second[k])
                step = (first[k] / (1 - 0.9**steps)) / (np.sqrt(second[k] / (1 - 0.999**steps)) + 1e-8)
                p[k] -= rate * scale[k] * step
                if k[0] == "w":
                    p[k] -= rate * DECAY * 10 * p[k]
    return p


def main():
    images, labels = (np.load(HERE / name) for name in ("images.npy", "labels.npy"))
    if sys.argv[1:] == ["--validate"]:
        p = train(images[:1077], labels[:1077])
        print(f"validation: {accuracy(p, images[1077:1437], labels[1077:1437]):.1%} of 360")
        return
    p = train(images[TRAIN], labels[TRAIN])
    for k, v in p.items():
        # bf16 as ml_dtypes stores it in .npy: two bytes without a name.
        np.save(HERE / (k + ".npy"), bf16_bits(v).view("V2") if k[0] == "w" else v.astype(np.float32))
    print(f"training: {accuracy(p, images[TRAIN], labels[TRAIN]):.1%} of 1437")
    print(f"held out: {accuracy(p, images[HELD_OUT], labels[HELD_OUT]):.1%} of 360")


if __name__ == "__main__":
    main()

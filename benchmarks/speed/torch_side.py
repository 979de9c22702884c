"""The same training in PyTorch, written as a good PyTorch user would, and NumPy's normal generator.

Reads lines `WHAT NET WIDTH THREADS SECONDS` and answers each with a number per second:
pytorch   rows trained: paper preset, batch 256, three noised copies (ratios 0.5, 0.8, 1.0), AMSGrad, noise included
compiled  the same, the step compiled by torch.compile
numpy     cells of `standard_normal` in 32 bits
"""

import functools
import sys
import time

import numpy
import torch

BATCH, COPIES, LEVELS, SIGMA_MAX = 256, 3, 3, 2.0
RATIO = torch.tensor([0.5, 0.8, 1.0]).repeat_interleave(BATCH).unsqueeze(1)


class Block(torch.nn.Module):
    """relu(x + W2 relu(W1 x))"""

    def __init__(self, hidden):
        super().__init__()
        self.first, self.second = torch.nn.Linear(hidden, hidden), torch.nn.Linear(hidden, hidden)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


def net_of(kind, width):
    hidden = 64 if width <= 64 else 256
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    if kind == "resmlp":
        blocks = [Block(hidden) for _ in range(5)]
        return torch.nn.Sequential(linear(width, hidden), *blocks, linear(hidden, width))
    return torch.nn.Sequential(
        linear(width, hidden), relu(), linear(hidden, hidden), relu(), linear(hidden, hidden), relu(),
        linear(hidden, width),
    )


@functools.cache
def training(kind, width, threads, is_compiled):
    """An endless training, a step at a time."""
    net = net_of(kind, width)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, weight_decay=5e-4, amsgrad=True, fused=True)
    rows = torch.randn(BATCH * 40, width)
    # Which level each cell has before the shuffle: d/m cells each.
    part = (torch.arange(width) * LEVELS // width).expand(COPIES * BATCH, width)

    def noise():
        """Algorithm 1 for the three copies of a batch at once."""
        level = (torch.rand(COPIES * BATCH, LEVELS) + torch.arange(LEVELS)) * (SIGMA_MAX / LEVELS)
        shuffled = part.gather(1, torch.rand(COPIES * BATCH, width).argsort(1))
        sigma = level.gather(1, shuffled)
        return torch.randn(COPIES * BATCH, width) * sigma * (torch.rand(COPIES * BATCH, width) < RATIO)

    def loss(clean):
        e = noise()
        out = net(torch.cat([clean, clean.repeat(COPIES, 1) + e]))
        return out[:BATCH].square().sum() + (out[BATCH:] - e.abs()).square().sum()

    loss_of = torch.compile(loss) if is_compiled else loss

    def steps():
        while True:
            for batch in torch.randperm(len(rows)).split(BATCH):
                optimizer.zero_grad(set_to_none=True)
                loss_of(rows[batch]).backward()
                optimizer.step()
                yield

    return steps()


@functools.cache
def normals():
    generator, cells = numpy.random.default_rng(1), numpy.empty(64 * 3 * 64, numpy.float32)
    return lambda: generator.standard_normal(dtype=numpy.float32, out=cells), cells.size


def rate(work, n, seconds):
    """How much is done in a second, if a call of `work` does `n`."""
    start = time.perf_counter()
    while time.perf_counter() - start < 0.1:
        work()
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        work()
        calls += 1
    return n * calls / (time.perf_counter() - start)


for line in sys.stdin:
    what, kind, width, threads, seconds = line.split()
    if what == "numpy":
        work, n = normals()
    else:
        torch.set_num_threads(int(threads))
        steps = training(kind, int(width), int(threads), what == "compiled")
        work, n = lambda: next(steps), (1 + COPIES) * BATCH
        work()
    print(round(rate(work, n, float(seconds))), flush=True)

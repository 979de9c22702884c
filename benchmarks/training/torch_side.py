"""The same training in PyTorch, written as a good PyTorch user would: rows trained per second.

usage: torch_side.py WIDTH SECONDS THREADS
Paper preset: 4-layer MLP, batch 256, three noised copies (ratios 0.5, 0.8, 1.0), AMSGrad, noise included.
"""

import sys
import time

import torch

width, seconds, threads = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(0)
BATCH, LEVELS, SIGMA_MAX, RATIOS = 256, 3, 2.0, torch.tensor([0.5, 0.8, 1.0])
hidden = 64 if width <= 64 else 256
net = torch.nn.Sequential(
    torch.nn.Linear(width, hidden), torch.nn.ReLU(),
    torch.nn.Linear(hidden, hidden), torch.nn.ReLU(),
    torch.nn.Linear(hidden, hidden), torch.nn.ReLU(),
    torch.nn.Linear(hidden, width),
)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, weight_decay=5e-4, amsgrad=True, fused=True)
rows = torch.randn(BATCH * 40, width)
# Which level each cell has before the shuffle: d/m cells each.
part = (torch.arange(width) * LEVELS // width).expand(3 * BATCH, width)
ratio = RATIOS.repeat_interleave(BATCH).unsqueeze(1)


def noise():
    """Algorithm 1 for the three copies of a batch at once."""
    level = (torch.rand(3 * BATCH, LEVELS) + torch.arange(LEVELS)) * (SIGMA_MAX / LEVELS)
    shuffled = part.gather(1, torch.rand(3 * BATCH, width).argsort(1))
    sigma = level.gather(1, shuffled)
    return torch.randn(3 * BATCH, width) * sigma * (torch.rand(3 * BATCH, width) < ratio)


def step(clean):
    e = noise()
    out = net(torch.cat([clean, clean.repeat(3, 1) + e]))
    loss = out[:BATCH].square().sum() + (out[BATCH:] - e.abs()).square().sum()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def epoch():
    for batch in torch.randperm(len(rows)).split(BATCH):
        step(rows[batch])
        yield


steps, start, warm = 0, None, 100
while start is None or time.perf_counter() - start < seconds:
    for _ in epoch():
        if warm > 0:
            warm -= 1
            if warm == 0:
                start = time.perf_counter()
            continue
        steps += 1
        if time.perf_counter() - start >= seconds:
            break
print(round(steps * 4 * BATCH / (time.perf_counter() - start)))

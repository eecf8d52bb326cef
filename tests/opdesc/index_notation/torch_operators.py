"""What PyTorch computes for the operators of `operators.op`: a function for each, by its name."""

import torch
from torch import Tensor
from torch.nn import functional as F


def conv1d(x, k, b, *, s, d, p):
    return F.conv1d(x, k, b, s, p, d)


def conv2d(x, k, b, *, s, d, p):
    return F.conv2d(x, k, b, s, p, d)


def conv3d(x, k, b, *, s, p):
    return F.conv3d(x, k, b, s, p)


def conv2d_arrays(x, k, *, s, d, p):
    return F.conv2d(x, k, None, s, p, d)


def pointwise_conv(x, k, b):
    return torch.einsum("nc...,oc->no...", x, k) + b.reshape(-1, *[1] * (x.ndim - 2))


def depthwise_conv2d(x, k, b, *, s, p):
    return F.conv2d(x, k[:, None], b, s, p, groups=k.shape[0])


def grouped_conv2d(x, k, *, g, p):
    return F.conv2d(x, k, None, 1, p, groups=g)


def causal_conv1d(x, k, *, d):
    return F.conv1d(F.pad(x, (d * (k.shape[2] - 1), 0)), k, dilation=d)


def conv_transpose1d(x, k, b, *, s, p, extra):
    return F.conv_transpose1d(x, k, b, s, p, extra)


def conv_transpose2d(x, k, *, s, p, d):
    return F.conv_transpose2d(x, k, None, s, p, dilation=d)


def unfold(x, *, k, s, p):
    n, c, h, w = x.shape
    rows, columns = ((size + 2 * p - k) // s + 1 for size in (h, w))
    return F.unfold(x, k, padding=p, stride=s).reshape(n, c, k, k, rows, columns)


def matmul(a, b):
    return a @ b


def linear(x, w, b):
    return F.linear(x, w, b)


def batch_matmul(a, b):
    return a @ b


def matvec(a, x):
    return torch.mv(a, x)


def dot(a, b):
    return torch.dot(a, b)


def outer(a, b):
    return torch.outer(a, b)


def bilinear(a, w, b, c):
    return F.bilinear(a, b, w, c)


def trace(x):
    return torch.trace(x)


def kronecker(a, b):
    return torch.kron(a, b)


def addmm(c, a, b, *, alpha, beta):
    return torch.addmm(c, a, b, beta=beta, alpha=alpha)


def max_pool1d(x, *, k, s, p):
    return F.max_pool1d(x, k, s, p)


def max_pool2d(x, *, k, s, p, d):
    return F.max_pool2d(x, k, s, p, d)


def max_pool3d(x, *, k, s):
    return F.max_pool3d(x, k, s)


def avg_pool2d(x, *, k, s, p):
    return F.avg_pool2d(x, k, s, p)


def avg_pool2d_of_inside(x, *, k, s, p):
    return F.avg_pool2d(x, k, s, p, count_include_pad=False)


def lp_pool2d(x, *, k, s):
    return F.lp_pool2d(x, 2, k, s)


def global_avg_pool(x):
    return x.flatten(2).mean(2) if x.ndim > 2 else x


def global_max_pool(x):
    return x.flatten(2).amax(2) if x.ndim > 2 else x


def adaptive_avg_pool1d(x, *, out):
    return F.adaptive_avg_pool1d(x, out)


def batch_norm(x, mean, var, scale, bias, *, eps):
    return F.batch_norm(x, mean, var, scale, bias, eps=eps)


def layer_norm(x, w, b, *, eps):
    return F.layer_norm(x, x.shape[-1:], w, b, eps)


def rms_norm(x, w, *, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * w


def instance_norm(x, *, eps):
    axes = tuple(range(2, x.ndim))
    mean = x.mean(axes, keepdim=True) if axes else x
    var = x.var(axes, unbiased=False, keepdim=True) if axes else torch.zeros_like(x)
    return (x - mean) / (var + eps).sqrt()


def group_norm(x, w, b, *, g, eps):
    groups = x.reshape(x.shape[0], g, -1)
    mean, var = groups.mean(2, keepdim=True), groups.var(2, unbiased=False, keepdim=True)
    normal = ((groups - mean) / (var + eps).sqrt()).reshape(x.shape)
    shape = (-1, *[1] * (x.ndim - 2))
    return normal * w.reshape(shape) + b.reshape(shape)


def l2_normalize(x, *, eps):
    return F.normalize(x, dim=1, eps=eps)


def local_response_norm(x, *, k, alpha, beta):
    squares = F.pad(x.square().movedim(1, -1), (k // 2, (k - 1) // 2)).unfold(-1, k, 1).sum(-1)
    return x / (1 + alpha * squares.movedim(-1, 1) / k) ** beta


def relu(x):
    return F.relu(x)


def leaky_relu(x, *, a):
    return F.leaky_relu(x, a)


def prelu(x, a):
    return F.prelu(x, a)


def elu(x, *, a):
    return F.elu(x, a)


def gelu(x):
    return F.gelu(x)


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def silu(x):
    return F.silu(x)


def mish(x):
    return F.mish(x)


def softplus(x):
    return F.softplus(x)


def softsign(x):
    return F.softsign(x)


def hard_swish(x):
    return F.hardswish(x)


def hard_tanh(x, *, low, high):
    return torch.clamp(x, low, high)


def soft_shrink(x, *, by):
    return F.softshrink(x, by)


def glu(x):
    return F.glu(x, 1)


def softmax(x):
    return x.softmax(-1)


def log_softmax(x):
    return x.log_softmax(-1)


def log_sum_exp(x):
    return x.logsumexp(-1)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def masked_attention(keep, q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    kept = scores.masked_fill(~keep[:, None, None, :], -1e9)
    return kept.softmax(-1) @ v


def multi_query_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k[:, None], v[:, None])


def rotary(x, c, s):
    first, second = x.chunk(2, -1)
    return x * c + torch.cat([-second, first], -1) * s


def mse_loss(a, b):
    return F.mse_loss(a, b)


def l1_loss(a, b):
    return F.l1_loss(a, b)


def huber_loss(a, b, *, delta):
    return F.huber_loss(a, b, delta=delta)


def bce_loss(p, t):
    # PyTorch's own refuses targets that are no probabilities.
    return -(t * p.log() + (1 - t) * (1 - p).log()).mean()


def bce_with_logits(x, t):
    return F.binary_cross_entropy_with_logits(x, t)


def cross_entropy(x, label):
    return F.cross_entropy(x, label)


def nll_loss(x, label):
    return F.nll_loss(x, label)


def kl_div(t, x):
    return F.kl_div(x, t, reduction="batchmean", log_target=True)


def hinge_loss(t, x):
    return (1 - t * x).clamp(min=0).mean()


def cosine_similarity(a, b, *, eps):
    return F.cosine_similarity(a, b, 1, eps)


def triplet_loss(a, p, q):
    return F.triplet_margin_loss(a, p, q)


def nearest_upsample(x, *, f):
    return F.interpolate(x, scale_factor=f)


def nearest_resize(x, *, height, width):
    return F.interpolate(x, (height, width))


def bilinear_resize(x, *, height, width):
    return F.interpolate(x, (height, width), mode="bilinear")


def pixel_shuffle(x, *, r):
    return F.pixel_shuffle(x, r)


def pixel_unshuffle(x, *, r):
    return F.pixel_unshuffle(x, r)


def reflection_pad1d(x, *, p):
    return F.pad(x, (p, p), "reflect")


def replication_pad1d(x, *, p):
    return F.pad(x, (p, p), "replicate")


def constant_pad1d(x, *, left, right, v):
    return F.pad(x, (left, right), value=v)


def transpose(x):
    return x.T


def concat(a, b):
    return torch.cat([a, b], 1)


def flip(x):
    return x.flip(0)


def roll(x, *, by):
    return x.roll(by)


def tril(x):
    return x.tril()


def one_hot(label, *, classes):
    return torch.where(label[:, None] == torch.arange(classes), 1, 0)


def embedding(table, word):
    return F.embedding(word, table)


def gather_rows(x, index):
    return x.gather(1, index)


def diagonal(x):
    return x.diagonal()


def variance(x):
    return x.var(1, unbiased=False)


def argmax(x):
    return x.argmax(1)


def cdist(a, b):
    return (a[:, None] - b[None]).square().sum(-1).sqrt()


def any_above(x, *, t):
    return (x > t).any(1)


def all_above(x, *, t):
    return (x > t).all(1)


def product(x):
    return x.prod(1)


def cumsum(x):
    return x.cumsum(1)


def cumprod(x):
    return x.cumprod(1)


def moving_average(x, *, a):
    rows = [x[0]]
    for row in x[1:]:
        rows.append((1 - a) * rows[-1] + a * row)
    return torch.stack(rows)


def reverse_cumsum(x):
    return x.flip(0).cumsum(0).flip(0)


def rnn(x, h0, w, u, b):
    cell = torch.nn.RNN(x.shape[2], h0.shape[1])
    zeros = torch.zeros_like(b)
    return _stepped(cell, (x, h0[None]), w, u, b, zeros)[0]


def lstm_cell(x, h, c, w, u, b, v):
    cell = torch.nn.LSTMCell(x.shape[1], h.shape[1])
    return _stepped(cell, (x, (h, c)), w, u, b, v)


def lstm(x, w, u, b):
    cell = torch.nn.LSTM(x.shape[2], u.shape[1])
    return _stepped(cell, (x,), w, u, b, torch.zeros_like(b))[0]


def gru_cell(x, h, w, u, b, v):
    cell = torch.nn.GRUCell(x.shape[1], h.shape[1])
    return _stepped(cell, (x, h), w, u, b, v)


def _stepped(cell: torch.nn.Module, arguments: tuple[object, ...], *weights: Tensor):
    with torch.no_grad():
        for parameter, weight in zip(cell.parameters(), weights, strict=True):
            parameter.copy_(weight)
        return cell(*arguments)

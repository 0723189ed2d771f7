"""Graphs as passes are written for them give what they gave; here with the rules for a GPU held for the CPU too."""

import math
import unittest
from unittest import mock

import package  # noqa: F401: puts the package of this build on the path
import torch
import torch.nn.functional as F
from torch import nn

from passnet import rewrites

X = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(1))
KEEP = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(2)) > 0.4
KEEP[0, 0, 3] = False  # a row that sees nothing


def graph_of(function, *args):
    """Dynamo's graph of a call, and its inputs."""
    found = []

    def keep(module, inputs):
        found.append((module, inputs))
        return module.forward

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(function, backend=keep, dynamic=False)(*args)
    return found[0]


def layout(tensor):
    """Strides along dimensions of several elements."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]


class Rewrites(unittest.TestCase):
    def rewrite(self, function, *args, choice=0, on_gpu=True):
        """The calls of the new graph, whose result is compared with that of the old one."""
        module, inputs = graph_of(function, *args)
        with mock.patch.object(rewrites, "_is_on_gpu", lambda made: made is not None and on_gpu), mock.patch.object(torch, "_fused_sdp_choice", lambda **_: choice):
            made = rewrites.rewritten(module)
        if made is not module:
            with torch.no_grad():
                found, expected = (one(*(value.clone() for value in inputs)) for one in (made, module))
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
            self.assertEqual(list(map(layout, found)), list(map(layout, expected)))
        return [getattr(node.target, "__name__", node.target) for node in made.graph.nodes if node.op.startswith("call_")]

    def test_a_product_with_a_bias_is_a_product_and_a_sum(self):
        rows, weight, bias = torch.randn(4, 8, 512), torch.randn(16, 512), torch.randn(16)
        self.assertEqual(self.rewrite(F.linear, rows, weight, bias), ["linear", "add"])
        self.assertEqual(self.rewrite(lambda x, w, b: torch.addmm(b, x, w), rows.flatten(0, 1), weight.T, bias), ["mm", "add"])

    def test_others_stay(self):
        rows, weight, bias = torch.randn(4, 8, 512), torch.randn(16, 512), torch.randn(16)
        self.assertEqual(self.rewrite(F.linear, rows, weight), ["linear"])
        self.assertEqual(self.rewrite(F.linear, rows[:3], weight, bias), ["linear"])
        self.assertEqual(self.rewrite(F.linear, rows[..., :256], weight[:, :256], bias), ["linear"])
        self.assertEqual(self.rewrite(lambda x, w, b: torch.addmm(b, x, w, beta=2), rows.flatten(0, 1), weight.T, bias), ["addmm"])
        self.assertEqual(self.rewrite(F.scaled_dot_product_attention, X, X, X, choice=2), ["scaled_dot_product_attention"])
        self.addCleanup(setattr, torch.backends.cuda.matmul, "fp32_precision", torch.backends.cuda.matmul.fp32_precision)
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        self.assertEqual(self.rewrite(F.linear, rows, weight, bias), ["linear"])

    def test_a_product_on_the_cpu_stays_as_it_is(self):
        module, _ = graph_of(F.linear, torch.randn(32, 512), torch.randn(16, 512), torch.randn(16))
        self.assertIs(rewrites.rewritten(module), module)

    def test_attention_without_a_kernel_is_products_and_a_softmax(self):
        plain = ["transpose", "mul", "mul", "matmul", "softmax", "matmul"]
        self.assertEqual(self.rewrite(F.scaled_dot_product_attention, X, X, X), plain)
        self.assertEqual(self.rewrite(lambda x: F.scaled_dot_product_attention(x, x, x, scale=0.3), X), plain)
        with_mask = [*plain[:4], "add", "softmax", "eq", "all", "masked_fill", "matmul"]
        sums = torch.zeros(2, 1, 5, 5).masked_fill(~KEEP, -math.inf)
        self.assertEqual(self.rewrite(lambda x, m: F.scaled_dot_product_attention(x, x, x, attn_mask=m), X, sums), with_mask)
        self.assertEqual(self.rewrite(lambda x, m: F.scaled_dot_product_attention(x, x, x, m), X, KEEP), [*plain[:4], "where", *with_mask[4:]])
        causal = self.rewrite(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), X)
        self.assertEqual(causal, [*plain[:4], "ones", "tril", "where", *with_mask[4:]])

    def test_convolutions_are_stored_channels_last(self):
        torch.manual_seed(1)
        wide = nn.Sequential(nn.Conv2d(3, 80, 3), nn.BatchNorm2d(80), nn.ReLU(), nn.Conv2d(80, 80, 3, groups=80), nn.AdaptiveAvgPool2d(1), nn.Conv2d(80, 8, 1)).eval()
        image = torch.randn(2, 3, 16, 16)
        calls = self.rewrite(wide, image)
        self.assertEqual(calls.count("contiguous"), 3)
        self.assertEqual(self.rewrite(wide[:4], image)[-1], "contiguous")  # the result lies as it did

    def test_some_convolutions_are_not(self):
        image = torch.randn(2, 8, 16, 16)
        for layers in ([nn.Conv2d(8, 16, 3)], [nn.Conv2d(8, 80, 3), nn.Conv2d(80, 80, 3, groups=8)], [nn.Conv2d(8, 80, 3), nn.PixelShuffle(4), Viewed()]):
            self.assertNotIn("contiguous", self.rewrite(nn.Sequential(*layers).eval(), image))

    def copies_of(self, function):
        """Calls of `contiguous` in a graph that begins with a convolution."""
        torch.manual_seed(1)
        image, weight = torch.randn(2, 8, 6, 6), torch.randn(128, 8, 3, 3)
        return self.rewrite(lambda x, w: function(F.conv2d(x, w, padding=1), w), image, weight, on_gpu=False).count("contiguous")

    def test_calls_that_look_at_memory_keep_the_layout(self):
        for function in (
            lambda y, _: torch.as_strided(y, (2, 128, 36), (128 * 36, 36, 1)),
            lambda y, _: torch.view_as_complex(y.unflatten(3, (3, 2))),
            lambda y, _: F.dropout(y, training=True),
            lambda y, _: y.chunk(2, 1)[0],
        ):
            self.assertEqual(self.copies_of(function), 0)

    def test_a_write_reaches_what_it_reached(self):
        def through_a_view(y, _):
            tokens = y.reshape(2, -1)
            tokens.relu_()
            return y

        def in_place(y, _):
            return F.relu(y, inplace=True).reshape(2, -1) + 1

        def between_uses_of_a_weight(y, w):
            w.mul_(2)
            return F.conv2d(y[:, :8], w)

        self.assertEqual([self.copies_of(one) for one in (through_a_view, between_uses_of_a_weight, in_place)], [0, 0, 1])

    def test_results_lie_as_they_did(self):
        for function in (lambda y, _: y[0], lambda y, _: y > 0, lambda y, _: y.double(), lambda y, _: y[None]):
            self.assertEqual(self.copies_of(function), 2)
        self.assertEqual(self.copies_of(lambda y, _: (y, y.flatten(1))), 0)  # they share memory

    def test_on_the_cpu_small_and_grouped_ones_are(self):
        image = torch.randn(2, 8, 16, 16)
        for layers in ([nn.Conv2d(8, 16, 3)], [nn.Conv2d(8, 80, 3), nn.Conv2d(80, 80, 3, groups=8)]):
            calls = self.rewrite(nn.Sequential(*layers).eval(), image, on_gpu=False)
            self.assertEqual(calls.count("contiguous"), len(layers) + 1)
        self.assertNotIn("contiguous", self.rewrite(nn.Sequential(nn.Conv2d(8, 80, 3), Viewed()).eval(), image, on_gpu=False))


class Viewed(nn.Module):
    def forward(self, x):
        return x.view(2, -1)


if __name__ == "__main__":
    unittest.main()

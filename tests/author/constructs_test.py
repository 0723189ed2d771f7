"""Compares authored passes with PyTorch: every construct of the loops over odd, single and larger sizes, and random graphs.

Quick tier: each construct is one graph, whose shapes and dtype follow from its place in its table
(AuthoredCase.sample_of). Constructs are checked in samples of several, since the start of the workers of a sample takes
longer than a graph. Neighbours of a table, which are alike, are in different samples. Of random graphs there are 6 in place of 12.
Full tier: graphs of each construct at all shapes and dtypes, as sample_of says; each construct is a sample of its own.
"""

import json
import os
import pathlib
import random
import shutil
import sys
import unittest


SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "author")]
from authored_case import FLOATS, PRODUCTS, AuthoredCase, F
from passnet_case import take_one_processor
from tiers import FULL, in_turn

take_one_processor()

ALL, END = "slice(None, None, None)", "Ellipsis"
# name: statements, results, the shapes of the inputs (several sets of them: graphs of one sample), and numbers for $names,
# which then are constants that differ between the graphs
CONSTRUCTS = {
    "broadcast": (["t = a + b", "u = t * c"], "u", [[(3, 5, 7), (5, 1), (7,)], [(1, 1, 1), (1, 1), (1,)], [(2, 33, 65), (33, 1), (65,)]]),
    "softmax": ([f"t = {F}softmax(a, dim = -1)"], "t", [[(3, 7)], [(1, 1)], [(5, 333)], [(2, 2049)]]),
    "softmax_of_columns": ([f"t = {F}softmax(a, dim = 1)"], "t", [[(2, 5, 7)], [(1, 1, 3)], [(3, 40, 9)]]),
    "log_softmax": ([f"t = {F}log_softmax(a, -1)"], "t", [[(3, 7)], [(4, 130)]]),
    "softmax_mul_sum": (["t = torch.softmax(a, dim = 1)", "u = b * t", "v = torch.sum(u, dim = 1)"], "v", [[(2, 2, 6, 1), (2, 2, 6, 15)]]),
    "logsumexp": (["t = torch.logsumexp(a, 1)", "u = torch.logsumexp(a, (0, -1), keepdim = True)", "v = u * 2.0"], "t, v", [[(3, 5, 9)], [(1, 1, 1)], [(2, 70, 33)]]),
    "flip": (["t = torch.flip(a, (1, -1))", "u = t + b", "v = a.flip(0)", "w = v * 2.0"], "u, w", [[(3, 5, 7), (3, 5, 7)], [(1, 1, 1), (1, 1, 1)], [(2, 3, 65), (2, 3, 65)]]),
    "layer_norm": ([f"t = {F}layer_norm(a, (48,), b, c, 1e-05)", "u = t + a"], "t, u", [[(3, 48), (48,), (48,)], [(1, 48), (48,), (48,)]]),
    "norm_across_few_channels": (["t = a + b", "u = t.permute(0, 2, 3, 1)", f"v = {F}layer_norm(u, (5,), c, None, 1e-05)"], "v", [[(2, 5, 3, 11), (2, 5, 3, 11), (5,)], [(1, 5, 17, 1), (1, 5, 17, 1), (5,)]]),
    "norm_stored_across": (["t = a + b", f"u = {F}layer_norm(t, (40,), c, None, 1e-05)", "v = u.transpose(1, 2)", "w = v.contiguous()"], "w", [[(2, 33, 40), (2, 33, 40), (40,)], [(1, 1, 40), (1, 1, 40), (40,)]]),
    "norm_of_few_long_rows_stored_across": ([f"t = {F}layer_norm(a, (70003,), None, None, 1e-05)", "u = t.transpose(0, 1)", "v = u.contiguous()"], "v", [[(3, 70003)], [(1, 70003)]]),
    "norm_across_channels": (["t = a.permute(0, 2, 3, 1)", f"u = {F}layer_norm(t, (40,), b, None, 1e-05)"], "u", [[(2, 40, 7, 9), (40,)], [(1, 40, 33, 65), (40,)]]),
    "group_norm": ([f"t = {F}group_norm(a, 3, b, c, 1e-05)", f"u = {F}silu(t)"], "u", [[(2, 6, 5, 5), (6,), (6,)]]),
    "batch_norm": ([f"t = {F}batch_norm(a, b, c, b, c, False, 0.1, 1e-05)", f"u = {F}relu(t)"], "u", [[(2, 5, 3, 3), (5,), (5,)]]),
    "batch_norm_of_rows": ([f"t = {F}batch_norm(a, b, c, b, c, False, 0.1, 1e-05)", f"u = {F}relu(t)"], "u", [[(70, 33), (33,), (33,)], [(300, 5), (5,), (5,)], [(64, 1), (1,), (1,)]]),
    "means": (["t = a.mean(-1, keepdim = True)", "u = a - t", "v = u.pow(2)", "w = v.mean((1, 2))"], "u, w", [[(3, 5, 9)], [(1, 1, 1)]]),
    "var": (["t = torch.var(a, -1)", "u = torch.std(a, 1)"], "t, u", [[(3, 5, 9)], [(2, 33, 65)]]),
    "extremes": (["t = a.amax(-1)", "u = a.amin(1)", "v = a.max()"], "t, u, v", [[(3, 5, 9)], [(1, 1, 1)], [(2, 70, 33)]]),
    "few_long_rows": (["t = a.mean(-1)", "u = a * a", "v = u.sum(-1)", "w = t * v"], "t, w", [[(1, 70001)], [(4, 131072)], [(3, 9)], [(1, 1)]]),
    "few_long_rows_of_several_loops": (["t = a.mean((0, 2))", "u = a.amax((0, 2))"], "t, u", [[(9, 3, 30001)], [(1, 1, 80000)], [(2, 3, 5)]]),
    "norm_of_few_long_rows": (["t = a + b", f"u = {F}layer_norm(t, (70003,), None, None, 1e-05)", "v = u * 2.0"], "t, v, u", [[(2, 70003), (2, 70003)], [(1, 70003), (1, 70003)]]),
    "softmax_of_few_long_rows": ([f"t = {F}softmax(a, -1)", "u = a.amin(-1)"], "t, u", [[(2, 65537)], [(1, 131072)], [(5, 3)]]),
    "conditions_of_few_long_rows": (["t = a > 3.9", "u = t.any(-1)", "v = a > -9.0", "w = v.all(-1)"], "u, w", [[(2, 65537)], [(1, 70000)], [(5, 3)]]),
    "few_long_columns": (["t = a.mean(1)", "u = a.amax(1)", "v = t + u"], "t, v", [[(2, 4099, 17)], [(1, 70001, 3)], [(1, 70000, 1)], [(2, 3, 5)]]),
    "softmax_of_few_long_columns": ([f"t = {F}softmax(a, dim = 1)", "u = t * 2.0"], "u", [[(2, 4099, 17)], [(1, 70001, 3)], [(2, 3, 5)]]),
    "columns": (["t = a.mean(1)", "u = t.unsqueeze(1)", "v = a - u", "w = a.amax(1)", "x = a.amin(1)"], "t, v, w, x", [[(2, 33, 17)], [(1, 300, 5)], [(3, 65, 1)], [(2, 3, 9)]]),
    "columns_of_pictures": (["t = a.mean((1, 2))", "u = a > 3.2", "v = u.any(1)", "w = u.all(1)"], "t, v, w", [[(2, 7, 9, 33)], [(1, 40, 50, 5)], [(3, 33, 2, 1)], [(0, 40, 2, 3)]]),
    "softmax_of_high_columns": ([f"t = {F}softmax(a, dim = 1)", "u = t * 2.0", "v = u.sum(1)"], "u, v", [[(2, 77, 17)], [(1, 700, 3)], [(2, 3, 5)]]),
    "no_rows": (["t = a.mean(-1)", f"u = {F}softmax(a, -1)", "v = a.transpose(0, 1)", "w = v.contiguous()", "x = w * 2.0"], "t, u, x", [[(0, 70000)], [(2, 70000)], [(0, 5)]]),
    "no_columns": (["t = a.sum(1)", "u = t + 1.0"], "u", [[(2, 0, 17)], [(2, 5001, 17)], [(0, 5001, 17)], [(2, 5001, 0)]]),
    "norm": (["t = torch.norm(a, 2, -1, True)", "u = a / t"], "u", [[(3, 17)], [(1, 1)]]),
    "normalize": ([f"t = {F}normalize(a, p = 2, dim = 1)"], "t", [[(3, 17)], [(2, 300)]]),
    "transpose": (["t = a.transpose(1, 2)", "u = t.contiguous()", "v = u * 2.0"], "v", [[(2, 5, 9)], [(1, 33, 70)]]),
    "transpose_of_squares": (["t = a.transpose(1, 2)", "u = t.contiguous()", f"v = {F}gelu(u)", "w = v + b", "x = w * c"], "x",
                             [[(2, 33, 70), (2, 70, 33), (33,)], [(1, 64, 32), (1, 32, 64), (64,)], [(3, 1, 129), (3, 129, 1), (1,)], [(1, 200, 5), (1, 5, 200), (200,)]]),
    "transpose_of_two": (["t = a + b", "u = t.permute(0, 2, 3, 1)", "v = u.contiguous()", "w = a > 0.5", "x = w.permute(0, 2, 3, 1)", "y = torch.where(x, v, c)", "z = y * 2.0"], "y, z",
                         [[(2, 40, 7, 9), (2, 40, 7, 9), (2, 7, 9, 40)], [(1, 33, 1, 33), (1, 33, 1, 33), (1, 1, 33, 33)]]),
    "windows_of_channels": (["t = a.view(2, 32, 2, 7, 2, 7)", "u = t.permute(0, 2, 4, 3, 5, 1)", "v = u.reshape(-1, 49, 32)", "w = v * 2.0"], "w", [[(2, 32, 14, 14)]]),
    "windows_put_together": (["t = a + b", "u = t.reshape($n, 3, 6, 3, 4, 20)", "v = u.permute(0, 5, 1, 3, 2, 4)", "w = v.reshape($n, 20, 9, 24)", "x = w * 2.0"], "w, x",
                             [[(2, 18, 12, 20), (2, 18, 12, 20), {"n": 2}], [(1, 18, 12, 20), (1, 18, 12, 20), {"n": 1}]]),
    "points": (["t = a / b", "u = c + t", "v = u * 2.0", "w = u > 0.5"], "v, w",
               [[(3, 5, 8, 4, 4, 2), (1, 1, 1, 4, 1, 2), (3, 5, 1, 4, 1, 2)], [(1, 7, 1, 3, 5, 3), (1, 1, 1, 3, 1, 3), (1, 7, 1, 3, 1, 3)], [(33, 1, 2, 1, 1, 4), (1, 1, 1, 1, 1, 4), (33, 1, 1, 1, 1, 4)], [(2, 0, 1, 2, 3, 1), (1, 1, 1, 2, 1, 1), (2, 0, 1, 2, 1, 1)]]),
    "points_stacked": (["t = torch.stack([a, b], -1)", "u = t * c", "v = a > 0.5", "w = b > 0.5", "x = torch.stack([v, w], -1)", "y = torch.where(x, u, 1.0)"], "y", [[(3, 5, 7), (3, 5, 7), (5, 1, 2)], [(1, 1, 1), (1, 1, 1), (1, 1, 2)], [(2, 33, 65), (2, 33, 65), (33, 1, 2)]]),
    "boxes": (["t = a.transpose(1, 2)", "u = t.contiguous()", "v = u * b", "w = torch.sigmoid(v)"], "w", [[(2, 4, 50), (4,)], [(1, 3, 17), (3,)], [(5, 1, 3), (1,)]]),
    "boxes_at_places": (["t = torch.arange(7)", "u = t.unsqueeze(-1)", "v = a * u", "w = b[t]", "x = v + w"], "x", [[(3, 7, 4), (9, 4)], [(1, 7, 2), (7, 2)], [(20, 7, 1), (8, 1)]]),
    "permute_reshape": (["t = a.permute(0, 2, 1, 3)", "u = t.reshape(2, 7, 15)", "v = u + 1.0"], "v", [[(2, 3, 7, 5)]]),
    "slices": (["t = a[(slice(None, None, None), slice(1, 4, None))]", "u = a[(Ellipsis, slice(None, None, 2))]", "v = t * 3.0", "w = u - 1.0"],
               "v, w", [[(3, 6)], [(1, 8)]]),
    "cat": (["t = torch.cat([a, b], dim = -1)", f"u = {F}gelu(t)"], "u", [[(3, 5), (3, 8)], [(1, 1), (1, 1)]]),
    "cat_of_three": (["t = torch.cat([a, b, c], -1)", f"u = {F}softmax(t, dim = -1)", "v = a > 0.5", "w = b > 0.5", "x = torch.cat([v, w], -1)", "y = torch.where(x, 1.0, 2.0)"], "u, y",
                     [[(3, 37), (3, 5), (3, 70)], [(2, 64), (2, 32), (2, 16)], [(1, 15), (1, 1), (1, 17)]]),
    "cat_rows": (["t = torch.cat((a, b), 0)", "u = t * t"], "u", [[(3, 5), (2, 5)]]),
    "stack": (["t = torch.stack([a, b], 1)", "u = t.neg()"], "u", [[(3, 5), (3, 5)]]),
    "rotary": (["t = a[(Ellipsis, slice(None, 8, None))]", "u = a[(Ellipsis, slice(8, None, None))]", "v = -u", "w = torch.cat((v, t), dim = -1)", "x = w.neg()"],
               "x", [[(2, 3, 16), (3, 16)]]),
    "pad": ([f"t = {F}pad(a, [1, 2, 0, 1], 'constant', 0.5)", "u = t + 1.0"], "u", [[(2, 3, 5)], [(1, 1, 1)]]),
    "roll": (["t = torch.roll(a, shifts = (-2, 1), dims = (1, 2))", "u = t * 2.0"], "u", [[(2, 5, 7)]]),
    "chunk": (["t = a.chunk(2, dim = -1)", "u = t[0]", "v = t[1]", f"w = {F}silu(u)", "x = w * v"], "x", [[(3, 10)], [(1, 64)]]),
    "expand": (["t = a.unsqueeze(1)", "u = t.expand(3, 4, 5)", "v = u + b"], "v", [[(3, 5), (3, 4, 5)]]),
    "repeat": (["t = a.repeat(2, 3)", "u = t + 1.0"], "u", [[(3, 5)], [(1, 2)]]),
    "repeat_interleave": (["t = a.repeat_interleave(3, dim = 1)", "u = t * 0.5"], "u", [[(3, 5)]]),
    "arange": (["t = torch.arange(0, 12)", "u = t.float()", "v = a * u"], "v", [[(3, 12)]]),
    "full": (["t = torch.full((3, 5), 2.5)", "u = torch.zeros(3, 5)", "v = torch.ones_like(a)", "w = a * t", "x = w + u", "y = x - v"], "y", [[(3, 5)]]),
    "max_pool": ([f"t = {F}max_pool2d(a, 3, 2, 1, 1, ceil_mode = False, return_indices = False)", "u = t + 1.0"], "u", [[(2, 3, 9, 11)], [(1, 1, 5, 5)]]),
    "avg_pool": ([f"t = {F}avg_pool2d(a, 3, 2, 1, False, False, None)", "u = t * 2.0"], "u", [[(2, 3, 9, 11)], [(1, 1, 5, 5)]]),
    "avg_pool_whole": ([f"t = {F}avg_pool2d(a, 2, 2, 0, False, True, None)"], "t", [[(2, 3, 8, 6)]]),
    "adaptive_pool": ([f"t = {F}adaptive_avg_pool2d(a, 1)", "u = t.flatten(1)"], "u", [[(2, 3, 7, 7)], [(1, 1, 1, 1)]]),
    "nearest": ([f"t = {F}interpolate(a, None, 2.0, 'nearest', None)", "u = t + b"], "u", [[(1, 3, 5, 7), (1, 3, 10, 14)]]),
    "nearest_among_others": ([f"t = {F}interpolate(a, None, 2.0, 'nearest', None)", "u = b + c", "v = torch.cat([t, u, c], 1)"], "v", [[(1, 3, 5, 7), (1, 3, 10, 14), (1, 3, 10, 14)]]),
    "norm_of_two": (["t = torch.cat([a, b], 1)", "u = t * t", f"v = {F}layer_norm(t, (20,), c, None, 1e-06)", "w = u.sum(-1)"], "v, w", [[(2, 1, 20), (2, 3, 20), (20,)]]),
    "bilinear": ([f"t = {F}interpolate(a, (9, 13), None, 'bilinear', False)", "u = t + b"], "u", [[(1, 3, 5, 7), (1, 3, 9, 13)]]),
    "scaled_pictures": ([f"t = {F}interpolate(a, None, 2.0, 'bilinear', False)", f"u = {F}interpolate(a, (2, 5), None, 'bilinear', False)", f"v = {F}interpolate(a, (7, 33), None, 'nearest')", f"w = {F}relu(t)", "x = u + 1.0", "y = v * 2.0"],
                        "w, x, y", [[(2, 12, 6, 9)], [(1, 40, 5, 47)], [(3, 70, 4, 16)]]),
    "scaled_pictures_side_by_side": ([f"t = {F}interpolate(a, None, 2.0, 'nearest', None)", "u = torch.cat([b, t], -1)", "v = u.neg()"], "v", [[(2, 12, 6, 9), (2, 12, 12, 5)], [(1, 40, 5, 47), (1, 40, 10, 30)]]),
    "norm_of_a_scaled_picture": ([f"t = {F}interpolate(a, None, 2.0, 'nearest', None)", "u = t + b", f"v = {F}group_norm(u, 2, None, None, 1e-05)"], "u, v",
                                 [[(2, 8, 7, 7), (2, 8, 14, 14)], [(1, 20, 8, 25), (1, 20, 16, 50)]]),
    "in_place": (["t = a + b", f"u = {F}relu(t, inplace = True)", "v = u * 2.0"], "u, v", [[(3, 5), (3, 5)]]),
    "in_place_on_an_input": ([f"t = {F}silu(a, inplace = True)", "u = t.mean(-1)"], "t, u", [[(3, 5)], [(2, 70)]]),
    "in_place_once": (["t = a.mul_(2.0)", "u = t + 1.0", "v = b.mean(-1, keepdim = True)", "w = b.sub_(v)"], "t, u, w", [[(3, 70), (3, 70)], [(1, 5), (2, 33)]]),
    "views_of_what_was_overwritten": (["t = a - 1.0", "u = t.mul_(2.0)", "v = t.unsqueeze(0)", "w = v.expand(3, -1, -1)", "x = w.amax(0)"], "w, x", [[(3, 5)], [(1, 40)]]),
    "windows_of_wide_rows": (["t = torch.conv2d(a, b, None, (1, 1), (2, 2), (1, 1), 3)", f"u = {F}max_pool2d(t, 3, 2, 1, 1, ceil_mode = False, return_indices = False)", f"v = {F}avg_pool2d(u, 3, 1, 1, False, False)"], "t, u, v",
                             [[(2, 3, 9, 70), (3, 1, 5, 5)], [(1, 3, 1, 7), (3, 1, 5, 5)], [(1, 3, 33, 17), (3, 1, 5, 5)]]),
    "in_place_by_its_old_name": (["t = a + b", "u = t.mul_(2.0)", "v = t - b"], "v", [[(3, 5), (3, 5)]]),
    "where": (["t = a > 0.5", "u = torch.where(t, a, b)", "v = u.masked_fill(t, -1.0)"], "v, t", [[(3, 5), (3, 5)]]),
    "activations": ([f"t = {F}gelu(a)", f"u = {F}hardswish(t)", f"v = {F}leaky_relu(u, 0.1)", "w = v.sigmoid()", "x = w.tanh()", "y = x.exp()"], "y", [[(3, 65)]]),
    "group_norm_itself": ([f"t = {F}batch_norm(a, b, c, b, c, False, 0.1, 1e-05)", f"u = {F}group_norm(t, 1, b, c, 1e-05)"], "u",
                          [[(2, 6, 5, 5), (6,), (6,)], [(1, 6, 1, 3), (6,), (6,)], [(3, 6, 9, 7), (6,), (6,)]]),
    "group_norm_of_groups": ([f"u = {F}group_norm(a, 3, b, c, 1e-05)"], "u", [[(2, 6, 5, 5), (6,), (6,)], [(1, 6, 33, 3), (6,), (6,)]]),
    "norms_of_norms": ([f"t = {F}group_norm(a, 1, b, c, 1e-05)", f"u = {F}avg_pool2d(t, 3, 1, 1, False, False, None)", "v = u - t", "w = a + v",
                        f"x = {F}group_norm(w, 2, b, c, 1e-05)"], "x, w", [[(2, 4, 7, 5), (4,), (4,)], [(1, 4, 14, 14), (4,), (4,)]]),
    "softmax_of_means": (["t = a.mean(-1)", "u = torch.softmax(t, -1)", "v = u.unsqueeze(-1)", "w = a * v", "x = w.sum(1)", "y = torch.softmax(x, -1)"],
                         "y", [[(2, 5, 9)], [(1, 33, 70)]]),
    "instance_norm": ([f"t = {F}instance_norm(a, None, None, None, None, True, 0.1, 1e-05)", f"u = {F}relu(t)"], "u", [[(2, 3, 5, 7)], [(1, 5, 33, 3)]]),
    "instance_norm_of_weights": ([f"t = {F}instance_norm(a, None, None, b, c, True, 0.1, 1e-05)", "u = t + a"], "u", [[(2, 6, 14, 14), (6,), (6,)], [(3, 6, 31, 2), (6,), (6,)]]),
    "given_sizes": (["t = a.view($n, $m, 4)", "u = t * 2.0", "v = u.reshape($m, -1)", "w = v + 1.0"], "u, w",
                    [[(2, 3, 4), {"n": 3, "m": 2}], [(5, 1, 4), {"n": 1, "m": 5}], [(3, 4, 4), {"n": 6, "m": 2}]]),
    "given_sizes_or_the_rest": (["t = a.reshape($n, 3, 4)", "u = t * 2.0"], "u", [[(2, 3, 4), {"n": -1}], [(5, 3, 4), {"n": 5}]]),
    "given_slices": ([f"t = a[({ALL}, slice($i, None, None))]", f"u = a[({END}, slice(None, $j, None))]", f"v = a[({END}, $k)]", "w = t * 2.0", "x = u + 1.0", "y = v.neg()"],
                     "w, x, y", [[(3, 9), {"i": 2, "j": 4, "k": 5}], [(2, 7), {"i": 3, "j": 5, "k": 0}]]),
    "given_slices_from_the_end": ([f"t = a[({END}, slice($i, $j, None))]", f"u = a[slice(-5, None, None)]", f"v = a[($k,)]", "w = t * 2.0", "x = u + 1.0", "y = v.neg()"],
                                  "w, x, y", [[(3, 9), {"i": -4, "j": -1, "k": -1}], [(2, 7), {"i": -6, "j": -2, "k": -2}]]),
    "steps": ([f"t = a[({END}, slice(1, None, 2), slice(0, None, 2))]", f"u = a[({ALL}, slice(1, 4, 2), slice(None, -1, 3))]", "v = t * 2.0", "w = u + 1.0"],
              "v, w", [[(2, 6, 8)], [(1, 5, 5)]]),
    "slices_that_reach_beyond": ([f"t = a[({END}, slice(None, 20, None))]", f"u = a[({END}, slice(-20, 3, None))]", "v = t * 2.0", "w = u + 1.0"], "v, w", [[(3, 9)], [(2, 5)]]),
    "given_parts": (["t = a.split([$n, $m], dim = 1)", "u = t[0]", "v = t[1]", "w = u * 2.0", "x = v + 1.0"], "w, x",
                    [[(3, 10), {"n": 4, "m": 6}], [(2, 3), {"n": 1, "m": 2}]]),
    "given_part_size": (["t = torch.functional.split(a, $n, dim = -1)", "u = t[0]", "v = t[1]", "w = u * v"], "w", [[(3, 10), {"n": 5}], [(2, 6), {"n": 3}]]),
    "last_part": (["t = a.split(4, dim = 1)", "u = t[1]", "v = t[2]", "w = u * 2.0", "x = v + 1.0", "y = b.chunk(3, dim = -1)", "z = y[2]", "z2 = z * 3.0"], "w, x, z2",
                  [[(3, 10), (2, 7)], [(2, 9), (2, 8)]]),
    "given_padding": ([f"t = {F}pad(a, ($n, $m), 'constant', 0.0)", "u = t + 1.0"], "u", [[(2, 5), {"n": 1, "m": 2}], [(1, 3), {"n": 0, "m": 3}]]),
    "padding_by_elements": ([f"t = {F}pad(a, (2, 1), 'reflect')", f"u = {F}pad(a, (2, 3), 'replicate')", f"v = {F}pad(a, (1, 2), 'circular')", "w = t * 2.0", "x = u + 1.0", "y = v.neg()"],
                            "w, x, y", [[(2, 3, 5)], [(1, 1, 3)]]),
    "given_repeats": (["t = a.repeat($n, 1, 2)", "u = t + 1.0", "v = a.expand($n, -1, -1)", "w = v * b"], "u, w", [[(1, 3, 5), (2, 3, 5), {"n": 2}], [(1, 1, 4), (3, 1, 4), {"n": 3}]]),
    "expand_by_a_number": (["t = a.expand(3, -1, -1)", "u = t * 2.0"], "u", [[(1, 3, 5)], [(1, 1, 4)]]),
    "given_new": (["t = torch.zeros($n, 5)", "u = t + a", "v = torch.arange(0, $n)", "w = v.float()", "x = u * 2.0", "y = w * 0.5", "z = x.mean(-1)", "z2 = z + y"], "x, z2",
                  [[(3, 5), {"n": 3}], [(7, 5), {"n": 7}]]),
    "overwritten_slice": (["t = torch.zeros_like(a)", f"t[({ALL}, slice(1, None, None))] = b; u = t", "v = t * 2.0"], "v", [[(3, 6), (3, 5)], [(1, 2), (1, 1)]]),
    "overwritten_steps": (["t = torch.zeros_like(a)", f"t[({END}, slice(0, None, 2))] = b; u = t", f"t[({END}, slice(1, None, 2))] = c; v = t", f"t[({ALL}, 0)] = 7.0; w = t", "x = t + a"], "x",
                          [[(3, 6), (3, 3), (1, 3)], [(2, 8), (2, 4), (1, 4)]]),
    "overwritten_clone": (["t = a.clone()", f"t[({ALL}, -1)] = b; u = t", f"t[({END}, slice($i, $j, None))] = 0; v = t", "x = t + a"], "x",
                          [[(3, 6), (3,), {"i": 1, "j": 3}], [(2, 8), (2,), {"i": 2, "j": 6}]]),
    "overwritten_where": (["t = a.clone()", "u = a > 0.5", "t[u] = 0.25; v = t", "w = t * 2.0"], "w", [[(3, 6)], [(1, 33)]]),
    "overwritten_in_place": (["t = a.clone()", f"u = t[({ALL}, slice(None, 2, None))]", "u += b; v = u", f"t[({ALL}, slice(None, 2, None))] = v; w = t", "x = t * 2.0"], "x",
                             [[(3, 6), (3, 2)], [(2, 8), (2, 2)]]),
    "overwritten_input": ([f"a[({END}, 1)] = b; t = a", "u = t * 2.0"], "t, u", [[(3, 6), (3,)], [(2, 8), (2,)]]),
    "triangles": (["t = torch.triu(a, diagonal = 1)", "u = a.tril(-1)", "v = t * 2.0", "w = u + 1.0", "x = a > 0.0", "y = torch.tril(x)"], "v, w, y", [[(5, 5)], [(1, 1)]]),
    "triangles_of_rectangles": (["t = torch.triu(a, diagonal = 0)", "v = t * 2.0"], "v", [[(2, 3, 7)], [(2, 9, 4)], [(1, 1, 1)]]),
    "prelu": ([f"t = torch.prelu(a, b)", "u = t * 2.0"], "u", [[(2, 5, 3), (5,)], [(1, 5, 33), (5,)]]),
    "prelu_of_one": ([f"t = torch.prelu(a, b)", "u = t * 2.0"], "u", [[(2, 5, 3), (1,)]]),
    "cumsum": (["t = a.cumsum(1)", "u = t * 0.5", "v = a > 0.0", "w = v.to(torch.int64)", "x = torch.cumsum(w, dim = -1)", "y = x * 2"], "u, y", [[(3, 5)], [(2, 64)]]),
    "counted_rows": (["v = a > 0.0", "w = v.to(torch.int64)", "x = torch.cumsum(w, dim = 1)", f"y = {F}embedding(x, b)", f"z = {F}layer_norm(y, ($width,), c, None, 1e-05)"], "z", [[{"width": 33}, (2, 7), (9, 33), (33,)], [{"width": 200}, (1, 20), (21, 200), (200,)]]),
    "running_sums": (["v = a > 0.0", "w = v.to(torch.int64)", "x = w.cumsum(-1)", "y = x - 1", "z = y.masked_fill(v, 1)", "p = z.unsqueeze(0)", "q = p.expand(3, -1, -1)", "r = q.max(0, keepdim = False)", "s = r[0]", "t = s.max(-1, keepdim = True)", "u = t[0]", "o = u + 1"],
                     "z, o", [[(3, 5)], [(2, 1030)], [(1, 64)], [(1, 1)], [(70, 300)], [(0, 7)]]),
    "running_sums_of_floats": (["t = a.cumsum(-1)", "u = t * 0.5", "v = a.cumsum(1)", "w = v + b"], "u, w", [[(2, 70, 5), (2, 70, 5)], [(1, 3, 4099), (1, 3, 4099)], [(2, 65, 1), (2, 65, 1)], [(1, 1, 130), (1, 1, 130)]]),
    "places_of_a_picture": (["v = a > -0.5", "t = torch.cumsum(v, 1, dtype = torch.float32)", "u = torch.cumsum(v, dim = 2, dtype = torch.float32)", "w = t[(slice(None, None, None), slice(-1, None, None), slice(None, None, None))]", "x = w + 1e-06", "y = t / x", "z = y * 6.28"],
                            "z, u", [[(2, 70, 33)], [(1, 5, 100)], [(1, 65, 1)]]),
    "running_sums_of_what_is_looked_up": (["v = a > 0.0", "w = v.to(torch.int64)", "x = torch.cumsum(w, dim = 1)", "y = x * w", f"z = {F}embedding(y, b)", "p = z.sum(-1)", "q = p.cumsum(1)"], "q, z", [[(2, 7), (99, 33)], [(1, 90), (99, 20)]]),
    "extremes_of_numbers": (["v = a * 100.0", "w = v.to(torch.int64)", "x = w.amax(-1)", "y = w.amin((0, 1))", "z = w.sum(-1)"], "x, y, z", [[(3, 5, 9)], [(1, 1, 1)], [(2, 70, 333)]]),
    "cumsum_of_columns": (["t = a.cumsum(1)", "u = t * 0.5"], "u", [[(3, 7, 5)], [(2, 64, 1)], [(2, 1, 9)]]),
    "linspace": (["t = torch.linspace(0, 4, steps = 5)", "u = a + t"], "u", [[(3, 5)], [(1, 5)]]),
    "meshgrid": (["t = torch.arange(0, 5)", "u = torch.arange(0, 3)", "v = torch.functional.meshgrid(t, u, indexing = 'ij')", "w = v[0]", "x = v[1]", "y = torch.stack((w, x))",
                  "z = y.float()", "z2 = a * z"], "z2", [[(2, 5, 3)]]),
    "one_hot": (["t = a > 0.5", "u = t.to(torch.int64)", f"v = {F}one_hot(u, num_classes = 3)", "w = v.float()"], "w", [[(3, 5)], [(1, 1)]]),
    "best_elements": (["t = torch.max(a, -1, keepdim = True)", "u = t[0]", "v = a - u", "w = a.min(1)", "x = w[0]", "y = w[1]"], "v, x, y", [[(3, 9)], [(1, 1)], [(2, 333)]]),
    "best_places": (["t = torch.argmax(a, dim = -1)", "u = a.argmin(1, keepdim = True)", "v = b.argmax(1)"], "t, u, v", [[(3, 9), (2, 5, 7)], [(1, 33), (3, 40, 9)]]),
    "best_places_of_nan": (["t = a.log()", "u = t.argmax(-1)", "v = t.argmin(-1)", "w = t.amax(-1)", "x = t.amin(-1)"], "u, v, w, x", [[(3, 9)], [(2, 333)]]),
    "sums_of_whole_numbers": (["t = a > 0.5", "u = t.sum(-1)", "v = t.to(torch.int64)", "w = v * 3", "x = w.sum(1, keepdim = True)", "y = w - x"], "u, y", [[(3, 9)], [(2, 333)], [(1, 1)]]),
    "conditions": (["t = a > 0.5", "u = b > 0.0", "v = t & u", "w = t | u", "x = t ^ u", "y = ~v", "z = torch.logical_and(y, w)", "z2 = a.masked_fill(y, 0.0)", "z3 = a.to(torch.int64)", "z4 = ~z3", "z5 = z4 & 3"],
                   "x, z, z2, z5", [[(3, 65), (3, 65)]]),
    "norm_written_across": (["t = a + c", f"u = {F}layer_norm(t, (40,), b, b, 1e-05)", "v = u.permute(0, 2, 1)", "w = v.contiguous()"], "w",
                            [[(2, 37, 40), (40,), (2, 37, 40)], [(1, 3, 40), (40,), (1, 3, 40)], [(0, 5, 40), (40,), (0, 5, 40)]]),
    "norm_of_merged_windows": (["t = a.reshape(-1, 2, 2, 2, 2, $w)", "u = t.permute(0, 1, 3, 4, 2, 5)", "v = u.flatten(3)", f"w = {F}layer_norm(v, ($f,), None, None, 1e-05)"], "w",
                               [[(2, 4, 4, 24), {"w": 24, "f": 96}], [(1, 4, 4, 5), {"w": 5, "f": 20}], [(1, 4, 4, 32), {"w": 32, "f": 128}]]),
    "thin_products": (["t = torch.matmul(a, b)", f"u = {F}relu(t)", f"v = {F}linear(a, c, None)", "w = v + 1.0"], "u, w", [[(2, 5, 7), (2, 7, 9), (4, 7)], [(1, 1, 16), (1, 16, 33), (3, 16)]]),
    "row_and_column": ([f"t = {F}linear(a, b, c)", f"u = {F}silu(t)", "v = torch.matmul(b, d)", "w = v * 2.0"], "u, w", [[(1, 300), (5, 300), (5,), (300, 1)], [(1, 33), (1, 33), (1,), (33, 1)]]),
    "products_of_few_rows": ([f"t = {F}linear(a, b, c)", f"u = {F}relu(t)", "v = torch.matmul(d, e)", "w = v * 0.5"], "u, w",
                             [[(12, 300), (40, 300), (40,), (2, 20, 65), (2, 65, 30)], [(3, 40), (100, 40), (100,), (1, 1, 200), (1, 200, 9)]]),
    "convolutions_of_whole_pictures": (["t = torch.conv2d(a, b, c, (1, 1), (0, 0), (1, 1), 1)", "u = torch.sigmoid(t)", "v = d * u"], "v",
                                       [[(2, 40, 1, 1), (70, 40, 1, 1), (70,), (2, 70, 5, 5)], [(1, 300, 1, 1), (9, 300, 1, 1), (9,), (1, 9, 3, 3)], [(3, 8, 3, 3), (5, 8, 3, 3), (5,), (3, 5, 4, 4)]]),
    "another_shape_of_a_sum": (["t = a + b", "u = t.reshape($n, -1, 24)", f"v = {F}layer_norm(u, (24,), c, None, 1e-05)"], "u, v",
                               [[(2, 3, 4, 24), (2, 3, 4, 24), (24,), {"n": 2}], [(1, 5, 1, 24), (1, 5, 1, 24), (24,), {"n": 1}]]),
    "another_shape_that_is_overwritten": (["t = a + b", "u = t.view(-1)", "v = u.mul_(2.0)", "w = torch.softmax(v, 0)"], "u, w", [[(2, 3, 4), (2, 3, 4)], [(1, 5, 24), (1, 5, 24)]]),
    "windows": (["t = a.unfold(1, 4, 2)", "u = t * 2.0", f"v = {F}unfold(b, kernel_size = [3, 1], dilation = 1, padding = [1, 0], stride = 1)", f"w = {F}unfold(b, kernel_size = (2, 2), stride = (2, 2))",
                 "x = v + 1.0", "y = w.neg()"], "u, x, y", [[(3, 9), (2, 3, 5, 7)], [(1, 12), (1, 1, 4, 6)]]),
    "extremes_of_whole_numbers": (["t = a * 10.0", "u = t.to(torch.int64)", "v = u.max(0, keepdim = False)", "w = v[0]", "x = v[1]", "y = u.amin(-1)", "z = u.max()"], "w, x, y, z", [[(3, 9)], [(1, 40)]]),
    "einsum": (["t = torch.functional.einsum('bchw,bchj->bhwj', a, b)", "u = t * 0.5", "v = torch.bmm(c, d)", "w = v.neg()"], "u, w",
               [[(2, 7, 3, 5), (2, 7, 3, 4), (2, 4, 8), (2, 8, 3)], [(1, 16, 1, 9), (1, 16, 1, 1), (1, 1, 3), (1, 3, 5)]]),
    "depthwise_of_many": (["t = torch.conv2d(a, b, None, (1, 1), (2, 1), (2, 1), 70)", f"u = {F}batch_norm(t, c, d, d, c, False, 0.1, 1e-05)", f"v = {F}silu(u)"], "v",
                          [[(2, 70, 7, 6), (70, 1, 3, 3), (70,), (70,)], [(1, 70, 9, 9), (70, 1, 3, 3), (70,), (70,)]]),
    "every_other_of_many": (["t = torch.conv2d(a, b, c, (2, 2), (1, 1), (1, 1), 70)", f"u = {F}max_pool2d(a, 3, 2, 1, 1, ceil_mode = False, return_indices = False)", "v = t + u", "w = v * d"], "w",
                            [[(2, 70, 7, 8), (70, 1, 3, 3), (70,), (2, 70, 4, 4)], [(1, 70, 9, 12), (70, 1, 3, 3), (70,), (1, 70, 5, 6)]]),
    "windows_made_flat": (["t = torch.conv2d(a, b, c, (1, 1), (1, 1), (1, 1), 6)", "u = t.flatten(2)", "v = u.transpose(1, 2)", f"w = {F}gelu(v)", "x = w + d", "y = u.unsqueeze(1)", "z = y.amax(-1)"], "x, z",
                          [[(2, 6, 9, 7), (6, 1, 3, 3), (6,), (2, 63, 6)], [(1, 6, 5, 20), (6, 1, 3, 3), (6,), (1, 100, 6)]]),
    "depthwise": ([f"t = torch.conv2d(a, b, c, ($s, $s), (1, 1), (1, 1), 6)", f"u = {F}gelu(t)"], "u",
                  [[(2, 6, 9, 7), (6, 1, 3, 3), (6,), {"s": 1}], [(1, 6, 5, 5), (6, 1, 3, 3), (6,), {"s": 2}], [(2, 6, 9, 8), (6, 1, 3, 3), (6,), {"s": 2}]]),
    "convolution_of_groups": ([f"t = torch.conv2d(a, b, None, (1, 1), (0, 2), (1, 2), 2)", "u = t.mean((2, 3))"], "u", [[(2, 6, 9, 7), (4, 3, 1, 3)], [(1, 2, 3, 33), (8, 1, 1, 3)]]),
    "turns_of_neighbours": (["s = a[(Ellipsis, slice(None, None, 2))]", "t = a[(Ellipsis, slice(1, None, 2))]", "u = -t", "v = torch.stack((u, s), -1)", "w = v.flatten(-2)", "x = w * b", "y = torch.repeat_interleave(c, 2, -1)", "z = x + y"], "z",
                            [[(2, 3, 66), (66,), (3, 33)], [(1, 5, 34), (34,), (5, 17)], [(7, 2, 6), (6,), (2, 3)]]),
    "four_in_turn": (["t = torch.stack((a, b, c, d), -1)", "u = t.flatten(1)", "v = u.exp()", "w = u[(Ellipsis, slice(None, $n, None))]", "x = w + e"], "v, x", [[(3, 9), (3, 9), (3, 9), (3, 9), (3, 35), {"n": 35}], [(2, 40), (2, 40), (2, 40), (2, 40), (2, 34), {"n": 34}]]),
    "two_in_turn_and_a_part": (["t = torch.stack((a, b), -1)", "u = t.flatten(-2)", "v = u[(Ellipsis, slice(None, $n, None))]", "w = v * 3.0"], "w", [[(3, 32), (3, 32), {"n": 60}], [(1, 60), (1, 60), {"n": 98}]]),
    "windows_of_few_laid_out": (["t = torch.conv_transpose2d(a, b, c, (2, 2), (0, 0), (0, 0), 1, (1, 1))", "u = t.sigmoid()", "v = torch.conv_transpose3d(d, e, None, (1, 2, 1), (0, 0, 0), (0, 0, 0), 1, (1, 1, 1))", "w = v * 2.0"], "u, w",
                                [[(2, 5, 4, 7), (5, 3, 2, 2), (3,), (1, 1, 3, 2, 5), (1, 2, 1, 2, 1)], [(1, 16, 3, 33), (16, 1, 2, 2), (1,), (2, 2, 1, 1, 4), (2, 3, 1, 2, 1)]]),
    "convolution_of_few": ([f"t = torch.conv2d(a, b, c, 1, 0, 1, 1)", f"u = {F}softmax(t, dim = 1)", f"v = torch.conv1d(d, e, None, (2,), (1,), (1,), 1)", "w = v * 2.0"], "u, w",
                           [[(2, 6, 5, 7), (4, 6, 1, 1), (4,), (2, 3, 9), (5, 3, 3)]]),
    "parts_that_are_looked_at": (["t = a + 1.0", "u = t.split([4, 6], dim = 1)", "v = u[0]", "w = u[1]", "x = w * 2.0", "y = t.chunk(2, dim = 0)", "z = y[1]", "z2 = z.neg()", "z3 = y[0]"], "v, w, x, z2, z3",
                                 [[(2, 10)], [(6, 10)]]),
    "conversion_beside_what_it_is_of": (["t = a * b", "t *= 0.5", "u = t.float()", "v = u * u", "w = v.mean(-1, keepdim = True)"], "u, t, w", [[(3, 5, 7), (7,)], [(2, 33, 65), (65,)]]),
    "conversion_of_what_is_overwritten": (["a *= b", "t = a.float()", "u = t * 2.0"], "t, u", [[(3, 5, 64), (64,)], [(2, 33, 65), (65,)]]),
    "conversion_of_a_permuted_result": (["t = a * b", "u = t.transpose(0, 1)", "v = u + 1.0", "w = v.to(torch.float32)"], "w, v", [[(3, 5, 7), (7,)]]),
    "conversions": (["t = a.to(torch.float32)", "u = t * 3.0", "v = u.to(torch.float16)", "w = v.to(torch.int64)"], "u, v, w", [[(3, 5)]]),
    "conditions_of_columns": (["t = torch.maximum(a, b)", "u = torch.logical_and(a, b)", "v = torch.logical_xor(b, a)", "w = torch.minimum(b, a)"], "t, u, v, w", [[(3, 1), (3, 65)], [(1, 1), (1, 9)]]),
    "sums_as_another_type": (["t = a * 3.0", "u = t.sum(-1, dtype = torch.int32)", "v = t.cumsum(-1, dtype = torch.int16)", "w = t.sum(0, dtype = torch.float16)"], "u, v, w", [[(3, 9)], [(2, 65)]]),
    "outer": (["t = torch.outer(a, b)", "u = t + 1.0"], "t, u", [[(7,), (33,)], [(65,), (1,)], [(1,), (5,)]]),
    "tensor_split": (["t = torch.tensor_split(a, 3, dim = 1)", "u = t[0]", "v = t[2]", "w = u * 2.0", "x = v.neg()", "y = a.tensor_split((2, 5), dim = -1)", "z = y[1]", "z2 = z.exp()", "z3 = y[2]", "z4 = z3 + 1.0"],
                     "w, x, z2, z4", [[(3, 10)], [(2, 40)]]),
    "few_attended": ([f"t = {F}scaled_dot_product_attention(a, b, c, attn_mask = d, dropout_p = 0.0, is_causal = False)", "u = t * 2.0", f"v = {F}scaled_dot_product_attention(a, a, a, is_causal = True, scale = 0.3)"],
                     "u, v", [[(2, 3, 19, 8), (2, 3, 33, 8), (2, 3, 33, 9), (19, 33)], [(1, 2, 33, 16), (1, 2, 17, 16), (1, 2, 17, 5), (33, 17)]]),
}

# The same with products and convolutions that PyTorch is called for. Halves are left out where a kernel adds the bias of a convolution: on a CPU PyTorch rounds
# behind it, and the plan declines.
CALLS = {
    "convolution_with_bias": (["t = torch.conv2d(a, b, c, ($s, $s), (1, 1), (1, 1), 1)", f"u = {F}batch_norm(t, c, d, d, c, False, 0.1, 1e-05)", "v = u + e",
                               f"w = {F}relu(v, inplace = True)"], "w",
                              [[(2, 8, 9, 7), (6, 8, 3, 3), (6,), (6,), (2, 6, 9, 7), {"s": 1}], [(1, 8, 5, 6), (6, 8, 3, 3), (6,), (6,), (1, 6, 3, 3), {"s": 2}]], ("float32",)),
    "convolutions_in_a_row": ([f"s = {F}relu(a)", "t = torch.conv1d(s, b, c, 1, 1, 1, 1)", f"u = {F}silu(t)", "v = torch.conv_transpose1d(u, d, e, (2,), (1,), (0,), 1, (1,))", "w = v.mean(-1)",
                               "x = w * 2.0"], "x, s", [[(2, 20, 9), (24, 20, 3), (24,), (24, 5, 3), (5,)], [(1, 20, 33), (24, 20, 3), (24,), (24, 5, 3), (5,)]], ("float32",)),
    "convolution_of_volumes": (["t = torch.conv3d(a, b, c, (2, 2, 2), (0, 0, 0), (1, 1, 1), 1)", "u = t.flatten(2)", "v = u.transpose(1, 2)", f"w = {F}layer_norm(v, (6,), c, c, 1e-05)"], "w",
                               [[(2, 5, 4, 6, 8), (6, 5, 2, 2, 2), (6,)], [(1, 5, 4, 4, 4), (6, 5, 2, 2, 2), (6,)]], ("float32",)),
    "convolution_that_several_look_at": (["s = a * 0.5", "t = torch.conv2d(s, b, c, 1, 0, 1, 1)", f"u = {F}gelu(t)", "v = t.amax((2, 3))"], "t, u, v", [[(2, 8, 6, 5), (4, 8, 3, 3), (4,)]]),
    "norm_before_a_product": ([f"t = {F}layer_norm(a, (48,), b, b, 1e-05)", f"u = {F}linear(t, c, d)", f"v = {F}gelu(u)", f"w = {F}linear(v, e, None)", "x = w + a"], "x",
                              [[(2, 17, 48), (48,), (96, 48), (96,), (48, 96)], [(3, 33, 48), (48,), (96, 48), (96,), (48, 96)]]),
    "attention": (["s = a * 0.5", "t = s.view($n, -1, 4, 16)", "u = t.transpose(1, 2)", f"v = {F}scaled_dot_product_attention(u, u, u, attn_mask = None, dropout_p = 0.0, is_causal = False)",
                   "w = v.transpose(1, 2)", "x = w.reshape($n, -1, 64)", f"y = {F}linear(x, b, c)", "z = y + a"], "z",
                  [[(2, 17, 64), (64, 64), (64,), {"n": 2}], [(1, 33, 64), (64, 64), (64,), {"n": 1}]]),
    "attention_by_hand": (["s = a * 0.125", "r = b.transpose(-1, -2)", "t = s @ r", f"u = {F}softmax(t, dim = -1)", "v = torch.matmul(u, b)", "w = v.permute(0, 2, 1, 3)", "x = w.contiguous()"], "x",
                          [[(2, 3, 20, 32), (2, 3, 20, 32)], [(1, 2, 65, 24), (1, 2, 65, 24)]]),
    "products_with_addends": (["s = a.sigmoid()", "t = torch.addmm(b, s, c)", f"u = {F}relu(t)", "v = torch.functional.einsum('ij,jk->ik', u, d)", "w = v - a"],
                              "w", [[(20, 64), (48,), (64, 48), (48, 64)]]),
}

# Convolutions that are given pictures with their channels beside each other.
CHANNELS_LAST = {
    "at_the_beginning": (*CALLS["convolution_with_bias"][:3], ("float32",)),
    "without_bias": (["t = torch.conv2d(a, b, None, (1, 1), (1, 1), (1, 1), 1)", f"u = {F}batch_norm(t, c, d, d, c, False, 0.1, 1e-05)", "v = u + e"], "v",
                     [[(2, 8, 9, 7), (6, 8, 3, 3), (6,), (6,), (2, 6, 9, 7)], [(1, 8, 34, 40), (6, 8, 3, 3), (6,), (6,), (1, 6, 34, 40)]]),
    "at_the_end": ([f"s = {F}relu(a)", "t = torch.conv2d(s, b, c, 1, 0, 1, 2)"], "t", [[(2, 8, 6, 5), (4, 4, 3, 3), (4,)], [(1, 64, 7, 7), (32, 32, 1, 1), (32,)]]),
    "in_a_row": ([f"s = {F}silu(a)", "t = torch.conv2d(s, b, None, 1, 1, 1, 1)", f"u = {F}gelu(t)", "v = torch.conv2d(u, c, d, (2, 2), (1, 1), (1, 1), 1)", "w = v.mean((2, 3))", "x = t.flatten(2)"], "w, x",
                 [[(2, 8, 9, 9), (12, 8, 3, 3), (5, 12, 3, 3), (5,)], [(1, 8, 14, 6), (12, 8, 3, 3), (5, 12, 3, 3), (5,)]], ("float32",)),
    "of_one_picture": (["s = a * 0.5", "t = torch.conv2d(s, b, None, 1, 1, 1, 1)", "u = torch.conv2d(s, c, None, 1, 2, 2, 1)", "v = t * u"], "v", [[(2, 8, 9, 9), (12, 8, 3, 3), (12, 8, 3, 3)]]),
}

# What random graphs are made of; {0} and {1} are values of one shape.
STEPS = ["{0} + {1}", "{0} * {1}", "{0} - {1}", "{0} * 0.5", "{0}.neg()", "{0}.abs()", "{0}.sigmoid()", "{0}.tanh()", F + "silu({0})", F + "relu({0})",
         "torch.maximum({0}, {1})", F + "softmax({0}, dim = -1)", "{0} - {0}.mean(-1, keepdim = True)", "{0}.transpose(-1, -2).contiguous().transpose(-1, -2)",
         "{0} + {1}.amax(1, keepdim = True)", "torch.roll({0}, shifts = 1, dims = -1)", F + "layer_norm({0}, ({width},), None, None, 1e-05)",
         "torch.cat([{0}, {1}], dim = -1)[(Ellipsis, slice(None, {width}, None))]", "torch.where({0} > {1}, {0}, {1})", "{0} / (1.0 + {1}.abs())"]


# Products that are kernels of their own, computed in tiles.
TILED = {
    "linear": (*PRODUCTS["linear"], [[(1, 33, 101), (65, 101), (65,)], [(2, 20, 64), (17, 64), (17,)]]),
    "attention": (*PRODUCTS["attention"], [[(1, 2, 33, 24), (1, 2, 33, 24)], [(2, 1, 17, 40), (2, 1, 17, 40)]]),
    "columns": (*PRODUCTS["columns"], [[(1, 33, 17), (1, 33, 19), (1, 17, 19)], [(2, 17, 20), (2, 17, 30), (2, 20, 30)]]),
    "channels": (*PRODUCTS["channels"], [[(1, 36, 7, 9), (21, 36, 1, 1), (21,), (1, 21, 7, 9)], [(2, 40, 5, 5), (16, 40, 1, 1), (16,), (2, 16, 5, 5)]]),
    "heads_made_flat": (["t = a @ b", "u = t.transpose(2, 3)", "v = u.reshape(-1, 48, 5, 5)", "w = v + c", f"x = {F}gelu(w)"], "x", [[(2, 3, 25, 20), (2, 3, 20, 16), (2, 48, 5, 5)], [(1, 3, 25, 33), (1, 3, 33, 16), (1, 48, 5, 5)]]),
    "few_rows": (["t = torch.nn.functional.linear(a, b, c)", "u = t * d"], "u", [[(1, 3, 100), (40, 100), (40,), (1, 3, 40)], [(2, 7, 130), (24, 130), (24,), (2, 7, 24)], [(5, 50, 70), (5, 70), (5,), (5, 50, 5)]]),
    "convolution_of_every_other_point": (["t = torch.conv2d(a, b, c, (2, 2), (0, 0), (1, 1), 1)", f"u = {F}relu(t, inplace = False)"], "u", [[(2, 24, 9, 14), (40, 24, 1, 1), (40,)], [(1, 17, 16, 33), (20, 17, 1, 1), (20,)]]),
    "patches": (["t = torch.conv2d(a, b, c, (4, 4), (0, 0), (1, 1), 1)", "u = t.flatten(2)", "v = u.transpose(1, 2)", "w = v + d"], "w", [[(2, 3, 20, 20), (24, 3, 4, 4), (24,), (1, 25, 24)]]),
    "every_other_channel": (*PRODUCTS["every_other_channel"], [[(1, 40, 9, 13), (33, 40, 1, 1)]]),
    "of_what_is_computed": ([f"t = {F}gelu(a)", "u = torch.matmul(t, b)", f"v = {F}layer_norm(u, (24,), None, None, 1e-05)", "w = torch.matmul(v, c)"], "w", [[(30, 40), (40, 24), (24, 20)]]),
    "of_what_is_moved": (["t = torch.cat([a, b], 1)", "u = t * 2.0", "v = torch.matmul(u, c)", "w = torch.matmul(u, d)"], "v, w", [[(18, 20), (18, 13), (33, 17), (33, 20)]]),
    "several_tiles": ([f"t = {F}linear(a, b, c)", "u = t.sigmoid()"], "u", [[(3, 67, 300), (150, 300), (150,)], [(1, 130, 129), (257, 129), (257,)]]),
    "of_columns_that_lie_apart": (["t = a.transpose(-2, -1)", "u = torch.matmul(t, b)", "v = u - 1.0"], "v", [[(2, 140, 33), (2, 140, 19)], [(1, 20, 101), (1, 20, 131)]]),
    "few_rows": ([f"t = {F}linear(a, b, c)", f"u = {F}hardswish(t, False)"], "u", [[(2, 70), (41, 70), (41,)], [(9, 130), (33, 130), (33,)]]),
    "choices_of_sums": ([f"t = {F}linear(a, b, c)", "u = t > 0.5", "v = u.to(torch.int64)", "w = v + 2"], "t, w", [[(19, 40), (35, 40), (35,)]]),
    "windows": (["t = torch.conv2d(a, b, c, (1, 1), (1, 1), (1, 1), 1)", f"u = {F}batch_norm(t, c, c, c, c, False, 0.1, 1e-05)", f"v = {F}relu(u, inplace = False)", "w = v + d"], "w",
                [[(2, 8, 7, 7), (20, 8, 3, 3), (20,), (2, 20, 7, 7)], [(1, 20, 5, 33), (17, 20, 3, 3), (17,), (1, 17, 5, 33)]]),
    "large_windows": (["t = torch.conv2d(a, b, None, (2, 2), (3, 3), (1, 1), 1)", "u = t.sigmoid()"], "u", [[(2, 3, 20, 19), (24, 3, 7, 7)], [(1, 3, 33, 9), (18, 3, 7, 7)]]),
    "windows_spread": (["t = torch.conv2d(a, b, c, (1, 2), (2, 4), (2, 3), 1)", f"u = {F}gelu(t)"], "u", [[(2, 9, 11, 21), (16, 9, 3, 3), (16,)]]),
    "short_windows_of_lines": (["t = torch.conv1d(a, b, None, (5,), (0,), (1,), 1)", f"u = {F}group_norm(t, 20, c, c, 1e-05)", f"v = {F}gelu(u)"], "v",
                              [[(2, 1, 331), (20, 1, 10), (20,)], [(1, 1, 1003), (20, 1, 8), (20,)]]),
    "windows_of_lines": (["t = torch.conv1d(a, b, c, (2,), (1,), (1,), 1)", f"u = {F}gelu(t)", "v = u.permute(0, 2, 1)"], "v", [[(2, 30, 31), (20, 30, 3), (20,)], [(1, 16, 64), (33, 16, 3), (33,)]]),
    "windows_of_volumes": (["t = torch.conv3d(a, b, c, (1, 1, 1), (1, 1, 0), (1, 1, 1), 1)", "u = t.tanh()"], "u", [[(1, 4, 5, 6, 9), (18, 4, 3, 3, 2), (18,)]]),
    "windows_of_what_is_computed": ([f"t = {F}silu(a, inplace = False)", "u = torch.conv2d(t, b, None, (1, 1), (1, 1), (1, 1), 1)", f"v = {F}layer_norm(u, (9,), None, None, 1e-05)"], "v", [[(2, 6, 9, 9), (16, 6, 3, 3)]]),
    "windows_laid_out": (["t = torch.conv_transpose2d(a, b, c, (2, 3), (0, 0), (0, 0), 1, (1, 1))", f"u = {F}gelu(t)", "v = u + d"], "v",
                         [[(2, 24, 5, 7), (24, 19, 2, 3), (19,), (2, 19, 10, 21)], [(1, 33, 9, 16), (33, 16, 2, 3), (16,), (1, 16, 18, 48)]]),
    "windows_laid_out_for_a_norm": (["t = torch.conv_transpose2d(a, b, c, 2, 0, 0, 1, 1)", "u = t.permute(0, 2, 3, 1)", f"v = {F}layer_norm(u, (18,), c, c, 1e-06)", "w = v.permute(0, 3, 1, 2)"], "w", [[(2, 40, 6, 8), (40, 18, 2, 2), (18,)]]),
    "lines_laid_out": (["t = torch.conv_transpose1d(a, b, None, (2,), (0,), (0,), 1, (1,))", "u = t.tanh()"], "u", [[(2, 20, 31), (20, 17, 2)]]),
}


# What is the same for a whole batch, and takes long.
REPEATED = {
    "bias_of_windows": (["t = torch.arange(0, 99)", "u = t.float()", "u2 = u % 15.0", "v = u2.to(torch.int64)", "w = b[v]", "x = w.view(9, 11, 3)", "y = x.permute(2, 0, 1)", "z = y.contiguous()", "z2 = z.unsqueeze(0)", "z3 = a + z2",
                         f"z4 = {F}softmax(z3, -1)"], "z4", [[(300, 3, 9, 11), (15, 3)], [(221, 3, 9, 11), (15, 3)]]),
    "gate_of_positions": (["t = torch.sigmoid(b)", "u = t * 16.0", "v = a * u"], "v", [[(40, 33, 65), (33, 65)], [(63, 33, 65), (33, 65)]]),
}


CONSTRUCTS_OF_A_SAMPLE = 20


class ConstructCase(AuthoredCase):
    def samples_of(self, constructs, at_all_dtypes=True):
        """at_all_dtypes: in the full tier; otherwise that has each set of shapes at the first dtype and one set at another."""
        turns = [None] * len(constructs) if FULL and at_all_dtypes else range(len(constructs))
        return [self.sample_of(name, *construct, turn=turn) for turn, (name, construct) in zip(turns, constructs.items())]

    def author(self, samples, *flags):
        """The reports on the samples, which get their passes."""
        done = self.passnet("author", *samples, "--write-only", "-o", self.out, "--json", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = json.loads(done.stdout)
        self.assertEqual(len(reports), len(samples))
        for report in reports:
            with self.subTest(sample=report["sample"], written=True):
                self.assertGreater(len(report["passes"]), 0, report["left"])
                self.assertEqual(report["left"], [])
                self.assertEqual(any(one["library"] for one in report["passes"]), "--allow-library" in flags)
        for sample in samples:
            (self.out / sample.name / "pass_dir").rename(sample / "pass_dir")
        return reports

    def together(self, name, samples):
        """A sample of the graphs of several samples."""
        sample = self.root / name
        for one in samples:
            for graph in (one / "graphs").iterdir():
                shutil.copytree(graph, sample / "graphs" / f"{one.name}_{graph.name}")
        (sample / "graph_list.txt").write_text("".join(f"{graph.name}\n" for graph in sorted((sample / "graphs").iterdir())))
        return sample

    def check(self, samples, *flags):
        """The author's reports on the samples. What it writes is checked."""
        reports = self.author(samples, *flags)
        if not FULL:
            count = -(-len(samples) // CONSTRUCTS_OF_A_SAMPLE)
            samples = [self.together(f"together_{i}", samples[i::count]) for i in range(count)]
            self.author(samples, *flags)
        checked = []
        # Passes are read in whatever form they were written.
        allowed = [flag for flag in flags if flag == "--allow-library"]
        at_a_time = 8 if FULL else 1
        for i in range(0, len(samples), at_a_time):
            checked += json.loads(self.passnet("pass", "check", *samples[i:i + at_a_time], "--json", *allowed).stdout)["graphs"]
        self.assertEqual(len(checked), sum(len((sample / "graph_list.txt").read_text().split()) for sample in samples))
        for one in checked:
            with self.subTest(graph=f"{one['sample']}/{one['graph']}"):
                # Graphs so small may be won by answers that take no work: their passes are right all the same.
                self.assertIn(one["verdict"], ("correct", "unranked"), json.dumps(one, indent=1)[:2000])
                self.assertGreater(one["sites"], 0)
        return reports


class EvenConstructs(ConstructCase):
    """The constructs at even places of the table, and OddConstructs the others: tests that run side by side."""

    first = 0

    def test_each_construct_is_as_in_pytorch(self):
        samples = self.samples_of(CONSTRUCTS, at_all_dtypes=False)
        self.check(samples[self.first::2])


class OddConstructs(EvenConstructs):
    first = 1


class Products(ConstructCase):
    def test_products_in_tiles_are_kernels_of_their_own(self):
        for report in self.check(self.samples_of(TILED)):
            kernels = [kernel for one in report["passes"] for kernel in one["explained"]["kernels"]]
            with self.subTest(sample=report["sample"]):
                self.assertTrue(any(kernel["product"] for kernel in kernels), kernels)


class Calls(ConstructCase):
    def test_calls_of_pytorch_among_kernels_are_as_in_pytorch(self):
        self.check(self.samples_of(CALLS), "--allow-library")

    def test_calls_with_channels_last_are_as_in_pytorch(self):
        samples = self.samples_of(CHANNELS_LAST)
        for report in self.check(samples, "--allow-library", "--form", "with calls, channels last"):
            called = [call for one in report["passes"] for call in one["explained"]["called"]]
            with self.subTest(sample=report["sample"]):
                self.assertTrue(all(call["channels_last"] for call in called), called)


class Others(ConstructCase):
    def test_declines_rows_that_no_stack_holds(self):
        statements, results = ["t = a * 2.0", f"u = {F}softmax(t, dim = -1)"], "u"
        sample = self.sample_of("rows", statements, results, [[(2, 200)]], ["float32"])
        self.check([sample])
        self.graph(sample / "graphs" / "far_longer", statements, results, [(1, 4_000_000)], "float32")
        (sample / "graph_list.txt").write_text("0_float32\nfar_longer\n")
        found = {one["graph"]: one for one in json.loads(self.passnet("pass", "check", sample, "--json").stdout)["graphs"]}
        self.assertEqual([found[name]["sites"] for name in ("0_float32", "far_longer")], [1, 0], found)

    def test_what_is_repeated_is_stored_once(self):
        for report in self.check(self.samples_of(REPEATED), "--form", "stored once"):
            with self.subTest(sample=report["sample"]):
                self.assertEqual([len(one["explained"]["kernels"]) for one in report["passes"]], [2])

    def test_what_each_operator_gives_is_rounded(self):
        statements = ["t = a * b", "u = t + c", "v = 0.3 * u", "w = v - a", "x = w * w", "y = t * 3.0", "z = x - y"]
        shapes = [[(33, 129)] * 3, [(7, 64)] * 3]
        samples = [self.sample_of(f"of_{len(dtypes)}", statements, "u, z", in_turn(shapes, turn), dtypes)
                   for turn, dtypes in enumerate((FLOATS, ["float32"]))]
        self.check(samples)
        for sample in samples:
            done = self.passnet("eval", sample, "-o", self.out / "evaluated", "--force", "--trials", 5)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            (records,) = (self.out / "evaluated").rglob("records.jsonl")
            for record in map(json.loads, records.read_text().splitlines()):
                with self.subTest(sample=sample.name, graph=record["graph"]):
                    self.assertEqual([output["max_abs_diff"] for output in record["outputs"]], [0.0, 0.0])

    def test_running_sums_are_rounded_as_in_pytorch(self):
        import torch  # takes seconds

        a = torch.randn((64, 1500), generator=torch.Generator().manual_seed(57))
        inputs = {"a": a, "b": a.half()}
        found, left = self.outputs("sums", inputs, ["t = a.cumsum(-1)", "u = b.cumsum(-1)"], ["t", "u"])
        self.assertEqual(left, [])
        for name, values in zip(("out_0", "out_1"), inputs.values()):
            with self.subTest(dtype=values.dtype):
                self.assertTrue(torch.equal(found[name], values.cumsum(-1)))

    def test_attention_to_few_keys_may_be_nan(self):
        statements = [f"t = {F}scaled_dot_product_attention(a, b, c, dropout_p = 0.0, is_causal = False)", "u = t * 2.0"]
        self.check([self.sample_of("few_keys", statements, "u", [[(2, 3, 7, 16), (2, 3, 5, 16), (2, 3, 5, 16)]], ["float32"])])

    def test_random_graphs_are_as_in_pytorch(self):
        samples = []
        for seed in range(12 if FULL else 6):
            draw = random.Random(seed)
            # A norm over a single element is nothing but PyTorch's own rounding errors.
            shape = (draw.choice((1, 2, 3)), draw.choice((1, 5, 16)), draw.choice((7, 32, 65)))
            values, statements = ["a", "b"], []
            for i in range(draw.randint(3, 7)):
                step = draw.choice(STEPS).format(draw.choice(values[-3:]), draw.choice(values), width=shape[-1])
                statements.append(f"t{i} = {step}")
                values.append(f"t{i}")
            samples.append(self.sample_of(f"random_{seed}", statements, ", ".join(values[2:]), [[shape, shape]], in_turn(FLOATS, seed)))
        self.check(samples)


if __name__ == "__main__":
    unittest.main(verbosity=2)

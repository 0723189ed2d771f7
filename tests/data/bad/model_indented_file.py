# model_indented_file.py:2:2: error: unexpected indentation: found column 2, expected 1
 import torch

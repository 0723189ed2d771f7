"""Cuts real subgraphs out of public PyTorch models and writes them as PassNet samples.

model (random weights) --torch.compile backend--> full graph --range of nodes--> subgraph with measured inputs
    --canonical names--> graph directory (model.py, weight_meta.py, ...)

Nothing is downloaded. Needs torch, and timm, torchvision or transformers for the architectures that use them.
"""

"""Turns public PyTorch models into PassNet graphs, and cuts the shipped samples out of them.

model (random weights) --torch.compile backend--> full graph --> graph directory          `models`: run.py, one_model.py
    full graph --range of nodes--> subgraph with measured inputs --canonical names--> graph directory of a sample
                                                                                          `samples`: write.py, cut.py, emit.py

Nothing is downloaded. Needs torch, and timm, torchvision or transformers for the architectures that use them.
"""

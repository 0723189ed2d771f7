"""Turns public PyTorch models into PassNet graphs, and cuts the shipped samples out of them.

model (random weights) --torch.compile backend--> full graph --> graph directory          `serve`: serve.py, one_model.py
    graph directory --`passnet graph cut`--> graph directory of a sample                  `samples`: write.py, samples.py

Nothing is downloaded. Needs torch, and timm, torchvision or transformers for the architectures that use them.
"""

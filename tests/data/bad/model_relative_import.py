# model_relative_import.py:2:6: error: relative imports are not part of the graph language
from . import model

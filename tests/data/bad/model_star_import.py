# model_star_import.py:3:19: error: found 'import *', expected the names
# hint: name what the file uses
from torch import *

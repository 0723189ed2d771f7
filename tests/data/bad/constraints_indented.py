# constraints_indented.py:3:3: error: unexpected indentation: found column 3, expected 1
from sympy import Symbol
  S0 = Symbol("S0")

# constraints_symbol_twice.py:4:1: error: symbol 'S0' is defined twice
from sympy import Symbol
S0 = Symbol("S0")
S0 = Symbol("S0")

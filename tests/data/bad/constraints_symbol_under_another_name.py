# constraints_symbol_under_another_name.py:3:13: error: the symbol is called 'S1', expected 'S0' as its variable
from sympy import Symbol
S0 = Symbol("S1")

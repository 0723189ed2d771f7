# constraints_missing_variable.py:6:1: error: the file ends without 'dynamic_dim_constraint_symbol2example_value'
# hint: the file holds imports of sympy, 'S0 = Symbol("S0")' and four variables
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]

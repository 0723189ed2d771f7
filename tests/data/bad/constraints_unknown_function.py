# constraints_unknown_function.py:8:42: error: unknown function 'floor', expected Max, Min or Mod
# hint: divide with '//', as in S0 // 2
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([floor(S0, 2), 3], "a")]

# constraints_symbol_not_listed.py:9:1: error: symbol 'S0' is not in the list of symbols
# hint: see 'dynamic_dim_constraint_symbols'
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = []
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]

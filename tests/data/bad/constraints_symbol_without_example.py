# constraints_symbol_without_example.py:9:1: error: symbol 'S0' has no example value
# hint: see 'dynamic_dim_constraint_symbol2example_value'
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]

# constraints_negative_example.py:5:52: error: found '-4', expected a size: an int of 0 or more
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: -4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]

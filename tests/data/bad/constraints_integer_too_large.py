# constraints_integer_too_large.py:5:52: error: integer '99999999999999999999' (20 digits) is out of range, expected -2**63 to 2**63 - 1
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 99999999999999999999}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]

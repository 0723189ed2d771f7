# constraints_name_is_not_a_string.py:7:50: error: expected a string, found 'a'
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0, 3], a)]

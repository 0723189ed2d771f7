# constraints_entry_is_not_a_pair.py:7:40: error: expected a pair of a shape and a name, found '['
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [[S0, 3]]

# constraints_division.py:7:44: error: found '/', expected '//': sizes are ints, and so are their quotients
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0/2, 3], "a")]

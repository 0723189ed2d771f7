# constraints_undefined_symbol.py:8:42: error: symbol 'S1' is not defined
# hint: add 'S1 = Symbol("S1")' above
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S1, 3], "a")]

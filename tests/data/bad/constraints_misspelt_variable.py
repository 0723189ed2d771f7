# constraints_misspelt_variable.py:7:35: error: expected 'Symbol' behind 'dynamic_dim_constraint_relation =', found '['
# hint: did you mean 'dynamic_dim_constraint_relations'?
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relation = []
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]

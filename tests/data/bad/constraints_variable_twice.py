# constraints_variable_twice.py:8:1: error: 'dynamic_dim_constraint_relations' is given twice
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]
dynamic_dim_constraint_relations = []

# constraints_lambda.py:7:43: error: found 'lambda', expected a size: an int, a symbol or an expression of them
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = []
dynamic_dim_constraint_input_shapes = [([(lambda: 3)(), 3], "a")]

# constraints_equality_operator.py:7:40: error: expected a relation: <, <=, >, >=, or Eq(a, b), found '=='
# hint: equality is written Eq(a, b) or Ne(a, b)
from sympy import Symbol
S0 = Symbol("S0")
dynamic_dim_constraint_symbols = [S0]
dynamic_dim_constraint_symbol2example_value = {S0: 4}
dynamic_dim_constraint_relations = [S0 == 4]
dynamic_dim_constraint_input_shapes = [([S0, 3], "a")]

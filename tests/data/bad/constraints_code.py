# constraints_code.py:4:6: error: expected '=', found '('
# hint: the file holds imports of sympy, 'S0 = Symbol("S0")' and four variables
from sympy import Symbol
print("hello")

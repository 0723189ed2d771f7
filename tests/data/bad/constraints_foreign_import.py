# constraints_foreign_import.py:3:8: error: found the module 'os', expected 'sympy'
# hint: the file holds imports of sympy, 'S0 = Symbol("S0")' and four variables
import os

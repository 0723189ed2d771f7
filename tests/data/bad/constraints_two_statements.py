# constraints_two_statements.py:2:25: error: expected one statement per line, found ';'
from sympy import Symbol; S0 = Symbol("S0")

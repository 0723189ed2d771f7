# meta_code.py:2:1: error: expected 'class', found 'print'
print("hello")

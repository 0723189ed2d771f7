# meta_no_body.py:3:1: error: expected an indented attribute, as name = "x", found the end of the file
class Program_weight_tensor_meta_x:

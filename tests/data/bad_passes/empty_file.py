#: FILE: error: function 'pattern' is missing: found none
#: hint: a pass has pattern, replacement_args, replacement_func and a plan; add 'def pattern(x): …'

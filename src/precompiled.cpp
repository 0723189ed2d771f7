// Holds nothing: a precompiled header that several targets share must belong to a target, and a target needs a file.

#include "fx/syntax/parser.h"  // [not allowed; really]

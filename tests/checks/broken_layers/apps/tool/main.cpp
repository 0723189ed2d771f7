#include "fx/parser.h"  // [not allowed; really]

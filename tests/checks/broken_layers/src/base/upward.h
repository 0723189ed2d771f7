#pragma once
// A base that looks up to fx: refused.
#include "fx/syntax/parser.h"

#pragma once
// A base that looks up to fx: refused.
#include "fx/parser.h"

#include "base/upward.h"

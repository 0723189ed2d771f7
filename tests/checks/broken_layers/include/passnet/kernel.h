#include <stdint.h>
#include "base/upward.h"

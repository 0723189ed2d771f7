#include <string>

#include <c10/core/Device.h>

#include "base/upward.h"

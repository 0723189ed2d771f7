// The GPUs of this machine as its files tell them: what can be known without starting a driver.
#pragma once

#include "base/result.h"

namespace passnet::run {

/// Takes no time, and finds what is certain to fail: no driver, or fewer devices. Errors: Resource.
Result<void> require_gpus(int first, int count);

}  // namespace passnet::run

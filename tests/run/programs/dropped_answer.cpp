// With -DDROP the answer of a worker is not looked at, which the compiler must warn of.
#include "run/worker/worker.h"

passnet::Result<int> answer();

int main() {
#ifdef DROP
  answer();
#else
  return answer().has_value() ? 0 : 1;
#endif
}

/* The C ABI between the runtime and a compiled CPU kernel. A kernel object exports, per kernel,
 *   passnet_run_NAME        run the tasks first … last - 1 of the grid
 *   passnet_parameters_NAME the parameter types, comma separated ("const float*,float*,int64_t")
 * Nothing else: no other exported symbol, no writable data, no start-up code. */
#ifndef PASSNET_ABI_H
#define PASSNET_ABI_H
#include <stdint.h>

/* One positional argument: a pointer, or an int64_t, or a double, or a bool as 0/1 in `integer`. The kernel's
 * parameter type decides which member is read. */
typedef union passnet_arg {
  void* pointer;
  int64_t integer;
  double real;
} passnet_arg;

typedef struct passnet_launch {
  const passnet_arg* args;
  int64_t grid[3];     /* tasks per axis, each >= 1; tasks are numbered x fastest */
  int64_t threads;     /* that share the tasks, >= 1 */
  int64_t matrix_unit; /* not 0: the system lets this process use the processor's matrix unit */
} passnet_launch;

typedef void (*passnet_run_fn)(const passnet_launch* launch, int64_t first, int64_t last);
typedef const char* (*passnet_parameters_fn)(void);

#endif

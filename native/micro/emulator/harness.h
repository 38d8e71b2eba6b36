/* What main.c has to know of a model; generated for each. */
#ifndef LATHE_MICRO_EMULATOR_HARNESS_H_
#define LATHE_MICRO_EMULATOR_HARNESS_H_

#include <stddef.h>

typedef struct lm_harness_border {
  void* data;
  size_t size;
} lm_harness_border;

extern const int lm_harness_inputs, lm_harness_outputs;
extern const lm_harness_border *const lm_harness_input, *const lm_harness_output;
void lm_harness_prepare(void); /* before anything else is read */
void lm_harness_invoke(void);

#endif /* LATHE_MICRO_EMULATOR_HARNESS_H_ */

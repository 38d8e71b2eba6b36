/* Runs a model on the host: inputs from stdin, outputs to stdout. */
#include <stdio.h>

#include "harness.h"

int main(void) {
  lm_harness_prepare();
  for (int i = 0; i < lm_harness_inputs; ++i)
    if (fread(lm_harness_input[i].data, 1, lm_harness_input[i].size, stdin) != lm_harness_input[i].size) return 2;
  lm_harness_invoke();
  for (int i = 0; i < lm_harness_outputs; ++i) fwrite(lm_harness_output[i].data, 1, lm_harness_output[i].size, stdout);
  return 0;
}

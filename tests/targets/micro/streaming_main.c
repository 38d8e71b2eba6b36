/* Runs a streaming model on the host for as long as there is input; its states stay in its memory. */
#include <stdio.h>

#include "m.h"

int main(void) {
  m_invoke(); /* something to forget */
  m_reset();
  while (fread(m_input, 1, M_INPUT_SIZE, stdin) == M_INPUT_SIZE) {
    m_invoke();
    fwrite(m_output, 1, M_OUTPUT_SIZE, stdout);
  }
  return 0;
}

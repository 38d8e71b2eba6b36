/* What C libraries have in RAM from the start: copied there out of flash. */
#ifndef LATHE_MICRO_EMULATOR_DATA_H_
#define LATHE_MICRO_EMULATOR_DATA_H_

#include <stdint.h>

extern uint32_t lm_data_start[], lm_data_end[];
extern const uint32_t lm_data_load[];

static inline void lm_copy_data(void) {
  const uint32_t* from = lm_data_load;
  for (uint32_t* to = lm_data_start; to != lm_data_end;) *to++ = *from++;
}

#endif /* LATHE_MICRO_EMULATOR_DATA_H_ */

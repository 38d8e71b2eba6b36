/* Starts programs on emulated boards with a Cortex-M: vectors, the floating-point unit, and an end for faults. */
#include <stdint.h>

#include "data.h"
#include "semihosting.h"

extern uint32_t lm_stack_top;
int main(void);

static void fault(void) { lm_exit(1); }

__attribute__((noreturn)) static void reset(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20; /* CPACR */
  __asm__ volatile("dsb\n isb");
#endif
  lm_copy_data();
  lm_exit(main());
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) const handler lm_vectors[16] = {
    (handler)&lm_stack_top, reset, fault, fault, fault, fault, fault, fault, 0, 0, 0, fault, fault, 0, fault, fault};

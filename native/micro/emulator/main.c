/* Runs a model on an emulated board: reads its inputs from input.bin, writes output.bin: the bytes of stack that the
 * model used (32 bits), then its outputs. What is executed between two marks is the model: native/tools/qemu counts it.
 */
#include <string.h>

#include "harness.h"
#include "semihosting.h"

enum { kPainted = 64 * 1024, kPaint = 0xA5, kOwn = 64 /* bytes that `measured` may use below `here` */ };

#if defined(__riscv)
#define LM_MARK(number) __asm__ volatile("slti x0, x0, " #number::: "memory")
#define LM_BEGIN LM_MARK(0x7A)
#define LM_END LM_MARK(0x7B)
#else
#define LM_BEGIN __asm__ volatile(".short 0x46D2" ::: "memory") /* mov r10, r10 */
#define LM_END __asm__ volatile(".short 0x46DB" ::: "memory")   /* mov r11, r11 */
#endif

__attribute__((noinline)) static uint32_t measured(void) {
  volatile uint8_t here = 0;
  const uintptr_t top = (uintptr_t)&here - kOwn;
  for (uintptr_t at = top - kPainted; at < top; ++at) *(volatile uint8_t*)at = kPaint;
  LM_BEGIN;
  lm_harness_invoke();
  LM_END;
  uintptr_t at = top - kPainted;
  while (at < top && *(volatile uint8_t*)at == kPaint) ++at;
  return (uint32_t)((uintptr_t)&here - at);
}

int main(void) {
  lm_harness_prepare();
  uintptr_t file = lm_open("input.bin", 0);
  for (int i = 0; i < lm_harness_inputs; ++i)
    if (lm_read(file, lm_harness_input[i].data, lm_harness_input[i].size) != lm_harness_input[i].size) return 2;
  lm_close(file);
  const uint32_t stack = measured();
  file = lm_open("output.bin", 1);
  lm_write(file, &stack, sizeof stack);
  for (int i = 0; i < lm_harness_outputs; ++i) lm_write(file, lm_harness_output[i].data, lm_harness_output[i].size);
  lm_close(file);
  return 0;
}

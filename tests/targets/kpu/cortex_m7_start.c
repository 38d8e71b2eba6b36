/* What a Cortex-M7 begins with: the vector table, and the switch of its floating-point unit. newlib does the rest. */
#include <stdint.h>

extern uint32_t stack_top;
void _start(void);
void reset(void);

void reset(void) {
  *(volatile uint32_t*)0xE000ED88u |= 0xF00000u; /* coprocessors 10 and 11 */
  __asm__ volatile("dsb\n isb");
  _start();
}

/* Ends the emulator with an error. */
static void fault(void) {
  register uint32_t operation __asm__("r0") = 0x18;
  register uint32_t reason __asm__("r1") = 0x20024;
  __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason));
  for (;;) {
  }
}

typedef union vector {
  uint32_t* stack;
  void (*function)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = &stack_top}, {.function = reset}, {.function = fault}, {.function = fault},
    {.function = fault},   {.function = fault}, {.function = fault},
};

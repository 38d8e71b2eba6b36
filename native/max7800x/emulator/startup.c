/* Begins a program on the board that QEMU calls mps2-an386: a Cortex-M4, as the chips have, without their accelerator,
 * whose model comes along. What it prints, and how it ends, goes to the emulator by semihosting.
 *
 *   qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native -kernel NAME.elf
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the linker's script: where data lies in the image and in memory, what begins as zero, and the end of the stack. */
extern uint8_t lathe_data_image[], lathe_data_begin[], lathe_data_end[], lathe_zero_begin[], lathe_zero_end[];
extern uint32_t lathe_stack_end[];

int main(void);
void initialise_monitor_handles(void);
void _init(void);
void _fini(void);

/* Newlib calls these; there is nothing of C++ to construct. */
void _init(void) {}

void _fini(void) {}

static void begin(void) {
  *(volatile uint32_t*)0xe000ed88u |= 0xfu << 20; /* the floating point unit */
  memcpy(lathe_data_begin, lathe_data_image, (size_t)(lathe_data_end - lathe_data_begin));
  memset(lathe_zero_begin, 0, (size_t)(lathe_zero_end - lathe_zero_begin));
  initialise_monitor_handles();
  exit(main());
}

static void fault(void) { _Exit(EXIT_FAILURE); }

__attribute__((section(".vectors"), used)) static const struct {
  uint32_t* stack;
  void (*handlers[15])(void);
} vectors = {lathe_stack_end, {begin, fault, fault, fault, fault, fault}};

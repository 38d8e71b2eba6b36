/* Starts programs on emulated boards with a RISC-V core. */
#include <stdint.h>

#include "data.h"
#include "semihosting.h"

int main(void);
void lm_start(void);

__attribute__((noreturn, used)) void lm_start(void) {
  lm_copy_data();
  lm_exit(main());
}

/* The floating-point unit is switched on where there is one (mstatus.FS), and faults end the program. */
__asm__(
    ".section .vectors, \"ax\"\n"
    ".globl _start\n"
    "_start:\n"
    "  la sp, lm_stack_top\n"
    "  la t0, lm_fault\n"
    "  .word 0x30529073\n" /* csrw mtvec, t0 */
    "  li t0, 0x6000\n"
    "  .word 0x3002A073\n" /* csrs mstatus, t0 */
    "  j lm_start\n"
    ".align 2\n"
    "lm_fault:\n"
    "  li a0, 1\n"
    "  j lm_exit\n");

/* The chip around the accelerator, as far as generated programs see it: headers/mxc.h.
 *
 * Linked with a generated program and the machine, this is a program that runs anywhere. TARGET_NUM is 78000 or 78002,
 * as in the manufacturer's builds. When the program ends, what it did wrongly with the accelerator is printed, and
 * makes its exit status WRONG_USE, whatever it thinks of its results. */
#include <mxc.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

#ifndef TARGET_NUM
#define TARGET_NUM 78000
#endif

enum { WRONG_USE = 3, QUADRANTS = 4, ALL_QUADRANTS = 0xf };

mxc_gcfr_regs_t lathe_chip_power;
mxc_gcr_regs_t lathe_chip_clocks = {.ipll_ctrl = MXC_F_GCR_IPLL_CTRL_RDY};
mxc_icc_regs_t lathe_chip_cache;
mxc_tmr_regs_t lathe_chip_timer;
mxc_gpio_regs_t lathe_chip_pins;
mxc_pwrseq_regs_t lathe_chip_wakers;
mxc_fcr_regs_t lathe_chip_functions;
mxc_sema_regs_t lathe_chip_semaphores;
uint32_t SystemCoreClock = TARGET_NUM == 78002 ? 120000000u : 100000000u;

static lathe_max7800x_machine* machine;
static void (*handler)(void);
static int enabled, masked, pending, clocked, waits, unpowered;

static void end(void) {
  fflush(stdout);
  if (unpowered != 0) fprintf(stderr, "the accelerator was used without power, clock or while held in reset\n");
  fputs(lathe_max7800x_report(machine), stderr);
  const int wrong = unpowered != 0 || lathe_max7800x_complaints(machine) != 0;
  lathe_max7800x_destroy(machine);
  if (wrong) _Exit(WRONG_USE);
}

/* The quadrants that an address belongs to; those of FIFOs and of what is always on belong to none. */
static uint32_t quadrants_at(uint32_t address) {
  const uint32_t first = TARGET_NUM == 78002 ? 0x51000000u : 0x50100000u;
  const uint32_t size = TARGET_NUM == 78002 ? 0x01000000u : 0x00400000u;
  if (address < first || (address - first) / size >= QUADRANTS) return 0;
  return 1u << (address - first) / size;
}

static lathe_max7800x_machine* accelerator(uint32_t needed) {
  if (machine == NULL) {
    machine = lathe_max7800x_create(TARGET_NUM == 78002 ? LATHE_MAX78002 : LATHE_MAX78000);
    if (machine == NULL) {
      fputs("no memory for the model of the accelerator\n", stderr);
      _Exit(WRONG_USE);
    }
    atexit(end);
  }
  const mxc_gcfr_regs_t* power = &lathe_chip_power;
  const uint32_t there = power->reg0 & power->reg1 & ~power->reg2 & ALL_QUADRANTS;
  if (clocked == 0 || (needed & ~there) != 0 || power->reg3 != 0) unpowered = 1;
  return machine;
}

void lathe_chip_write(uint32_t address, uint32_t value) {
  lathe_max7800x_write(accelerator(quadrants_at(address)), address, value);
}

void lathe_chip_write_byte(uint32_t address, uint8_t value) {
  lathe_max7800x_write_byte(accelerator(quadrants_at(address)), address, value);
}

uint32_t lathe_chip_read(uint32_t address) { return lathe_max7800x_read(accelerator(quadrants_at(address)), address); }

#ifdef __riscv
/* On the RISC-V core handlers are found by their names, and return as interrupts do: to where `mepc` says. */
void CNN_IRQHandler(void) __attribute__((weak));

static void call_handler(void) {
  if (CNN_IRQHandler == NULL) return;
  __asm__ volatile(
      ".option push\n"
      ".option arch, +zicsr\n"
      "la t0, 1f\n"
      "csrw mepc, t0\n"
      "li t0, 0x1800\n" /* and stay in machine mode */
      "csrs mstatus, t0\n"
      "jr %0\n"
      "1:\n"
      ".option pop"
      :
      : "r"(CNN_IRQHandler)
      : "t0", "memory");
}
#else
static void call_handler(void) {}
#endif

static void interrupt(void) {
  if (pending == 0 || enabled == 0 || masked != 0) return;
  pending = 0;
  if (handler != NULL) {
    handler();
  } else {
    call_handler();
  }
}

/* Sleeps until an interrupt comes. One that never comes ends the program: on the chip it would sleep for ever. */
void lathe_chip_wait(void) {
  if (!lathe_max7800x_run(accelerator(0))) {
    if (++waits < 16) return; /* an interrupt may have come before */
    fputs("the program waits for an interrupt that never comes\n", stderr);
    exit(WRONG_USE);
  }
  waits = 0;
  pending = 1;
  interrupt();
}

void MXC_NVIC_SetVector(IRQn_Type number, void (*new_handler)(void)) {
  if (number != CNN_IRQn) return;
  handler = new_handler;
  enabled = 1;
}

void NVIC_SetVector(IRQn_Type number, void (*new_handler)(void)) { MXC_NVIC_SetVector(number, new_handler); }

void NVIC_EnableIRQ(IRQn_Type number) {
  if (number == CNN_IRQn) enabled = 1;
}

void NVIC_DisableIRQ(IRQn_Type number) {
  if (number == CNN_IRQn) enabled = 0;
}

void NVIC_ClearPendingIRQ(IRQn_Type number) { (void)number; }

void NVIC_EnableEVENT(IRQn_Type number) { (void)number; }

void NVIC_ClearPendingEVENT(IRQn_Type number) { (void)number; }

void lathe_chip_mask_interrupts(int new_masked) {
  masked = new_masked;
  interrupt();
}

int MXC_SYS_Clock_Select(mxc_sys_system_clock_t clock) {
  (void)clock;
  return 0;
}

int MXC_SYS_ClockSourceEnable(mxc_sys_system_clock_t clock) {
  (void)clock;
  return 0;
}

void MXC_SYS_ClockEnable(mxc_sys_periph_clock_t clock) {
  if (clock == MXC_SYS_PERIPH_CLOCK_CNN) clocked = 1;
}

void MXC_SYS_ClockDisable(mxc_sys_periph_clock_t clock) {
  if (clock == MXC_SYS_PERIPH_CLOCK_CNN) clocked = 0;
}

void SystemCoreClockUpdate(void) {}

void MXC_ICC_Enable(mxc_icc_regs_t* cache) { (void)cache; }

void MXC_TMR_SW_Start(mxc_tmr_regs_t* timer) { (void)timer; }

unsigned int MXC_TMR_SW_Stop(mxc_tmr_regs_t* timer) {
  (void)timer;
  return 1;
}

int MXC_Delay(uint32_t microseconds) {
  (void)microseconds;
  return 0;
}

int MXC_GPIO_Config(const mxc_gpio_cfg_t* configuration) {
  (void)configuration;
  return 0;
}

void MXC_GPIO_OutSet(mxc_gpio_regs_t* port, uint32_t mask) {
  (void)port;
  (void)mask;
}

void MXC_GPIO_OutClr(mxc_gpio_regs_t* port, uint32_t mask) {
  (void)port;
  (void)mask;
}

int Debug_Init(void) { return 0; }

int LED_Init(void) { return 0; }

void LED_On(unsigned int number) { (void)number; }

void LED_Off(unsigned int number) { (void)number; }

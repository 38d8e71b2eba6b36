/* The CNN accelerator of the MAX78000 and MAX78002 as a program sees it: addresses that are written and read.
 *
 * The machine knows nothing but what was written: kernels, biases, registers and data. From these it computes what the
 * accelerator leaves in its data memory. Where a program uses it wrongly, it says so in `lathe_max7800x_report` and
 * goes on as far as that makes sense; it never crashes, whatever is written. Time and power are not modelled. */
#ifndef LATHE_MAX7800X_MACHINE_H
#define LATHE_MAX7800X_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { LATHE_MAX78000, LATHE_MAX78002 } lathe_max7800x_part;

typedef struct lathe_max7800x_machine lathe_max7800x_machine;

/* A chip after power-on: nothing of its memories was written yet. NULL where there is no memory for it. */
lathe_max7800x_machine* lathe_max7800x_create(lathe_max7800x_part part);
void lathe_max7800x_destroy(lathe_max7800x_machine* machine);

/* What a store of 32 bits, a store of 8 bits and a load of 32 bits do. */
void lathe_max7800x_write(lathe_max7800x_machine* machine, uint32_t address, uint32_t value);
void lathe_max7800x_write_byte(lathe_max7800x_machine* machine, uint32_t address, uint8_t value);
uint32_t lathe_max7800x_read(lathe_max7800x_machine* machine, uint32_t address);

/* Runs the network if it was started and has its input; true where it came to its end since the last call: that is the
 * interrupt. */
bool lathe_max7800x_run(lathe_max7800x_machine* machine);

/* What was done wrongly, a line each, at most some kilobytes of them; empty where all was well. */
const char* lathe_max7800x_report(const lathe_max7800x_machine* machine);
size_t lathe_max7800x_complaints(const lathe_max7800x_machine* machine);

/* Layers of more multiplications than this are not run, but reported; for fuzzing. */
void lathe_max7800x_limit_work(lathe_max7800x_machine* machine, uint64_t multiplications);

#ifdef __cplusplus
}
#endif

#endif

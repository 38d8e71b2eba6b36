/* Files of the host, and the end of the program, through semihosting. */
#ifndef LATHE_MICRO_EMULATOR_SEMIHOSTING_H_
#define LATHE_MICRO_EMULATOR_SEMIHOSTING_H_

#include <stddef.h>
#include <stdint.h>

/* `lm_read` gives the number of bytes that were read. */
uintptr_t lm_open(const char* name, int writes);
size_t lm_read(uintptr_t file, void* to, size_t size);
void lm_write(uintptr_t file, const void* from, size_t size);
void lm_close(uintptr_t file);
__attribute__((noreturn)) void lm_exit(int code);

#endif /* LATHE_MICRO_EMULATOR_SEMIHOSTING_H_ */

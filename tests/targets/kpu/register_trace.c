/* Runs a kmodel with the KPU of the chip, which is memory here: each access of a register is one line of output.
 *
 *   register_trace FILE INPUT RAM (status | interrupt | never)
 *
 * RAM gets what the memory of the KPU holds in the end. The last word says how the chip tells that a layer is done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lathe_kpu.h"

static uint64_t registers[16];
static uint64_t dma[32 + 6 * 32];
static uint32_t dma_select[2];
static uint8_t ram[LATHE_KPU_RAM_BYTES];
static _Alignas(256) uint8_t file[1 << 20];
static _Alignas(8) uint8_t main_memory[1 << 20];
static uint8_t input[1 << 20];
static const char* how;
static int sent; /* words of a layer */

static void write_register(void* context, volatile uint64_t* to, uint64_t value) {
  (void)context;
  if (to >= registers && to < registers + 16) {
    printf("kpu %d %llx\n", (int)(to - registers), (unsigned long long)value);
    sent += to == registers;
  } else {
    printf("dma %d %llx\n", (int)(to - dma), (unsigned long long)value);
    if (to == dma + 3) *to = 0; /* a channel that is done at once */
  }
}

static uint64_t read_register(void* context, const volatile uint64_t* from) {
  (void)context;
  if (from >= registers && from < registers + 16) return strcmp(how, "status") == 0 && sent % 12 == 0 ? 1 : 0;
  return strcmp(how, "never") == 0 ? 0x3f : *from;
}

static void idle(void* context) {
  if (strcmp(how, "interrupt") == 0) lathe_kpu_hardware_interrupt((lathe_kpu_hardware*)context);
}

static size_t read_file(const char* path, uint8_t* to, size_t most) {
  FILE* from = fopen(path, "rb");
  if (from == NULL) exit(3);
  const size_t size = fread(to, 1, most, from);
  fclose(from);
  return size;
}

int main(int count, char** arguments) {
  lathe_kpu_hardware chip;
  lathe_kpu model;
  if (count != 5) return 2;
  how = arguments[4];
  lathe_kpu_hardware_k210(&chip);
  printf("k210 %llx %llx %llx %llx %u\n", (unsigned long long)(uintptr_t)chip.registers,
         (unsigned long long)(uintptr_t)chip.ram, (unsigned long long)(uintptr_t)chip.dma,
         (unsigned long long)(uintptr_t)chip.dma_select, (unsigned)chip.dma_channel);
  chip.registers = registers;
  chip.ram = ram;
  chip.dma = dma;
  chip.dma_select = dma_select;
  chip.patience = 100;
  chip.read = read_register;
  chip.write = write_register;
  chip.idle = idle;
  chip.context = &chip;
  const size_t size = read_file(arguments[1], file, sizeof file);
  const size_t input_size = read_file(arguments[2], input, sizeof input);
  lathe_kpu_status status =
      lathe_kpu_load(file, size, main_memory, sizeof main_memory, lathe_kpu_hardware_device(&chip), &model);
  if (status == LATHE_KPU_OK) status = lathe_kpu_run(&model, input, input_size);
  printf("file %llx\nmain %llx\nfifo %llx\nselect %x %x\nstatus %s\n", (unsigned long long)(uintptr_t)file,
         (unsigned long long)(uintptr_t)main_memory, (unsigned long long)(uintptr_t)(registers + 6),
         (unsigned)dma_select[0], (unsigned)dma_select[1], lathe_kpu_status_text(status));
  FILE* to = fopen(arguments[3], "wb");
  if (to == NULL || fwrite(ram, 1, sizeof ram, to) != sizeof ram) return 3;
  return fclose(to);
}

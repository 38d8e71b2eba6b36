/* Whatever is written into the model of the MAX7800x's accelerator, it computes something or complains.
 *
 * The first byte says which chip; then come accesses of nine bytes each: a letter of tools/lathe_max7800x_replay.c, an
 * address, a value. Afterwards the network is started, if nobody did. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum { ACCESS_BYTES = 9, MOST_WORK = 300000, MOST_WORDS = 64 };

static uint32_t word_at(const uint8_t* data) {
  return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

static void access_once(lathe_max7800x_machine* machine, const uint8_t* data) {
  const uint32_t address = word_at(data + 1);
  const uint32_t value = word_at(data + 5);
  switch (data[0]) {
    case 'b':
      lathe_max7800x_write_byte(machine, address, (uint8_t)value);
      break;
    case 'r':
      for (uint32_t i = 0; i < value % MOST_WORDS; i++) lathe_max7800x_read(machine, address + 4 * i);
      break;
    case 'i':
      lathe_max7800x_run(machine);
      break;
    default:
      lathe_max7800x_write(machine, address, value);
      break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint32_t large = data[0] % 2;
  lathe_max7800x_machine* machine = lathe_max7800x_create(large ? LATHE_MAX78002 : LATHE_MAX78000);
  if (machine == NULL) abort();
  lathe_max7800x_limit_work(machine, MOST_WORK);
  for (size_t at = 1; at + ACCESS_BYTES <= size; at += ACCESS_BYTES) access_once(machine, data + at);
  lathe_max7800x_write(machine, large ? 0x51000000u : 0x50100000u, 0);
  lathe_max7800x_write(machine, large ? 0x51000000u : 0x50100000u, 0x100009);
  lathe_max7800x_run(machine);
  const size_t length = strlen(lathe_max7800x_report(machine));
  if ((length == 0) != (lathe_max7800x_complaints(machine) == 0)) abort();
  lathe_max7800x_destroy(machine);
  return 0;
}

/* Writes what standard input says into the machine, and prints what it reads.
 *
 *   lathe_max7800x_replay max78000 < writes
 *
 * A line each: `w ADDRESS VALUE` writes a word, `b ADDRESS VALUE` a byte, `i` waits for the interrupt, `r ADDRESS
 * COUNT` prints that many words; all numbers are hexadecimal. What the machine complains of goes to standard error, and
 * makes the exit status 1; 2 means that the input makes no sense. */
#include <stdio.h>
#include <string.h>

#include "machine.h"

static int understand(lathe_max7800x_machine* machine, const char* line) {
  unsigned address = 0;
  unsigned value = 0;
  if (sscanf(line, "w %x %x", &address, &value) == 2) {
    lathe_max7800x_write(machine, address, value);
  } else if (sscanf(line, "b %x %x", &address, &value) == 2) {
    lathe_max7800x_write_byte(machine, address, (uint8_t)value);
  } else if (sscanf(line, "r %x %x", &address, &value) == 2) {
    for (unsigned i = 0; i < value; i++) printf("%08x\n", (unsigned)lathe_max7800x_read(machine, address + 4 * i));
  } else if (line[0] == 'i') {
    printf("%s\n", lathe_max7800x_run(machine) ? "interrupt" : "no interrupt");
  } else {
    fprintf(stderr, "not understood: %s", line);
    return 2;
  }
  return 0;
}

int main(int count, char** arguments) {
  const bool known = count == 2 && (strcmp(arguments[1], "max78000") == 0 || strcmp(arguments[1], "max78002") == 0);
  if (!known) {
    fprintf(stderr, "usage: lathe_max7800x_replay max78000|max78002 < writes\n");
    return 2;
  }
  lathe_max7800x_machine* machine =
      lathe_max7800x_create(strcmp(arguments[1], "max78002") == 0 ? LATHE_MAX78002 : LATHE_MAX78000);
  if (machine == NULL) return 2;
  char line[64];
  int status = 0;
  while (status == 0 && fgets(line, sizeof line, stdin) != NULL) status = understand(machine, line);
  fputs(lathe_max7800x_report(machine), stderr);
  if (status == 0 && lathe_max7800x_complaints(machine) != 0) status = 1;
  lathe_max7800x_destroy(machine);
  return status;
}

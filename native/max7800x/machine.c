/* The machine's memories and what says where they lie; what it complains of. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_state.h"

const char* const machine_register_names[LAYER_REGISTERS] = {
    "NXTLYR",     "RCNT",       "CCNT",        "ONED",      "PRCNT",   "PCCNT",   "STRIDE", "WPTR_BASE",
    "WPTR_TOFFS", "WPTR_MOFFS", "WPTR_CHOFFS", "RPTR_BASE", "LCTL",    "LCTL2",   "MCNT",   "MCNT2",
    "OCHAN",      "TPTR",       "ENA",         "POST",      "STREAM1", "STREAM2", "FMAX",
};

static const geometry chips[] = {
    [LATHE_MAX78000] =
        {
            .layers = 32,
            .base = 0x50100000u,
            .quadrant_bytes = 0x400000u,
            .layer_registers = 0x10u,
            .layer_step = 4,
            .register_step = 0x80,
            .frame_register = 0x990u,
            .bias = 0x8000u,
            .bias_bytes = 512,
            .tram = 0x10000u,
            .tram_bytes = 0x4000u,
            .tram_words = 3072,
            .kernels = 0x80000u,
            .kernels_bytes = 0x4000u,
            .kernel_columns = 768,
            .first_kernel_columns = 768,
            .data = 0x300000u,
            .data_bytes = 0x8000u,
            .data_words = 8192,
            .write_shift = 13,
            .increment_bits = 4,
        },
    [LATHE_MAX78002] =
        {
            .layers = 128,
            .base = 0x51000000u,
            .quadrant_bytes = 0x1000000u,
            .layer_registers = 0x100000u,
            .layer_step = 0x100,
            .register_step = 4,
            .stream_registers = 0x108000u,
            .frame_register = 0x108060u,
            .bias = 0x180000u,
            .bias_bytes = 2048,
            .tram = 0x200000u,
            .tram_bytes = 0x10000u,
            .tram_words = 12288,
            .kernels = 0x400000u,
            .kernels_bytes = 0x20000u,
            .kernel_columns = 4096,
            .first_kernel_columns = 5120,
            .data = 0x800000u,
            .data_bytes = 0x20000u,
            .data_words = 20480,
            .write_shift = 15,
            .increment_bits = 8,
        },
};

void machine_complain(lathe_max7800x_machine* machine, const char* format, ...) {
  va_list arguments;
  machine->complaints++;
  const size_t room = REPORT_BYTES - machine->report_length;
  if (room < 2) return;
  va_start(arguments, format);
  const int length = vsnprintf(machine->report + machine->report_length, room - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  const size_t kept = (size_t)length < room - 2 ? (size_t)length : room - 2;
  machine->report_length += kept;
  machine->report[machine->report_length++] = '\n';
  machine->report[machine->report_length] = '\0';
}

bool machine_say(lathe_max7800x_machine* machine, uint32_t what) {
  const bool new = (machine->said & what) == 0;
  machine->said |= what;
  return new;
}

/* Words that nobody wrote hold something that is neither zero nor one, so that whoever reads them notices. */
bool machine_make_memory(memory* made, uint32_t words) {
  made->words = malloc((size_t)words * sizeof *made->words);
  made->flags = calloc(words, 1);
  made->length = words;
  if (made->words == NULL || made->flags == NULL) {
    machine_free_memory(made);
    return false;
  }
  memset(made->words, 0x5a, (size_t)words * sizeof *made->words);
  return true;
}

void machine_free_memory(memory* freed) {
  free(freed->words);
  free(freed->flags);
  memset(freed, 0, sizeof *freed);
}

static bool make_kernels(kernel_memory* made, uint32_t columns) {
  made->bytes = malloc((size_t)columns * COLUMN_BYTES);
  made->written = calloc(columns, 1);
  made->columns = columns;
  if (made->bytes == NULL || made->written == NULL) return false;
  memset(made->bytes, 0x5a, (size_t)columns * COLUMN_BYTES);
  return true;
}

static bool make_memories(lathe_max7800x_machine* machine) {
  const geometry* chip = machine->chip;
  for (int i = 0; i < INSTANCES; i++) {
    if (!machine_make_memory(&machine->data[i], chip->data_words)) return false;
  }
  for (int i = 0; i < PROCESSORS; i++) {
    const bool first = i % QUADRANT_PROCESSORS == 0;
    if (!make_kernels(&machine->kernels[i], first ? chip->first_kernel_columns : chip->kernel_columns)) return false;
  }
  for (int i = 0; i < QUADRANTS; i++) {
    machine->bias[i] = calloc(chip->bias_bytes, 1);
    machine->bias_written[i] = calloc(chip->bias_bytes, 1);
    if (machine->bias[i] == NULL || machine->bias_written[i] == NULL) return false;
  }
  return true;
}

lathe_max7800x_machine* lathe_max7800x_create(lathe_max7800x_part part) {
  lathe_max7800x_machine* machine = calloc(1, sizeof *machine);
  if (machine == NULL) return NULL;
  machine->part = part;
  machine->chip = &chips[part];
  machine->most_work = UINT64_MAX;
  if (!make_memories(machine)) {
    lathe_max7800x_destroy(machine);
    return NULL;
  }
  return machine;
}

void lathe_max7800x_destroy(lathe_max7800x_machine* machine) {
  if (machine == NULL) return;
  for (int i = 0; i < INSTANCES; i++) {
    machine_free_memory(&machine->data[i]);
    machine_free_memory(&machine->stream[0][i]);
    machine_free_memory(&machine->stream[1][i]);
  }
  for (int i = 0; i < PROCESSORS; i++) {
    free(machine->kernels[i].bytes);
    free(machine->kernels[i].written);
  }
  for (int i = 0; i < QUADRANTS; i++) {
    free(machine->bias[i]);
    free(machine->bias_written[i]);
    machine_free_memory(&machine->fifo[i]);
  }
  free(machine);
}

const char* lathe_max7800x_report(const lathe_max7800x_machine* machine) { return machine->report; }

size_t lathe_max7800x_complaints(const lathe_max7800x_machine* machine) { return machine->complaints; }

void lathe_max7800x_limit_work(lathe_max7800x_machine* machine, uint64_t multiplications) {
  machine->most_work = multiplications;
}

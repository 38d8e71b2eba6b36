/* What stores and loads do: which register or memory an address is, and what is written there. */
#include <stdlib.h>
#include <string.h>

#include "machine_state.h"

enum {
  ALWAYS_ON_ADDRESS = 0x50001000,
  FIFO_ADDRESS = 0x50000000, /* control, status, then a word for each quadrant */
  FIFO_DATA = 8,
  FAST_FIFO_ADDRESS = 0x400c0400,
  FAST_FIFO_DATA = 0x10,
  FAST_FIFO_END = 0x18,
  TEST_CLEARS = 1 << 7,   /* registers of layers */
  TEST_DONE = 0x0a3c0000, /* every test of memories ended at once, without errors */
  MOST_FIFO_WORDS = 1 << 22,
};

enum region { NOWHERE, GLOBAL, FRAME, LAYER, BIAS, TRAM, KERNEL, DATA };

typedef struct {
  enum region region;
  uint32_t quadrant;
  uint32_t unit;   /* processor, instance, layer or register */
  uint32_t offset; /* in bytes; of a layer its register */
} place;

/* The registers of layers in the order in which each chip has them. */
static const uint8_t registers_78000[] = {
    ROWS,       COLUMNS,    ONE_DIMENSION, POOL_ROWS,    POOL_COLUMNS, STRIDE,          WRITE_BASE,
    WRITE_SLOT, WRITE_MASK, WRITE_PASS,    READ_BASE,    CONTROL,      MASK_COUNT,      TRAM_LIMIT,
    ENABLE,     POST,       STREAM_START,  STREAM_DELTA, ROLLOVER,     LAYER_REGISTERS, CONTROL_2};
static const uint8_t registers_78002[] = {NEXT,         ROWS,      COLUMNS,    ONE_DIMENSION, POOL_ROWS,
                                          POOL_COLUMNS, STRIDE,    WRITE_BASE, WRITE_SLOT,    WRITE_MASK,
                                          WRITE_PASS,   READ_BASE, CONTROL,    CONTROL_2,     MASK_COUNT,
                                          MASK_START,   CHANNELS,  TRAM_LIMIT, ENABLE,        POST};

static place layer_place(const lathe_max7800x_machine* machine, uint32_t quadrant, uint32_t local) {
  const geometry* chip = machine->chip;
  const place nowhere = {NOWHERE, quadrant, 0, 0};
  if (chip->stream_registers != 0 && local >= chip->stream_registers && local < chip->frame_register) {
    const uint32_t index = (local - chip->stream_registers) / 4;
    return (place){LAYER, quadrant, index % 8, STREAM_START + index / 8};
  }
  const uint32_t from = local - chip->layer_registers;
  const bool old = machine->part == LATHE_MAX78000;
  const uint32_t index = old ? from % chip->register_step / 4 : from / chip->layer_step;
  const uint32_t id = old ? from / chip->register_step : from % chip->layer_step / 4;
  const uint32_t known = old ? sizeof registers_78000 : sizeof registers_78002;
  if (local < chip->layer_registers || index >= chip->layers || id >= known) return nowhere;
  const uint32_t which = old ? registers_78000[id] : registers_78002[id];
  return which == LAYER_REGISTERS ? nowhere : (place){LAYER, quadrant, index, which};
}

static bool between(uint32_t value, uint32_t from, uint32_t length) { return value >= from && value - from < length; }

/* Where an address leads in the quadrants. */
static place locate(const lathe_max7800x_machine* machine, uint32_t address) {
  const geometry* chip = machine->chip;
  place found = {NOWHERE, 0, 0, 0};
  if (!between(address, chip->base, QUADRANTS * chip->quadrant_bytes)) return found;
  found.quadrant = (address - chip->base) / chip->quadrant_bytes;
  const uint32_t local = (address - chip->base) % chip->quadrant_bytes;
  const uint32_t first = found.quadrant * QUADRANT_PROCESSORS;
  if (local < QUADRANT_REGISTERS * 4) {
    found.region = GLOBAL;
    found.unit = local / 4;
  } else if (local - local % 4 == chip->frame_register) {
    found.region = FRAME;
  } else if (between(local, chip->bias, chip->bias_bytes * 4)) {
    found.region = BIAS;
    found.offset = (local - chip->bias) / 4;
  } else if (between(local, chip->tram, QUADRANT_PROCESSORS * chip->tram_bytes)) {
    found.region = TRAM;
  } else if (between(local, chip->kernels, QUADRANT_PROCESSORS * chip->kernels_bytes)) {
    found.region = KERNEL;
    found.unit = first + (local - chip->kernels) / chip->kernels_bytes;
    found.offset = (local - chip->kernels) % chip->kernels_bytes;
  } else if (between(local, chip->data, INSTANCES / QUADRANTS * chip->data_bytes)) {
    found.region = DATA;
    found.unit = found.quadrant * (INSTANCES / QUADRANTS) + (local - chip->data) / chip->data_bytes;
    found.offset = (local - chip->data) % chip->data_bytes;
    if (found.offset / 4 >= chip->data_words) found.region = NOWHERE;
  } else {
    found = layer_place(machine, found.quadrant, local);
  }
  return found;
}

static void put_column(lathe_max7800x_machine* machine, uint32_t processor, uint32_t column) {
  kernel_memory* kernels = &machine->kernels[processor];
  if (column >= kernels->columns) {
    machine_complain(machine, "kernels of processor %u: column %u is written, but there are %u", (unsigned)processor,
                     (unsigned)column, (unsigned)kernels->columns);
    return;
  }
  memcpy(kernels->bytes + (size_t)column * COLUMN_BYTES, kernels->latch, COLUMN_BYTES);
  kernels->written[column] = 1;
}

/* Bytes one after the other, nine to a column. */
static void put_express(lathe_max7800x_machine* machine, uint32_t processor, uint32_t value) {
  kernel_memory* kernels = &machine->kernels[processor];
  if (!kernels->has_next) {
    machine_complain(machine, "kernels of processor %u come without a byte that says to which column",
                     (unsigned)processor);
    kernels->has_next = true;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    kernels->latch[kernels->latched++] = (uint8_t)(value >> shift);
    if (kernels->latched < COLUMN_BYTES) continue;
    put_column(machine, processor, kernels->next++);
    kernels->latched = 0;
  }
}

/* Words of a column: the first byte, four, four, and one that writes them. */
static void put_slowly(lathe_max7800x_machine* machine, const place* at, uint32_t value) {
  kernel_memory* kernels = &machine->kernels[at->unit];
  const uint32_t part = at->offset / 4 % 4;
  if (part == 0) {
    kernels->latch[0] = (uint8_t)value;
  } else if (part < 3) {
    for (uint32_t i = 0; i < 4; i++) kernels->latch[part * 4 - 3 + i] = (uint8_t)(value >> (24 - 8 * i));
  } else {
    put_column(machine, at->unit, at->offset / 16);
  }
}

static void write_global(lathe_max7800x_machine* machine, const place* at, uint32_t value) {
  uint32_t* control = machine->control[at->quadrant];
  const uint32_t before = control[at->unit];
  control[at->unit] = value;
  if (at->unit == QUADRANT_TEST && (value & TEST_CLEARS) != 0) {
    memset(machine->layer[at->quadrant], 0, sizeof machine->layer[at->quadrant]);
    machine->cleared[at->quadrant] = true;
  }
  if (at->unit != QUADRANT_CONTROL || at->quadrant != MASTER) return;
  if ((value & CONTROL_RUNS) == 0) return;
  /* Where each layer stops, and the interrupt was acknowledged, the next write lets the next layer run. */
  const bool halted = machine->begun && !machine->started && (value & CONTROL_ONE_SHOT) != 0;
  const bool goes_on = halted && ((value | before) & CONTROL_DONE) == 0;
  if ((before & CONTROL_RUNS) == 0 || goes_on) machine->started = true;
}

static void write_bias(lathe_max7800x_machine* machine, const place* at, uint32_t value) {
  if (value > UINT8_MAX)
    machine_complain(machine, "bias memory of quadrant %u: 0x%x does not fit into a byte", (unsigned)at->quadrant,
                     (unsigned)value);
  machine->bias[at->quadrant][at->offset] = (uint8_t)value;
  machine->bias_written[at->quadrant][at->offset] = 1;
}

static void write_kernel(lathe_max7800x_machine* machine, const place* at, uint32_t value) {
  if ((machine->control[at->quadrant][QUADRANT_CONTROL] & CONTROL_EXPRESS) != 0) {
    put_express(machine, at->unit, value);
  } else {
    put_slowly(machine, at, value);
  }
}

/* A word into the FIFO of a quadrant, which grows: a network that runs takes words out as fast as they come. */
static void write_fifo(lathe_max7800x_machine* machine, uint32_t quadrant, uint32_t value) {
  memory* fifo = &machine->fifo[quadrant];
  uint32_t* held = &machine->fifo_held[quadrant];
  if ((machine->control[quadrant][QUADRANT_CONTROL] & CONTROL_FIFO) == 0) {
    machine_complain(machine, "a word for the FIFO of quadrant %u, which is off", (unsigned)quadrant);
    return;
  }
  if (*held == fifo->length) {
    memory more = {NULL, NULL, 0};
    if (*held >= MOST_FIFO_WORDS || !machine_make_memory(&more, *held == 0 ? 256 : 2 * *held)) {
      machine_complain(machine, "the FIFO of quadrant %u was given more words than any picture has",
                       (unsigned)quadrant);
      return;
    }
    if (*held != 0) memcpy(more.words, fifo->words, *held * sizeof *more.words);
    machine_free_memory(fifo);
    *fifo = more;
  }
  fifo->words[(*held)++] = value;
}

static void write_outside(lathe_max7800x_machine* machine, uint32_t address, uint32_t value) {
  if (address == ALWAYS_ON_ADDRESS) {
    machine->always_on = value;
  } else if (address == FIFO_ADDRESS) {
    machine->fifo_control = value;
  } else if (between(address, FIFO_ADDRESS + FIFO_DATA, 4 * QUADRANTS)) {
    write_fifo(machine, (address - FIFO_ADDRESS - FIFO_DATA) / 4, value);
  } else if (address == FAST_FIFO_ADDRESS + FAST_FIFO_DATA) {
    write_fifo(machine, 0, value);
  } else if (address == FAST_FIFO_ADDRESS) {
    machine->fast_fifo_control = value;
  } else if (!between(address, FAST_FIFO_ADDRESS, FAST_FIFO_END)) {
    machine_complain(machine, "0x%08x is written, where nothing is", (unsigned)address);
  }
}

void lathe_max7800x_write(lathe_max7800x_machine* machine, uint32_t address, uint32_t value) {
  const place at = locate(machine, address);
  if (address % 4 != 0) {
    machine_complain(machine, "a word is written at 0x%08x, which is no multiple of 4", (unsigned)address);
    return;
  }
  if (at.region == NOWHERE) {
    write_outside(machine, address, value);
    return;
  }
  if (at.region != GLOBAL && (machine->control[at.quadrant][QUADRANT_CONTROL] & CONTROL_CLOCK) == 0) {
    machine_complain(machine, "0x%08x is written while the clock of quadrant %u is off", (unsigned)address,
                     (unsigned)at.quadrant);
    return;
  }
  if (at.region == GLOBAL) {
    write_global(machine, &at, value);
  } else if (at.region == FRAME) {
    machine->frame[at.quadrant] = value;
  } else if (at.region == LAYER) {
    machine->layer[at.quadrant][at.unit][at.offset] = value;
  } else if (at.region == BIAS) {
    write_bias(machine, &at, value);
  } else if (at.region == KERNEL) {
    write_kernel(machine, &at, value);
  } else if (at.region == DATA) {
    machine->data[at.unit].words[at.offset / 4] = value;
    machine->data[at.unit].flags[at.offset / 4] = 0xf;
  }
}

void lathe_max7800x_write_byte(lathe_max7800x_machine* machine, uint32_t address, uint8_t value) {
  const place at = locate(machine, address);
  if (at.region != KERNEL || address % 4 != 1 || value != 1) {
    machine_complain(machine, "byte 0x%02x at 0x%08x: bytes are written at 4 * column + 1 of kernels, and are 1",
                     (unsigned)value, (unsigned)address);
    return;
  }
  if ((machine->control[at.quadrant][QUADRANT_CONTROL] & CONTROL_EXPRESS) == 0) {
    machine_complain(machine, "kernels of processor %u: a column is set while express loading is off",
                     (unsigned)at.unit);
  }
  kernel_memory* kernels = &machine->kernels[at.unit];
  kernels->next = at.offset / 4;
  kernels->has_next = true;
  kernels->latched = 0;
}

static uint32_t read_kernel(const lathe_max7800x_machine* machine, const place* at) {
  const kernel_memory* kernels = &machine->kernels[at->unit];
  const uint32_t part = at->offset / 4 % 4;
  if (part == 3 || at->offset / 16 >= kernels->columns) return 0;
  const uint8_t* column = kernels->bytes + (size_t)(at->offset / 16) * COLUMN_BYTES;
  if (part == 0) return column[0];
  column += part * 4 - 3;
  return (uint32_t)column[0] << 24 | (uint32_t)column[1] << 16 | (uint32_t)column[2] << 8 | column[3];
}

uint32_t lathe_max7800x_read(lathe_max7800x_machine* machine, uint32_t address) {
  const place at = locate(machine, address);
  switch (at.region) {
    case GLOBAL:
      /* Whoever looks at these waits for something: for the end of the network, or of a test of memories. With each
       * look another layer is done. */
      machine_run(machine, false);
      return machine->control[at.quadrant][at.unit] | (at.unit == QUADRANT_TEST ? TEST_DONE : 0);
    case FRAME:
      return machine->frame[at.quadrant];
    case LAYER:
      return machine->layer[at.quadrant][at.unit][at.offset];
    case BIAS:
      return machine->bias[at.quadrant][at.offset];
    case KERNEL:
      return read_kernel(machine, &at);
    case DATA:
      machine_run(machine, true);
      return machine->data[at.unit].words[at.offset / 4];
    default:
      break;
  }
  if (address == ALWAYS_ON_ADDRESS) return machine->always_on;
  if (address == FIFO_ADDRESS) return machine->fifo_control;
  if (address == FAST_FIFO_ADDRESS) return machine->fast_fifo_control;
  const bool fifo = between(address, FIFO_ADDRESS, FIFO_DATA) || between(address, FAST_FIFO_ADDRESS, FAST_FIFO_END);
  if (!fifo && at.region != TRAM) machine_complain(machine, "0x%08x is read, where nothing is", (unsigned)address);
  return 0; /* of the FIFOs: they are never full */
}

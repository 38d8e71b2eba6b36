/* What registers hold that has one right value only: bits without meaning, and what follows from other registers. */
#include "machine_state.h"

uint32_t machine_bits(uint32_t value, uint32_t from, uint32_t count) { return value >> from & ((1u << count) - 1); }

bool machine_bit(uint32_t value, uint32_t bit) { return (value >> bit & 1) != 0; }

/* The bits that mean something. */
static const uint32_t meant_78000[LAYER_REGISTERS] = {
    [ROWS] = 0x303ff,           [COLUMNS] = 0x303ff,       [ONE_DIMENSION] = 0x3fffff,
    [POOL_ROWS] = 0xf,          [POOL_COLUMNS] = 0xf,      [STRIDE] = 0xf,
    [WRITE_BASE] = 0x1ffff,     [WRITE_SLOT] = 0x1ffff,    [WRITE_MASK] = 0x1ffff,
    [WRITE_PASS] = 0x1ffff,     [READ_BASE] = 0x1fff,      [CONTROL] = 0x1fbe0,
    [CONTROL_2] = 0x1ffff,      [MASK_COUNT] = UINT32_MAX, [TRAM_LIMIT] = UINT32_MAX,
    [ENABLE] = UINT32_MAX,      [POST] = 0x1fffffff,       [STREAM_START] = 0x3fff,
    [STREAM_DELTA] = 0xfff01ff, [ROLLOVER] = 0x1ffff,
};
static const uint32_t meant_78002[LAYER_REGISTERS] = {
    [NEXT] = 0x1ff,
    [ROWS] = 0xffffe7ff,
    [COLUMNS] = 0xffffe7ff,
    [ONE_DIMENSION] = 0x3fffff,
    [POOL_ROWS] = 0xff,
    [POOL_COLUMNS] = 0xff,
    [STRIDE] = UINT32_MAX,
    [WRITE_BASE] = 0x1fffff,
    [WRITE_SLOT] = 0x1fffff,
    [WRITE_MASK] = 0x1fffff,
    [WRITE_PASS] = 0x1fffff,
    [READ_BASE] = 0x7fff,
    [CONTROL] = 0x7ffffbe0,
    [CONTROL_2] = 0x1fffff,
    [MASK_COUNT] = 0x7ffff,
    [MASK_START] = 0x7ffff,
    [CHANNELS] = UINT32_MAX,
    [TRAM_LIMIT] = UINT32_MAX,
    [ENABLE] = UINT32_MAX,
    [POST] = UINT32_MAX,
    [STREAM_START] = 0x2007fff,
    [STREAM_DELTA] = 0x3fff01ff,
    [ROLLOVER] = 0x3ffff,
};

static void complain_of(lathe_max7800x_machine* machine, const layer* made, enum layer_register which,
                        const char* why) {
  machine_complain(machine, "layer %u: %s is 0x%x: %s", (unsigned)made->index, machine_register_names[which],
                   (unsigned)machine->layer[MASTER][made->index][which], why);
}

static void check_bits(lathe_max7800x_machine* machine, const layer* made) {
  const uint32_t* meant = machine->part == LATHE_MAX78000 ? meant_78000 : meant_78002;
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    for (uint32_t which = 0; which < LAYER_REGISTERS && made->active[q]; which++) {
      const uint32_t value = machine->layer[q][made->index][which];
      if ((value & ~meant[which]) == 0) continue;
      machine_complain(machine, "layer %u: %s of quadrant %u is 0x%x: some of its bits mean nothing",
                       (unsigned)made->index, machine_register_names[which], (unsigned)q, (unsigned)value);
    }
  }
}

/* Whether a register of the master is what the rest of the layer needs. */
void machine_expect(lathe_max7800x_machine* machine, const layer* made, enum layer_register which, uint32_t wanted) {
  const uint32_t value = machine->layer[MASTER][made->index][which];
  if (value == wanted) return;
  machine_complain(machine, "layer %u: %s is 0x%x where the layer needs 0x%x", (unsigned)made->index,
                   machine_register_names[which], (unsigned)value, (unsigned)wanted);
}

/* Registers that must be the same in all quadrants, and what of them must. */
static void compare_quadrants(lathe_max7800x_machine* machine, const layer* made) {
  for (uint32_t which = 0; which < LAYER_REGISTERS; which++) {
    if (which == READ_BASE || which == ENABLE || (which == WRITE_BASE && (!made->convolves || made->depthwise)))
      continue;
    uint32_t same = UINT32_MAX;
    if (which == CONTROL) same = ~0xf000u;
    if (which == POST) same = ~0x1fffu;
    const uint32_t wanted = machine->layer[MASTER][made->index][which];
    for (uint32_t q = 1; q < QUADRANTS; q++) {
      const uint32_t value = machine->layer[q][made->index][which];
      /* Without a convolution, quadrants whose processors do not read do nothing. */
      if (!made->active[q] || (!made->convolves && machine->layer[q][made->index][ENABLE] == 0)) continue;
      if ((value & same) == (wanted & same)) continue;
      machine_complain(machine, "layer %u: %s is 0x%x in quadrant %u and 0x%x in quadrant 0", (unsigned)made->index,
                       machine_register_names[which], (unsigned)value, (unsigned)q, (unsigned)wanted);
    }
  }
}

/* The line buffers: how long they are; of streaming layers, one after the other. */
static void check_tram(lathe_max7800x_machine* machine, const layer* made) {
  if (!made->convolves) return;
  const uint32_t limit = machine->layer[MASTER][made->index][TRAM_LIMIT];
  if (made->one_dimension || (made->one_by_one && (made->index == 0 || !made->streams))) {
    machine_expect(machine, made, TRAM_LIMIT, made->flattens ? (made->passes - 1) << 16 | (2 * made->passes - 1) : 0);
    return;
  }
  const uint32_t before = made->streams && made->index > 0 ? limit >> 16 : 0;
  machine_expect(machine, made, TRAM_LIMIT, before << 16 | (before + made->out_columns - 1));
  if ((before + made->out_columns) * made->passes > machine->chip->tram_words)
    complain_of(machine, made, TRAM_LIMIT, "the line buffers end before");
}

/* Fields that say nothing as long as others do not ask for them. */
static void check_unused(lathe_max7800x_machine* machine, const layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  const uint32_t one = registers[ONE_DIMENSION];
  const uint32_t post = registers[POST];
  if (!machine_bit(one, 13) && machine_bits(one, 14, 8) != 0)
    complain_of(machine, made, ONE_DIMENSION, "there is one operand");
  if (made->pool_first && !made->pools) complain_of(machine, made, ONE_DIMENSION, "there is no pool to come first");
  if (!made->flattens && machine_bits(post, 18, 4) != 0)
    complain_of(machine, made, POST, "bits 18 to 21 are for many passes");
  if (!made->biased && machine_bits(post, 0, 12) != 0)
    complain_of(machine, made, POST, "an offset of biases that are off");
  const uint32_t size = made->one_dimension ? made->kernel_rows : made->one_by_one;
  if (made->convolves && machine_bits(one, 8, 4) != size)
    complain_of(machine, made, ONE_DIMENSION, "a kernel of that size has one dimension");
  const uint32_t local = made->convolves ? made->depthwise : made->operands == 1 ? 3 : 1;
  if (machine_bits(post, 24, 2) != local)
    complain_of(machine, made, POST, "bits 24 and 25 do not fit what the layer does");
  if (made->convolves) return;
  if (machine_bits(one, 8, 5) != (made->operands == 1)) complain_of(machine, made, ONE_DIMENSION, "there is no kernel");
  if (made->mask_remainder != 0) complain_of(machine, made, ONE_DIMENSION, "there are no kernels to begin within");
  if ((post & 0x58c01000u) != 0) complain_of(machine, made, POST, "nothing is multiplied, but it says how");
  machine_expect(machine, made, WRITE_MASK, 0);
  machine_expect(machine, made, machine->part == LATHE_MAX78000 ? MASK_COUNT : MASK_START, 8 * (made->passes - 1));
}

/* Quadrants that the master listens to have something to say. */
static void check_sources(lathe_max7800x_machine* machine, const layer* made) {
  const uint32_t sources = machine_bits(machine->layer[MASTER][made->index][CONTROL], 12, 4);
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    const bool reads = q != MASTER && (made->processors >> q * QUADRANT_PROCESSORS & 0xffff) != 0;
    const bool speaks = made->convolves && !made->depthwise && (reads || (made->biased && made->bias_quadrant == q));
    if (!machine_bit(sources, q) || speaks) continue;
    machine_complain(machine, "layer %u: LCTL of quadrant 0 listens to quadrant %u, which has nothing to add",
                     (unsigned)made->index, (unsigned)q);
  }
}

/* What the MAX78002 has beyond: how many outputs there are, kernels of any size, reading ahead, no kernels at all. */
static void check_newer(lathe_max7800x_machine* machine, const layer* made) {
  if (machine->part == LATHE_MAX78000) return;
  const uint32_t control = machine->layer[MASTER][made->index][CONTROL];
  if (machine_bit(control, 30)) complain_of(machine, made, CONTROL, "bit 30: bypassed kernels are not modelled");
  if (!machine_bit(control, 17) && machine_bits(control, 26, 3) != 0)
    complain_of(machine, made, CONTROL, "bits 26 to 28 are for reading ahead");
  /* tcalc takes four passes at a time: when, and not what, is computed. */
  const bool fours = machine_bit(machine->layer[MASTER][made->index][POST], 31);
  if (machine_bit(control, 17) && made->kernel_columns == 3 &&
      machine_bits(control, 26, 4) != (made->passes - 1) / (fours ? 4 : 1))
    complain_of(machine, made, CONTROL, "bits 26 to 29 are not the passes that are read ahead");
  if (!made->convolves && machine_bits(control, 18, 8) != 0) complain_of(machine, made, CONTROL, "there is no kernel");
  if (!made->depthwise && !machine_bit(control, 17) && machine_bit(control, 29))
    complain_of(machine, made, CONTROL, "bit 29 is for depthwise convolutions");
  if (made->depthwise) return;
  if (made->four) return; /* then CHANNELS says how many there are */
  machine_expect(machine, made, CHANNELS, made->convolves ? made->positions * made->passes - 1 : made->slots - 1);
}

static void check_write_pointer(lathe_max7800x_machine* machine, const layer* made) {
  if (!made->convolves || made->depthwise) return;
  machine_expect(machine, made, WRITE_SLOT, made->one_by_one);
  if (made->positions <= made->span) machine_expect(machine, made, WRITE_PASS, 0);
}

void machine_check_registers(lathe_max7800x_machine* machine, const layer* made) {
  check_bits(machine, made);
  compare_quadrants(machine, made);
  check_tram(machine, made);
  check_unused(machine, made);
  check_sources(machine, made);
  check_newer(machine, made);
  check_write_pointer(machine, made);
}

/* What the registers of a layer say, and whether that makes sense. */
#include <string.h>

#include "machine_state.h"

static bool refuse(lathe_max7800x_machine* machine, const layer* made, enum layer_register which, const char* why) {
  machine_complain(machine, "layer %u: %s is 0x%x: %s", (unsigned)made->index, machine_register_names[which],
                   (unsigned)machine->layer[MASTER][made->index][which], why);
  return false;
}

/* The processors that read; of a convolution also those of other quadrants, if the master listens to them. */
static bool decode_processors(lathe_max7800x_machine* machine, layer* made) {
  uint64_t masks = 0;
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    made->active[q] = (machine->control[q][QUADRANT_CONTROL] & CONTROL_RUNS) != 0;
    const uint32_t enable = machine->layer[q][made->index][ENABLE];
    if (enable != 0 && !made->active[q]) {
      machine_complain(machine, "layer %u: processors of quadrant %u are enabled, which does not run",
                       (unsigned)made->index, (unsigned)q);
    }
    if (!made->active[q]) continue;
    made->processors |= (uint64_t)(enable & 0xffff) << q * QUADRANT_PROCESSORS;
    masks |= (uint64_t)(enable >> 16) << q * QUADRANT_PROCESSORS;
  }
  if (made->processors == 0) return refuse(machine, made, ENABLE, "no processor reads");
  made->convolves = masks != 0;
  if (made->convolves && masks != made->processors)
    return refuse(machine, made, ENABLE, "processors and kernels are enabled differently");
  const uint32_t sources = machine_bits(machine->layer[MASTER][made->index][CONTROL], 12, 4);
  made->depthwise = made->convolves && machine_bit(machine->layer[MASTER][made->index][POST], 30);
  for (uint32_t q = 1; q < QUADRANTS && made->convolves && !made->depthwise; q++) {
    const uint64_t all = UINT64_C(0xffff) << q * QUADRANT_PROCESSORS;
    if ((made->processors & all) == 0 || machine_bit(sources, q)) continue;
    machine_complain(machine, "layer %u: LCTL of quadrant 0 leaves out quadrant %u, whose processors are enabled",
                     (unsigned)made->index, (unsigned)q);
    made->processors &= ~all;
  }
  return made->processors != 0;
}

static void decode_flags(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  const uint32_t global = machine->control[MASTER][QUADRANT_CONTROL];
  const uint32_t control = registers[CONTROL];
  const uint32_t one = registers[ONE_DIMENSION];
  const uint32_t post = registers[POST];
  made->relu = machine_bit(control, 9);
  made->absolute = machine_bit(post, 26);
  made->wide = machine_bit(control, 16);
  made->big_data = machine_bit(control, 6);
  made->pools = machine_bit(control, 7);
  made->averages = !machine_bit(control, 8);
  made->rounds = (global & CONTROL_ROUNDS) != 0;
  made->one_dimension = machine_bit(one, 12);
  made->one_by_one = !made->one_dimension && machine_bits(one, 8, 4) == 1;
  made->slots = machine_bits(one, 0, 4) + 1;
  made->mask_remainder = machine_bits(one, 4, 4);
  made->operands = machine_bit(one, 13) ? machine_bits(one, 18, 4) + 1 : 1;
  made->eltwise = machine_bits(one, 14, 2);
  made->pool_first = machine_bit(one, 16);
  made->transposed = machine_bit(post, 28);
  made->flattens = machine_bit(post, 27);
  made->broadcasts = made->depthwise && machine_bit(control, 29);
  made->bits = (const uint32_t[]){8, 1, 2, 4}[machine_bits(post, 22, 2)];
  made->binary = made->bits == 1 && machine_bit(global, 30);
  made->shift = machine_bit(post, 17) ? -(int)machine_bits(post, 13, 4) : (int)machine_bits(post, 13, 4);
  made->from_fifo =
      (global & CONTROL_FIFO) != 0 && made->index == machine_bits(machine->control[MASTER][QUADRANT_LAYERS], 8, 8);
  made->streams = (global & CONTROL_STREAMS) != 0 && registers[ROLLOVER] != 0;
  if (made->operands > 1 && made->convolves != machine_bit(one, 17))
    refuse(machine, made, ONE_DIMENSION, "bit 17 says whether a convolution follows the operands");
  if (!machine_bit(control, 5)) refuse(machine, made, CONTROL, "bit 5 is always set");
  if (!machine_bit(control, 11))
    refuse(machine, made, CONTROL, "bit 11 is off: writing to the quadrant's own memory alone is not modelled");
  made->four = machine_bit(post, 29);
}

/* Rows, columns and where they lie, of the MAX78000. */
static bool decode_size_78000(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  made->pad_rows = machine_bits(registers[ROWS], 16, 2);
  made->pad_columns = machine_bits(registers[COLUMNS], 16, 2);
  const uint32_t rows = machine_bits(registers[ROWS], 0, 10) + 1;
  const uint32_t columns = machine_bits(registers[COLUMNS], 0, 10) + 1;
  if (rows <= 2 * made->pad_rows) return refuse(machine, made, ROWS, "nothing but the border");
  if (columns <= 2 * made->pad_columns) return refuse(machine, made, COLUMNS, "nothing but the border");
  made->rows = rows - 2 * made->pad_rows;
  made->columns = columns - 2 * made->pad_columns;
  made->pool_rows = made->pool_columns = made->stride = 1;
  made->pool_row_step = made->pool_column_step = 1;
  if (made->pools) {
    made->pool_rows = machine_bits(registers[POOL_ROWS], 0, 4) + 1;
    made->pool_columns = machine_bits(registers[POOL_COLUMNS], 0, 4) + 1;
  } else {
    machine_expect(machine, made, POOL_ROWS, 0);
    machine_expect(machine, made, POOL_COLUMNS, 0);
  }
  made->stride = machine_bits(registers[STRIDE], 0, 4) + 1;
  if (made->transposed) {
    machine_expect(machine, made, STRIDE, 0);
    if (made->rows % 2 != 0 || made->columns % 2 != 0)
      return refuse(machine, made, ROWS, "of a transposed convolution rows and columns are even");
  }
  if (made->pool_rows > made->rows || made->pool_columns > made->columns)
    return refuse(machine, made, POOL_ROWS, "the pool is larger than the picture");
  made->pooled_rows = (made->rows - made->pool_rows) / made->stride + 1;
  made->pooled_columns = (made->columns - made->pool_columns) / made->stride + 1;
  made->column_words = made->passes * made->operands;
  made->row_words = (made->transposed ? made->columns / 2 : made->columns) * made->column_words;
  return true;
}

/* Rows, columns and where they lie, of the MAX78002: it counts where pools begin, and has steps of addresses. */
static bool decode_size_78002(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  const uint32_t rows = registers[ROWS];
  const uint32_t columns = registers[COLUMNS];
  made->stride = machine_bits(registers[STRIDE], 0, 4) + 1;
  made->pad_rows = machine_bit(rows, 15) ? machine_bits(rows, 13, 2) + 1 : 0;
  made->pad_columns = machine_bit(columns, 15) ? machine_bits(columns, 13, 2) + 1 : 0;
  made->pool_row_step = machine_bits(registers[POOL_ROWS], 4, 4) + 1;
  made->pool_column_step = machine_bits(registers[POOL_COLUMNS], 4, 4) + 1;
  made->pool_rows = machine_bits(registers[POOL_ROWS], 0, 4) / made->pool_row_step + 1;
  made->pool_columns = machine_bits(registers[POOL_COLUMNS], 0, 4) / made->pool_column_step + 1;
  if (!made->pools && (made->pool_rows > 1 || made->pool_columns > 1))
    return refuse(machine, made, CONTROL, "pools are off, but PRCNT or PCCNT are not 0");
  if (machine_bits(rows, 0, 11) % made->stride != 0)
    return refuse(machine, made, ROWS, "pools do not end where the stride leads");
  if (machine_bits(columns, 0, 11) % made->stride != 0)
    return refuse(machine, made, COLUMNS, "pools do not end where the stride leads");
  made->pooled_rows = machine_bits(rows, 0, 11) / made->stride + 1;
  made->pooled_columns = machine_bits(columns, 0, 11) / made->stride + 1;
  made->columns = machine_bits(columns, 0, 11) + machine_bits(columns, 16, 16);
  made->rows = machine_bits(rows, 0, 11) + (made->pool_rows - 1) * made->pool_row_step + 1;
  made->unread_rows = made->stride - 1;
  const uint32_t step = machine_bits(registers[STRIDE], 4, 28);
  if (step % made->stride != 0)
    return refuse(machine, made, STRIDE, "the step of addresses is no multiple of the stride");
  made->column_words = step / made->stride;
  const uint32_t pitch = (made->pooled_columns - 1) * step + machine_bits(rows, 16, 16);
  if (pitch % made->stride != 0)
    return refuse(machine, made, ROWS, "the step to the next row is no multiple of the stride");
  made->row_words = pitch / made->stride;
  if (made->row_words != made->columns * made->column_words) {
    refuse(machine, made, ROWS, "the step to the next row is not that of all its columns, which CCNT and STRIDE tell");
  }
  if (made->pad_rows == 0 && machine_bits(rows, 13, 2) != 0) refuse(machine, made, ROWS, "a border that is off");
  if (made->pad_columns == 0 && machine_bits(columns, 13, 2) != 0)
    refuse(machine, made, COLUMNS, "a border that is off");
  if (made->transposed) {
    if (made->columns % 2 != 0 || made->rows % 2 != 0)
      return refuse(machine, made, ROWS, "of a transposed convolution rows and columns are even");
    made->row_words /= 2;
  }
  return true;
}

/* The kernel's size and where its numbers begin. */
static bool decode_masks(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  const bool old = machine->part == LATHE_MAX78000;
  const uint32_t first_layer = machine_bits(machine->control[MASTER][QUADRANT_LAYERS], 8, 8);
  made->kernel_rows = made->kernel_columns = made->one_by_one ? 1 : 3;
  if (made->one_dimension) {
    made->kernel_rows = machine_bits(registers[ONE_DIMENSION], 8, 4);
    made->kernel_columns = 1;
    if (made->kernel_rows < 1 || made->kernel_rows > 9)
      return refuse(machine, made, ONE_DIMENSION, "kernels are 1 to 9 long");
  }
  if (!old && (machine_bits(registers[CONTROL], 18, 4) + 1 != made->kernel_columns ||
               machine_bits(registers[CONTROL], 22, 4) + 1 != made->kernel_rows)) {
    return refuse(machine, made, CONTROL, "the kernel's size is not that in ONED");
  }
  const uint32_t first = old ? registers[MASK_COUNT] >> 16 : registers[MASK_START];
  const uint32_t last = old ? registers[MASK_COUNT] & 0xffff : registers[MASK_COUNT];
  if (last < first || (last - first) % made->bits != 0 || last > 1u << 19)
    return refuse(machine, made, MASK_COUNT, "the last kernel does not follow the first");
  const uint32_t kernels = made->four ? 4 * (registers[CHANNELS] % MOST_KERNELS + 1) : (last - first) / made->bits + 1;
  if (kernels % made->passes != 0)
    return refuse(machine, made, MASK_COUNT, "the number of kernels is no multiple of the passes");
  made->positions = kernels / made->passes;
  if (made->four) {
    if (made->depthwise || made->flattens || made->positions % 4 != 0)
      return refuse(machine, made, POST, "calcx4 computes four outputs at a time, of kernels that are not depthwise");
    if (made->kernel_columns != 3 || kernels / 4 * made->bits % 8 != 0)
      return refuse(machine, made, POST,
                    "calcx4 is modelled for kernels of 3x3 that fill whole bytes in each of four parts");
    const uint32_t counted = made->index == first_layer ? kernels / 4 : kernels;
    machine_expect(machine, made, MASK_COUNT, first + (counted - 1) * made->bits);
  }
  if (made->depthwise) {
    made->skipped = (made->positions - 1) * made->passes;
    made->positions = 1;
  }
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    made->mask_start[q] =
        old ? machine->layer[q][made->index][MASK_COUNT] >> 16 : machine->layer[q][made->index][MASK_START];
  }
  if (made->mask_remainder >= made->kernel_rows * made->kernel_columns)
    return refuse(machine, made, ONE_DIMENSION, "more bytes before the kernel than a kernel has");
  return true;
}

static void decode_bias(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t sources = machine_bits(machine->layer[MASTER][made->index][CONTROL], 12, 4);
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    const uint32_t post = machine->layer[q][made->index][POST];
    if (!made->active[q] || !machine_bit(post, 12)) continue;
    if (made->biased && !made->depthwise)
      machine_complain(machine, "layer %u: POST turns on the bias in quadrants %u and %u", (unsigned)made->index,
                       (unsigned)made->bias_quadrant, (unsigned)q);
    if (q != MASTER && !machine_bit(sources, q) && !made->depthwise) {
      machine_complain(machine, "layer %u: LCTL of quadrant 0 leaves out quadrant %u, which has the bias",
                       (unsigned)made->index, (unsigned)q);
      continue;
    }
    made->biased = true;
    made->bias_quadrant = q;
    made->bias_offset[q] = machine_bits(post, 0, 12) * (made->four ? 4 : 1);
    /* The first chip's first layer, when it streams, lets one byte pass before the biases. */
    if (machine->part == LATHE_MAX78000 && made->index == 0 && made->streams) made->bias_offset[q]++;
  }
}

static uint32_t passes_of(const lathe_max7800x_machine* machine, const layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  return (machine_bits(registers[CONTROL_2], 0, 4) | (made->flattens ? machine_bits(registers[POST], 18, 4) << 4 : 0)) +
         1;
}

static bool decode_output(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t* registers = machine->layer[MASTER][made->index];
  const geometry* chip = machine->chip;
  const uint32_t width = made->wide ? 4 : 1;
  made->write_increment = (machine_bits(registers[CONTROL_2], 4, chip->increment_bits) + 1) * width;
  made->write_slot = registers[WRITE_SLOT];
  made->write_pass = registers[WRITE_PASS];
  for (uint32_t q = 0; q < QUADRANTS; q++) made->write_base[q] = machine->layer[q][made->index][WRITE_BASE];
  if (!made->convolves) {
    made->out_rows = made->pooled_rows;
    made->out_columns = made->pooled_columns;
    if (made->passes > 1) machine_expect(machine, made, WRITE_PASS, made->write_increment);
    machine_expect(machine, made, TRAM_LIMIT, 0);
    return true;
  }
  const uint32_t across = machine_bits(registers[CONTROL_2], 4 + chip->increment_bits, 28 - chip->increment_bits);
  made->span = across / made->bits + 1;
  if (across % made->bits != 0 || made->span > PROCESSORS)
    return refuse(machine, made, CONTROL_2, "the last output processor of a pass makes no sense");
  if (made->positions > made->span && made->write_pass == 0)
    return refuse(machine, made, WRITE_PASS, "outputs of several passes lie over each other");
  if (made->positions < made->span && !made->depthwise) {
    return refuse(machine, made, CONTROL_2, "a pass has more output processors than there are kernels");
  }
  const uint32_t rows = made->pooled_rows + 2 * made->pad_rows;
  const uint32_t columns = made->pooled_columns + 2 * made->pad_columns;
  if (rows < made->kernel_rows || columns < made->kernel_columns)
    return refuse(machine, made, ROWS, "the kernel is larger than the picture");
  made->out_rows = rows - made->kernel_rows + 1;
  made->out_columns = columns - made->kernel_columns + 1;
  machine_expect(machine, made, WRITE_MASK, 1u << chip->write_shift);
  return true;
}

static void decode_next(lathe_max7800x_machine* machine, layer* made) {
  const uint32_t next = machine->layer[MASTER][made->index][NEXT];
  const uint32_t last = machine_bits(machine->control[MASTER][QUADRANT_LAYERS], 0, 8);
  made->next = machine_bit(next, 7) ? machine_bits(next, 0, 7) : made->index + 1;
  made->is_last = machine_bit(next, 8) || (made->index == last && !machine_bit(next, 7));
}

bool machine_decode(lathe_max7800x_machine* machine, uint32_t index, layer* decoded) {
  memset(decoded, 0, sizeof *decoded);
  decoded->index = index;
  decode_next(machine, decoded);
  if (!decode_processors(machine, decoded)) return false;
  decode_flags(machine, decoded);
  decoded->passes = passes_of(machine, decoded);
  for (uint32_t q = 0; q < QUADRANTS; q++) decoded->read_base[q] = machine->layer[q][index][READ_BASE];
  const bool sized =
      machine->part == LATHE_MAX78000 ? decode_size_78000(machine, decoded) : decode_size_78002(machine, decoded);
  if (!sized) return false;
  if (decoded->convolves && !decode_masks(machine, decoded)) return false;
  if (!decode_output(machine, decoded)) return false;
  decode_bias(machine, decoded);
  machine_check_registers(machine, decoded);
  return true;
}

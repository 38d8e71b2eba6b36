/* The numbers that a layer multiplies by, out of the kernel memories. */
#include <stdlib.h>
#include <string.h>

#include "machine_state.h"

static uint32_t count_bits(uint64_t value) {
  uint32_t count = 0;
  for (; value != 0; value &= value - 1) count++;
  return count;
}

static bool make_set(const layer* running, kernel_set* made) {
  memset(made, 0, sizeof *made);
  made->channels = count_bits(running->processors) * running->passes;
  made->taps = running->kernel_rows * running->kernel_columns;
  made->weights = calloc((size_t)running->positions * made->taps, made->channels);
  made->outputs = running->depthwise ? made->channels : running->positions;
  made->is_gap = calloc(made->outputs, 1);
  made->is_used = calloc(made->channels, 1);
  made->processor = calloc(made->channels, 1);
  made->pass = calloc(made->channels, sizeof *made->pass);
  if (made->weights == NULL || made->is_gap == NULL || made->is_used == NULL || made->processor == NULL ||
      made->pass == NULL) {
    machine_free_kernels(made);
    return false;
  }
  uint32_t channel = 0;
  for (uint32_t p = 0; p < PROCESSORS; p++) {
    if ((running->processors >> p & 1) == 0) continue;
    for (uint32_t pass = 0; pass < running->passes; pass++, channel++) {
      made->processor[channel] = (uint8_t)p;
      made->pass[channel] = (uint16_t)pass;
    }
  }
  return true;
}

void machine_free_kernels(kernel_set* freed) {
  free(freed->weights);
  free(freed->is_gap);
  free(freed->is_used);
  free(freed->processor);
  free(freed->pass);
  memset(freed, 0, sizeof *freed);
}

static int8_t weight_of(const layer* running, uint32_t byte, uint32_t shift) {
  const uint32_t bits = running->bits;
  const uint32_t value = byte >> shift & ((1u << bits) - 1);
  if (running->binary) return value != 0 ? -1 : 1;
  return (int8_t)(value >> (bits - 1) != 0 ? (int)value - (1 << bits) : (int)value);
}

/* Where in its memory the kernel of a position begins, in bits of the numbers that share a byte. With calcx4 every
 * fourth position follows another, and `part` is the quarter of the memory. */
static uint32_t place_of(const layer* running, uint32_t quadrant, uint32_t position, uint32_t pass, uint32_t* part) {
  *part = running->four ? position % 4 : 0;
  const uint32_t number = running->skipped + (running->four ? position / 4 : position) * running->passes + pass;
  return running->mask_start[quadrant] + number * running->bits;
}

/* The kernels of one channel: those of a position lie `passes` apart, and each fills the bytes of columns from the last
 * to the first. `missing`: the positions that nobody wrote. */
static void take_channel(const lathe_max7800x_machine* machine, const layer* running, kernel_set* made,
                         uint32_t channel, uint8_t* missing) {
  const uint32_t p = made->processor[channel];
  const kernel_memory* kernels = &machine->kernels[p];
  for (uint32_t position = 0; position < running->positions; position++) {
    uint32_t part;
    const uint32_t at = place_of(running, p / QUADRANT_PROCESSORS, position, made->pass[channel], &part);
    const uint32_t before = part * (machine->chip->kernel_columns / 4) * COLUMN_BYTES;
    const uint32_t first = before + at / 8 * made->taps + running->mask_remainder;
    missing[position] = 0;
    for (uint32_t tap = 0; tap < made->taps; tap++) {
      const uint32_t byte = first + made->taps - 1 - tap;
      const uint32_t column = byte / COLUMN_BYTES;
      if (kernels->written[column] == 0) missing[position] = 1;
      const uint8_t packed = kernels->bytes[column * COLUMN_BYTES + COLUMN_BYTES - 1 - byte % COLUMN_BYTES];
      const int8_t weight = weight_of(running, packed, at % 8);
      made->weights[((size_t)position * made->taps + tap) * made->channels + channel] = weight;
      if (weight != 0 && missing[position] == 0) made->is_used[channel] = 1;
    }
  }
}

/* Positions without kernels are gaps between output processors; a position with some is a mistake. */
static void find_gaps(lathe_max7800x_machine* machine, const layer* running, kernel_set* made, const uint8_t* missing,
                      uint32_t channel) {
  for (uint32_t position = 0; position < running->positions; position++) {
    if (channel == 0) made->is_gap[position] = missing[position];
    if (made->is_gap[position] == missing[position]) continue;
    machine_complain(machine, "layer %u: kernel %u was written for processor %u but not for processor %u",
                     (unsigned)running->index, (unsigned)position,
                     (unsigned)made->processor[missing[position] ? 0 : channel],
                     (unsigned)made->processor[missing[position] ? channel : 0]);
    return;
  }
}

static bool fits(lathe_max7800x_machine* machine, const layer* running, uint32_t p, uint32_t taps) {
  uint32_t part;
  const uint64_t last = place_of(running, p / QUADRANT_PROCESSORS, running->positions - 1, running->passes - 1, &part);
  const uint64_t before = part * (machine->chip->kernel_columns / 4);
  const uint64_t columns = before + (last / 8 * taps + running->mask_remainder + taps - 1) / COLUMN_BYTES + 1;
  if (columns <= machine->kernels[p].columns) return true;
  machine_complain(machine, "layer %u: its kernels reach to column %lu of processor %u, which has %u",
                   (unsigned)running->index, (unsigned long)columns, (unsigned)p,
                   (unsigned)machine->kernels[p].columns);
  return false;
}

bool machine_make_kernels(lathe_max7800x_machine* machine, const layer* running, kernel_set* made) {
  for (uint32_t p = 0; p < PROCESSORS; p++) {
    const bool reads = (running->processors >> p & 1) != 0;
    if (reads && !fits(machine, running, p, running->kernel_rows * running->kernel_columns)) return false;
  }
  uint8_t* missing = malloc(running->positions);
  if (missing == NULL || !make_set(running, made)) {
    free(missing);
    machine_complain(machine, "layer %u: no memory for %u kernels", (unsigned)running->index,
                     (unsigned)running->positions);
    return false;
  }
  for (uint32_t channel = 0; channel < made->channels; channel++) {
    take_channel(machine, running, made, channel, missing);
    find_gaps(machine, running, made, missing, channel);
  }
  free(missing);
  return true;
}

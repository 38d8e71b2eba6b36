/* What a layer computes, pixel after pixel in the order of the accelerator: what it writes may lie where it still
 * reads. */
#include <stdlib.h>

#include "machine_state.h"

/* A convolution at work: the lines of the picture that it holds, and how far it has read. */
typedef struct {
  kernel_set kernels;
  int8_t* lines; /* [row % kernel rows][column][channel] */
  int64_t* sums; /* [output] */
  int8_t* bias;  /* [output] */
  uint32_t next_row, next_column;
} work;

static bool too_much(lathe_max7800x_machine* machine, const layer* running, uint64_t channels,
                     uint64_t multiplications) {
  const uint64_t read = (uint64_t)running->pooled_rows * running->pooled_columns * running->pool_rows *
                        running->pool_columns * channels * running->operands;
  if (read + multiplications <= machine->most_work) return false;
  machine_complain(machine, "layer %u: too much work", (unsigned)running->index);
  return true;
}

static void read_pixel(lathe_max7800x_machine* machine, const layer* running, work* at, uint32_t row, uint32_t column) {
  const uint32_t channels = at->kernels.channels;
  int8_t* line = at->lines + ((size_t)(row % running->kernel_rows) * running->pooled_columns + column) * channels;
  for (uint32_t channel = 0; channel < channels; channel++) {
    bool defined = true;
    const uint32_t processor = at->kernels.processor[channel];
    line[channel] =
        (int8_t)machine_value(machine, running, processor, at->kernels.pass[channel], row, column, &defined);
    if (defined || at->kernels.is_used[channel] == 0) continue;
    if (running->depthwise && running->binary) { /* no weight is zero; only this channel's output is undefined, too */
      at->kernels.is_gap[channel] = 1;
      continue;
    }
    if (!machine_say(machine, SAID_UNDEFINED)) continue;
    machine_complain(machine, "layer %u: processor %u reads row %u, column %u, pass %u, which was never written",
                     (unsigned)running->index, (unsigned)processor, (unsigned)row, (unsigned)column,
                     (unsigned)at->kernels.pass[channel]);
  }
}

/* Reads on until this pixel is there. */
static void read_up_to(lathe_max7800x_machine* machine, const layer* running, work* at, uint32_t row, uint32_t column) {
  while (at->next_row < row || (at->next_row == row && at->next_column <= column)) {
    read_pixel(machine, running, at, at->next_row, at->next_column);
    if (++at->next_column < running->pooled_columns) continue;
    at->next_column = 0;
    at->next_row++;
  }
}

static void add_tap(work* at, const layer* running, const int8_t* pixel, uint32_t tap) {
  const uint32_t channels = at->kernels.channels;
  const size_t step = (size_t)at->kernels.taps * channels;
  const int8_t* weights = at->kernels.weights + (size_t)tap * channels;
  for (uint32_t i = 0; i < channels && running->depthwise; i++) at->sums[i] += pixel[i] * weights[i];
  if (running->depthwise) return;
  for (uint32_t position = 0; position < running->positions; position++, weights += step) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < channels; i++) sum += pixel[i] * weights[i];
    at->sums[position] += sum;
  }
}

static int64_t scale(const layer* running, int64_t sum) {
  if (running->wide) return sum;
  const int right = 7 - running->shift;
  int64_t value = sum;
  if (right > 0) {
    value += INT64_C(1) << (right - 1);
    value = (value - (int64_t)((uint64_t)value & ((UINT64_C(1) << right) - 1))) /
            (INT64_C(1) << right); /* down, also below zero */
  } else {
    value *= INT64_C(1) << -right;
  }
  value = value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value;
  if (running->relu && value < 0) value = 0;
  if (running->absolute && value < 0) value = value == INT8_MIN ? INT8_MAX : -value;
  return value;
}

static target target_of(const lathe_max7800x_machine* machine, const layer* running, const work* at, uint32_t position,
                        uint32_t number) {
  if (running->depthwise) {
    return machine_depthwise_target(machine, running, at->kernels.processor[position], at->kernels.pass[position],
                                    number);
  }
  const uint32_t across = position % running->span;
  target to = {running->write_base[MASTER], 0, across % INSTANCE_PROCESSORS};
  to.pointer += across / INSTANCE_PROCESSORS << machine->chip->write_shift;
  to.offset = (uint64_t)number * running->write_increment + (uint64_t)(position / running->span) * running->write_pass;
  if (running->wide) to.offset += to.lane;
  return to;
}

static void write_pixel(lathe_max7800x_machine* machine, const layer* running, work* at, uint32_t number) {
  for (uint32_t position = 0; position < at->kernels.outputs; position++) {
    const target to = target_of(machine, running, at, position, number);
    const int64_t sum = at->sums[position] + 128 * (int64_t)at->bias[position];
    machine_store(machine, running, &to, scale(running, sum), at->kernels.is_gap[position] == 0);
  }
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void convolve_pixel(lathe_max7800x_machine* machine, const layer* running, work* at, uint32_t row,
                           uint32_t column) {
  const uint32_t last_row = smaller(row + running->kernel_rows - 1, running->pad_rows + running->pooled_rows - 1);
  const uint32_t last_column =
      smaller(column + running->kernel_columns - 1, running->pad_columns + running->pooled_columns - 1);
  if (last_row >= running->pad_rows) {
    read_up_to(machine, running, at, last_row - running->pad_rows,
               last_column >= running->pad_columns ? last_column - running->pad_columns : 0);
  }
  for (uint32_t output = 0; output < at->kernels.outputs; output++) at->sums[output] = 0;
  for (uint32_t i = 0; i < running->kernel_rows; i++) {
    const uint32_t y = row + i;
    if (y < running->pad_rows || y - running->pad_rows >= running->pooled_rows) continue;
    for (uint32_t j = 0; j < running->kernel_columns; j++) {
      const uint32_t x = column + j;
      if (x < running->pad_columns || x - running->pad_columns >= running->pooled_columns) continue;
      const uint32_t line = (y - running->pad_rows) % running->kernel_rows;
      const size_t pixel = ((size_t)line * running->pooled_columns + (x - running->pad_columns)) * at->kernels.channels;
      add_tap(at, running, at->lines + pixel, i * running->kernel_columns + j);
    }
  }
  write_pixel(machine, running, at, row * running->out_columns + column);
}

/* The bias of a position. Outputs of positions whose bias nobody wrote are as undefined as those without kernels; that
 * is a mistake where the kernels are not zero, which they are where no channel is. */
static void add_bias(lathe_max7800x_machine* machine, const layer* running, work* at, uint32_t output) {
  const kernel_set* kernels = &at->kernels;
  uint32_t quadrant = running->bias_quadrant;
  uint32_t byte = running->bias_offset[quadrant] + output;
  if (running->depthwise) {
    quadrant = kernels->processor[output] / QUADRANT_PROCESSORS;
    byte = machine_depthwise_bias(running, kernels->processor[output], kernels->pass[output]);
  }
  const bool exists = byte < machine->chip->bias_bytes;
  if (exists) at->bias[output] = (int8_t)machine->bias[quadrant][byte];
  if ((exists && machine->bias_written[quadrant][byte] != 0) || kernels->is_gap[output] != 0) return;
  const size_t count = (size_t)kernels->taps * (running->depthwise ? 1 : kernels->channels);
  const size_t step = running->depthwise ? kernels->channels : 1;
  const int8_t* weights = kernels->weights + output * (running->depthwise ? 1 : count);
  kernels->is_gap[output] = 1;
  for (size_t i = 0; i < count && !running->binary; i++) { /* no number is zero then */
    if (weights[i * step] == 0) continue;
    if (!machine_say(machine, SAID_BIAS)) return;
    machine_complain(machine, "layer %u: reads bias byte %u of quadrant %u, which was never written",
                     (unsigned)running->index, (unsigned)byte, (unsigned)quadrant);
    return;
  }
}

static void convolve_picture(lathe_max7800x_machine* machine, const layer* running, work* at) {
  for (uint32_t output = 0; output < at->kernels.outputs && running->biased; output++) {
    add_bias(machine, running, at, output);
  }
  for (uint32_t row = 0; row < running->out_rows; row++) {
    for (uint32_t column = 0; column < running->out_columns; column++)
      convolve_pixel(machine, running, at, row, column);
  }
}

void machine_convolve(lathe_max7800x_machine* machine, const layer* running) {
  work at = {.next_row = 0};
  if (running->depthwise) machine_check_depthwise(machine, running);
  if (!machine_make_kernels(machine, running, &at.kernels)) return;
  const uint64_t products =
      (uint64_t)running->out_rows * running->out_columns * at.kernels.taps * at.kernels.channels * running->positions;
  if (!too_much(machine, running, at.kernels.channels, products)) {
    at.lines = malloc((size_t)running->kernel_rows * running->pooled_columns * at.kernels.channels);
    at.sums = malloc(at.kernels.outputs * sizeof *at.sums);
    at.bias = calloc(at.kernels.outputs, 1);
    if (at.lines == NULL || at.sums == NULL || at.bias == NULL) {
      machine_complain(machine, "layer %u: no memory for %u columns of %u channels", (unsigned)running->index,
                       (unsigned)running->pooled_columns, (unsigned)at.kernels.channels);
    } else {
      convolve_picture(machine, running, &at);
    }
    free(at.lines);
    free(at.sums);
    free(at.bias);
  }
  machine_free_kernels(&at.kernels);
}

/* Those processors of a quadrant that read are packed: four of them, wherever they are, fill a word, and words go to
 * one memory after the other. A time slot writes a word; of wide values it writes one. */
static void pass_pixel(lathe_max7800x_machine* machine, const layer* running, uint32_t quadrant, uint32_t row,
                       uint32_t column) {
  const uint32_t number = row * running->out_columns + column;
  for (uint32_t pass = 0; pass < running->passes; pass++) {
    uint32_t packed = 0;
    for (uint32_t i = 0; i < QUADRANT_PROCESSORS; i++) {
      const uint32_t processor = quadrant * QUADRANT_PROCESSORS + i;
      if ((running->processors >> processor & 1) == 0) continue;
      bool defined = true;
      const int value = machine_value(machine, running, processor, pass, row, column, &defined);
      /* Of several passes the last has channels that nobody needs; averages are reset by whatever the first pixel is.
       */
      if (!defined && running->write_pass == 0 && number != 0 && machine_say(machine, SAID_UNDEFINED)) {
        machine_complain(machine, "layer %u: processor %u reads row %u, column %u, which was never written",
                         (unsigned)running->index, (unsigned)processor, (unsigned)row, (unsigned)column);
      }
      const uint32_t lane = packed % INSTANCE_PROCESSORS;
      const uint32_t slot = packed / INSTANCE_PROCESSORS;
      target to = {running->write_base[quadrant] + slot * running->write_slot, 0, lane};
      to.offset = ((uint64_t)number * running->passes + pass) * running->write_increment + (running->wide ? lane : 0);
      machine_store(machine, running, &to, value, defined);
      packed++;
    }
  }
}

static uint32_t words_of(const layer* running, uint32_t quadrant) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < QUADRANT_PROCESSORS; i++)
    count += (uint32_t)(running->processors >> (quadrant * QUADRANT_PROCESSORS + i) & 1);
  return (count + INSTANCE_PROCESSORS - 1) / INSTANCE_PROCESSORS;
}

void machine_pass_through(lathe_max7800x_machine* machine, const layer* running) {
  if (too_much(machine, running, (uint64_t)PROCESSORS * running->passes, 0)) return;
  if (running->relu || running->absolute || running->shift != 0) {
    machine_complain(machine, "layer %u: nothing is multiplied, so there is no activation and no shift",
                     (unsigned)running->index);
  }
  uint32_t most = 0;
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    const uint32_t count = words_of(running, q);
    if (count > most) most = count;
  }
  if (running->wide ? running->slots < most : running->slots != most) {
    machine_complain(machine, "layer %u: ONED has %u time slots for %u words of a quadrant", (unsigned)running->index,
                     (unsigned)running->slots, (unsigned)most);
  }
  for (uint32_t row = 0; row < running->out_rows; row++) {
    for (uint32_t column = 0; column < running->out_columns; column++) {
      for (uint32_t q = 0; q < QUADRANTS; q++) pass_pixel(machine, running, q, row, column);
    }
  }
}

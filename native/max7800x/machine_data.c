/* What comes into a layer, pooled and combined, and what goes out of it. */
#include "machine_state.h"

/* Where the words of a processor come from. */
typedef struct {
  const memory* words;
  uint64_t at;
  uint32_t length;
} source;

static source source_of(const lathe_max7800x_machine* machine, const layer* running, uint32_t processor) {
  const uint32_t quadrant = processor / QUADRANT_PROCESSORS;
  const uint32_t instance = processor / INSTANCE_PROCESSORS;
  source found = {&machine->data[instance], running->read_base[quadrant], machine->data[instance].length};
  if (running->from_fifo && processor % QUADRANT_PROCESSORS < INSTANCE_PROCESSORS) {
    found = (source){&machine->fifo[quadrant], 0, machine->fifo_held[quadrant]};
  } else if (running->streams && running->index > 0) {
    found = (source){&machine->stream[0][instance], 0, machine->stream[0][instance].length};
  }
  return found;
}

/* One byte of the input; rows and columns count zeros that a transposed convolution puts between. */
static int fetch(lathe_max7800x_machine* machine, const layer* running, uint32_t processor, uint32_t pass,
                 uint32_t operand, uint32_t row, uint32_t column, bool* defined) {
  source from = source_of(machine, running, processor);
  uint32_t lane = processor % INSTANCE_PROCESSORS;
  if (running->transposed) {
    if (row % 2 != 0 || column % 2 != 0) return 0;
    row /= 2;
    column /= 2;
  }
  if (running->big_data) {
    const uint64_t pixel = (uint64_t)row * running->columns + column;
    from.at += pixel / 4 * running->passes + pass;
    lane = (uint32_t)(pixel % 4);
  } else {
    from.at += (uint64_t)row * running->row_words + (uint64_t)column * running->column_words +
               pass * running->operands + operand;
  }
  if (from.at >= from.length) {
    *defined = false;
    return 0x5a;
  }
  const bool in_fifo =
      from.words->flags != NULL && running->from_fifo && from.words == &machine->fifo[processor / QUADRANT_PROCESSORS];
  const uint8_t flags = in_fifo ? 0xf : from.words->flags[from.at];
  if ((flags >> lane & 1) == 0) *defined = false;
  if ((flags >> (4 + lane) & 1) != 0 && machine_say(machine, SAID_OVERWRITTEN)) {
    machine_complain(machine,
                     "layer %u: processor %u reads word 0x%lx of its memory after the layer itself wrote there",
                     (unsigned)running->index, (unsigned)processor, (unsigned long)from.at);
  }
  return (int8_t)(from.words->words[from.at] >> (8 * lane));
}

static int combine(const layer* running, int first, int second) {
  switch (running->eltwise) {
    case ELTWISE_SUB:
      return first - second;
    case ELTWISE_ADD:
      return first + second;
    case ELTWISE_OR:
      return first | second;
    default:
      return first ^ second;
  }
}

static int saturate(int value) { return value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value; }

/* All operands of one pixel, or where `operand` is less than their number, that one. */
static int pixel(lathe_max7800x_machine* machine, const layer* running, uint32_t processor, uint32_t pass,
                 uint32_t operand, uint32_t row, uint32_t column, bool* defined) {
  if (operand < running->operands) return fetch(machine, running, processor, pass, operand, row, column, defined);
  int value = fetch(machine, running, processor, pass, 0, row, column, defined);
  for (uint32_t i = 1; i < running->operands; i++)
    value = combine(running, value, fetch(machine, running, processor, pass, i, row, column, defined));
  return running->wide && !running->convolves ? value : saturate(value);
}

static int average(const layer* running, int sum, int count) {
  if (!running->rounds || running->one_dimension) return sum / count; /* towards zero */
  return (2 * sum + (sum < 0 ? -count : count)) / (2 * count);
}

/* A pool of one operand, or of all operands combined. */
static int pool(lathe_max7800x_machine* machine, const layer* running, uint32_t processor, uint32_t pass,
                uint32_t operand, uint32_t row, uint32_t column, bool* defined) {
  if (!running->pools)
    return pixel(machine, running, processor, pass, operand, row * running->stride, column * running->stride, defined);
  int sum = 0;
  int most = INT32_MIN;
  for (uint32_t i = 0; i < running->pool_rows; i++) {
    for (uint32_t j = 0; j < running->pool_columns; j++) {
      const uint32_t y = row * running->stride + i * running->pool_row_step;
      const uint32_t x = column * running->stride + j * running->pool_column_step;
      const int value = pixel(machine, running, processor, pass, operand, y, x, defined);
      sum += value;
      if (value > most) most = value;
    }
  }
  return running->averages ? average(running, sum, (int)(running->pool_rows * running->pool_columns)) : most;
}

int machine_value(lathe_max7800x_machine* machine, const layer* running, uint32_t processor, uint32_t pass,
                  uint32_t row, uint32_t column, bool* defined) {
  if (running->operands == 1) return pool(machine, running, processor, pass, 0, row, column, defined);
  if (!running->pool_first || !running->pools)
    return pool(machine, running, processor, pass, running->operands, row, column, defined);
  int value = pool(machine, running, processor, pass, 0, row, column, defined);
  for (uint32_t i = 1; i < running->operands; i++)
    value = combine(running, value, pool(machine, running, processor, pass, i, row, column, defined));
  return running->wide && !running->convolves ? value : saturate(value);
}

/* The word where an output goes: of the data memory, or of what a streaming layer hands on. */
static memory* find_word(lathe_max7800x_machine* machine, const layer* running, const target* to, uint64_t* word) {
  const uint32_t shift = machine->chip->write_shift;
  const uint32_t instance = to->pointer >> shift;
  *word = (to->pointer & ((1u << shift) - 1)) + to->offset;
  if (instance >= INSTANCES || *word >= machine->chip->data_words) {
    const bool beyond = instance >= INSTANCES || !running->streams_on;
    if (beyond && machine_say(machine, SAID_BEYOND)) {
      machine_complain(machine, "layer %u: writes word 0x%lx of memory %u, which does not exist",
                       (unsigned)running->index, (unsigned long)*word, (unsigned)instance);
    }
    if (beyond) return NULL;
  }
  const uint32_t quadrant = instance / (INSTANCES / QUADRANTS);
  if (!running->active[quadrant] && machine_say(machine, SAID_ASLEEP)) {
    machine_complain(machine, "layer %u: writes into quadrant %u, which does not run", (unsigned)running->index,
                     (unsigned)quadrant);
  }
  if (!running->streams_on) return &machine->data[instance];
  const uint64_t index = *word - running->stream_base[quadrant];
  memory* stream = &machine->stream[1][instance];
  if (*word < running->stream_base[quadrant] || index >= running->stream_words) {
    if (machine_say(machine, SAID_BEYOND)) {
      machine_complain(machine, "layer %u: streams word 0x%lx of memory %u, which the next layer does not read",
                       (unsigned)running->index, (unsigned long)*word, (unsigned)instance);
    }
    return NULL;
  }
  if (stream->words == NULL && !machine_make_memory(stream, running->stream_words)) return NULL;
  *word = index;
  return stream;
}

void machine_store(lathe_max7800x_machine* machine, const layer* running, const target* to, int64_t value,
                   bool defined) {
  uint64_t word = 0;
  memory* into = find_word(machine, running, to, &word);
  if (into == NULL) return;
  const uint32_t lane = running->wide ? 0 : to->lane;
  const uint32_t lanes = running->wide ? 0xf : 1u << lane;
  const uint32_t mask = running->wide ? UINT32_MAX : 0xffu << (8 * lane);
  if ((into->flags[word] >> 4 & lanes) != 0 && machine_say(machine, SAID_TWICE)) {
    machine_complain(machine, "layer %u: writes word 0x%lx of memory %u twice", (unsigned)running->index,
                     (unsigned long)word, (unsigned)(to->pointer >> machine->chip->write_shift));
  }
  into->words[word] = (into->words[word] & ~mask) | ((uint32_t)value << (8 * lane) & mask);
  uint32_t flags = into->flags[word] | lanes << 4;
  flags = defined ? flags | lanes : flags & ~lanes;
  into->flags[word] = (uint8_t)flags;
}

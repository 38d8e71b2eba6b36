/* From the start to the interrupt: layer after layer. */
#include <string.h>

#include "machine_state.h"

enum { MOST_STEPS = 1024, MEMORY_CONTROL = 0x40e };

static uint32_t first_layer(const lathe_max7800x_machine* machine) {
  return machine->control[MASTER][QUADRANT_LAYERS] >> 8 & 0xff;
}

static bool has_fifo(const lathe_max7800x_machine* machine) {
  return (machine->control[MASTER][QUADRANT_CONTROL] & CONTROL_FIFO) != 0;
}

/* The quadrants whose FIFO the first layer reads. */
static bool reads_fifo(const lathe_max7800x_machine* machine, uint32_t quadrant) {
  const uint32_t first = first_layer(machine) % MOST_LAYERS;
  return (machine->layer[quadrant][first][ENABLE] & 0xf) != 0;
}

static bool has_input(const lathe_max7800x_machine* machine) {
  if (!has_fifo(machine)) return true;
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    if (reads_fifo(machine, q) && machine->fifo_held[q] < machine->frame[MASTER]) return false;
  }
  return true;
}

/* One picture leaves the FIFO. */
static void take_input(lathe_max7800x_machine* machine) {
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    const uint32_t held = machine->fifo_held[q];
    const uint32_t taken = held < machine->frame[MASTER] ? held : machine->frame[MASTER];
    if (taken == 0) continue;
    memmove(machine->fifo[q].words, machine->fifo[q].words + taken, (held - taken) * sizeof *machine->fifo[q].words);
    machine->fifo_held[q] -= taken;
  }
}

static void forget_writers(memory* forgotten) {
  for (uint32_t i = 0; i < forgotten->length; i++) forgotten->flags[i] &= 0xf;
}

static uint32_t frame_words(const layer* running, uint32_t rows) {
  const uint32_t words = rows * running->columns * running->passes * running->operands;
  return running->big_data ? (words + 3) / 4 : words;
}

static void check_frame(lathe_max7800x_machine* machine, const layer* running) {
  if (!running->from_fifo) return;
  const uint32_t least = frame_words(running, running->rows);
  const uint32_t most = frame_words(running, running->rows + running->unread_rows);
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    const uint32_t told = machine->frame[q];
    if (!running->active[q] || (told >= least && told <= most)) continue;
    machine_complain(machine, "layer %u: the frame size of quadrant %u is 0x%x, but the picture has 0x%x words",
                     (unsigned)running->index, (unsigned)q, (unsigned)told, (unsigned)least);
  }
}

/* What a streaming layer keeps of its input: at least a pool's pixels, and what came before it starts. */
static void check_ring(lathe_max7800x_machine* machine, const layer* running) {
  if (!running->streams) return;
  const uint32_t* registers = machine->layer[MASTER][running->index];
  const uint32_t start = registers[STREAM_START] & 0xffff;
  const uint32_t pool = (running->pool_rows - 1) * running->row_words + running->pool_columns * running->column_words;
  if (!running->big_data && registers[ROLLOVER] < pool) {
    machine_complain(machine, "layer %u: FMAX is 0x%x, but a pool reaches over 0x%x words", (unsigned)running->index,
                     (unsigned)registers[ROLLOVER], (unsigned)pool);
  }
  if (!running->big_data && registers[ROLLOVER] < start) {
    machine_complain(machine, "layer %u: FMAX is 0x%x, but it starts after 0x%x pixels", (unsigned)running->index,
                     (unsigned)registers[ROLLOVER], (unsigned)start);
  }
  if (running->passes != 0 && registers[ROLLOVER] % running->passes != 0) {
    machine_complain(machine, "layer %u: FMAX is 0x%x, no multiple of its passes", (unsigned)running->index,
                     (unsigned)registers[ROLLOVER]);
  }
}

/* How far the layer before is, in pixels, when each row of pools begins: all that a pool needs must be there. A layer
 * that reads the FIFO counts what it waits for beyond the next pixel. Whether something was overwritten by then depends
 * on times that nobody has written down, and is not asked. */
static void check_pace(lathe_max7800x_machine* machine, const layer* running) {
  if (!running->streams || running->from_fifo || running->passes * running->operands != 1 || running->big_data ||
      machine->part != LATHE_MAX78000)
    return;
  const uint32_t* registers = machine->layer[MASTER][running->index];
  const uint32_t step = machine_bits(registers[STREAM_DELTA], 4, 5);
  const uint32_t turn = machine_bits(registers[STREAM_DELTA], 16, 12);
  uint64_t arrived = machine_bits(registers[STREAM_START], 0, 14);
  const uint64_t all = (uint64_t)running->rows * running->columns;
  for (uint32_t row = 0; row < running->pooled_rows; row++) {
    const uint64_t first = (uint64_t)row * running->stride * running->columns;
    const uint64_t needed = first + (running->pool_rows - 1) * running->columns + running->pool_columns;
    const uint64_t there = arrived < all ? arrived : all;
    if (there < needed) {
      machine_complain(machine, "layer %u: STREAM1 and STREAM2 let row %u begin after %lu pixels, but it needs %lu",
                       (unsigned)running->index, (unsigned)row, (unsigned long)there, (unsigned long)needed);
      return;
    }
    arrived += (uint64_t)(running->pooled_columns - 1) * step + turn;
  }
}

/* Tells a streaming layer who reads behind it. The memory that it passes through holds parts of pictures afterwards. */
static void join_stream(lathe_max7800x_machine* machine, layer* running) {
  if (!running->streams || running->is_last || running->next >= machine->chip->layers) return;
  layer next;
  const size_t length = machine->report_length;
  const size_t complaints = machine->complaints;
  const bool decoded = machine_decode(machine, running->next, &next);
  machine->report_length = length; /* it says so when its turn comes */
  machine->report[length] = '\0';
  machine->complaints = complaints;
  if (!decoded || !next.streams) return;
  const uint64_t words = (uint64_t)(next.rows + next.unread_rows) * next.row_words;
  if (words == 0 || words > 1u << 26) return;
  running->streams_on = true;
  running->stream_words = (uint32_t)words;
  for (uint32_t q = 0; q < QUADRANTS; q++) running->stream_base[q] = next.read_base[q];
}

static void hand_on_stream(lathe_max7800x_machine* machine, const layer* running) {
  for (uint32_t i = 0; i < INSTANCES; i++) {
    machine_free_memory(&machine->stream[0][i]);
    machine->stream[0][i] = machine->stream[1][i];
    memset(&machine->stream[1][i], 0, sizeof machine->stream[1][i]);
    if (machine->stream[0][i].words == NULL) continue;
    forget_writers(&machine->stream[0][i]);
    const uint32_t base = running->stream_base[i / (INSTANCES / QUADRANTS)];
    const uint32_t ring = machine->layer[MASTER][running->next][ROLLOVER];
    for (uint32_t word = 0; word < ring && word < running->stream_words; word++) {
      if ((uint64_t)base + word < machine->data[i].length) machine->data[i].flags[base + word] = 0;
    }
  }
}

static void run_layer(lathe_max7800x_machine* machine, layer* running) {
  machine->said = 0;
  for (uint32_t i = 0; i < INSTANCES; i++) forget_writers(&machine->data[i]);
  check_frame(machine, running);
  check_ring(machine, running);
  check_pace(machine, running);
  join_stream(machine, running);
  if (running->convolves) {
    machine_convolve(machine, running);
  } else {
    machine_pass_through(machine, running);
  }
  hand_on_stream(machine, running);
}

static void check_start(lathe_max7800x_machine* machine) {
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    const uint32_t control = machine->control[q][QUADRANT_CONTROL];
    if ((control & CONTROL_RUNS) == 0) continue;
    if ((control & CONTROL_MASTER) >> 9 != MASTER)
      machine_complain(machine, "quadrant %u has another master than quadrant 0", (unsigned)q);
    if (q != MASTER && (control & CONTROL_SYNCHRONOUS) == 0)
      machine_complain(machine, "quadrant %u does not wait for quadrant 0", (unsigned)q);
    if ((control & CONTROL_CLOCK) == 0) machine_complain(machine, "quadrant %u runs without its clock", (unsigned)q);
    if (machine->control[q][QUADRANT_MEMORY] != MEMORY_CONTROL)
      machine_complain(machine, "quadrant %u runs without its memory control", (unsigned)q);
    if (machine->part == LATHE_MAX78002 && !machine->cleared[q]) {
      machine_complain(machine, "quadrant %u runs with registers that were not cleared", (unsigned)q);
    }
    if (machine->control[q][QUADRANT_LAYERS] != machine->control[MASTER][QUADRANT_LAYERS]) {
      machine_complain(machine, "quadrant %u has other layers than quadrant 0", (unsigned)q);
    }
  }
}

static void stop(lathe_max7800x_machine* machine) {
  machine->started = false;
  machine->control[MASTER][QUADRANT_CONTROL] |= CONTROL_DONE;
  machine->interrupt = true;
}

/* Runs the layer that comes next, and tells whether another one follows at once. */
static bool run_next(lathe_max7800x_machine* machine) {
  layer running;
  running.is_last = true;
  if (machine->position >= machine->chip->layers || machine->steps >= MOST_STEPS) {
    machine_complain(machine, "layer %u comes after %u others", (unsigned)machine->position, (unsigned)machine->steps);
  } else if (machine_decode(machine, machine->position, &running)) {
    run_layer(machine, &running);
  }
  machine->steps++;
  if (running.is_last) {
    machine->begun = false;
    if (has_fifo(machine)) take_input(machine);
    stop(machine);
    return false;
  }
  machine->position = running.next;
  const bool halts = (machine->control[MASTER][QUADRANT_CONTROL] & CONTROL_ONE_SHOT) != 0;
  if (halts) stop(machine);
  return !halts;
}

void machine_run(lathe_max7800x_machine* machine, bool to_the_end) {
  const bool on = (machine->control[MASTER][QUADRANT_CONTROL] & CONTROL_RUNS) != 0;
  if (!machine->started || !on || !has_input(machine)) return;
  if (!machine->begun) {
    check_start(machine);
    machine->begun = true;
    machine->position = first_layer(machine);
    machine->steps = 0;
  }
  while (run_next(machine) && to_the_end) {
  }
}

bool lathe_max7800x_run(lathe_max7800x_machine* machine) {
  machine_run(machine, true);
  const bool came = machine->interrupt;
  machine->interrupt = false;
  return came;
}

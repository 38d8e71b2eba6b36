/* Depthwise convolutions of the MAX78002: each processor convolves its own channel, and each quadrant writes and has
 * biases.
 *
 * Either outputs stay with their processors (`broadcasts`): then four processors, one of each memory, write at a time.
 * Or a quadrant's outputs go to processors one after the other; those of the first quadrant count from its first
 * processor. */
#include "machine_state.h"

static uint32_t first_of(uint64_t processors) {
  uint32_t first = 0;
  while (first < PROCESSORS && (processors >> first & 1) == 0) first++;
  return first;
}

/* Where the count of a quadrant's outputs begins. */
static uint32_t start_of(const layer* running, uint32_t quadrant) {
  const uint32_t first = first_of(running->processors);
  return quadrant == first / QUADRANT_PROCESSORS ? first : quadrant * QUADRANT_PROCESSORS;
}

static uint32_t slots_of(const layer* running) {
  uint32_t most = 0;
  for (uint32_t q = 0; q < QUADRANTS; q++) {
    uint32_t count = 0;
    for (uint64_t left = running->processors >> q * QUADRANT_PROCESSORS & 0xffff; left != 0; left &= left - 1) count++;
    if (count > most) most = count;
  }
  if (running->broadcasts && most > INSTANCE_PROCESSORS) most = INSTANCE_PROCESSORS;
  return most * (running->wide ? 4 : 1);
}

void machine_check_depthwise(lathe_max7800x_machine* machine, const layer* running) {
  const uint32_t* registers = machine->layer[MASTER][running->index];
  const uint32_t step = running->broadcasts ? 0 : 1u << machine->chip->write_shift;
  if (running->kernel_rows > 1 && running->write_slot != step) {
    machine_complain(machine, "layer %u: WPTR_TOFFS is 0x%x where the layer needs 0x%x", (unsigned)running->index,
                     (unsigned)running->write_slot, (unsigned)step);
  }
  const uint32_t slots = slots_of(running);
  if (running->slots != slots || registers[CHANNELS] != slots * running->passes - 1) {
    machine_complain(machine, "layer %u: ONED has %u time slots and OCHAN 0x%x, but the processors need %u and 0x%x",
                     (unsigned)running->index, (unsigned)running->slots, (unsigned)registers[CHANNELS], (unsigned)slots,
                     (unsigned)(slots * running->passes - 1));
  }
}

target machine_depthwise_target(const lathe_max7800x_machine* machine, const layer* running, uint32_t processor,
                                uint32_t pass, uint32_t number) {
  const uint32_t quadrant = processor / QUADRANT_PROCESSORS;
  uint32_t across = processor - start_of(running, quadrant);
  if (running->broadcasts)
    across = processor - first_of(running->processors) / INSTANCE_PROCESSORS * INSTANCE_PROCESSORS;
  target to = {running->write_base[quadrant], 0, across % INSTANCE_PROCESSORS};
  to.pointer += across / INSTANCE_PROCESSORS << machine->chip->write_shift;
  to.offset = (uint64_t)number * running->write_increment + (uint64_t)pass * running->write_pass;
  if (running->wide) to.offset += to.lane;
  return to;
}

uint32_t machine_depthwise_bias(const layer* running, uint32_t processor, uint32_t pass) {
  const uint32_t quadrant = processor / QUADRANT_PROCESSORS;
  const uint32_t within = processor % QUADRANT_PROCESSORS;
  const uint32_t offset = running->bias_offset[quadrant];
  if (running->broadcasts) {
    const uint32_t turned = within % INSTANCE_PROCESSORS * INSTANCE_PROCESSORS + within / INSTANCE_PROCESSORS;
    return offset * INSTANCE_PROCESSORS + pass * QUADRANT_PROCESSORS + turned;
  }
  return offset + pass * (running->slots / (running->wide ? 4 : 1)) + processor - start_of(running, quadrant);
}

/* The KPU of the K210: layer arguments go through its FIFO, results to the main memory come by DMA. */
#include "layer.h"

/* Registers of the KPU, words of 64 bits from its base on. */
enum {
  LAYER_FIFO = 0,
  INTERRUPT_STATUS = 1,
  INTERRUPT_MASK = 3,
  INTERRUPT_CLEAR = 4,
  FIFO_THRESHOLD = 5,
  RESULT_FIFO = 6,
  EIGHT_BIT_MODE = 8,
};

/* Of its interrupts: a layer is done, the FIFO of layers runs empty, it runs full. */
enum { LAYER_DONE = 1, ALL_INTERRUPTS = 7 };

/* Registers of the DMA controller, words of 64 bits, and of one of its channels. */
enum {
  DMA_CONFIGURATION = 2,
  DMA_ENABLE = 3,
  DMA_CHANNELS = 32,
  DMA_CHANNEL_WORDS = 32,
  DMA_SOURCE = 0,
  DMA_TARGET = 1,
  DMA_LENGTH = 2,
  DMA_CONTROL = 3,
  DMA_CHANNEL_CONFIGURATION = 4,
  DMA_INTERRUPT_CLEAR = 19,
};

enum { KPU_REQUEST = 22, REQUEST_BITS = 6, FIRST_SELECT_CHANNELS = 5 };

static const uint64_t cached = 0x80000000u;
static const uint64_t cache_distance = 0x40000000u;

static void put(lathe_kpu_hardware* chip, volatile uint64_t* to, uint64_t value) {
  if (chip->write != NULL) {
    chip->write(chip->context, to, value);
  } else {
    *to = value;
  }
}

static uint64_t get(lathe_kpu_hardware* chip, const volatile uint64_t* from) {
  return chip->read != NULL ? chip->read(chip->context, from) : *from;
}

/* Where the KPU and the DMA controller see what lies there: past the cache. */
static uint64_t bus_address(const volatile void* pointer) {
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  return address >= cached ? address - cache_distance : address;
}

/* An argument's word, with an address in its upper half. */
static uint64_t with_address(uint64_t word, const uint8_t* pointer) {
  return (word & UINT32_MAX) | bus_address(pointer) << 32;
}

static void send_layer(lathe_kpu_hardware* chip, const lathe_kpu_convolution* layer) {
  for (uint32_t index = 0; index < 12; ++index) {
    uint64_t word = kpu_long(layer->argument + (size_t)index * 8);
    if (index == 0) word = layer->main_output != NULL ? word & ~(uint64_t)1 : word | 1;
    if (index == 4) word = with_address(word, layer->batch_norm);
    if (index == 5) word = with_address(word, layer->weights);
    if (index == 7) word = with_address(word, layer->activation);
    if (index == 11) word = layer->main_output != NULL ? word | 1 : word & ~(uint64_t)1;
    put(chip, chip->registers + LAYER_FIFO, word);
  }
}

/* The controller moves words of the KPU's FIFO to the main memory as they come. */
static void start_dma(lathe_kpu_hardware* chip, uint8_t* to, uint32_t bytes) {
  const uint32_t channel = chip->dma_channel;
  volatile uint64_t* of_channel = chip->dma + DMA_CHANNELS + (size_t)channel * DMA_CHANNEL_WORDS;
  volatile uint32_t* select = chip->dma_select + channel / FIRST_SELECT_CHANNELS;
  const uint32_t low = channel % FIRST_SELECT_CHANNELS * REQUEST_BITS;
  *select = (*select & ~(UINT32_C(63) << low)) | (uint32_t)KPU_REQUEST << low;
  put(chip, chip->dma + DMA_CONFIGURATION, 1);
  put(chip, of_channel + DMA_INTERRUPT_CLEAR, UINT32_MAX);
  put(chip, of_channel + DMA_SOURCE, bus_address(chip->registers + RESULT_FIFO));
  put(chip, of_channel + DMA_TARGET, bus_address(to));
  put(chip, of_channel + DMA_LENGTH, (bytes + 7) / 8 - 1);
  /* The source stays, the target goes on; words of 64 bits, eight at a time. */
  put(chip, of_channel + DMA_CONTROL, 1 << 2 | 1 << 4 | 3 << 8 | 3 << 11 | 2 << 14 | 2 << 18);
  /* From a device that asks on the line of this channel, to memory. */
  put(chip, of_channel + DMA_CHANNEL_CONFIGURATION, (uint64_t)2 << 32 | (uint64_t)1 << 36 | (uint64_t)channel << 39);
  put(chip, chip->dma + DMA_ENABLE, (uint64_t)0x101 << channel);
}

static bool layer_is_done(lathe_kpu_hardware* chip) {
  return chip->done != 0 || (get(chip, chip->registers + INTERRUPT_STATUS) & LAYER_DONE) != 0;
}

/* The controller switches a channel off that has moved everything. */
static bool dma_is_done(lathe_kpu_hardware* chip) {
  return (get(chip, chip->dma + DMA_ENABLE) >> chip->dma_channel & 1) == 0;
}

static lathe_kpu_status wait(lathe_kpu_hardware* chip, bool (*is_done)(lathe_kpu_hardware*)) {
  uint32_t looks = 0;
  while (!is_done(chip)) {
    if (chip->patience != 0 && ++looks >= chip->patience) return LATHE_KPU_TIMEOUT;
    if (chip->idle != NULL) chip->idle(chip->context);
  }
  return LATHE_KPU_OK;
}

static lathe_kpu_status convolve(void* context, const lathe_kpu_convolution* layer) {
  lathe_kpu_hardware* chip = (lathe_kpu_hardware*)context;
  const bool to_main = layer->main_output != NULL;
  chip->done = 0;
  put(chip, chip->registers + INTERRUPT_CLEAR, ALL_INTERRUPTS);
  put(chip, chip->registers + INTERRUPT_MASK, to_main ? ALL_INTERRUPTS : ALL_INTERRUPTS - LAYER_DONE);
  if (to_main) start_dma(chip, layer->main_output, layer->out_width * layer->out_height * layer->out_channels);
  send_layer(chip, layer);
  const lathe_kpu_status status = wait(chip, to_main ? dma_is_done : layer_is_done);
  put(chip, chip->registers + INTERRUPT_CLEAR, ALL_INTERRUPTS);
  put(chip, chip->registers + INTERRUPT_MASK, ALL_INTERRUPTS);
  return status;
}

static lathe_kpu_status begin(void* context, uint32_t eight_bit) {
  lathe_kpu_hardware* chip = (lathe_kpu_hardware*)context;
  if (chip->registers == NULL || chip->ram == NULL || chip->dma == NULL || chip->dma_select == NULL) {
    return LATHE_KPU_BAD_ARGUMENT;
  }
  if (chip->dma_channel > FIRST_SELECT_CHANNELS) return LATHE_KPU_BAD_ARGUMENT;
  put(chip, chip->registers + INTERRUPT_CLEAR, ALL_INTERRUPTS);
  put(chip, chip->registers + INTERRUPT_MASK, ALL_INTERRUPTS);
  put(chip, chip->registers + FIFO_THRESHOLD, 10 | 1 << 4); /* full from 10 layers on, empty below 1 */
  put(chip, chip->registers + EIGHT_BIT_MODE, eight_bit);
  return LATHE_KPU_OK;
}

static volatile uint8_t* memory(void* context) { return ((lathe_kpu_hardware*)context)->ram; }

void lathe_kpu_hardware_interrupt(lathe_kpu_hardware* hardware) {
  put(hardware, hardware->registers + INTERRUPT_CLEAR, ALL_INTERRUPTS);
  put(hardware, hardware->registers + INTERRUPT_MASK, ALL_INTERRUPTS);
  hardware->done = 1;
}

void lathe_kpu_hardware_k210(lathe_kpu_hardware* hardware) {
  const lathe_kpu_hardware chip = {
      .registers = (volatile uint64_t*)(uintptr_t)0x40800000u,
      .ram = (volatile uint8_t*)(uintptr_t)0x40600000u,
      .dma = (volatile uint64_t*)(uintptr_t)0x50000000u,
      .dma_select = (volatile uint32_t*)(uintptr_t)0x50440064u,
      .dma_channel = 5,
  };
  *hardware = chip;
}

lathe_kpu_device lathe_kpu_hardware_device(lathe_kpu_hardware* hardware) {
  const lathe_kpu_device device = {hardware, 256, 8, begin, memory, convolve};
  return device;
}

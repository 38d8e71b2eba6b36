/* What the files of the machine share. */
#ifndef LATHE_MAX7800X_MACHINE_STATE_H
#define LATHE_MAX7800X_MACHINE_STATE_H

#include "machine.h"

enum {
  QUADRANTS = 4,
  PROCESSORS = 64,
  QUADRANT_PROCESSORS = 16,
  INSTANCES = 16,          /* of the data memory */
  INSTANCE_PROCESSORS = 4, /* that share one: a byte of each word is each one's */
  MOST_LAYERS = 128,
  MOST_KERNELS = 1 << 16, /* of a processor, of any size */
  COLUMN_BYTES = 9,       /* of the kernel memory */
  REPORT_BYTES = 8192,
  MASTER = 0, /* the quadrant that starts the others */
};

/* The registers of a layer, of both chips. The MAX78000 has all of MASK_COUNT in one, and no NEXT and CHANNELS. */
enum layer_register {
  NEXT,
  ROWS,
  COLUMNS,
  ONE_DIMENSION,
  POOL_ROWS,
  POOL_COLUMNS,
  STRIDE,
  WRITE_BASE,
  WRITE_SLOT,
  WRITE_MASK,
  WRITE_PASS,
  READ_BASE,
  CONTROL,
  CONTROL_2,
  MASK_COUNT,
  MASK_START,
  CHANNELS,
  TRAM_LIMIT,
  ENABLE,
  POST,
  STREAM_START,
  STREAM_DELTA,
  ROLLOVER,
  LAYER_REGISTERS,
};

extern const char* const machine_register_names[LAYER_REGISTERS];

/* The registers of a quadrant. */
enum { QUADRANT_CONTROL, QUADRANT_MEMORY, QUADRANT_LAYERS, QUADRANT_TEST, QUADRANT_REGISTERS };

/* Bits of QUADRANT_CONTROL. */
enum {
  CONTROL_RUNS = 1 << 0,
  CONTROL_CLOCK = 1 << 3,
  CONTROL_ONE_SHOT = 1 << 8, /* stops behind each layer */
  CONTROL_MASTER = 3 << 9,
  CONTROL_SYNCHRONOUS = 1 << 11,
  CONTROL_DONE = 1 << 12,
  CONTROL_ROUNDS = 1 << 13,
  CONTROL_STREAMS = 1 << 14,
  CONTROL_FIFO = 1 << 15,
  CONTROL_EXPRESS = 1 << 20,
};

/* Sizes and addresses of a chip; addresses of a quadrant count from where it begins. */
typedef struct {
  uint32_t layers;
  uint32_t base, quadrant_bytes;
  uint32_t layer_registers, layer_step, register_step;
  uint32_t stream_registers, frame_register; /* 0: stream registers lie among those of the layer */
  uint32_t bias, bias_bytes;
  uint32_t tram, tram_bytes, tram_words;
  uint32_t kernels, kernels_bytes, kernel_columns, first_kernel_columns; /* per processor; the first of a quadrant */
  uint32_t data, data_bytes, data_words;                                 /* per instance: addresses; true words */
  uint32_t write_shift;                                                  /* of the instance in write pointers */
  uint32_t increment_bits;                                               /* of the write increment in CONTROL_2 */
} geometry;

/* Words with a flag for each byte: the lower four say that it is defined, the upper four that this layer wrote it. */
typedef struct {
  uint32_t* words;
  uint8_t* flags;
  uint32_t length;
} memory;

/* Kernels of one processor, as columns of bytes, and what of a column came so far. */
typedef struct {
  uint8_t* bytes;
  uint8_t* written; /* for each column */
  uint32_t columns;
  uint32_t next; /* the column that comes next where they come one after the other */
  bool has_next;
  uint32_t latched;
  uint8_t latch[COLUMN_BYTES];
} kernel_memory;

struct lathe_max7800x_machine {
  const geometry* chip;
  lathe_max7800x_part part;
  uint32_t control[QUADRANTS][QUADRANT_REGISTERS];
  bool cleared[QUADRANTS]; /* registers of layers; those of the MAX78002 begin with anything */
  uint32_t frame[QUADRANTS];
  uint32_t layer[QUADRANTS][MOST_LAYERS][LAYER_REGISTERS];
  uint8_t* bias[QUADRANTS];
  uint8_t* bias_written[QUADRANTS];
  kernel_memory kernels[PROCESSORS];
  memory data[INSTANCES];
  uint32_t fifo_control, fast_fifo_control;
  memory fifo[QUADRANTS]; /* words that came and were not used yet */
  uint32_t fifo_held[QUADRANTS];
  memory stream[2][INSTANCES]; /* what streaming layers hand on: to this layer and from it */
  uint32_t always_on;
  bool started;
  bool begun;        /* some layers ran, and not the last one */
  uint32_t position; /* the layer that comes next */
  uint32_t steps;    /* layers that ran */
  bool interrupt;    /* came and was not taken yet */
  uint64_t most_work;
  uint32_t said; /* of this layer, of what is said once */
  size_t complaints;
  size_t report_length;
  char report[REPORT_BYTES];
};

/* A layer as its registers say. */
typedef struct {
  uint32_t index;
  bool active[QUADRANTS];
  uint64_t processors; /* that read */
  bool convolves, one_dimension, transposed, flattens, depthwise, one_by_one;
  bool relu, absolute, wide, big_data, averages, rounds, pools;
  /* what comes in */
  uint32_t rows, columns; /* of a transposed convolution, between which zeros were put */
  uint32_t unread_rows;   /* at most: the MAX78002 does not say how many rows follow the last pool */
  uint32_t passes, operands, eltwise;
  bool pool_first;
  uint32_t pool_rows, pool_columns, pool_row_step, pool_column_step, stride;
  uint32_t read_base[QUADRANTS];
  uint32_t column_words, row_words; /* from one pixel to the next */
  uint32_t pooled_rows, pooled_columns;
  bool from_fifo, streams;
  /* what is done */
  uint32_t pad_rows, pad_columns;
  uint32_t kernel_rows, kernel_columns;
  uint32_t bits;
  bool binary;
  bool four; /* calcx4: outputs beside each other have their kernels in four parts of the memory */
  uint32_t mask_start[QUADRANTS];
  uint32_t mask_remainder;
  uint32_t positions; /* of outputs, gaps among them; of a depthwise convolution one */
  uint32_t skipped;   /* kernels that a depthwise convolution leaves out */
  bool broadcasts;    /* of a depthwise convolution: outputs stay with their processors */
  int shift;          /* to the left */
  bool biased;
  uint32_t bias_quadrant, bias_offset[QUADRANTS]; /* of depthwise convolutions every quadrant has its own */
  /* what goes out */
  uint32_t out_rows, out_columns;
  uint32_t write_base[QUADRANTS];
  uint32_t span; /* positions of one pass */
  uint32_t write_slot, write_pass, write_increment;
  uint32_t slots;
  bool streams_on; /* into the next layer, which reads from here */
  uint32_t stream_base[QUADRANTS], stream_words;
  uint32_t next;
  bool is_last;
} layer;

enum { ELTWISE_SUB, ELTWISE_ADD, ELTWISE_OR, ELTWISE_XOR };

/* machine.c */
void machine_complain(lathe_max7800x_machine* machine, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
bool machine_make_memory(memory* made, uint32_t words);
void machine_free_memory(memory* freed);

/* machine_checks.c: what has one right value only */
uint32_t machine_bits(uint32_t value, uint32_t from, uint32_t count);
bool machine_bit(uint32_t value, uint32_t bit);
void machine_expect(lathe_max7800x_machine* machine, const layer* made, enum layer_register which, uint32_t wanted);
void machine_check_registers(lathe_max7800x_machine* machine, const layer* made);

/* machine_layer.c: false where the layer cannot run, which has been said. */
bool machine_decode(lathe_max7800x_machine* machine, uint32_t index, layer* decoded);

/* machine_kernels.c */
typedef struct {
  int8_t* weights;    /* [position][tap][channel] */
  uint8_t* is_gap;    /* [output]: nobody wrote its kernels or its bias */
  uint8_t* is_used;   /* [channel]: some weight is not zero */
  uint8_t* processor; /* [channel] */
  uint16_t* pass;     /* [channel] */
  uint32_t channels, taps;
  uint32_t outputs; /* of a pixel: positions, or of a depthwise convolution channels */
} kernel_set;
bool machine_make_kernels(lathe_max7800x_machine* machine, const layer* running, kernel_set* made);
void machine_free_kernels(kernel_set* freed);

/* What is said once for a layer. */
enum { SAID_UNDEFINED = 1, SAID_OVERWRITTEN = 2, SAID_TWICE = 4, SAID_BEYOND = 8, SAID_ASLEEP = 16, SAID_BIAS = 32 };
bool machine_say(lathe_max7800x_machine* machine, uint32_t what);

/* machine_data.c: what comes into a layer, pooled and combined; what goes out of it */
int machine_value(lathe_max7800x_machine* machine, const layer* running, uint32_t processor, uint32_t pass,
                  uint32_t row, uint32_t column, bool* defined);
typedef struct {
  uint32_t pointer; /* as in registers: instance and word */
  uint64_t offset;  /* words from there */
  uint32_t lane;    /* of narrow values */
} target;
void machine_store(lathe_max7800x_machine* machine, const layer* running, const target* to, int64_t value,
                   bool defined);

/* machine_run.c: runs what was started, if its input is there; one layer, or all up to where it stops */
void machine_run(lathe_max7800x_machine* machine, bool to_the_end);

/* machine_depthwise.c: where the output of a channel goes, and where its bias is */
void machine_check_depthwise(lathe_max7800x_machine* machine, const layer* running);
target machine_depthwise_target(const lathe_max7800x_machine* machine, const layer* running, uint32_t processor,
                                uint32_t pass, uint32_t number);
uint32_t machine_depthwise_bias(const layer* running, uint32_t processor, uint32_t pass);

/* machine_compute.c */
void machine_convolve(lathe_max7800x_machine* machine, const layer* running);
void machine_pass_through(lathe_max7800x_machine* machine, const layer* running);

#endif

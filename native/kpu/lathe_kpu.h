/* Runs models of the Kendryte K210 (kmodel, version 3) on that chip or on any other little-endian processor.
 *
 * A model is used where it lies, nothing is allocated: the caller hands in the main memory, whose size is in the file,
 * and a device, which does the convolutions. Every size, offset and register field of a file is checked by
 * lathe_kpu_load, so that a file from anywhere ends in a status and never in an access out of bounds.
 *
 *   static lathe_kpu_software software = {.ram = ram};  // or lathe_kpu_hardware
 *   lathe_kpu model;
 *   lathe_kpu_needs needs;
 *   lathe_kpu_measure(file, file_bytes, &needs);        // needs.main_memory bytes, aligned to 8
 *   lathe_kpu_load(file, file_bytes, main_memory, needs.main_memory, lathe_kpu_software_device(&software), &model);
 *   lathe_kpu_run(&model, image, image_bytes);          // channels, rows, columns of bytes
 *   lathe_kpu_output(&model, 0, &data, &bytes);
 */
#ifndef LATHE_KPU_H_
#define LATHE_KPU_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LATHE_KPU_RAM_BYTES = 2 * 1024 * 1024,
  LATHE_KPU_NO_LAYER = -1,
};

typedef enum lathe_kpu_status {
  LATHE_KPU_OK = 0,
  LATHE_KPU_BAD_ARGUMENT,     /* a pointer is NULL or not aligned, or an index is too large */
  LATHE_KPU_NO_KMODEL,        /* not a kmodel */
  LATHE_KPU_NEWER_VERSION,    /* a kmodel of version 4 or 5 */
  LATHE_KPU_OTHER_CHIP,       /* a kmodel for something else than the K210 */
  LATHE_KPU_FILE_TOO_SHORT,   /* the file ends within its tables, a layer, or what a layer points to */
  LATHE_KPU_BODY_TOO_SHORT,   /* a layer's body lacks fields */
  LATHE_KPU_UNKNOWN_LAYER,    /* a layer's type is not in the format */
  LATHE_KPU_LAYER_NOT_RUN,    /* a layer's type is in the format, but no interpreter runs it */
  LATHE_KPU_NO_INPUT,         /* the first layer is neither a convolution nor fully connected */
  LATHE_KPU_MAIN_MEMORY_SIZE, /* the main memory handed in is smaller than what the file asks for */
  LATHE_KPU_MAIN_MEMORY,      /* a layer or an output lies outside of the main memory */
  LATHE_KPU_KPU_MEMORY,       /* a layer lies outside of the memory of the KPU */
  LATHE_KPU_MISALIGNED,       /* an offset is not a multiple of what the format asks for */
  LATHE_KPU_BAD_SIZE,         /* a size of a layer is zero, too large, or does not fit to the others */
  LATHE_KPU_BAD_REGISTER,     /* a field of a layer argument has a value that the KPU does not take */
  LATHE_KPU_OVERLAP,          /* a convolution would write over its own input */
  LATHE_KPU_INPUT_SIZE,       /* the input has another size than the first layer asks for */
  LATHE_KPU_TIMEOUT,          /* the KPU did not become ready */
  LATHE_KPU_STATUS_COUNT
} lathe_kpu_status;

/* One line of English without a full stop. */
const char* lathe_kpu_status_text(lathe_kpu_status status);

/* A convolution as its layer argument and its body describe it, checked. */
typedef struct lathe_kpu_convolution {
  uint32_t source, target; /* in the memory of the KPU, in units of 64 bytes */
  uint32_t in_channels, out_channels;
  uint32_t in_width, in_height;
  uint32_t out_width, out_height;
  uint32_t kernel; /* 1 or 3 */
  uint32_t depthwise;
  uint32_t pool; /* as in the register */
  uint32_t pad_value;
  uint32_t shr_w, shr_x;
  int32_t arg_w, arg_x;
  int64_t arg_add;
  uint32_t weight_bytes;  /* of one number: 1 or 2 */
  uint32_t kernel_bytes;  /* of one output channel */
  uint32_t load_channels; /* output channels that are loaded at once */
  uint32_t load_bytes;    /* from one load to the next */
  const uint8_t* weights;
  const uint8_t* batch_norm;
  const uint8_t* activation;
  const uint8_t* argument; /* the 12 words of the layer argument, in the file */
  uint8_t* main_output;    /* NULL where the result stays with the KPU */
} lathe_kpu_convolution;

/* What does the work of the KPU. Two are here; `context` is theirs. */
typedef struct lathe_kpu_device {
  void* context;
  uint32_t model_alignment;  /* what the address of a file has to be a multiple of */
  uint32_t output_alignment; /* the same for results in the main memory */
  /* Before the layers of a run. */
  lathe_kpu_status (*begin)(void* context, uint32_t eight_bit);
  /* The memory of the KPU, as far as the processor writes it. */
  volatile uint8_t* (*memory)(void* context);
  lathe_kpu_status (*convolve)(void* context, const lathe_kpu_convolution* convolution);
} lathe_kpu_device;

/* --- models --- */

typedef struct lathe_kpu_needs {
  size_t main_memory; /* bytes, a multiple of 8 */
  uint32_t layers;
  uint32_t outputs;
} lathe_kpu_needs;

/* The fields are the interpreter's, but for those marked as to be read. */
typedef struct lathe_kpu {
  const uint8_t* file;
  size_t file_bytes;
  uint8_t* main_memory;
  size_t main_bytes;
  lathe_kpu_device device;
  uint32_t flags, layers, outputs;
  int32_t failed_layer; /* read: the layer that a status is about, or LATHE_KPU_NO_LAYER */
  size_t input_bytes;   /* read: what lathe_kpu_run wants */
  uint64_t operations;  /* read: multiplications of a run, and elements that pools look at; other layers are quick */
} lathe_kpu;

/* Looks at the header only. */
lathe_kpu_status lathe_kpu_measure(const void* file, size_t bytes, lathe_kpu_needs* needs);

/* `file` and `main_memory` stay in use; both are aligned to 8, a file for the hardware to 256. */
lathe_kpu_status lathe_kpu_load(const void* file, size_t bytes, void* main_memory, size_t main_bytes,
                                lathe_kpu_device device, lathe_kpu* out);

/* The input of a first convolution: bytes, channel after channel. Of a fully connected layer: float32. */
lathe_kpu_status lathe_kpu_run(lathe_kpu* model, const void* input, size_t bytes);

/* An output, in the main memory: valid until the next run. */
lathe_kpu_status lathe_kpu_output(const lathe_kpu* model, uint32_t index, const void** data, size_t* bytes);

/* --- boxes in the output of a detector --- */

/* What the last layer of a YOLO v2 gives: for each anchor the planes x, y, width, height, objectness and one per class.
 * Each plane has a number for each cell of the picture.
 */
typedef struct lathe_kpu_regions {
  uint32_t rows, columns;
  uint32_t classes, anchors;
  const float* sizes; /* width and height of each anchor, in cells */
  float threshold;    /* boxes have to be more probable */
  float overlap;      /* of two boxes of a class whose intersection over union is larger, the more probable one stays */
} lathe_kpu_regions;

/* Edges are shares of the picture, from 0 to 1. */
typedef struct lathe_kpu_box {
  float left, top, right, bottom;
  float probability; /* objectness times that of the class */
  uint32_t label;    /* the most probable class */
} lathe_kpu_box;

/* The boxes in an output, the most probable one first; of equal ones, the first in the output. There is `room` for so
 * many before overlapping ones are dropped, and `rows * columns * anchors` are enough; with less, the least probable
 * ones are left out. Nothing is allocated, and any numbers may be in the output.
 */
lathe_kpu_status lathe_kpu_boxes(const lathe_kpu_regions* regions, const void* output, size_t bytes,
                                 lathe_kpu_box* boxes, uint32_t room, uint32_t* count);

/* --- the KPU in software, bit by bit --- */

enum {
  LATHE_KPU_LANES = 64,    /* output channels that are computed together, at most */
  LATHE_KPU_PIXELS = 2064, /* of one channel: four rows of the widest image, with their borders */
  LATHE_KPU_SUMS = 4 * LATHE_KPU_PIXELS,
  LATHE_KPU_TILE = 24 * 1024,
  LATHE_KPU_WEIGHTS = 2048,
};

/* What one thread works in. Nothing has to be in it before. */
typedef struct lathe_kpu_workspace {
  uint32_t sums[LATHE_KPU_SUMS];
  uint32_t pixel_sums[LATHE_KPU_PIXELS];
  union {
    int64_t whole[LATHE_KPU_PIXELS];
    double real[LATHE_KPU_PIXELS];
  } pixel_terms;
  int64_t lane_terms[LATHE_KPU_LANES];
  uint32_t weights[LATHE_KPU_WEIGHTS];
  uint8_t tile[LATHE_KPU_TILE + 64]; /* vector units read a little more than they need */
  uint8_t results[LATHE_KPU_PIXELS];
} lathe_kpu_workspace;

/* Calls work(argument, part) for each part, in any order or at once, and comes back when all are done. */
typedef void (*lathe_kpu_parallel)(void* context, void (*work)(void* argument, uint32_t part), void* argument,
                                   uint32_t parts);

typedef struct lathe_kpu_software {
  uint8_t* ram;                    /* LATHE_KPU_RAM_BYTES, aligned to 8 */
  lathe_kpu_workspace* workspaces; /* one a part */
  uint32_t parts;                  /* 1 without threads */
  lathe_kpu_parallel parallel;     /* NULL without threads */
  void* parallel_context;
} lathe_kpu_software;

lathe_kpu_device lathe_kpu_software_device(lathe_kpu_software* software);

/* --- the KPU of the chip --- */

/* The chip as the processor sees it. Files may lie at cached addresses (0x80000000 on), once the cache is written back;
 * the main memory is handed in by its address past the cache (0x40000000 on), since DMA writes it.
 *
 * `read` and `write` are NULL but in tests, which see each access of a register with them.
 */
typedef struct lathe_kpu_hardware {
  volatile uint64_t* registers;  /* 0x40800000 */
  volatile uint8_t* ram;         /* 0x40600000: past the cache */
  volatile uint64_t* dma;        /* 0x50000000 */
  volatile uint32_t* dma_select; /* 0x50440064: six bits a channel, five channels in the first word */
  uint32_t dma_channel;          /* 0 to 5, free for the interpreter */
  uint32_t patience;             /* how often to look for the end of a layer; 0: forever */
  void (*idle)(void* context);   /* between looks, for `wfi` or an operating system; may be NULL */
  uint64_t (*read)(void* context, const volatile uint64_t* from);
  void (*write)(void* context, volatile uint64_t* to, uint64_t value);
  void* context;          /* of these three */
  volatile uint32_t done; /* set by lathe_kpu_hardware_interrupt */
} lathe_kpu_hardware;

/* The addresses of the K210, DMA channel 5. */
void lathe_kpu_hardware_k210(lathe_kpu_hardware* hardware);
lathe_kpu_device lathe_kpu_hardware_device(lathe_kpu_hardware* hardware);
/* To be called by the handler of the KPU's interrupt (number 25), where one is installed. */
void lathe_kpu_hardware_interrupt(lathe_kpu_hardware* hardware);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LATHE_KPU_H_ */

/* Takes layer arguments apart, and checks every field of them. */
#include "layer.h"

enum {
  LEAST_SIDE = 4,
  MOST_WIDTH = 512,
  MOST_HEIGHT = 256,
};

/* The 12 words. */
typedef struct argument {
  uint64_t words[12];
} argument;

static uint32_t bits(const argument* from, uint32_t word, uint32_t low, uint32_t count) {
  return kpu_bits(from->words[word], low, count);
}

static void decode(const argument* from, lathe_kpu_convolution* out) {
  out->depthwise = bits(from, 0, 3, 1);
  out->source = bits(from, 1, 0, 15);
  out->target = bits(from, 1, 32, 15);
  out->in_channels = bits(from, 2, 0, 10) + 1;
  out->out_channels = bits(from, 2, 32, 10) + 1;
  out->in_width = bits(from, 3, 0, 10) + 1;
  out->in_height = bits(from, 3, 10, 9) + 1;
  out->out_width = bits(from, 3, 32, 10) + 1;
  out->out_height = bits(from, 3, 42, 9) + 1;
  out->kernel = bits(from, 4, 0, 3) == 1 ? 3 : 1;
  out->pool = bits(from, 4, 4, 4);
  out->pad_value = bits(from, 4, 24, 8);
  out->shr_w = bits(from, 9, 0, 4);
  out->shr_x = bits(from, 9, 4, 4);
  out->arg_w = (int32_t)kpu_signed_bits(from->words[9], 8, 24);
  out->arg_x = (int32_t)kpu_signed_bits(from->words[9], 32, 24);
  out->arg_add = kpu_signed_bits(from->words[10], 0, 40);
}

/* Switches that have one value in every file, and modes that nobody has described. */
static bool switches_are_known(const argument* from) {
  const bool off = bits(from, 0, 2, 1) == 0 &&  /* full_add */
                   bits(from, 4, 3, 1) == 0 &&  /* pad_type */
                   bits(from, 4, 8, 2) == 0 &&  /* first_stride, bypass */
                   bits(from, 6, 0, 16) == 0 && /* offsets of coefficients */
                   bits(from, 7, 20, 8) == 0;   /* coef_size */
  const bool on = bits(from, 4, 10, 1) == 1 &&  /* load_para */
                  bits(from, 5, 0, 1) == 1 &&   /* load_coor */
                  bits(from, 7, 31, 1) == 1;    /* load_act */
  return off && on && bits(from, 4, 0, 3) <= 1 && bits(from, 4, 4, 4) <= 9;
}

/* The KPU is told how planes lie; there is one way only. */
static bool layout_fits(const argument* from, uint32_t word, uint32_t group_bit, uint32_t width, uint32_t height) {
  const kpu_planes planes = kpu_planes_of(width, height);
  return bits(from, word, 0, 15) == planes.plane / KPU_UNIT && bits(from, word, 16, 4) == planes.row / KPU_UNIT &&
         bits(from, word, group_bit, 3) == planes.group;
}

static lathe_kpu_status check_sizes(const argument* from, const lathe_kpu_convolution* layer) {
  if (layer->in_width < LEAST_SIDE || layer->in_width > MOST_WIDTH) return LATHE_KPU_BAD_SIZE;
  if (layer->in_height < LEAST_SIDE || layer->in_height > MOST_HEIGHT) return LATHE_KPU_BAD_SIZE;
  if (layer->out_width != layer->in_width / kpu_pool_step(layer->pool)) return LATHE_KPU_BAD_SIZE;
  if (layer->out_height != layer->in_height / kpu_pool_step(layer->pool)) return LATHE_KPU_BAD_SIZE;
  if (layer->depthwise && layer->in_channels != layer->out_channels) return LATHE_KPU_BAD_SIZE;
  if (!layout_fits(from, 7, 28, layer->in_width, layer->in_height)) return LATHE_KPU_BAD_REGISTER;
  if (!layout_fits(from, 8, 20, layer->out_width, layer->out_height)) return LATHE_KPU_BAD_REGISTER;
  return LATHE_KPU_OK;
}

/* Weights come in loads of whole output channels. */
static lathe_kpu_status check_loads(const argument* from, lathe_kpu_convolution* out) {
  const uint32_t loads = bits(from, 5, 1, 6) + 1;
  const uint32_t load_bytes = bits(from, 5, 15, 17);
  const uint32_t per_load = bits(from, 2, 48, 10) + 1;
  const uint32_t sources = out->depthwise ? 1 : out->in_channels;
  out->kernel_bytes = out->kernel * out->kernel * sources * out->weight_bytes;
  out->load_channels = loads == 1 ? out->out_channels : per_load;
  out->load_bytes = loads == 1 ? out->kernel_bytes * out->out_channels : load_bytes;
  if (loads == 1) return LATHE_KPU_OK;
  const bool full = (loads - 1) * per_load < out->out_channels && out->out_channels <= loads * per_load;
  return full && load_bytes >= per_load * out->kernel_bytes ? LATHE_KPU_OK : LATHE_KPU_BAD_REGISTER;
}

/* From the first to the last weight. */
static size_t all_weights(const lathe_kpu_convolution* layer) {
  const uint32_t last = layer->out_channels - 1;
  const size_t begin = (size_t)(last / layer->load_channels) * layer->load_bytes;
  return begin + (size_t)(last % layer->load_channels + 1) * layer->kernel_bytes;
}

/* The address of `bytes` of the file, or NULL. */
static const uint8_t* part(const lathe_kpu* model, uint32_t offset, size_t bytes) {
  if (offset > model->file_bytes || bytes > model->file_bytes - offset) return NULL;
  return model->file + offset;
}

static lathe_kpu_status find_tables(const lathe_kpu* model, const kpu_layer* layer, lathe_kpu_convolution* out) {
  const uint32_t weights = kpu_field(layer, 3);
  const uint32_t batch_norm = kpu_field(layer, 4);
  const uint32_t activation = kpu_field(layer, 5);
  if (weights % 128 != 0 || batch_norm % 128 != 0 || activation % 128 != 0) return LATHE_KPU_MISALIGNED;
  out->weights = part(model, weights, all_weights(out));
  out->batch_norm = part(model, batch_norm, (size_t)out->out_channels * 8);
  out->activation = part(model, activation, KPU_ACTIVATION);
  if (out->weights == NULL || out->batch_norm == NULL || out->activation == NULL) return LATHE_KPU_FILE_TOO_SHORT;
  return LATHE_KPU_OK;
}

static size_t plane_bytes(uint32_t width, uint32_t height, uint32_t channels) {
  const kpu_planes planes = kpu_planes_of(width, height);
  return (size_t)((channels + planes.group - 1) / planes.group) * planes.plane;
}

/* A result that goes to the main memory may lie anywhere in that of the KPU: nobody has to read it there. */
static lathe_kpu_status check_memory(const lathe_kpu_convolution* layer, bool to_main) {
  if (!kpu_fits_ram(layer->source, layer->in_width, layer->in_height, layer->in_channels)) return LATHE_KPU_KPU_MEMORY;
  if (to_main) return LATHE_KPU_OK;
  if (!kpu_fits_ram(layer->target, layer->out_width, layer->out_height, layer->out_channels)) {
    return LATHE_KPU_KPU_MEMORY;
  }
  const size_t from = (size_t)layer->source * KPU_UNIT;
  const size_t from_end = from + plane_bytes(layer->in_width, layer->in_height, layer->in_channels);
  const size_t to = (size_t)layer->target * KPU_UNIT;
  const size_t to_end = to + plane_bytes(layer->out_width, layer->out_height, layer->out_channels);
  return from < to_end && to < from_end ? LATHE_KPU_OVERLAP : LATHE_KPU_OK;
}

/* The result goes to the main memory, too, in whole words of the DMA. */
static lathe_kpu_status check_main_output(const lathe_kpu* model, const argument* from, uint32_t offset,
                                          lathe_kpu_convolution* out) {
  const uint32_t plane = out->out_width * out->out_height;
  const uint32_t total = plane * out->out_channels;
  if (bits(from, 11, 16, 16) + 1 != plane || bits(from, 11, 32, 32) != total - 1) return LATHE_KPU_BAD_REGISTER;
  if (offset % model->device.output_alignment != 0) return LATHE_KPU_MISALIGNED;
  const uint64_t end = offset + ((uint64_t)total + 7) / 8 * 8;
  if (end > ((uint64_t)model->main_bytes + 7) / 8 * 8) return LATHE_KPU_MAIN_MEMORY;
  out->main_output = model->main_memory + offset;
  return LATHE_KPU_OK;
}

lathe_kpu_status kpu_read_convolution(const lathe_kpu* model, const kpu_layer* layer, lathe_kpu_convolution* out) {
  const uint32_t offset = kpu_field(layer, 2);
  argument from;
  if (offset % 8 != 0) return LATHE_KPU_MISALIGNED;
  out->argument = part(model, offset, KPU_ARGUMENT);
  if (out->argument == NULL) return LATHE_KPU_FILE_TOO_SHORT;
  for (uint32_t word = 0; word < 12; ++word) from.words[word] = kpu_long(out->argument + word * 8);
  if (!switches_are_known(&from)) return LATHE_KPU_BAD_REGISTER;
  decode(&from, out);
  out->weight_bytes = model->flags & 1 ? 1 : 2;
  out->main_output = NULL;
  lathe_kpu_status status = check_sizes(&from, out);
  if (status == LATHE_KPU_OK) status = check_loads(&from, out);
  if (status == LATHE_KPU_OK) status = find_tables(model, layer, out);
  const bool to_main = (kpu_field(layer, 0) & 1) != 0;
  if (status == LATHE_KPU_OK) status = check_memory(out, to_main);
  if (status == LATHE_KPU_OK && to_main) status = check_main_output(model, &from, kpu_field(layer, 1), out);
  return status;
}

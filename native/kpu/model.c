/* Reads and checks the tables of a kmodel, and runs its layers one after the other. */
#include <string.h>

#include "layer.h"

enum {
  HEADER_BYTES = 28,
  CONVOLUTION = 10240,
  MAXIMUM_POOL = 8,
  AVERAGE_POOL = 9,
  FULLY_CONNECTED = 18,
  NEWER_MAGIC = 0x4B4D444C,  /* files of version 4 and 5 begin with these letters, */
  NEWER_TURNED = 0x4C444D4B, /* or with these */
  MOST_PADDING = 7,          /* that a last body may lack at the end of a file */
};

/* Where the tables and bodies are. */
typedef struct tables {
  size_t outputs;
  size_t headers;
  size_t bodies;
} tables;

static const char* const texts[LATHE_KPU_STATUS_COUNT] = {
    [LATHE_KPU_OK] = "ok",
    [LATHE_KPU_BAD_ARGUMENT] = "a pointer is NULL or not aligned, or an index is too large",
    [LATHE_KPU_NO_KMODEL] = "this is not a kmodel of version 3",
    [LATHE_KPU_NEWER_VERSION] = "this is a kmodel of version 4 or 5; version 3 is run here",
    [LATHE_KPU_OTHER_CHIP] = "this kmodel is for another chip than the K210",
    [LATHE_KPU_FILE_TOO_SHORT] = "the file ends within a table, a layer, or what a layer points to",
    [LATHE_KPU_BODY_TOO_SHORT] = "the body of a layer is too short for its fields",
    [LATHE_KPU_UNKNOWN_LAYER] = "the type of a layer is not in the format",
    [LATHE_KPU_LAYER_NOT_RUN] = "the type of a layer is in the format, but nothing runs it",
    [LATHE_KPU_NO_INPUT] = "the first layer is neither a convolution nor fully connected",
    [LATHE_KPU_MAIN_MEMORY_SIZE] = "the main memory is smaller than the file asks for",
    [LATHE_KPU_MAIN_MEMORY] = "a layer or an output lies outside of the main memory",
    [LATHE_KPU_KPU_MEMORY] = "a layer lies outside of the memory of the KPU",
    [LATHE_KPU_MISALIGNED] = "an offset of a layer is not aligned",
    [LATHE_KPU_BAD_SIZE] = "a size of a layer is zero, too large, or does not fit to the others",
    [LATHE_KPU_BAD_REGISTER] = "a field of a layer argument has a value that the KPU does not take",
    [LATHE_KPU_OVERLAP] = "a convolution would write over its own input",
    [LATHE_KPU_INPUT_SIZE] = "the input has another size than the first layer asks for",
    [LATHE_KPU_TIMEOUT] = "the KPU did not become ready",
};

const char* lathe_kpu_status_text(lathe_kpu_status status) {
  const unsigned index = (unsigned)status;
  return index < LATHE_KPU_STATUS_COUNT ? texts[index] : "not a status";
}

bool kpu_fits_ram(uint32_t unit, uint32_t width, uint32_t height, uint32_t channels) {
  const kpu_planes planes = kpu_planes_of(width, height);
  const uint64_t groups = ((uint64_t)channels + planes.group - 1) / planes.group;
  return (uint64_t)unit * KPU_UNIT + groups * planes.plane <= LATHE_KPU_RAM_BYTES;
}

bool kpu_in_main(const lathe_kpu* model, uint32_t offset, uint64_t count, uint32_t size) {
  if (offset > model->main_bytes) return false;
  return count <= (model->main_bytes - offset) / size;
}

lathe_kpu_status lathe_kpu_measure(const void* file, size_t bytes, lathe_kpu_needs* needs) {
  const uint8_t* header = (const uint8_t*)file;
  if (file == NULL || needs == NULL) return LATHE_KPU_BAD_ARGUMENT;
  if (bytes < 4) return LATHE_KPU_NO_KMODEL;
  const uint32_t version = kpu_word(header);
  if (version == 4 || version == 5 || version == NEWER_MAGIC || version == NEWER_TURNED) return LATHE_KPU_NEWER_VERSION;
  if (version != 3) return LATHE_KPU_NO_KMODEL;
  if (bytes < HEADER_BYTES) return LATHE_KPU_FILE_TOO_SHORT;
  if (kpu_word(header + 8) != 0) return LATHE_KPU_OTHER_CHIP;
  needs->layers = kpu_word(header + 12);
  const uint32_t main_memory = kpu_word(header + 20);
  if (main_memory > UINT32_MAX - MOST_PADDING) return LATHE_KPU_BAD_SIZE;
  needs->main_memory = (main_memory + 7) / 8 * 8;
  needs->outputs = kpu_word(header + 24);
  const uint64_t tables_end = HEADER_BYTES + ((uint64_t)needs->outputs + needs->layers) * 8;
  return tables_end <= bytes ? LATHE_KPU_OK : LATHE_KPU_FILE_TOO_SHORT;
}

/* That the outputs lie in the main memory, which is rounded up to 8 bytes. */
static bool outputs_fit(const lathe_kpu* model) {
  const uint8_t* output = model->file + HEADER_BYTES;
  for (uint32_t index = 0; index < model->outputs; ++index, output += 8) {
    const uint64_t end = (uint64_t)kpu_word(output) + kpu_word(output + 4);
    if (end > ((uint64_t)model->main_bytes + 7) / 8 * 8) return false;
  }
  return true;
}

static tables tables_of(const lathe_kpu* model) {
  tables at;
  at.outputs = HEADER_BYTES;
  at.headers = at.outputs + (size_t)model->outputs * 8;
  at.bodies = at.headers + (size_t)model->layers * 8;
  return at;
}

/* Steps to the layer whose body begins at `*body`. */
static lathe_kpu_status next_layer(const lathe_kpu* model, size_t headers, uint32_t index, size_t* body,
                                   kpu_layer* layer) {
  const uint8_t* header = model->file + headers + (size_t)index * 8;
  layer->type = kpu_word(header);
  layer->bytes = kpu_word(header + 4);
  layer->body = model->file + *body;
  const size_t left = model->file_bytes - *body;
  if (layer->bytes > left) {
    if (index + 1 != model->layers || layer->bytes - left > MOST_PADDING) return LATHE_KPU_FILE_TOO_SHORT;
    layer->bytes = (uint32_t)left;
  }
  *body += layer->bytes;
  return LATHE_KPU_OK;
}

static const kpu_kind* kind_in(const kpu_kind* kinds, uint32_t type) {
  for (; kinds->type != 0; ++kinds) {
    if (kinds->type == type) return kinds;
  }
  return NULL;
}

static const kpu_kind* kind_of(uint32_t type) {
  const kpu_kind* kind = kind_in(kpu_float_kinds, type);
  return kind != NULL ? kind : kind_in(kpu_byte_kinds, type);
}

static lathe_kpu_status check_convolution(lathe_kpu* model, const kpu_layer* layer, bool first) {
  lathe_kpu_convolution convolution;
  if (layer->bytes < 6 * 4) return LATHE_KPU_BODY_TOO_SHORT;
  const lathe_kpu_status status = kpu_read_convolution(model, layer, &convolution);
  if (status != LATHE_KPU_OK) return status;
  const uint64_t pixels = (uint64_t)convolution.in_width * convolution.in_height;
  const uint64_t sources = convolution.depthwise ? 1 : convolution.in_channels;
  model->operations += pixels * convolution.kernel * convolution.kernel * sources * convolution.out_channels;
  if (first) model->input_bytes = (size_t)(pixels * convolution.in_channels);
  return LATHE_KPU_OK;
}

static lathe_kpu_status check_layer(lathe_kpu* model, const kpu_layer* layer, bool first) {
  if (layer->type == CONVOLUTION) return check_convolution(model, layer, first);
  const kpu_kind* kind = kind_of(layer->type);
  if (kind == NULL) {
    const bool named = layer->type - 1 < 25 || layer->type - 1000 < 4;
    return named ? LATHE_KPU_LAYER_NOT_RUN : LATHE_KPU_UNKNOWN_LAYER;
  }
  if (first && layer->type != FULLY_CONNECTED) return LATHE_KPU_NO_INPUT;
  if (layer->bytes / 4 < kind->fields) return LATHE_KPU_BODY_TOO_SHORT;
  const lathe_kpu_status status = kind->check(model, layer);
  kpu_pool pool;
  const bool pools = layer->type == MAXIMUM_POOL || layer->type == AVERAGE_POOL;
  if (status == LATHE_KPU_OK && pools && kpu_read_pool(layer, &pool) == LATHE_KPU_OK) {
    model->operations += kpu_pool_looks(&pool);
  }
  if (status == LATHE_KPU_OK && layer->type == FULLY_CONNECTED) {
    model->operations += (uint64_t)kpu_field(layer, 3) * kpu_field(layer, 4);
    if (first) model->input_bytes = (size_t)kpu_field(layer, 3) * 4;
  }
  return status;
}

static lathe_kpu_status check_layers(lathe_kpu* model) {
  const tables at = tables_of(model);
  size_t body = at.bodies;
  for (uint32_t index = 0; index < model->layers; ++index) {
    kpu_layer layer;
    model->failed_layer = (int32_t)index;
    lathe_kpu_status status = next_layer(model, at.headers, index, &body, &layer);
    if (status == LATHE_KPU_OK) status = check_layer(model, &layer, index == 0);
    if (status != LATHE_KPU_OK) return status;
  }
  model->failed_layer = LATHE_KPU_NO_LAYER;
  return model->layers != 0 ? LATHE_KPU_OK : LATHE_KPU_NO_INPUT;
}

lathe_kpu_status lathe_kpu_load(const void* file, size_t bytes, void* main_memory, size_t main_bytes,
                                lathe_kpu_device device, lathe_kpu* out) {
  lathe_kpu_needs needs;
  if (out == NULL) return LATHE_KPU_BAD_ARGUMENT;
  memset(out, 0, sizeof *out);
  out->failed_layer = LATHE_KPU_NO_LAYER;
  const lathe_kpu_status measured = lathe_kpu_measure(file, bytes, &needs);
  if (measured != LATHE_KPU_OK) return measured;
  if (device.convolve == NULL || device.model_alignment == 0 || device.output_alignment == 0)
    return LATHE_KPU_BAD_ARGUMENT;
  if ((uintptr_t)file % device.model_alignment != 0) return LATHE_KPU_BAD_ARGUMENT;
  if ((main_memory == NULL && needs.main_memory != 0) || (uintptr_t)main_memory % 8 != 0) return LATHE_KPU_BAD_ARGUMENT;
  if (main_bytes < needs.main_memory) return LATHE_KPU_MAIN_MEMORY_SIZE;
  out->file = (const uint8_t*)file;
  out->file_bytes = bytes;
  out->main_memory = (uint8_t*)main_memory;
  out->main_bytes = kpu_word(out->file + 20);
  out->device = device;
  out->flags = kpu_word(out->file + 4);
  out->layers = needs.layers;
  out->outputs = needs.outputs;
  const lathe_kpu_status status = outputs_fit(out) ? check_layers(out) : LATHE_KPU_MAIN_MEMORY;
  if (status != LATHE_KPU_OK) out->layers = 0;
  return status;
}

void kpu_upload(const lathe_kpu* model, uint32_t unit, uint32_t width, uint32_t height, uint32_t channels,
                const uint8_t* from) {
  const kpu_planes planes = kpu_planes_of(width, height);
  volatile uint8_t* to = model->device.memory(model->device.context) + (size_t)unit * KPU_UNIT;
  for (uint32_t channel = 0; channel < channels; ++channel) {
    volatile uint8_t* row = to + kpu_channel_offset(&planes, channel);
    for (uint32_t y = 0; y < height; ++y, row += planes.row) {
      for (uint32_t x = 0; x < width; ++x) row[x] = *from++;
    }
  }
}

static lathe_kpu_status convolve(const lathe_kpu* model, const kpu_layer* layer, const uint8_t* input) {
  lathe_kpu_convolution convolution;
  const lathe_kpu_status status = kpu_read_convolution(model, layer, &convolution);
  if (status != LATHE_KPU_OK) return status;
  if (input != NULL) {
    kpu_upload(model, convolution.source, convolution.in_width, convolution.in_height, convolution.in_channels, input);
  }
  return model->device.convolve(model->device.context, &convolution);
}

lathe_kpu_status lathe_kpu_run(lathe_kpu* model, const void* input, size_t bytes) {
  if (model == NULL || model->layers == 0 || input == NULL) return LATHE_KPU_BAD_ARGUMENT;
  if (bytes != model->input_bytes) return LATHE_KPU_INPUT_SIZE;
  const tables at = tables_of(model);
  size_t body = at.bodies;
  lathe_kpu_status status = model->device.begin(model->device.context, model->flags & 1);
  model->failed_layer = LATHE_KPU_NO_LAYER;
  for (uint32_t index = 0; status == LATHE_KPU_OK && index < model->layers; ++index) {
    kpu_layer layer;
    status = next_layer(model, at.headers, index, &body, &layer);
    if (status == LATHE_KPU_OK && layer.type == CONVOLUTION) {
      status = convolve(model, &layer, index == 0 ? (const uint8_t*)input : NULL);
    } else if (status == LATHE_KPU_OK) {
      if (index == 0) memcpy(model->main_memory + kpu_field(&layer, 1), input, bytes);
      kind_of(layer.type)->run(model, &layer);
    }
    if (status != LATHE_KPU_OK) model->failed_layer = (int32_t)index;
  }
  return status;
}

lathe_kpu_status lathe_kpu_output(const lathe_kpu* model, uint32_t index, const void** data, size_t* bytes) {
  if (model == NULL || data == NULL || bytes == NULL || index >= model->outputs) return LATHE_KPU_BAD_ARGUMENT;
  const uint8_t* output = model->file + tables_of(model).outputs + (size_t)index * 8;
  *data = model->main_memory + kpu_word(output);
  *bytes = kpu_word(output + 4);
  return LATHE_KPU_OK;
}

/* Any kmodel gives a status, and one that is taken can be run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lathe_kpu.h"

enum { MOST_MEMORY = 16 << 10, MOST_LAYERS = 6 };

/* What takes longer says nothing new. */
static const uint64_t most_operations = 1000000;

static _Alignas(64) uint8_t ram[LATHE_KPU_RAM_BYTES];
static lathe_kpu_workspace workspace;

static void run(lathe_kpu* model) {
  uint8_t* input = (uint8_t*)malloc(model->input_bytes);
  if (input == NULL) return;
  memset(input, 0x5a, model->input_bytes);
  if (lathe_kpu_run(model, input, model->input_bytes) != LATHE_KPU_OK) abort();
  for (uint32_t index = 0; index < model->outputs; ++index) {
    const void* data;
    size_t bytes;
    if (lathe_kpu_output(model, index, &data, &bytes) != LATHE_KPU_OK) abort();
    if ((const uint8_t*)data < model->main_memory) abort();
  }
  free(input);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lathe_kpu_software software = {.ram = ram, .workspaces = &workspace, .parts = 1};
  lathe_kpu_needs needs;
  lathe_kpu model;
  void* file = NULL;
  /* A copy of its own, so that each byte behind it is one too many. */
  if (posix_memalign(&file, 256, size != 0 ? size : 1) != 0) return 0;
  memcpy(file, data, size);
  if (lathe_kpu_measure(file, size, &needs) == LATHE_KPU_OK && needs.main_memory <= MOST_MEMORY &&
      needs.layers <= MOST_LAYERS) {
    uint8_t* main_memory = (uint8_t*)calloc(needs.main_memory != 0 ? needs.main_memory : 1, 1);
    if (main_memory == NULL) abort();
    const lathe_kpu_status status =
        lathe_kpu_load(file, size, main_memory, needs.main_memory, lathe_kpu_software_device(&software), &model);
    if (status == LATHE_KPU_OK && model.operations <= most_operations) run(&model);
    if (lathe_kpu_status_text(status)[0] == '\0') abort();
    free(main_memory);
  }
  free(file);
  return 0;
}

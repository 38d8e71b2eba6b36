/* A program for a bare machine that runs the kmodels it holds, and compares what comes out with what should. */
#include <stdio.h>
#include <string.h>

#include "lathe_kpu.h"

enum { MAIN_MEMORY = 1 << 18 };

/* Made by the test: each has a name, a file, an input and the outputs, one behind the other. */
typedef struct sample {
  const char* name;
  const uint8_t* file;
  const uint8_t* file_end;
  const uint8_t* input;
  const uint8_t* input_end;
  const uint8_t* outputs;
  const uint8_t* outputs_end;
} sample;

extern const sample samples[];

static _Alignas(64) uint8_t ram[LATHE_KPU_RAM_BYTES];
static _Alignas(64) uint8_t main_memory[MAIN_MEMORY];
static lathe_kpu_workspace workspace;

static int outputs_differ(const lathe_kpu* model, const sample* one) {
  const uint8_t* wanted = one->outputs;
  for (uint32_t index = 0; index < model->outputs; ++index) {
    const void* data;
    size_t bytes;
    if (lathe_kpu_output(model, index, &data, &bytes) != LATHE_KPU_OK) return 1;
    if (bytes > (size_t)(one->outputs_end - wanted) || memcmp(data, wanted, bytes) != 0) return 1;
    wanted += bytes;
  }
  return wanted != one->outputs_end;
}

int main(void) {
  lathe_kpu_software software = {.ram = ram, .workspaces = &workspace, .parts = 1};
  for (const sample* one = samples; one->name != NULL; ++one) {
    lathe_kpu model;
    memset(ram, 0, sizeof ram);
    memset(main_memory, 0, sizeof main_memory);
    lathe_kpu_status status = lathe_kpu_load(one->file, (size_t)(one->file_end - one->file), main_memory, MAIN_MEMORY,
                                             lathe_kpu_software_device(&software), &model);
    if (status == LATHE_KPU_OK) status = lathe_kpu_run(&model, one->input, (size_t)(one->input_end - one->input));
    const char* word =
        status == LATHE_KPU_OK && outputs_differ(&model, one) ? "differs" : lathe_kpu_status_text(status);
    printf("%s: %s\n", one->name, word);
  }
  printf("end\n");
  return 0;
}

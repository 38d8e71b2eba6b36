/* A program for a bare RISC-V machine that talks to an emulator or a debugger by semihosting. It holds a model and an
 * input, and does the work of the KPU in software.
 *
 *   NAME                  runs the input that it holds, and tells of each output its size, its sum and its largest
 *                         number; of the first output of a YOLO v2 the boxes, too
 *   NAME INPUT OUTPUT     runs the bytes of the file INPUT, and writes OUTPUT0, OUTPUT1, ...
 */
#include <semihost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "lathe_kpu.h"

enum { MOST_WORDS = 3, MOST_COMMAND = 1024, MOST_PATH = 512, MOST_BOXES = 256 };

/* Where the chip has the memory of the KPU; the linker is told. */
extern uint8_t lathe_kpu_ram[];

static lathe_kpu_workspace workspace;
static char command[MOST_COMMAND];

static int failed(const char* what, const char* why) {
  printf("%s: %s\n", what, why);
  return 1;
}

/* CRC-32 as in zip files, bit by bit. */
static uint32_t sum_of(const uint8_t* data, size_t bytes) {
  uint32_t sum = UINT32_MAX;
  for (size_t index = 0; index < bytes; ++index) {
    sum ^= data[index];
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (UINT32_C(0xedb88320) & (0 - (sum & 1)));
  }
  return ~sum;
}

static void tell(uint32_t index, const void* data, size_t bytes) {
  const float* numbers = (const float*)data;
  size_t best = 0;
  for (size_t at = 1; at < bytes / sizeof(float); ++at) {
    if (numbers[at] > numbers[best]) best = at;
  }
  printf("output %u: %u bytes, CRC-32 %08x, the largest number is %.9g at %u\n", (unsigned)index, (unsigned)bytes,
         (unsigned)sum_of((const uint8_t*)data, bytes), (double)numbers[best], (unsigned)best);
}

static int tell_boxes(const void* data, size_t bytes) {
  static lathe_kpu_box boxes[MOST_BOXES];
  uint32_t count;
  const lathe_kpu_status status = lathe_kpu_boxes(&lathe_regions, data, bytes, boxes, MOST_BOXES, &count);
  if (status != LATHE_KPU_OK) return failed("boxes", lathe_kpu_status_text(status));
  for (uint32_t index = 0; index < count; ++index) {
    const lathe_kpu_box* box = &boxes[index];
    printf("box %u: class %u, probability %.6f, left %.6f, top %.6f, right %.6f, bottom %.6f\n", (unsigned)index,
           (unsigned)box->label, (double)box->probability, (double)box->left, (double)box->top, (double)box->right,
           (double)box->bottom);
  }
  return 0;
}

static int write_file(const char* path, const void* data, size_t bytes) {
  const int file = sys_semihost_open(path, SH_OPEN_W_B);
  if (file < 0) return failed(path, "cannot be written");
  const uintptr_t left = sys_semihost_write(file, data, bytes);
  sys_semihost_close(file);
  return left != 0 ? failed(path, "was not written to its end") : 0;
}

/* The input of that file, in memory of its own. */
static uint8_t* read_file(const char* path, size_t* bytes) {
  const int file = sys_semihost_open(path, SH_OPEN_R_B);
  if (file < 0) return NULL;
  *bytes = (size_t)sys_semihost_flen(file);
  uint8_t* data = (uint8_t*)malloc(*bytes + 1);
  if (data != NULL && sys_semihost_read(file, data, *bytes) != 0) data = NULL;
  sys_semihost_close(file);
  return data;
}

static int run(lathe_kpu* model, const char* input, const char* output) {
  const uint8_t* data = lathe_sample;
  size_t bytes = (size_t)(lathe_sample_end - lathe_sample);
  if (input != NULL) {
    data = read_file(input, &bytes);
    if (data == NULL) return failed(input, "cannot be read");
  }
  const lathe_kpu_status status = lathe_kpu_run(model, data, bytes);
  if (status != LATHE_KPU_OK) {
    printf("%s, layer %d: %s\n", lathe_model_name, (int)model->failed_layer, lathe_kpu_status_text(status));
    return 1;
  }
  for (uint32_t index = 0; index < model->outputs; ++index) {
    const void* found;
    size_t count;
    if (lathe_kpu_output(model, index, &found, &count) != LATHE_KPU_OK) return failed(lathe_model_name, "no output");
    tell(index, found, count);
    if (index == 0 && lathe_regions.anchors != 0 && tell_boxes(found, count) != 0) return 1;
    if (output != NULL) {
      char path[MOST_PATH];
      if (snprintf(path, sizeof path, "%s%u", output, (unsigned)index) >= MOST_PATH) return failed(output, "too long");
      if (write_file(path, found, count) != 0) return 1;
    }
  }
  return 0;
}

int main(void) {
  char* words[MOST_WORDS] = {NULL, NULL, NULL};
  if (sys_semihost_get_cmdline(command, sizeof command) == 0) {
    int count = 0;
    for (char* word = strtok(command, " "); word != NULL && count < MOST_WORDS; word = strtok(NULL, " ")) {
      words[count++] = word;
    }
  }
  lathe_kpu_software software = {.ram = lathe_kpu_ram, .workspaces = &workspace, .parts = 1};
  lathe_kpu model;
  memset(lathe_kpu_ram, 0, LATHE_KPU_RAM_BYTES);
  const lathe_kpu_status status =
      lathe_kpu_load(lathe_model, (size_t)(lathe_model_end - lathe_model), lathe_main_memory,
                     (size_t)(lathe_main_memory_end - lathe_main_memory), lathe_kpu_software_device(&software), &model);
  if (status != LATHE_KPU_OK) return failed(lathe_model_name, lathe_kpu_status_text(status));
  return run(&model, words[1], words[2]);
}

/* A program for the K210 with its standalone SDK: the KPU of the chip runs the model that it holds, again and again. */
#include <bsp.h>
#include <stdio.h>
#include <sysctl.h>

#include "image.h"
#include "lathe_kpu.h"

enum {
  PROCESSOR_HERTZ = 800000000,
  KPU_HERTZ = 400000000,
  PAST_THE_CACHE = 0x40000000,
  LOOKS = 100000000,
  MOST_BOXES = 256
};

static void tell_boxes(const void* data, size_t bytes) {
  static lathe_kpu_box boxes[MOST_BOXES];
  uint32_t count;
  const lathe_kpu_status status = lathe_kpu_boxes(&lathe_regions, data, bytes, boxes, MOST_BOXES, &count);
  if (status != LATHE_KPU_OK) printf("boxes: %s\n", lathe_kpu_status_text(status));
  for (uint32_t index = 0; index < count; ++index) {
    const lathe_kpu_box* box = &boxes[index];
    printf("box %u: class %u, probability %.3f, left %.3f, top %.3f, right %.3f, bottom %.3f\n", (unsigned)index,
           (unsigned)box->label, (double)box->probability, (double)box->left, (double)box->top, (double)box->right,
           (double)box->bottom);
  }
}

int main(void) {
  sysctl_pll_set_freq(SYSCTL_PLL0, PROCESSOR_HERTZ);
  sysctl_pll_set_freq(SYSCTL_PLL1, KPU_HERTZ);
  sysctl_clock_enable(SYSCTL_CLOCK_DMA);
  sysctl_clock_enable(SYSCTL_CLOCK_AI);

  lathe_kpu_hardware chip;
  lathe_kpu_hardware_k210(&chip);
  chip.patience = LOOKS;
  lathe_kpu model;
  lathe_kpu_status status = lathe_kpu_load(
      lathe_model, (size_t)(lathe_model_end - lathe_model), (void*)((uintptr_t)lathe_main_memory - PAST_THE_CACHE),
      (size_t)(lathe_main_memory_end - lathe_main_memory), lathe_kpu_hardware_device(&chip), &model);
  if (status != LATHE_KPU_OK) printf("%s: %s\n", lathe_model_name, lathe_kpu_status_text(status));
  while (status == LATHE_KPU_OK) {
    const uint64_t started = sysctl_get_time_us();
    status = lathe_kpu_run(&model, lathe_sample, (size_t)(lathe_sample_end - lathe_sample));
    const uint64_t took = sysctl_get_time_us() - started;
    if (status != LATHE_KPU_OK) {
      printf("%s, layer %d: %s\n", lathe_model_name, (int)model.failed_layer, lathe_kpu_status_text(status));
      break;
    }
    const void* data;
    size_t bytes;
    if (lathe_kpu_output(&model, 0, &data, &bytes) != LATHE_KPU_OK) break;
    const float* numbers = (const float*)data;
    size_t best = 0;
    for (size_t index = 1; index < bytes / sizeof(float); ++index) {
      if (numbers[index] > numbers[best]) best = index;
    }
    printf("%s: %u us, the largest number is at %u\n", lathe_model_name, (unsigned)took, (unsigned)best);
    if (lathe_regions.anchors != 0) tell_boxes(data, bytes);
  }
  for (;;) continue;
}

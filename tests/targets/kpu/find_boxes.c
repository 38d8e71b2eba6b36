/* Finds the boxes of each set of regions in a file: all numbers are floats of 32 bits, or counts in as many bits. */
#include <stdio.h>
#include <stdlib.h>

#include "lathe_kpu.h"

typedef struct head {
  uint32_t rows, columns, classes, anchors;
  float threshold, overlap;
  uint32_t room;
} head;

static float* numbers(FILE* file, size_t count) {
  float* made = malloc(count * sizeof(float));
  if (made == NULL || fread(made, sizeof(float), count, file) != count) exit(2);
  return made;
}

int main(int count, char** words) {
  FILE* file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (file == NULL) return 2;
  head one;
  while (fread(&one, sizeof(one), 1, file) == 1) {
    float* sizes = numbers(file, (size_t)one.anchors * 2);
    const size_t elements = (size_t)one.anchors * (one.classes + 5) * one.rows * one.columns;
    float* output = numbers(file, elements);
    lathe_kpu_box* boxes = malloc((size_t)one.room * sizeof(*boxes) + 1);
    const lathe_kpu_regions regions = {one.rows, one.columns,   one.classes, one.anchors,
                                       sizes,    one.threshold, one.overlap};
    uint32_t found;
    const lathe_kpu_status status =
        lathe_kpu_boxes(&regions, output, elements * sizeof(float), boxes, one.room, &found);
    printf("%s\n", lathe_kpu_status_text(status));
    for (uint32_t index = 0; index < found; ++index) {
      const lathe_kpu_box* box = &boxes[index];
      printf("%u %.9g %.9g %.9g %.9g %.9g\n", (unsigned)box->label, (double)box->probability, (double)box->left,
             (double)box->top, (double)box->right, (double)box->bottom);
    }
    printf("end\n");
    free(boxes);
    free(output);
    free(sizes);
  }
  fclose(file);
  return 0;
}

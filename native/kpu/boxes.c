/* Boxes in the output of a YOLO v2: decoding of its regions, and suppression of boxes that overlap better ones. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lathe_kpu.h"

enum {
  X,
  Y,
  WIDTH,
  HEIGHT,
  OBJECTNESS,
  FIRST_CLASS,
  MOST_SIDE = 1024,
  MOST_CHANNELS = 1024, /* of the KPU */
};

static float sigmoid(float value) { return 1.0F / (1.0F + expf(-value)); }

/* Not a number becomes 0. */
static float clipped(float value) { return value > 0.0F ? (value < 1.0F ? value : 1.0F) : 0.0F; }

/* What the planes of one anchor hold for one cell. */
typedef struct cell {
  const float* first;
  size_t plane;
} cell;

static float number(cell at, uint32_t plane) { return at.first[plane * at.plane]; }

/* The most probable class, and its share of the softmax. */
static float likeliest(cell at, uint32_t classes, uint32_t* label) {
  *label = 0;
  for (uint32_t index = 1; index < classes; ++index) {
    if (number(at, FIRST_CLASS + index) > number(at, FIRST_CLASS + *label)) *label = index;
  }
  const float largest = number(at, FIRST_CLASS + *label);
  float sum = 0.0F;
  for (uint32_t index = 0; index < classes; ++index) sum += expf(number(at, FIRST_CLASS + index) - largest);
  return 1.0F / sum;
}

/* Puts a box behind those that are as probable; the last one falls out where there is no room. */
static void insert(lathe_kpu_box box, lathe_kpu_box* boxes, uint32_t room, uint32_t* count) {
  uint32_t at = *count;
  while (at > 0 && boxes[at - 1].probability < box.probability) --at;
  if (at == room) return;
  const uint32_t kept = *count < room ? *count : room - 1;
  memmove(boxes + at + 1, boxes + at, (kept - at) * sizeof(*boxes));
  boxes[at] = box;
  *count = kept + 1;
}

static float shared(float low, float high, float other_low, float other_high) {
  const float first = low > other_low ? low : other_low;
  const float last = high < other_high ? high : other_high;
  return last > first ? last - first : 0.0F;
}

static bool overlaps(const lathe_kpu_box* one, const lathe_kpu_box* other, float most) {
  const float both = shared(one->left, one->right, other->left, other->right) *
                     shared(one->top, one->bottom, other->top, other->bottom);
  const float either = (one->right - one->left) * (one->bottom - one->top) +
                       (other->right - other->left) * (other->bottom - other->top) - both;
  return both > most * either;
}

/* Keeps boxes that overlap no better one of their class. Their order is the better one first. */
static uint32_t suppress(lathe_kpu_box* boxes, uint32_t count, float most) {
  uint32_t kept = 0;
  for (uint32_t index = 0; index < count; ++index) {
    bool better = false;
    for (uint32_t other = 0; other < kept && !better; ++other) {
      better = boxes[other].label == boxes[index].label && overlaps(&boxes[other], &boxes[index], most);
    }
    if (!better) boxes[kept++] = boxes[index];
  }
  return kept;
}

static lathe_kpu_status check(const lathe_kpu_regions* regions, const void* output, size_t bytes) {
  if (regions == NULL || output == NULL || regions->sizes == NULL) return LATHE_KPU_BAD_ARGUMENT;
  if ((uintptr_t)output % sizeof(float) != 0) return LATHE_KPU_BAD_ARGUMENT;
  if (regions->rows == 0 || regions->rows > MOST_SIDE || regions->columns == 0 || regions->columns > MOST_SIDE) {
    return LATHE_KPU_BAD_SIZE;
  }
  if (regions->classes == 0 || regions->classes > MOST_CHANNELS) return LATHE_KPU_BAD_SIZE;
  if (regions->anchors == 0 || regions->anchors > MOST_CHANNELS / (FIRST_CLASS + regions->classes)) {
    return LATHE_KPU_BAD_SIZE;
  }
  const uint64_t channels = (uint64_t)regions->anchors * (FIRST_CLASS + regions->classes);
  const uint64_t wanted = channels * regions->rows * regions->columns * sizeof(float);
  return wanted == bytes ? LATHE_KPU_OK : LATHE_KPU_BAD_SIZE;
}

/* The box of an anchor in a cell, whose edges may lie outside of the picture; false where it is not probable enough. */
static bool decode(const lathe_kpu_regions* regions, cell at, uint32_t place, const float* size, lathe_kpu_box* box) {
  const float objectness = sigmoid(number(at, OBJECTNESS));
  if (!(objectness > regions->threshold)) return false; /* no class is more probable than certain */
  box->probability = objectness * likeliest(at, regions->classes, &box->label);
  if (!(box->probability > regions->threshold)) return false;
  const float columns = (float)regions->columns, rows = (float)regions->rows;
  const float x = ((float)(place % regions->columns) + sigmoid(number(at, X))) / columns;
  const float y = ((float)(place / regions->columns) + sigmoid(number(at, Y))) / rows;
  const float width = expf(number(at, WIDTH)) * size[0] / columns;
  const float height = expf(number(at, HEIGHT)) * size[1] / rows;
  box->left = x - width / 2;
  box->right = x + width / 2;
  box->top = y - height / 2;
  box->bottom = y + height / 2;
  return true;
}

lathe_kpu_status lathe_kpu_boxes(const lathe_kpu_regions* regions, const void* output, size_t bytes,
                                 lathe_kpu_box* boxes, uint32_t room, uint32_t* count) {
  if (count == NULL || (boxes == NULL && room != 0)) return LATHE_KPU_BAD_ARGUMENT;
  *count = 0;
  const lathe_kpu_status status = check(regions, output, bytes);
  if (status != LATHE_KPU_OK || room == 0) return status;
  cell at;
  at.plane = (size_t)regions->rows * regions->columns;
  for (uint32_t anchor = 0; anchor < regions->anchors; ++anchor) {
    const float* planes = (const float*)output + anchor * (FIRST_CLASS + regions->classes) * at.plane;
    for (uint32_t place = 0; place < at.plane; ++place) {
      lathe_kpu_box box;
      at.first = planes + place;
      if (decode(regions, at, place, regions->sizes + (size_t)anchor * 2, &box)) insert(box, boxes, room, count);
    }
  }
  *count = suppress(boxes, *count, regions->overlap);
  for (uint32_t index = 0; index < *count; ++index) {
    boxes[index].left = clipped(boxes[index].left);
    boxes[index].top = clipped(boxes[index].top);
    boxes[index].right = clipped(boxes[index].right);
    boxes[index].bottom = clipped(boxes[index].bottom);
  }
  return LATHE_KPU_OK;
}

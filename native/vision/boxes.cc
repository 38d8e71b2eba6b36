// Boxes of detectors.
#include <math.h>

#include "native/kernel/math/math.h"
#include "native/vision/answers.h"
#include "native/vision/image.h"

namespace lathe {
namespace vision {
namespace {

bool Better(const lathe_box& a, const lathe_box& b) {
  return a.score != b.score ? a.score > b.score : a.source < b.source;
}

// The worst of the boxes from `root` on sinks below it: a heap whose first one is the worst.
void Sink(lathe_box* heap, size_t count, size_t root) {
  const lathe_box box = heap[root];
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && Better(heap[child], heap[child + 1])) ++child;
    if (!Better(box, heap[child])) break;
    heap[root] = heap[child];
  }
  heap[root] = box;
}

// The best first.
void Sort(lathe_box* boxes, size_t count) {
  for (size_t i = count / 2; i-- > 0;) Sink(boxes, count, i);
  for (size_t last = count; last-- > 1;) {
    const lathe_box worst = boxes[0];
    boxes[0] = boxes[last];
    boxes[last] = worst;
    Sink(boxes, last, 0);
  }
}

// Keeps the best boxes there is room for.
struct Kept {
  lathe_box* boxes;
  size_t room;
  size_t count;

  void Add(const lathe_box& box) {
    if (count < room) {
      boxes[count++] = box;
      if (count == room) {
        for (size_t i = count / 2; i-- > 0;) Sink(boxes, count, i);
      }
    } else if (room > 0 && Better(box, boxes[0])) {
      boxes[0] = box;
      Sink(boxes, count, 0);
    }
  }
};

float Overlap(const lathe_box& a, const lathe_box& b) {
  const float width = fminf(a.right, b.right) - fmaxf(a.left, b.left);
  const float height = fminf(a.bottom, b.bottom) - fmaxf(a.top, b.top);
  if (!(width > 0) || !(height > 0)) return 0;
  const float shared = width * height;
  return shared / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - shared);
}

lathe_box Around(float x, float y, float width, float height, float score, int label, int source) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2, score, label, source};
}

// The cell of a candidate on grids of several strides.
struct Cell {
  int stride_index = 0, column = 0, row = 0;

  void Next(const lathe_yolo& model) {
    const int stride = model.strides[stride_index];
    if (++column < model.width / stride) return;
    column = 0;
    if (++row < model.height / stride) return;
    row = 0;
    ++stride_index;
  }
};

Code CheckYolo(const lathe_yolo& model, const ErrorSink& errors) {
  if (model.candidates < 0 || model.classes < 1 || model.candidates > (1 << 24) || model.classes > (1 << 16))
    return errors.Fail(Code::kInvalidArgument, "yolo: %d candidates of %d classes", model.candidates, model.classes);
  if (model.grids == 0) return Code::kOk;
  if (model.stride_count < 1 || model.stride_count > 8)
    return errors.Fail(Code::kInvalidArgument, "yolo: %d strides; 1 to 8 are possible", model.stride_count);
  int64_t cells = 0;
  for (int i = 0; i < model.stride_count; ++i) {
    const int stride = model.strides[i];
    if (stride < 1 || model.width < stride || model.height < stride)
      return errors.Fail(Code::kInvalidArgument, "yolo: the stride %d does not fit %dx%d pixels", stride, model.width,
                         model.height);
    cells += int64_t{model.width / stride} * (model.height / stride);
  }
  if (cells != model.candidates)
    return errors.Fail(Code::kInvalidArgument, "yolo: %d candidates for %lld cells", model.candidates,
                       static_cast<long long>(cells));
  return Code::kOk;
}

}  // namespace

size_t Nms(lathe_box* boxes, size_t count, float most, uint32_t any_label) {
  Sort(boxes, count);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    bool repeated = false;
    for (size_t k = 0; k < kept && !repeated; ++k) {
      repeated = (any_label != 0 || boxes[k].label == boxes[i].label) && Overlap(boxes[k], boxes[i]) > most;
    }
    if (!repeated) boxes[kept++] = boxes[i];
  }
  return kept;
}

lathe_code Yolo(const lathe_yolo* model, const float* output, lathe_box* boxes, size_t room, size_t* found,
                lathe_error* error) {
  const ErrorSink errors = Begin(error);
  if (model == nullptr || model->struct_size < sizeof(lathe_yolo) || output == nullptr || found == nullptr ||
      (boxes == nullptr && room > 0))
    return Public(errors.Fail(Code::kInvalidArgument, "yolo: an argument is NULL, or struct_size is not set"));
  if (const Code code = CheckYolo(*model, errors); code != Code::kOk) return Public(code);
  const int first_class = model->objectness != 0 ? 5 : 4, values = first_class + model->classes;
  const size_t count = static_cast<size_t>(model->candidates);
  const size_t next_value = model->transposed != 0 ? count : 1;
  const size_t next_candidate = model->transposed != 0 ? 1 : static_cast<size_t>(values);
  Kept kept = {boxes, room, 0};
  Cell cell;
  for (size_t i = 0; i < count; ++i) {
    const float* from = output + i * next_candidate;
    const auto value = [&](int k) { return from[static_cast<size_t>(k) * next_value]; };
    const auto score_of = [&](int k) { return model->logits != 0 ? Sigmoidf(value(k)) : value(k); };
    int label = 0;
    for (int c = 1; c < model->classes; ++c) {
      if (value(first_class + c) > value(first_class + label)) label = c;
    }
    const float score = score_of(first_class + label) * (model->objectness != 0 ? score_of(4) : 1.0f);
    if (score >= model->least) {
      float x = value(0), y = value(1), width = value(2), height = value(3);
      if (model->grids != 0) {
        const float stride = static_cast<float>(model->strides[cell.stride_index]);
        x = (x + static_cast<float>(cell.column)) * stride, y = (y + static_cast<float>(cell.row)) * stride;
        width = Expf(width) * stride, height = Expf(height) * stride;
      }
      kept.Add(Around(x, y, width, height, score, label, static_cast<int>(i)));
    }
    if (model->grids != 0) cell.Next(*model);
  }
  Sort(boxes, kept.count);
  *found = kept.count;
  return LATHE_OK;
}

lathe_code Ssd(const lathe_ssd* model, const float* offsets, const float* scores, const float* anchors,
               lathe_box* boxes, size_t room, size_t* found, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  if (model == nullptr || model->struct_size < sizeof(lathe_ssd) || offsets == nullptr || scores == nullptr ||
      anchors == nullptr || found == nullptr || (boxes == nullptr && room > 0))
    return Public(errors.Fail(Code::kInvalidArgument, "ssd: an argument is NULL, or struct_size is not set"));
  const int classes = model->classes, background = model->background;
  if (model->candidates < 0 || classes < 1 || background < -1 || background >= classes ||
      (classes == 1 && background == 0) || model->logits > 2)
    return Public(errors.Fail(Code::kInvalidArgument, "ssd: %d candidates of %d classes, of which %d is the background",
                              model->candidates, classes, background));
  Kept kept = {boxes, room, 0};
  for (int i = 0; i < model->candidates; ++i, offsets += 4, scores += classes, anchors += 4) {
    int label = background == 0 ? 1 : 0;
    for (int c = 0; c < classes; ++c) {
      if (c != background && scores[c] > scores[label]) label = c;
    }
    float score = scores[label];
    if (model->logits == 1) score = Sigmoidf(score);
    if (model->logits == 2) {
      float sum = 0;
      for (int c = 0; c < classes; ++c) sum += Expf(scores[c] - scores[label]);
      score = 1.0f / sum;
    }
    if (!(score >= model->least)) continue;
    const int x = model->y_first != 0 ? 1 : 0, y = 1 - x;
    const float* by = model->variances;
    const float width = anchors[2] * Expf(offsets[2 + x] * by[2]), height = anchors[3] * Expf(offsets[2 + y] * by[3]);
    const float centre_x = anchors[0] + offsets[x] * by[0] * anchors[2];
    const float centre_y = anchors[1] + offsets[y] * by[1] * anchors[3];
    kept.Add(Around(centre_x, centre_y, width, height, score, label, i));
  }
  Sort(boxes, kept.count);
  *found = kept.count;
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe

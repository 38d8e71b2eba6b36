// Calls the functions of lathe/vision.h as a file says, and writes what they made: tests/vision/cases.py writes and
// reads such files. All numbers are 32 bits, little endian; a record of a call is
//
//   function, number of integers, number of floats, number of buffers, integers, floats, (size, bytes) of each buffer
//
// and that of an answer: code, number of buffers, (size, bytes) of each.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "lathe/vision.h"

namespace {

struct Call {
  uint32_t function = 0;
  std::vector<int32_t> ints;
  std::vector<float> floats;
  std::vector<std::vector<uint8_t>> buffers;
};

struct Answer {
  lathe_code code = LATHE_OK;
  std::vector<std::vector<uint8_t>> buffers;
};

const lathe_vision_api& vision() { return *lathe_vision_functions(); }

uint32_t Number(FILE* file) {
  uint32_t number = 0;
  if (fread(&number, 4, 1, file) != 1) exit(2);
  return number;
}

void Fill(FILE* file, void* to, size_t bytes) {
  if (bytes > 0 && fread(to, 1, bytes, file) != bytes) exit(2);
}

Call ReadCall(FILE* file) {
  Call call;
  call.function = Number(file);
  call.ints.resize(Number(file));
  call.floats.resize(Number(file));
  call.buffers.resize(Number(file));
  Fill(file, call.ints.data(), call.ints.size() * 4);
  Fill(file, call.floats.data(), call.floats.size() * 4);
  for (auto& buffer : call.buffers) {
    buffer.resize(Number(file));
    Fill(file, buffer.data(), buffer.size());
  }
  return call;
}

// Format, meaning, width, height, strides, offsets of the planes in the buffer (-1: NULL), from integer `at` on.
lathe_image ImageOf(Call& call, size_t at, size_t buffer) {
  const int32_t* from = call.ints.data() + at;
  lathe_image image = {};
  image.struct_size = sizeof(image);
  image.pixels = static_cast<uint32_t>(from[0]);
  image.yuv = static_cast<uint32_t>(from[1]);
  image.width = from[2];
  image.height = from[3];
  for (int i = 0; i < 3; ++i) {
    image.strides[i] = static_cast<size_t>(from[4 + i]);
    image.data[i] = from[7 + i] < 0 ? nullptr : call.buffers[buffer].data() + from[7 + i];
  }
  return image;
}

constexpr size_t kImageInts = 10;

std::vector<uint8_t> Bytes(const void* data, size_t size) {
  const uint8_t* from = static_cast<const uint8_t*>(data);
  return std::vector<uint8_t>(from, from + size);
}

const float* Floats(const Call& call, size_t buffer) {
  return reinterpret_cast<const float*>(call.buffers[buffer].data());
}

Answer Images(Call& call) {
  lathe_error error;
  const lathe_image from = ImageOf(call, 0, 0), to = ImageOf(call, kImageInts, call.buffers.size() - 1);
  const uint32_t extra = call.ints.size() > 2 * kImageInts ? static_cast<uint32_t>(call.ints[2 * kImageInts]) : 0;
  Answer answer;
  if (call.function == 0) answer.code = vision().convert(&from, &to, &error);
  if (call.function == 1) answer.code = vision().resize(&from, &to, extra, &error);
  if (call.function == 2) answer.code = vision().rotate(&from, &to, extra, &error);
  if (call.function == 3) answer.code = vision().flip(&from, &to, extra, &error);
  if (call.function == 4) {
    const uint8_t fill[4] = {10, 20, 30, 40};
    answer.code = vision().warp(&from, &to, call.floats.data(), extra, fill, &error);
  }
  answer.buffers.push_back(call.buffers.back());
  return answer;
}

Answer Tensor(Call& call) {
  const lathe_image image = ImageOf(call, 0, 0);
  const int32_t* from = call.ints.data() + kImageInts;
  lathe_view view = {};
  view.struct_size = sizeof(view);
  view.left = from[0], view.top = from[1], view.width = from[2], view.height = from[3];
  view.filter = static_cast<uint32_t>(from[4]);
  view.rotation = static_cast<uint32_t>(from[5]);
  view.flip = static_cast<uint32_t>(from[6]);
  view.fit = static_cast<uint32_t>(from[7]);
  for (int c = 0; c < 4; ++c) view.fill[c] = static_cast<uint8_t>(from[8 + c]);
  lathe_elements elements = {};
  elements.struct_size = sizeof(elements);
  elements.dtype = static_cast<uint32_t>(from[12]);
  elements.order = static_cast<uint32_t>(from[13]);
  elements.planes = static_cast<uint32_t>(from[14]);
  elements.zero_point = from[15];
  memcpy(elements.mean, call.floats.data(), 16);
  memcpy(elements.scale, call.floats.data() + 4, 16);
  elements.quantum = call.floats[8];
  lathe_error error;
  lathe_placement placement = {};
  std::vector<uint8_t> tensor(static_cast<size_t>(from[18]));
  Answer answer;
  answer.code = vision().to_tensor(&image, &view, &elements, from[16], from[17], tensor.data(), tensor.size(),
                                   &placement, &error);
  answer.buffers = {tensor, Bytes(&placement, sizeof(placement))};
  return answer;
}

Answer Detections(Call& call) {
  std::vector<lathe_box> boxes(static_cast<size_t>(call.ints[0]));
  size_t found = 0;
  lathe_error error;
  Answer answer;
  const int32_t* from = call.ints.data() + 1;
  if (call.function == 12) {
    lathe_yolo model = {};
    model.struct_size = sizeof(model);
    model.candidates = from[0], model.classes = from[1];
    model.objectness = static_cast<uint32_t>(from[2]), model.transposed = static_cast<uint32_t>(from[3]);
    model.logits = static_cast<uint32_t>(from[4]), model.grids = static_cast<uint32_t>(from[5]);
    model.width = from[6], model.height = from[7], model.stride_count = from[8];
    memcpy(model.strides, from + 9, sizeof(model.strides));
    model.least = call.floats[0];
    answer.code = vision().yolo(&model, Floats(call, 0), boxes.data(), boxes.size(), &found, &error);
  } else {
    lathe_ssd model = {};
    model.struct_size = sizeof(model);
    model.candidates = from[0], model.classes = from[1], model.background = from[2];
    model.logits = static_cast<uint32_t>(from[3]), model.y_first = static_cast<uint32_t>(from[4]);
    memcpy(model.variances, call.floats.data(), 16);
    model.least = call.floats[4];
    answer.code = vision().ssd(&model, Floats(call, 0), Floats(call, 1), Floats(call, 2), boxes.data(), boxes.size(),
                               &found, &error);
  }
  answer.buffers = {Bytes(boxes.data(), found * sizeof(lathe_box))};
  return answer;
}

Answer Scores(Call& call) {
  Answer answer;
  if (call.function == 10) {
    vision().softmax(Floats(call, 0), call.buffers[0].size() / 4, reinterpret_cast<float*>(call.buffers[0].data()));
    answer.buffers = {call.buffers[0]};
  }
  if (call.function == 11) {
    std::vector<int32_t> best(static_cast<size_t>(call.ints[0]));
    best.resize(vision().top_k(Floats(call, 0), call.buffers[0].size() / 4, best.size(), best.data()));
    answer.buffers = {Bytes(best.data(), best.size() * 4)};
  }
  lathe_box* boxes = reinterpret_cast<lathe_box*>(call.buffers[0].data());
  const size_t count = call.buffers[0].size() / sizeof(lathe_box);
  if (call.function == 14) {
    const size_t kept = vision().nms(boxes, count, call.floats[0], static_cast<uint32_t>(call.ints[0]));
    answer.buffers = {Bytes(boxes, kept * sizeof(lathe_box))};
  }
  if (call.function == 15) {
    lathe_placement placement;
    memcpy(&placement, call.buffers[1].data(), sizeof(placement));
    vision().boxes_back(&placement, boxes, count);
    answer.buffers = {call.buffers[0]};
  }
  return answer;
}

Answer Maps(Call& call) {
  lathe_error error;
  Answer answer;
  const int32_t* from = call.ints.data();
  if (call.function == 16) {
    std::vector<lathe_point> points(static_cast<size_t>(from[2]));
    answer.code = vision().keypoints(Floats(call, 0), from[0], from[1], from[2], static_cast<uint32_t>(from[3]),
                                     points.data(), &error);
    answer.buffers = {Bytes(points.data(), points.size() * sizeof(lathe_point))};
  }
  if (call.function == 17 || call.function == 18) {
    std::vector<int32_t> labels(static_cast<size_t>(from[3]));
    lathe_text text = {};
    answer.code = call.function == 17 ? vision().ctc_greedy(Floats(call, 0), from[0], from[1], from[2], labels.data(),
                                                            labels.size(), &text, &error)
                                      : vision().ctc_beam(Floats(call, 0), from[0], from[1], from[2], from[4],
                                                          labels.data(), labels.size(), &text, &error);
    answer.buffers = {Bytes(labels.data(), static_cast<size_t>(text.length) * 4), Bytes(&text.score, 4)};
  }
  if (call.function == 19) {
    const lathe_image image = ImageOf(call, 2, 1);
    answer.code =
        vision().mask_to_alpha(Floats(call, 0), from[0], from[1], call.floats[0], call.floats[1], &image, &error);
    answer.buffers = {call.buffers[1]};
  }
  return answer;
}

Answer Made(Call& call) {
  if (call.function < 5) return Images(call);
  if (call.function == 5) return Tensor(call);
  if (call.function == 12 || call.function == 13) return Detections(call);
  return call.function < 16 ? Scores(call) : Maps(call);
}

void Put(FILE* file, uint32_t number) { fwrite(&number, 4, 1, file); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  FILE* calls = fopen(argv[1], "rb");
  FILE* answers = fopen(argv[2], "wb");
  if (calls == nullptr || answers == nullptr) return 2;
  for (uint32_t left = Number(calls); left > 0; --left) {
    Call call = ReadCall(calls);
    const Answer answer = Made(call);
    Put(answers, static_cast<uint32_t>(answer.code));
    Put(answers, static_cast<uint32_t>(answer.buffers.size()));
    for (const auto& buffer : answer.buffers) {
      Put(answers, static_cast<uint32_t>(buffer.size()));
      if (!buffer.empty()) fwrite(buffer.data(), 1, buffer.size(), answers);
    }
  }
  fclose(calls);
  return fclose(answers);
}

// Image functions for the plugin that counts instructions: tests/bench/vision/counting.py. A line per function, its
// name and size, in the order of the pairs of markers around it.
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "lathe/vision.h"

namespace {

constexpr int kWidth = 640, kHeight = 360;

void Marker(long number) { syscall(SYS_getpgid, 0x7A0000 + number); }

lathe_image ImageOf(lathe_pixels pixels, std::vector<uint8_t>& memory, int width, int height) {
  lathe_image image = {};
  image.struct_size = sizeof(image);
  image.pixels = pixels;
  image.width = width;
  image.height = height;
  image.data[0] = memory.data();
  return image;
}

template <typename F>
bool Counted(const char* name, const char* size, F run) {
  if (run() != LATHE_OK) return false;
  Marker(0);
  run();
  Marker(1);
  printf("%s %s\n", name, size);
  return true;
}

bool Convert(const lathe_vision_api& vision, std::vector<uint8_t>& source, std::vector<uint8_t>& target) {
  const auto conversion = [&](const char* name, lathe_pixels from, lathe_pixels to) {
    const lathe_image a = ImageOf(from, source, kWidth, kHeight), b = ImageOf(to, target, kWidth, kHeight);
    return Counted(name, "640x360", [&] { return vision.convert(&a, &b, nullptr); });
  };
  return conversion("nv21_to_rgb", LATHE_NV21, LATHE_RGB) && conversion("rgb_to_bgr", LATHE_RGB, LATHE_BGR) &&
         conversion("rgb_to_gray", LATHE_RGB, LATHE_GRAY) && conversion("rgb_to_i420", LATHE_RGB, LATHE_I420);
}

bool Move(const lathe_vision_api& vision, std::vector<uint8_t>& source, std::vector<uint8_t>& target) {
  const lathe_image from = ImageOf(LATHE_RGB, source, kWidth, kHeight);
  const lathe_image small = ImageOf(LATHE_RGB, target, 224, 224), same = ImageOf(LATHE_RGB, target, kWidth, kHeight);
  const lathe_image turned = ImageOf(LATHE_RGB, target, kHeight, kWidth);
  const char* const names[] = {"resize_nearest", "resize_bilinear", "resize_area"};
  for (uint32_t filter = 0; filter < 3; ++filter) {
    if (!Counted(names[filter], "640x360 to 224x224", [&] { return vision.resize(&from, &small, filter, nullptr); }))
      return false;
  }
  return Counted("rotate_90_rgb", "640x360", [&] { return vision.rotate(&from, &turned, 90, nullptr); }) &&
         Counted("flip_columns_rgb", "640x360", [&] { return vision.flip(&from, &same, LATHE_FLIP_Y, nullptr); });
}

bool Tensors(const lathe_vision_api& vision, std::vector<uint8_t>& source) {
  lathe_elements elements = {};
  elements.struct_size = sizeof(elements);
  elements.dtype = LATHE_F32;
  elements.order = LATHE_RGB;
  for (int c = 0; c < 3; ++c) elements.scale[c] = 1.0f / 255;
  std::vector<float> tensor(3 * 224 * 224);
  const auto filled = [&](const char* name, lathe_pixels pixels) {
    const lathe_image image = ImageOf(pixels, source, kWidth, kHeight);
    return Counted(name, "640x360 to 224x224", [&] {
      return vision.to_tensor(&image, nullptr, &elements, 224, 224, tensor.data(), tensor.size() * 4, nullptr, nullptr);
    });
  };
  return filled("rgb_to_tensor", LATHE_RGB) && filled("nv21_to_tensor", LATHE_NV21);
}

}  // namespace

int main() {
  const lathe_vision_api& vision = *lathe_vision_functions();
  std::vector<uint8_t> source(4 * kWidth * kHeight), target(source.size());
  uint32_t state = 1;
  for (uint8_t& byte : source) byte = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return Convert(vision, source, target) && Move(vision, source, target) && Tensors(vision, source) ? 0 : 1;
}

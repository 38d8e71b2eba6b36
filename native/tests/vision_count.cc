// Image functions for the plugin that counts instructions: tests/bench/vision/counting.py. A line per function, its
// engine, name and size, in the order of the pairs of markers around it. An argument: a library of libyuv, to count
// too.
#include <dlfcn.h>
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
bool Counted(const char* name, const char* size, F run, const char* engine = "lathe") {
  if (run() != LATHE_OK) return false;
  Marker(0);
  run();
  Marker(1);
  printf("%s %s %s\n", engine, name, size);
  return true;
}

bool Convert(const lathe_vision_api& vision, std::vector<uint8_t>& source, std::vector<uint8_t>& target) {
  const auto conversion = [&](const char* name, lathe_pixels from, lathe_pixels to) {
    const lathe_image a = ImageOf(from, source, kWidth, kHeight), b = ImageOf(to, target, kWidth, kHeight);
    return Counted(name, "640x360", [&] { return vision.convert(&a, &b, nullptr); });
  };
  return conversion("nv21_to_rgb", LATHE_NV21, LATHE_RGB) && conversion("rgb_to_bgr", LATHE_RGB, LATHE_BGR) &&
         conversion("rgba_to_rgb", LATHE_RGBA, LATHE_RGB) && conversion("rgb_to_rgba", LATHE_RGB, LATHE_RGBA) &&
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
  const lathe_image gray = ImageOf(LATHE_GRAY, source, kWidth, kHeight);
  const lathe_image gray_turned = ImageOf(LATHE_GRAY, target, kHeight, kWidth);
  const lathe_image gray_same = ImageOf(LATHE_GRAY, target, kWidth, kHeight);
  const lathe_image warped = ImageOf(LATHE_RGB, target, 320, 240);
  const float matrix[6] = {0.9f, -0.3f, 100, 0.3f, 0.9f, -30};
  const uint8_t fill[4] = {};
  return Counted("rotate_90_rgb", "640x360", [&] { return vision.rotate(&from, &turned, 90, nullptr); }) &&
         Counted("rotate_90_gray", "640x360", [&] { return vision.rotate(&gray, &gray_turned, 90, nullptr); }) &&
         Counted("flip_columns_rgb", "640x360", [&] { return vision.flip(&from, &same, LATHE_FLIP_Y, nullptr); }) &&
         Counted("flip_columns_gray", "640x360",
                 [&] { return vision.flip(&gray, &gray_same, LATHE_FLIP_Y, nullptr); }) &&
         Counted("warp_bilinear", "640x360 to 320x240",
                 [&] { return vision.warp(&from, &warped, matrix, LATHE_BILINEAR, fill, nullptr); });
}

// The same of libyuv, which says RAW for R, G, B in memory, and RGB24 for B, G, R.
bool Peer(const char* path, std::vector<uint8_t>& source, std::vector<uint8_t>& target) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return false;
  }
  const uint8_t* const from = source.data();
  uint8_t* const to = target.data();
  constexpr int w = kWidth, h = kHeight, pixels = w * h;
  using Simple = int (*)(const uint8_t*, int, uint8_t*, int, int, int);
  const auto simple = [&](const char* name, const char* function, int bytes, int made) {
    const Simple call = reinterpret_cast<Simple>(dlsym(library, function));
    return call != nullptr &&
           Counted(name, "640x360", [&] { return call(from, w * bytes, to, w * made, w, h); }, "libyuv");
  };
  using Semi = int (*)(const uint8_t*, int, const uint8_t*, int, uint8_t*, int, int, int);
  const Semi semi = reinterpret_cast<Semi>(dlsym(library, "NV21ToRAW"));
  using Planes = int (*)(const uint8_t*, int, uint8_t*, int, uint8_t*, int, uint8_t*, int, int, int);
  const Planes planes = reinterpret_cast<Planes>(dlsym(library, "RAWToI420"));
  using Turn = int (*)(const uint8_t*, int, uint8_t*, int, int, int, int);
  const Turn turn = reinterpret_cast<Turn>(dlsym(library, "RotatePlane"));
  using Void = void (*)(const uint8_t*, int, uint8_t*, int, int, int);
  const Void mirror = reinterpret_cast<Void>(dlsym(library, "MirrorPlane"));
  if (semi == nullptr || planes == nullptr || turn == nullptr || mirror == nullptr) return false;
  return Counted(
             "nv21_to_rgb", "640x360", [&] { return semi(from, w, from + pixels, w, to, w * 3, w, h); }, "libyuv") &&
         simple("rgb_to_bgr", "RAWToRGB24", 3, 3) && simple("rgba_to_rgb", "ARGBToRGB24", 4, 3) &&
         simple("rgb_to_rgba", "RGB24ToARGB", 3, 4) && simple("rgb_to_gray", "RAWToJ400", 3, 1) &&
         Counted(
             "rgb_to_i420", "640x360",
             [&] { return planes(from, w * 3, to, w, to + pixels, w / 2, to + pixels * 5 / 4, w / 2, w, h); },
             "libyuv") &&
         Counted(
             "rotate_90_gray", "640x360", [&] { return turn(from, w, to, h, w, h, 90); }, "libyuv") &&
         simple("flip_columns_rgb", "RGB24Mirror", 3, 3) &&
         Counted(
             "flip_columns_gray", "640x360",
             [&] {
               mirror(from, w, to, w, w, h);
               return 0;
             },
             "libyuv");
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

int main(int count, char** words) {
  const lathe_vision_api& vision = *lathe_vision_functions();
  std::vector<uint8_t> source(4 * kWidth * kHeight), target(source.size());
  uint32_t state = 1;
  for (uint8_t& byte : source) byte = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  if (!Convert(vision, source, target) || !Move(vision, source, target) || !Tensors(vision, source)) return 1;
  return count < 2 || Peer(words[1], source, target) ? 0 : 1;
}

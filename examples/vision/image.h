// Images of three bytes per pixel: portable pixmaps, resizing, and the tensors that models read.
#ifndef VISION_IMAGE_H_
#define VISION_IMAGE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace vision {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  // red, green, blue

  uint8_t at(int x, int y, int channel) const { return pixels[(size_t(y) * width + x) * 3 + channel]; }
};

// A binary PPM file (P6, 255 levels) of at most 16384x16384 pixels; false where it is none.
inline bool ReadPpm(const std::string& path, Image* image) {
  FILE* file = fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  int levels = 0;
  bool ok = fscanf(file, "P6 %d %d %d", &image->width, &image->height, &levels) == 3 && fgetc(file) != EOF &&
            levels == 255 && image->width > 0 && image->height > 0 && image->width <= 16384 && image->height <= 16384;
  if (ok) {
    image->pixels.resize(size_t(image->width) * image->height * 3);
    ok = fread(image->pixels.data(), 1, image->pixels.size(), file) == image->pixels.size();
  }
  fclose(file);
  return ok;
}

// A binary PGM file with the values from 0 to 1 of a grid.
inline bool WritePgm(const std::string& path, const float* values, int width, int height) {
  FILE* file = fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  fprintf(file, "P5 %d %d 255\n", width, height);
  for (int i = 0; i < width * height; ++i) {
    fputc(int(std::min(std::max(values[i], 0.0f), 1.0f) * 255 + 0.5f), file);
  }
  return fclose(file) == 0;
}

// The part of an image from `left`, `top` that is `width` x `height`; what lies outside is cut off.
inline Image Crop(const Image& image, int left, int top, int width, int height) {
  left = std::min(std::max(left, 0), image.width - 1);
  top = std::min(std::max(top, 0), image.height - 1);
  Image part;
  part.width = std::max(1, std::min(width, image.width - left));
  part.height = std::max(1, std::min(height, image.height - top));
  for (int y = 0; y < part.height; ++y) {
    const uint8_t* row = image.pixels.data() + (size_t(top + y) * image.width + left) * 3;
    part.pixels.insert(part.pixels.end(), row, row + size_t(part.width) * 3);
  }
  return part;
}

// The source pixels of each target pixel along one side, with weights: a triangle as wide as the reduction.
struct Taps {
  int first;
  std::vector<float> weights;
};

inline std::vector<Taps> TapsOf(int from, int to) {
  const float scale = float(from) / to, radius = std::max(scale, 1.0f);
  std::vector<Taps> all(to);
  for (int i = 0; i < to; ++i) {
    const float centre = (i + 0.5f) * scale;
    const int last = std::min(from, int(centre + radius + 0.5f));
    float sum = 0;
    all[i].first = std::max(0, int(centre - radius + 0.5f));
    for (int k = all[i].first; k < last; ++k) {
      all[i].weights.push_back(std::max(0.0f, 1 - std::fabs((k + 0.5f - centre) / radius)));
      sum += all[i].weights.back();
    }
    for (float& weight : all[i].weights) weight /= sum;
  }
  return all;
}

// Bilinear, with all pixels taken into account where the image becomes smaller.
inline Image Resize(const Image& image, int width, int height) {
  const std::vector<Taps> columns = TapsOf(image.width, width), rows = TapsOf(image.height, height);
  std::vector<float> wide(size_t(width) * image.height * 3);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        float sum = 0;
        for (size_t k = 0; k < columns[x].weights.size(); ++k) {
          sum += columns[x].weights[k] * image.at(columns[x].first + int(k), y, c);
        }
        wide[(size_t(y) * width + x) * 3 + c] = sum;
      }
    }
  }
  Image result{width, height, std::vector<uint8_t>(size_t(width) * height * 3)};
  const size_t row_size = size_t(width) * 3;
  for (int y = 0; y < height; ++y) {
    for (size_t i = 0; i < row_size; ++i) {
      float sum = 0.5f;
      for (size_t k = 0; k < rows[y].weights.size(); ++k) {
        sum += rows[y].weights[k] * wide[(rows[y].first + k) * row_size + i];
      }
      result.pixels[y * row_size + i] = uint8_t(std::min(sum, 255.0f));
    }
  }
  return result;
}

// The image within `width` x `height`, its proportions kept, in the upper left corner; the rest is `fill`. `*scale`: by
// how much it was multiplied.
inline Image Letterbox(const Image& image, int width, int height, float* scale, uint8_t fill = 114) {
  *scale = std::min(float(width) / image.width, float(height) / image.height);
  const Image small = Resize(image, std::min(width, std::max(1, int(std::lround(image.width * *scale)))),
                             std::min(height, std::max(1, int(std::lround(image.height * *scale)))));
  Image result{width, height, std::vector<uint8_t>(size_t(width) * height * 3, fill)};
  for (int y = 0; y < small.height; ++y) {
    const uint8_t* row = small.pixels.data() + size_t(y) * small.width * 3;
    std::copy(row, row + size_t(small.width) * 3, result.pixels.data() + size_t(y) * width * 3);
  }
  return result;
}

// (byte - mean) / deviation as a tensor: pixel by pixel (NHWC), or plane by plane (NCHW); `bgr`: blue first.
struct Normalization {
  float mean;
  float deviation;
  bool planes = false;
  bool bgr = false;
};

inline void ToTensor(const Image& image, const Normalization& how, float* out) {
  const size_t pixels = size_t(image.width) * image.height;
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const float value = (image.pixels[i * 3 + (how.bgr ? 2 - c : c)] - how.mean) / how.deviation;
      out[how.planes ? c * pixels + i : i * 3 + c] = value;
    }
  }
}

}  // namespace vision

#endif  // VISION_IMAGE_H_

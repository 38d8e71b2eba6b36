// Windows of 7 x 7 that move by 2 as windows of 4 x 4 over squares of 2 x 2 pixels: what one tile reads.
#ifndef LATHE_OPS_CONV2D_WINOGRAD_SQUARES_H_
#define LATHE_OPS_CONV2D_WINOGRAD_SQUARES_H_

#include "native/kernel/spatial/window.h"
#include "native/ops/conv2d/winograd_place.h"
#include "native/ops/conv2d/winograd_transforms.h"

namespace lathe {
namespace {

constexpr int kMostChannels = 4;  // of windows that move by 2
constexpr int kCopied = 2 * kMostChannels;

// The pixels that one tile reads, as squares of 2 x 2: [kPatch][kPatch][vertical, horizontal, channels].
struct Squares {
  Element of[kPoints * 2 * kCopied + kCopied];
};

// Copies two pixels and what comes after them, of which the next copies write over what is too much.
__attribute__((noinline)) void CopySquares(const Element* image, const Shape& in, const Window& window,
                                           const TilePlace& place, Squares* squares) {
  const int64_t channels = in[3], line_elements = in[2] * channels;
  const int64_t top = 2 * place.y - window.before[0];
  const int64_t left = (2 * place.x - window.before[1]) * channels;
  const int64_t read = 2 * (kPatch - 1) * channels + kCopied;
  Element parts[2][2 * kPatch * kMostChannels];
  Element* to = squares->of;
  for (int i = 0; i < kPatch; ++i) {
    const Element* from[2];
    for (int j = 0; j < 2; ++j) {
      const int64_t y = top + 2 * i + j;
      const bool inside = y >= 0 && y < in[1];
      const Element* line = image + (place.batch * in[1] + (inside ? y : 0)) * line_elements;
      if (inside && left >= 0 && left + read <= line_elements) {
        from[j] = line + left;
        continue;
      }
      from[j] = parts[j];
      memset(parts[j], 0, sizeof parts[j]);
      const int64_t first = left < 0 ? -left : 0;
      const int64_t rest = line_elements - left, most = 2 * kPatch * channels;
      const int64_t end = rest < most ? rest : most;
      if (inside && end > first)
        memcpy(parts[j] + first, line + left + first, static_cast<size_t>(end - first) * sizeof(Element));
    }
    for (int j = 0; j < kPatch; ++j, to += 4 * channels) {
      memcpy(to, from[0] + 2 * j * channels, kCopied * sizeof(Element));
      memcpy(to + 2 * channels, from[1] + 2 * j * channels, kCopied * sizeof(Element));
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_WINOGRAD_SQUARES_H_

// Formats of pixels among each other.
#include "native/vision/image.h"

namespace lathe {
namespace vision {
namespace {

// A row of an image with Y, U and V, from an even column on.
YuvRow RowOf(const Image& image, int x, int y, Chroma* chroma) {
  const Plane* planes = image.planes;
  if (image.pixels == LATHE_YUYV) {
    *chroma = Chroma::kYuyv;
    return {planes[0].row(y) + x * 2, nullptr, nullptr, false};
  }
  const uint8_t* luma = planes[0].row(y) + x;
  if (image.pixels == LATHE_I420) {
    *chroma = Chroma::kHalves;
    return {luma, planes[1].row(y / 2) + x / 2, planes[2].row(y / 2) + x / 2, false};
  }
  *chroma = Chroma::kPairs;
  return {luma, planes[1].row(y / 2) + x, nullptr, image.pixels == LATHE_NV21};
}

YuvPixels* PixelsOf(Chroma chroma, int set) {
  if (chroma == Chroma::kPairs) return yuv_pairs.of(set);
  return chroma == Chroma::kHalves ? yuv_halves.of(set) : yuv_yuyv.of(set);
}

void YuvToPixels(const Image& from, const Image& to) {
  const YuvToRgb how = ToRgb(from.yuv);
  const int set = BestRows();
  for (int y = 0; y < from.height; ++y) {
    Chroma chroma;
    const YuvRow row = RowOf(from, 0, y, &chroma);
    PixelsOf(chroma, set)(row, static_cast<size_t>(from.width), how, ChannelsOf(to.pixels), BlueFirst(to.pixels),
                          to.planes[0].row(y));
  }
}

void PixelsToPixels(const Image& from, const Image& to) {
  const int set = BestRows();
  const int channels = ChannelsOf(from.pixels), made = ChannelsOf(to.pixels);
  // To gray, it counts where blue is; among colours, whether it changes its place.
  const bool swapped =
      made == 1 ? BlueFirst(from.pixels) : channels != 1 && BlueFirst(from.pixels) != BlueFirst(to.pixels);
  for (int y = 0; y < from.height; ++y) {
    convert_pixels.of(set)(from.planes[0].row(y), static_cast<size_t>(from.width), channels, made, swapped,
                           to.planes[0].row(y));
  }
}

// A part of two rows of an image with Y, U and V, as bytes of each.
struct Block {
  uint8_t luma[2][kTile];
  uint8_t u[kTile / 2];
  uint8_t v[kTile / 2];
};

// Where the U and V of a block belong, and its two rows of Y.
void Write(const Block& block, const Image& to, int x, int y, int count, int row_count, int set) {
  const size_t half = static_cast<size_t>(count + 1) / 2;
  if (to.pixels == LATHE_YUYV) {
    for (int k = 0; k < row_count; ++k) {
      uint8_t* target = to.planes[0].row(y + k) + x * 2;
      for (size_t i = 0; i < half; ++i) {
        const size_t second = 2 * i + 1 < static_cast<size_t>(count) ? 2 * i + 1 : 2 * i;
        target[4 * i] = block.luma[k][2 * i];
        target[4 * i + 1] = block.u[i];
        target[4 * i + 2] = block.luma[k][second];
        target[4 * i + 3] = block.v[i];
      }
    }
    return;
  }
  for (int k = 0; k < row_count; ++k) {
    memcpy(to.planes[0].row(y + k) + x, block.luma[k], static_cast<size_t>(count));
  }
  if (to.pixels == LATHE_I420) {
    memcpy(to.planes[1].row(y / 2) + x / 2, block.u, half);
    memcpy(to.planes[2].row(y / 2) + x / 2, block.v, half);
    return;
  }
  const bool swapped = to.pixels == LATHE_NV21;
  merge_pairs.of(set)(swapped ? block.v : block.u, swapped ? block.u : block.v, half, to.planes[1].row(y / 2) + x);
}

// Calls block(x, y, columns, rows) for parts of the image. Formats with U and V for each row get single rows.
template <typename F>
void EachBlock(const Image& image, int row_count, F block) {
  for (int y = 0; y < image.height; y += row_count) {
    for (int x = 0; x < image.width; x += kTile) {
      const int columns = image.width - x < kTile ? image.width - x : kTile;
      block(x, y, columns, y + row_count <= image.height ? row_count : 1);
    }
  }
}

void PixelsToYuv(const Image& from, const Image& to) {
  const int set = BestRows();
  const RgbToYuv how = ToYuv(to.yuv);
  const int channels = ChannelsOf(from.pixels);
  const bool blue_first = BlueFirst(from.pixels);
  EachBlock(to, to.pixels == LATHE_YUYV ? 1 : 2, [&](int x, int y, int columns, int row_count) {
    Block block;
    const uint8_t* source[2];
    for (int k = 0; k < 2; ++k) {
      source[k] = from.planes[0].row(y + (k < row_count ? k : 0)) + x * channels;
      luma_of_pixels.of(set)(source[k], static_cast<size_t>(columns), channels, blue_first, how, block.luma[k]);
    }
    chroma_of_pixels.of(set)(source[0], source[1], static_cast<size_t>(columns), channels, blue_first, how, block.u,
                             block.v);
    Write(block, to, x, y, columns, row_count, set);
  });
}

// Y, U and V of an image for a block of another format.
void Read(const Image& from, int x, int y, int columns, int row_count, int set, Block* block) {
  const size_t half = static_cast<size_t>(columns + 1) / 2;
  if (from.pixels == LATHE_YUYV) {
    const uint8_t* second = from.planes[0].row(y + row_count - 1) + x * 2;
    for (int k = 0; k < row_count; ++k) {
      const uint8_t* source = from.planes[0].row(y + k) + x * 2;
      for (int i = 0; i < columns; ++i) block->luma[k][i] = source[2 * i];
    }
    const uint8_t* first = from.planes[0].row(y) + x * 2;
    for (size_t i = 0; i < half; ++i) {
      block->u[i] = static_cast<uint8_t>((first[4 * i + 1] + second[4 * i + 1] + 1) >> 1);
      block->v[i] = static_cast<uint8_t>((first[4 * i + 3] + second[4 * i + 3] + 1) >> 1);
    }
    return;
  }
  for (int k = 0; k < row_count; ++k) {
    memcpy(block->luma[k], from.planes[0].row(y + k) + x, static_cast<size_t>(columns));
  }
  if (from.pixels == LATHE_I420) {
    memcpy(block->u, from.planes[1].row(y / 2) + x / 2, half);
    memcpy(block->v, from.planes[2].row(y / 2) + x / 2, half);
    return;
  }
  const bool swapped = from.pixels == LATHE_NV21;
  split_pairs.of(set)(from.planes[1].row(y / 2) + x, half, swapped ? block->v : block->u,
                      swapped ? block->u : block->v);
}

void YuvToYuv(const Image& from, const Image& to) {
  const int set = BestRows();
  EachBlock(to, to.pixels == LATHE_YUYV ? 1 : 2, [&](int x, int y, int columns, int row_count) {
    Block block;
    Read(from, x, y, columns, row_count, set, &block);
    Write(block, to, x, y, columns, row_count, set);
  });
}

Code CheckConversion(const Image& from, const Image& to, const ErrorSink& errors) {
  if (from.width != to.width || from.height != to.height)
    return errors.Fail(Code::kInvalidArgument,
                       "convert: source and target are %dx%d and %dx%d pixels: they must be equal", from.width,
                       from.height, to.width, to.height);
  if (from.is_yuv() && to.is_yuv() && from.yuv != to.yuv)
    return errors.Fail(Code::kUnsupported, "convert: Y, U and V mean different things: convert to RGB in between");
  const bool in_place = !from.is_yuv() && !to.is_yuv() && from.planes[0].data == to.planes[0].data &&
                        from.planes[0].stride == to.planes[0].stride && to.planes[0].pixel <= from.planes[0].pixel;
  return in_place ? Code::kOk : CheckApart(from, to, errors);
}

}  // namespace

lathe_code Convert(const lathe_image* source, const lathe_image* target, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image from, to;
  Code code = CheckImage(source, "convert: source", &from, errors);
  if (code == Code::kOk) code = CheckImage(target, "convert: target", &to, errors);
  if (code == Code::kOk) code = CheckConversion(from, to, errors);
  if (code != Code::kOk) return Public(code);
  if (from.is_yuv()) {
    to.is_yuv() ? YuvToYuv(from, to) : YuvToPixels(from, to);
  } else {
    to.is_yuv() ? PixelsToYuv(from, to) : PixelsToPixels(from, to);
  }
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe

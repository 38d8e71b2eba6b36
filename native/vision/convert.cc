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
  const bool blue_first = BlueFirst(from.pixels);
  const bool swapped = channels != 1 && made != 1 && blue_first != BlueFirst(to.pixels);
  // Rows with nothing in between are one.
  const auto is_joined = [](const Image& image) { return image.planes[0].stride == image.planes[0].row_bytes(); };
  const bool at_once = is_joined(from) && is_joined(to);
  const size_t width = static_cast<size_t>(from.width) * static_cast<size_t>(at_once ? from.height : 1);
  for (int y = 0; y < (at_once ? 1 : from.height); ++y) {
    if (made == 1 && channels != 1) {
      gray_pixels.of(set)(from.planes[0].row(y), width, channels, blue_first, to.planes[0].row(y));
    } else {
      convert_pixels.of(set)(from.planes[0].row(y), width, channels, made, swapped, to.planes[0].row(y));
    }
  }
}

// A part of two rows of an image with Y, U and V, as bytes of each.
struct Block {
  uint8_t luma[2][kTile];
  uint8_t u[kTile / 2];
  uint8_t v[kTile / 2];
};

// Rows of Y, U and V that hold pixels from (x, y) on: those of the target, or, where it has them otherwise, of a block.
YuvRows RowsFor(const Image& to, int x, int y, int row_count, Block* block) {
  YuvRows made = {{block->luma[0], block->luma[row_count - 1]}, block->u, block->v};
  if (to.pixels != LATHE_YUYV) {
    for (int k = 0; k < 2; ++k) made.y[k] = to.planes[0].row(y + (k < row_count ? k : 0)) + x;
  }
  if (to.pixels == LATHE_I420) {
    made.u = to.planes[1].row(y / 2) + x / 2;
    made.v = to.planes[2].row(y / 2) + x / 2;
  }
  return made;
}

// What of these rows is not in the target yet.
void Finish(const YuvRows& rows, const Image& to, int x, int y, int count, int set) {
  const size_t half = static_cast<size_t>(count + 1) / 2;
  if (to.pixels == LATHE_YUYV) {
    uint8_t* target = to.planes[0].row(y) + x * 2;
    for (size_t i = 0; i < half; ++i) {
      const size_t second = 2 * i + 1 < static_cast<size_t>(count) ? 2 * i + 1 : 2 * i;
      target[4 * i] = rows.y[0][2 * i];
      target[4 * i + 1] = rows.u[i];
      target[4 * i + 2] = rows.y[0][second];
      target[4 * i + 3] = rows.v[i];
    }
  } else if (to.is_semi_planar()) {
    const bool swapped = to.pixels == LATHE_NV21;
    merge_pairs.of(set)(swapped ? rows.v : rows.u, swapped ? rows.u : rows.v, half, to.planes[1].row(y / 2) + x);
  }
}

// Calls block(x, y, columns, rows) for parts of the image, one row at once where each has its U and V. Whole rows of
// planes need no block.
template <typename F>
void EachBlock(const Image& image, F block) {
  const int row_count = image.pixels == LATHE_YUYV ? 1 : 2;
  const int tile = image.pixels == LATHE_I420 ? image.width : kTile;
  for (int y = 0; y < image.height; y += row_count) {
    for (int x = 0; x < image.width; x += tile) {
      block(x, y, image.width - x < tile ? image.width - x : tile, y + row_count <= image.height ? row_count : 1);
    }
  }
}

void PixelsToYuv(const Image& from, const Image& to) {
  const int set = BestRows();
  const RgbToYuv how = ToYuv(to.yuv);
  const int channels = ChannelsOf(from.pixels);
  const bool blue_first = BlueFirst(from.pixels);
  EachBlock(to, [&](int x, int y, int columns, int row_count) {
    Block block;
    const YuvRows rows = RowsFor(to, x, y, row_count, &block);
    const uint8_t* const first = from.planes[0].row(y) + x * channels;
    const uint8_t* const second = from.planes[0].row(y + row_count - 1) + x * channels;
    yuv_of_pixels.of(set)(first, second, static_cast<size_t>(columns), channels, blue_first, how, rows);
    Finish(rows, to, x, y, columns, set);
  });
}

// Y, U and V of an image, for two rows of another format.
void Read(const Image& from, int x, int y, int columns, int row_count, int set, const YuvRows& to) {
  const size_t half = static_cast<size_t>(columns + 1) / 2;
  if (from.pixels == LATHE_YUYV) {
    const uint8_t* second = from.planes[0].row(y + row_count - 1) + x * 2;
    for (int k = 0; k < row_count; ++k) {
      const uint8_t* source = from.planes[0].row(y + k) + x * 2;
      for (int i = 0; i < columns; ++i) to.y[k][i] = source[2 * i];
    }
    const uint8_t* first = from.planes[0].row(y) + x * 2;
    for (size_t i = 0; i < half; ++i) {
      to.u[i] = static_cast<uint8_t>((first[4 * i + 1] + second[4 * i + 1] + 1) >> 1);
      to.v[i] = static_cast<uint8_t>((first[4 * i + 3] + second[4 * i + 3] + 1) >> 1);
    }
    return;
  }
  for (int k = 0; k < row_count; ++k) {
    memcpy(to.y[k], from.planes[0].row(y + k) + x, static_cast<size_t>(columns));
  }
  if (from.pixels == LATHE_I420) {
    memcpy(to.u, from.planes[1].row(y / 2) + x / 2, half);
    memcpy(to.v, from.planes[2].row(y / 2) + x / 2, half);
    return;
  }
  const bool swapped = from.pixels == LATHE_NV21;
  split_pairs.of(set)(from.planes[1].row(y / 2) + x, half, swapped ? to.v : to.u, swapped ? to.u : to.v);
}

void YuvToYuv(const Image& from, const Image& to) {
  const int set = BestRows();
  EachBlock(to, [&](int x, int y, int columns, int row_count) {
    Block block;
    const YuvRows rows = RowsFor(to, x, y, row_count, &block);
    Read(from, x, y, columns, row_count, set, rows);
    Finish(rows, to, x, y, columns, set);
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

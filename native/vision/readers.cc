// The readers and writers of tensor.h.
#include "native/vision/tensor.h"

namespace lathe {
namespace vision {
namespace {

// The plane of an image in which one element stands for share_x * share_y pixels.
void Place(const Pass& pass, const Plane& plane, int channels, int share_x, int share_y, Sampler* sampler) {
  sampler->plane = plane;
  sampler->channels = channels;
  const Content& inner = pass.inner;
  sampler->x = {pass.left, pass.width,           pass.out_width,
                share_x,   inner.left / share_x, (inner.left + inner.width - 1) / share_x};
  sampler->y = {pass.top, pass.height,         pass.out_height,
                share_y,  inner.top / share_y, (inner.top + inner.height - 1) / share_y};
}

int PixelSamplers(const Pass& pass, Sampler* samplers) {
  Place(pass, pass.image.planes[0], pass.image.planes[0].pixel, 1, 1, samplers);
  return 1;
}

const uint8_t* PixelRow(const Pass& pass, Sampler* samplers, int y, uint8_t* buffer) {
  uint8_t pixels[kTile * 4];
  const uint8_t* row = pass.parts.filter->row(samplers, y, pixels);
  const int channels = samplers->channels;
  const bool blue_first = BlueFirst(pass.image.pixels);
  const bool swapped = channels != 1 && !pass.gray && blue_first != pass.blue_first;
  if (channels == pass.channels && !swapped && row != pixels) return row;
  const size_t count = static_cast<size_t>(pass.count);
  if (pass.gray && channels != 1) {
    gray_pixels.of(pass.set)(row, count, channels, blue_first, buffer);
  } else {
    convert_pixels.of(pass.set)(row, count, channels, pass.channels, swapped, buffer);
  }
  return buffer;
}

const uint8_t* Colours(const Pass& pass, const Row<YuvPixels>& pixels, const YuvRow& row, uint8_t* buffer) {
  pixels.of(pass.set)(row, static_cast<size_t>(pass.count), ToRgb(pass.image.yuv), pass.channels, pass.blue_first,
                      buffer);
  return buffer;
}

// The pixels of a row as it is, whose first one may be the second of a pair: that one is made by itself.
const uint8_t* ColoursAsTheyAre(const Pass& pass, Chroma chroma, const Row<YuvPixels>& pixels, YuvRow row, int x,
                                uint8_t* buffer) {
  if (x % 2 == 0) return Colours(pass, pixels, row, buffer);
  Pass part = pass;
  uint8_t pair[2 * 4];
  const YuvRow before = chroma == Chroma::kYuyv ? row : YuvRow{row.y - 1, row.u, row.v, row.swapped};
  part.count = 2;
  Colours(part, pixels, before, pair);
  memcpy(buffer, pair + pass.channels, static_cast<size_t>(pass.channels));
  part.count = pass.count - 1;
  if (part.count == 0) return buffer;
  const int pairs = chroma == Chroma::kPairs ? 2 : 1;
  const YuvRow rest = chroma == Chroma::kYuyv ? YuvRow{row.y + 4, nullptr, nullptr, false}
                                              : YuvRow{row.y + 1, row.u + pairs, row.v + pairs, row.swapped};
  Colours(part, pixels, rest, buffer + pass.channels);
  return buffer;
}

int SemiSamplers(const Pass& pass, Sampler* samplers) {
  Place(pass, pass.image.planes[0], 1, 1, 1, samplers);
  Place(pass, pass.image.planes[1], 2, 2, 2, samplers + 1);
  return pass.gray ? 1 : 2;
}

const uint8_t* SemiRow(const Pass& pass, Sampler* samplers, int y, uint8_t* buffer) {
  const bool swapped = pass.image.pixels == LATHE_NV21;
  const Plane* planes = pass.image.planes;
  if (pass.same_size) {
    const int x = pass.left + pass.first, from = pass.top + y;
    const uint8_t* pairs = planes[1].row(from / 2) + x / 2 * 2;
    return ColoursAsTheyAre(pass, Chroma::kPairs, yuv_pairs, {planes[0].row(from) + x, pairs, pairs, swapped}, x,
                            buffer);
  }
  uint8_t luma[kTile], pairs[kTile * 2], u[kTile], v[kTile];
  const uint8_t* brightness = pass.parts.filter->row(samplers, y, luma);
  if (pass.gray) return Colours(pass, yuv_full, {brightness, brightness, brightness, false}, buffer);
  const uint8_t* both = pass.parts.filter->row(samplers + 1, y, pairs);
  split_pairs.of(pass.set)(both, static_cast<size_t>(pass.count), swapped ? v : u, swapped ? u : v);
  return Colours(pass, yuv_full, {brightness, u, v, false}, buffer);
}

int PlanarSamplers(const Pass& pass, Sampler* samplers) {
  Place(pass, pass.image.planes[0], 1, 1, 1, samplers);
  Place(pass, pass.image.planes[1], 1, 2, 2, samplers + 1);
  Place(pass, pass.image.planes[2], 1, 2, 2, samplers + 2);
  return pass.gray ? 1 : 3;
}

const uint8_t* ResizedRow(const Pass& pass, Sampler* samplers, int y, uint8_t* buffer) {
  uint8_t made[3][kTile];
  const uint8_t* rows[3];
  for (int i = 0; i < 3; ++i) rows[i] = pass.parts.filter->row(samplers + (pass.gray ? 0 : i), y, made[i]);
  return Colours(pass, yuv_full, {rows[0], rows[1], rows[2], false}, buffer);
}

const uint8_t* PlanarRow(const Pass& pass, Sampler* samplers, int y, uint8_t* buffer) {
  if (!pass.same_size) return ResizedRow(pass, samplers, y, buffer);
  const Plane* planes = pass.image.planes;
  const int x = pass.left + pass.first, from = pass.top + y;
  const YuvRow row = {planes[0].row(from) + x, planes[1].row(from / 2) + x / 2, planes[2].row(from / 2) + x / 2, false};
  return ColoursAsTheyAre(pass, Chroma::kHalves, yuv_halves, row, x, buffer);
}

int YuyvSamplers(const Pass& pass, Sampler* samplers) {
  const Plane& pairs = pass.image.planes[0];
  // Each second byte is a Y; the last pair may have one that is no pixel.
  Place(pass, {pairs.data, pairs.stride, pairs.width * 2, pairs.height, 2}, 1, 1, 1, samplers);
  Place(pass, {pairs.data + 1, pairs.stride, pairs.width, pairs.height, 4}, 1, 2, 1, samplers + 1);
  Place(pass, {pairs.data + 3, pairs.stride, pairs.width, pairs.height, 4}, 1, 2, 1, samplers + 2);
  return pass.gray ? 1 : 3;
}

const uint8_t* YuyvRow(const Pass& pass, Sampler* samplers, int y, uint8_t* buffer) {
  if (!pass.same_size) return ResizedRow(pass, samplers, y, buffer);
  const int x = pass.left + pass.first;
  const uint8_t* row = pass.image.planes[0].row(pass.top + y) + x / 2 * 4;
  return ColoursAsTheyAre(pass, Chroma::kYuyv, yuv_yuyv, {row, nullptr, nullptr, false}, x, buffer);
}

void WriteF32(int set, const uint8_t* source, size_t count, int channels, const Normal& normal, void* target) {
  elements_f32.of(set)(source, count, channels, normal, static_cast<float*>(target));
}

void WriteF16(int set, const uint8_t* source, size_t count, int channels, const Normal& normal, void* target) {
  elements_f16.of(set)(source, count, channels, normal, static_cast<uint16_t*>(target));
}

void WriteS8(int set, const uint8_t* source, size_t count, int channels, const Normal& normal, void* target) {
  elements_bytes.of(set)(source, count, channels, normal, true, static_cast<uint8_t*>(target));
}

void WriteU8(int set, const uint8_t* source, size_t count, int channels, const Normal& normal, void* target) {
  elements_bytes.of(set)(source, count, channels, normal, false, static_cast<uint8_t*>(target));
}

}  // namespace

const Reader pixel_reader = {PixelSamplers, PixelRow};
const Reader semi_reader = {SemiSamplers, SemiRow};
const Reader planar_reader = {PlanarSamplers, PlanarRow};
const Reader yuyv_reader = {YuyvSamplers, YuyvRow};
const Writer f32_writer = {4, WriteF32};
const Writer f16_writer = {2, WriteF16};
const Writer s8_writer = {1, WriteS8};
const Writer u8_writer = {1, WriteU8};

}  // namespace vision
}  // namespace lathe

// Borders that an image gets before it is resized. They are not in memory: what a resized pixel has of the image is
// made as if its edges went on, and mixed with the colour of the border afterwards.
#include "native/vision/tensor.h"

namespace lathe {
namespace vision {
namespace {

constexpr int kWhole = 1 << 15;

// One side of the resize, in pixels: `size` from `origin` on become `out`, and those from `low` to `high` are the
// image's.
struct Side {
  int64_t origin;
  int64_t size;
  int64_t out;
  int64_t low;
  int64_t high;
};

Side Across(const Pass& pass) {
  const Content& inner = pass.inner;
  return {pass.left, pass.width, pass.out_width, inner.left, inner.left + inner.width - 1};
}

Side Down(const Pass& pass) {
  const Content& inner = pass.inner;
  return {pass.top, pass.height, pass.out_height, inner.top, inner.top + inner.height - 1};
}

int64_t Floor(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// How much of pixel `i` of the result is the image, in 1/32768.
int ShareOf(const Side& side, uint32_t filter, int64_t i) {
  // The edges of what is resized go on: those of the image, where it has no border there.
  const auto within = [&](int64_t pixel) {
    return (pixel >= side.low || side.low == side.origin) &&
           (pixel <= side.high || side.high == side.origin + side.size - 1);
  };
  if (filter == LATHE_AREA) {
    const int64_t start = i * side.size + side.origin * side.out, end = start + side.size;
    const int64_t first = side.low * side.out, last = (side.high + 1) * side.out;
    const int64_t covered = (end < last ? end : last) - (start > first ? start : first);
    return covered <= 0 ? 0 : static_cast<int>(covered * kWhole / side.size);
  }
  const int64_t unit = 2 * side.out, centre = (2 * i + 1) * side.size + side.origin * unit;
  if (filter == LATHE_NEAREST) return within(Floor(centre, unit)) ? kWhole : 0;
  const int64_t before = Floor(centre - side.out, unit);
  const int weight = static_cast<int>((centre - side.out - before * unit) * kWhole / unit);
  return (within(before) ? kWhole - weight : 0) + (within(before + 1) ? weight : 0);
}

// From the first pixel that has something of the image to that after the last.
void Find(const Side& side, uint32_t filter, int found[2]) {
  int first = 0, end = static_cast<int>(side.out);
  while (first < end && ShareOf(side, filter, first) == 0) ++first;
  while (end > first && ShareOf(side, filter, end - 1) == 0) --end;
  found[0] = first;
  found[1] = end;
}

// The pixels that `side` has with the proportions of `to` to `from`.
int Stretched(int side, int from, int to, uint32_t rounding) {
  const int64_t exact = int64_t{side} * to;
  if (rounding == LATHE_LETTERBOX_DOWN) return static_cast<int>(exact / from);
  return static_cast<int>(rounding == LATHE_LETTERBOX_UP ? (exact + from - 1) / from : (2 * exact + from) / (2 * from));
}

Content Extend(const lathe_view& view, const Turn& turn, int width, int height, Pass* pass) {
  const bool sideways = view.rotation % 180 != 0, middle = (view.fit & 15) == LATHE_PAD;
  const uint32_t rounding = view.fit & (LATHE_LETTERBOX_DOWN | LATHE_LETTERBOX_UP);
  const int across = sideways ? pass->height : pass->width, down = sideways ? pass->width : pass->height;
  const bool wide = int64_t{across} * height >= int64_t{down} * width;
  const int full_width = wide ? across : Stretched(down, height, width, rounding);
  const int full_height = wide ? Stretched(across, width, height, rounding) : down;
  const int x = middle ? (full_width - across) / 2 : 0, y = middle ? (full_height - down) / 2 : 0;
  // Back to the image before it is turned: the inverse of a turn is its transpose.
  const Turn whole = TurnOf(view, full_width, full_height);
  const int* m = whole.m;
  const int near[2] = {x - m[2], y - m[5]}, far[2] = {x + across - m[2], y + down - m[5]};
  const auto least = [](int a, int b) { return a < b ? a : b; };
  pass->left -= least(m[0] * near[0] + m[3] * near[1], m[0] * far[0] + m[3] * far[1]);
  pass->top -= least(m[1] * near[0] + m[4] * near[1], m[1] * far[0] + m[4] * far[1]);
  pass->width = sideways ? full_height : full_width;
  pass->height = sideways ? full_width : full_height;
  Find(Across(*pass), view.filter, pass->columns);
  Find(Down(*pass), view.filter, pass->rows);
  const int* t = turn.m;
  const int* columns = pass->columns;
  const int* rows = pass->rows;
  const int first[2] = {t[0] * columns[0] + t[1] * rows[0] + t[2], t[3] * columns[0] + t[4] * rows[0] + t[5]};
  const int last[2] = {t[0] * columns[1] + t[1] * rows[1] + t[2], t[3] * columns[1] + t[4] * rows[1] + t[5]};
  const int left = least(first[0], last[0]), top = least(first[1], last[1]);
  return {left, top, first[0] + last[0] - 2 * left, first[1] + last[1] - 2 * top};
}

const uint8_t* Mix(const Pass& pass, int y, const uint8_t* row, uint8_t* buffer) {
  const Side across = Across(pass);
  const int down = ShareOf(Down(pass), pass.filter, y);
  int share[kTile];
  int begin = 0, end = pass.count;
  // Columns that the border has a share of are at the ends.
  const auto is_whole = [&](int i) {
    share[i] = ShareOf(across, pass.filter, pass.first + i);
    return share[i] == kWhole;
  };
  while (begin < end && !is_whole(begin)) ++begin;
  while (end > begin && !is_whole(end - 1)) --end;
  if (down == kWhole && begin == 0 && end == pass.count) return row;
  const int channels = pass.channels;
  if (row != buffer) memcpy(buffer, row, static_cast<size_t>(pass.count * channels));
  for (int i = 0; i < pass.count; ++i) {
    if (down == kWhole && i == begin) i = end;
    if (i == pass.count) break;
    const int both = i < begin || i >= end ? (share[i] * down) >> 15 : down;
    uint8_t* pixel = buffer + i * channels;
    for (int c = 0; c < channels; ++c) {
      pixel[c] = static_cast<uint8_t>((pixel[c] * both + pass.fill[c] * (kWhole - both) + kWhole / 2) >> 15);
    }
  }
  return buffer;
}

}  // namespace

const Padding padding = {Extend, Mix};

}  // namespace vision
}  // namespace lathe

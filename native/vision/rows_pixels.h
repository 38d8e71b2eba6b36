// Rows of whole pixels among each other, and their Y, U and V: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_PIXELS_H_
#define LATHE_VISION_ROWS_PIXELS_H_

#include "native/vision/rows.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

// The three colours of kWords pixels.
template <int channels>
inline void LoadColours(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c, ByteVector* alpha) {
  if (channels == 1) *a = *b = *c = LoadVector(from);
  if (channels == 3) Load3(from, a, b, c);
  if (channels == 4) Load4(from, a, b, c, alpha);
}

// What the eye takes for brightness, of red, green and blue.
inline Words GrayOf(ByteVector red, ByteVector green, ByteVector blue) {
  const Words sum = Add(Add(Mul(Widen(red), Fill(38)), Mul(Widen(green), Fill(75))), Mul(Widen(blue), Fill(15)));
  return RightUnsigned<7>(sum);
}

#if defined(__AVX2__)

// Pixels of 3 and 4 bytes with one permutation: `step` at once, of 16 bytes. What is written beyond them, the next
// pixels write again: in place they are what was there, or have been read.
template <int from, int to>
size_t Permuted(const uint8_t* source, size_t width, bool swapped, uint8_t* target) {
  constexpr size_t step = from == 3 && to == 3 ? 5 : 4;
  constexpr char n = -1;
  __m128i order;
  if (from == 3 && to == 3) order = _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
  if (from == 4 && to == 3)
    order = swapped ? _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, n, n, n, n)
                    : _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, n, n, n, n);
  if (from == 3 && to == 4)
    order = swapped ? _mm_setr_epi8(2, 1, 0, n, 5, 4, 3, n, 8, 7, 6, n, 11, 10, 9, n)
                    : _mm_setr_epi8(0, 1, 2, n, 3, 4, 5, n, 6, 7, 8, n, 9, 10, 11, n);
  if (from == 4 && to == 4) order = _mm_setr_epi8(2, 1, 0, 3, 6, 5, 4, 7, 10, 9, 8, 11, 14, 13, 12, 15);
  const __m128i opaque = from == 3 && to == 4 ? _mm_set1_epi32(static_cast<int>(0xff000000u)) : _mm_setzero_si128();
  size_t i = 0;
  // Two more pixels have room for the bytes that are read or written beyond these.
  for (; i + step + 2 <= width; i += step) {
    Put(target + i * to, _mm_or_si128(_mm_shuffle_epi8(Bytes(source + i * from), order), opaque));
  }
  return i;
}

#endif

template <int from, int to>
void ConvertRow(const uint8_t* source, size_t width, bool swapped, uint8_t* target) {
  size_t i = 0;
#if defined(__AVX2__)
  if (from > 1 && to > 1) i = Permuted<from, to>(source, width, swapped, target);
#endif
  for (; i + kWords <= width; i += kWords) {
    ByteVector a, b, c, alpha = FillVector(255);
    LoadColours<from>(source + i * from, &a, &b, &c, &alpha);
    // To gray, `swapped` says that blue comes first.
    if (to == 1) StoreBytes(target + i, swapped ? GrayOf(c, b, a) : GrayOf(a, b, c));
    if (to == 3) Store3(target + i * 3, swapped ? c : a, b, swapped ? a : c);
    if (to == 4) Store4(target + i * 4, swapped ? c : a, b, swapped ? a : c, alpha);
  }
  for (; i < width; ++i) {
    const uint8_t* x = source + i * from;
    const uint8_t a = x[0], b = x[from == 1 ? 0 : 1], c = x[from == 1 ? 0 : 2], alpha = from == 4 ? x[3] : 255;
    uint8_t* y = target + i * to;
    const int red = swapped ? c : a, blue = swapped ? a : c;
    if (to == 1) {
      y[0] = static_cast<uint8_t>((38 * red + 75 * b + 15 * blue) >> 7);
    } else {
      y[0] = static_cast<uint8_t>(red), y[1] = b, y[2] = static_cast<uint8_t>(blue);
      if (to == 4) y[3] = alpha;
    }
  }
}

template <int from>
void ConvertFrom(const uint8_t* source, size_t width, int to, bool swapped, uint8_t* target) {
  if (to == 1) return ConvertRow<from, 1>(source, width, swapped, target);
  if (to == 3) return ConvertRow<from, 3>(source, width, swapped, target);
  ConvertRow<from, 4>(source, width, swapped, target);
}

void ConvertRows(const uint8_t* source, size_t width, int from, int to, bool swapped, uint8_t* target) {
  if (from == to && (from == 1 || !swapped)) {
    if (source != target) memcpy(target, source, width * from);
    return;
  }
  if (from == 1) return ConvertFrom<1>(source, width, to, swapped, target);
  if (from == 3) return ConvertFrom<3>(source, width, to, swapped, target);
  ConvertFrom<4>(source, width, to, swapped, target);
}

template <int channels>
void LumaRow(const uint8_t* source, size_t width, bool blue_first, const RgbToYuv& how, uint8_t* target) {
  const Words wa = Fill(how.y[blue_first ? 2 : 0]), wb = Fill(how.y[1]), wc = Fill(how.y[blue_first ? 0 : 2]);
  const Words offset = Fill(how.y_offset), half = Fill(128);
  size_t i = 0;
  for (; i + kWords <= width; i += kWords) {
    ByteVector a, b, c, alpha;
    LoadColours<channels>(source + i * channels, &a, &b, &c, &alpha);
    const Words sum = Add(Add(Add(Mul(Widen(a), wa), Mul(Widen(b), wb)), Mul(Widen(c), wc)), half);
    StoreBytes(target + i, Add(RightUnsigned<8>(sum), offset));
  }
  for (; i < width; ++i) {
    const uint8_t* x = source + i * channels;
    const int a = x[0], b = x[channels == 1 ? 0 : 1], c = x[channels == 1 ? 0 : 2];
    const int sum = a * how.y[blue_first ? 2 : 0] + b * how.y[1] + c * how.y[blue_first ? 0 : 2];
    target[i] = static_cast<uint8_t>(((sum + 128) >> 8) + how.y_offset);
  }
}

void Luma(const uint8_t* source, size_t width, int channels, bool blue_first, const RgbToYuv& how, uint8_t* target) {
  if (channels == 1) return LumaRow<1>(source, width, blue_first, how, target);
  if (channels == 3) return LumaRow<3>(source, width, blue_first, how, target);
  LumaRow<4>(source, width, blue_first, how, target);
}

// The mean of four pixels of a colour, of 2 * kWords columns.
inline Words Means(ByteVector a0, ByteVector a1, ByteVector b0, ByteVector b1) {
  const Words sums = PairSums(Add(Widen(a0), Widen(b0)), Add(Widen(a1), Widen(b1)));
  return RightUnsigned<2>(Add(sums, Fill(2)));
}

// 128, and a half, less one: the largest sum then fits 16 bits.
constexpr int kMiddle = 128 * 256 + 127;

template <int channels>
void ChromaRow(const uint8_t* first, const uint8_t* second, size_t width, bool blue_first, const RgbToYuv& how,
               uint8_t* u, uint8_t* v) {
  const int r = blue_first ? 2 : 0, b = blue_first ? 0 : 2;
  const Words ua = Fill(how.u[r]), ub = Fill(how.u[1]), uc = Fill(how.u[b]);
  const Words va = Fill(how.v[r]), vb = Fill(how.v[1]), vc = Fill(how.v[b]), middle = Fill(kMiddle);
  size_t i = 0;
  for (; i + 2 * kWords <= width; i += 2 * kWords) {
    ByteVector x[3][4], alpha;
    for (int part = 0; part < 2; ++part) {
      const size_t at = (i + part * kWords) * channels;
      LoadColours<channels>(first + at, &x[0][part], &x[1][part], &x[2][part], &alpha);
      LoadColours<channels>(second + at, &x[0][part + 2], &x[1][part + 2], &x[2][part + 2], &alpha);
    }
    Words m[3];
    for (int c = 0; c < 3; ++c) m[c] = Means(x[c][0], x[c][1], x[c][2], x[c][3]);
    StoreBytes(u + i / 2, RightUnsigned<8>(Add(Add(Add(Mul(m[0], ua), Mul(m[1], ub)), Mul(m[2], uc)), middle)));
    StoreBytes(v + i / 2, RightUnsigned<8>(Add(Add(Add(Mul(m[0], va), Mul(m[1], vb)), Mul(m[2], vc)), middle)));
  }
  for (; i < width; i += 2) {
    const size_t left = i * channels, right = (i + 1 < width ? i + 1 : i) * channels;
    int m[3];
    for (int c = 0; c < 3; ++c) {
      const int at = channels == 1 ? 0 : c;
      m[c] = (first[left + at] + first[right + at] + second[left + at] + second[right + at] + 2) >> 2;
    }
    u[i / 2] = static_cast<uint8_t>((m[0] * how.u[r] + m[1] * how.u[1] + m[2] * how.u[b] + kMiddle) >> 8);
    v[i / 2] = static_cast<uint8_t>((m[0] * how.v[r] + m[1] * how.v[1] + m[2] * how.v[b] + kMiddle) >> 8);
  }
}

void ChromaOfRows(const uint8_t* first, const uint8_t* second, size_t width, int channels, bool blue_first,
                  const RgbToYuv& how, uint8_t* u, uint8_t* v) {
  if (channels == 1) return ChromaRow<1>(first, second, width, blue_first, how, u, v);
  if (channels == 3) return ChromaRow<3>(first, second, width, blue_first, how, u, v);
  ChromaRow<4>(first, second, width, blue_first, how, u, v);
}

void Split2(const uint8_t* pairs, size_t count, uint8_t* first, uint8_t* second) {
  size_t i = 0;
  for (; i + kWords <= count; i += kWords) {
    ByteVector a, b;
    Load2(pairs + i * 2, &a, &b);
    StoreVector(first + i, a);
    StoreVector(second + i, b);
  }
  for (; i < count; ++i) first[i] = pairs[i * 2], second[i] = pairs[i * 2 + 1];
}

void Merge2(const uint8_t* first, const uint8_t* second, size_t count, uint8_t* pairs) {
  size_t i = 0;
  for (; i + kWords <= count; i += kWords) Store2(pairs + i * 2, LoadVector(first + i), LoadVector(second + i));
  for (; i < count; ++i) pairs[i * 2] = first[i], pairs[i * 2 + 1] = second[i];
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_PIXELS_H_

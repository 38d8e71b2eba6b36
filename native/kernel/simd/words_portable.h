// What every header of words.h offers, without vectors. Sums wrap around.
#ifndef LATHE_KERNEL_SIMD_WORDS_PORTABLE_H_
#define LATHE_KERNEL_SIMD_WORDS_PORTABLE_H_

#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

constexpr int kWords = 8;
constexpr int kSums = 4;

struct Words {
  int16_t v[kWords];
};

struct Sums {
  uint32_t v[kSums];
};

inline Words LoadBytes(const int8_t* from) {
  Words x;
  for (int i = 0; i < kWords; ++i) x.v[i] = from[i];
  return x;
}
inline void Store(int16_t* to, Words x) { memcpy(to, x.v, sizeof x.v); }
inline Words Add(Words a, Words b) {
  for (int i = 0; i < kWords; ++i) a.v[i] = static_cast<int16_t>(a.v[i] + b.v[i]);
  return a;
}
inline Words Sub(Words a, Words b) {
  for (int i = 0; i < kWords; ++i) a.v[i] = static_cast<int16_t>(a.v[i] - b.v[i]);
  return a;
}
inline Sums LoadSums(const int32_t* from) {
  Sums x;
  memcpy(x.v, from, sizeof x.v);
  return x;
}
inline void Store(int32_t* to, Sums x) { memcpy(to, x.v, sizeof x.v); }
inline Sums Add(Sums a, Sums b) {
  for (int i = 0; i < kSums; ++i) a.v[i] += b.v[i];
  return a;
}
inline Sums Sub(Sums a, Sums b) {
  for (int i = 0; i < kSums; ++i) a.v[i] -= b.v[i];
  return a;
}
// A quarter of what fours divide.
inline Sums Quarter(Sums x) {
  for (int i = 0; i < kSums; ++i) x.v[i] = static_cast<uint32_t>(static_cast<int32_t>(x.v[i]) / 4);
  return x;
}

// How many rows are multiplied side by side.
constexpr int kWordRows = 4;

// Four of depth of a row.
struct WordInputs {
  const int16_t* from;
};

// Two of depth of 8 columns: [8][2].
struct WordFilters {
  const int16_t* from;
};

inline WordInputs LoadInputs(const int16_t* from) { return {from}; }
inline WordFilters LoadFilters(const int16_t* from) { return {from}; }

// Adds the products of filters with the inputs of depth `first` and the one behind it.
template <int first>
inline void AddProducts(const WordFilters& w, const WordInputs& x, Sums (&sums)[2]) {
  for (int i = 0; i < 2 * kWords; ++i) {
    sums[i / 2 / kSums].v[i / 2 % kSums] += static_cast<uint32_t>(w.from[i] * x.from[first + i % 2]);
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_WORDS_PORTABLE_H_

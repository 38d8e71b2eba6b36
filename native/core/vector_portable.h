// Vectors of floats, one header per instruction set; algorithms are written once over them. A kernel file includes the
// header of its set in front of the algorithm's. Every header offers
//
//   Vec, kLanes                   the vector, and how many floats it holds
//   kVectorRegisters              how many of them the machine holds
//   Load, LoadPart, Store, StorePart   unaligned; the latter touch the first `count` (0..kLanes) floats only, and read
//                                 zeros for the rest
//   Fill                          one float in all lanes
//   Add, Sub, Mul, MulAdd(a, b, c) = a * b + c, rounded once where the machine can
//   AtLeast(x, low), AtMost(x, high)   hand NaN in x through
//
// This one is for all machines: the compiler maps it to what there is, or to scalars.
#ifndef LATHE_CORE_VECTOR_PORTABLE_H_
#define LATHE_CORE_VECTOR_PORTABLE_H_

#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

struct Vec {
  typedef float Four __attribute__((vector_size(16)));
  Four v;
};

constexpr int kLanes = 4;
constexpr int kVectorRegisters = 16;

inline Vec Load(const float* from) {
  Vec x;
  memcpy(&x.v, from, sizeof x.v);
  return x;
}
inline Vec LoadPart(const float* from, int count) {
  Vec x = {};
  memcpy(&x.v, from, static_cast<size_t>(count) * sizeof(float));
  return x;
}
inline void Store(float* to, Vec x) { memcpy(to, &x.v, sizeof x.v); }
inline void StorePart(float* to, Vec x, int count) { memcpy(to, &x.v, static_cast<size_t>(count) * sizeof(float)); }
inline Vec Fill(float x) { return {Vec::Four{x, x, x, x}}; }
inline Vec Add(Vec a, Vec b) { return {a.v + b.v}; }
inline Vec Sub(Vec a, Vec b) { return {a.v - b.v}; }
inline Vec Mul(Vec a, Vec b) { return {a.v * b.v}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {a.v * b.v + c.v}; }
inline Vec AtLeast(Vec x, Vec low) { return {x.v < low.v ? low.v : x.v}; }
inline Vec AtMost(Vec x, Vec high) { return {x.v > high.v ? high.v : x.v}; }

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_VECTOR_PORTABLE_H_

// Vectors of eight 16-bit integers and of four sums, in WebAssembly. See words_portable.h for what there is.
#ifndef LATHE_KERNEL_SIMD_WORDS_SIMD128_H_
#define LATHE_KERNEL_SIMD_WORDS_SIMD128_H_

#include <stdint.h>
#include <wasm_simd128.h>

namespace lathe {
namespace {

constexpr int kWords = 8;
constexpr int kSums = 4;

struct Words {
  v128_t v;
};

struct Sums {
  v128_t v;
};

inline Words LoadBytes(const int8_t* from) { return {wasm_i16x8_load8x8(from)}; }
inline void Store(int16_t* to, Words x) { wasm_v128_store(to, x.v); }
inline Words Add(Words a, Words b) { return {wasm_i16x8_add(a.v, b.v)}; }
inline Words Sub(Words a, Words b) { return {wasm_i16x8_sub(a.v, b.v)}; }

inline Sums LoadSums(const int32_t* from) { return {wasm_v128_load(from)}; }
inline void Store(int32_t* to, Sums x) { wasm_v128_store(to, x.v); }
inline Sums Add(Sums a, Sums b) { return {wasm_i32x4_add(a.v, b.v)}; }
inline Sums Sub(Sums a, Sums b) { return {wasm_i32x4_sub(a.v, b.v)}; }
inline Sums Quarter(Sums x) { return {wasm_i32x4_shr(x.v, 2)}; }

constexpr int kWordRows = 4;

struct WordInputs {
  const int16_t* from;
};

struct WordFilters {
  v128_t v[2];
};

inline WordInputs LoadInputs(const int16_t* from) { return {from}; }
inline WordFilters LoadFilters(const int16_t* from) { return {{wasm_v128_load(from), wasm_v128_load(from + kWords)}}; }

template <int first>
inline void AddProducts(const WordFilters& w, const WordInputs& x, Sums (&sums)[2]) {
  const v128_t both = wasm_v128_load32_splat(x.from + first);
  for (int i = 0; i < 2; ++i) sums[i].v = wasm_i32x4_add(sums[i].v, wasm_i32x4_dot_i16x8(w.v[i], both));
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_WORDS_SIMD128_H_

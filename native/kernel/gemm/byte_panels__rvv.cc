#include <riscv_vector.h>

#include "native/kernel/gemm/byte_panels.h"

// A byte of x from a scalar register times sixteen bits of filters, summed in 32 bits: the outputs of a panel where
// registers have 128 bits, of two panels with 256 and of four with 512 bits; one panel with any other length.
namespace lathe {
namespace {

constexpr int kRows = 5;  // of a tile, times four registers of sums

// Filters of four of depth, in 32 bits for each output. Loads of whole registers do not depend on the length that is
// set. `last`: the number of the last panel that there is, which also stands for those behind it.
template <int panels>
LATHE_INLINE vuint32m4_t LoadFilters(const int8_t* from, int64_t panel, int64_t last) {
  if constexpr (panels == 4) {
    const auto at = [=](int64_t number) {
      return *reinterpret_cast<const vuint32m1_t*>(from + (number < last ? number : last) * panel);
    };
    return __riscv_vcreate_v_u32m1_u32m4(at(0), at(1), at(2), at(3));
  } else if constexpr (panels == 2) {
    const auto at = [=](int number) { return *reinterpret_cast<const vuint32m2_t*>(from + number * panel); };
    return __riscv_vcreate_v_u32m2_u32m4(at(0), at(1));
  } else {
    return __riscv_vle32_v_u32m4(reinterpret_cast<const uint32_t*>(from), kBytePanel);
  }
}

// The bytes of pairs, with their signs.
LATHE_INLINE vint16m2_t FirstOf(vuint16m2_t pairs, size_t length) {
  const vint16m2_t above = __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vsll_vx_u16m2(pairs, 8, length));
  return __riscv_vsra_vx_i16m2(above, 8, length);
}
LATHE_INLINE vint16m2_t SecondOf(vuint16m2_t pairs, size_t length) {
  return __riscv_vsra_vx_i16m2(__riscv_vreinterpret_v_u16m2_i16m2(pairs), 8, length);
}

// What is the same for all pixels of some outputs.
struct Store {
  const BytePanelState& state;
  const float* factors;
  size_t length;

  LATHE_INLINE void operator()(vint32m4_t sums, const int8_t* residual, int8_t* to) const {
    vfloat32m4_t value = __riscv_vfcvt_f_x_v_f32m4(sums, length);
    value = __riscv_vfmul_vv_f32m4(value, __riscv_vle32_v_f32m4(factors, length), length);
    if (residual != nullptr) {
      const vint32m4_t wide = __riscv_vsext_vf4_i32m4(__riscv_vle8_v_i8m1(residual, length), length);
      const vfloat32m4_t steps =
          __riscv_vfcvt_f_x_v_f32m4(__riscv_vsub_vx_i32m4(wide, state.residual_zero, length), length);
      value = __riscv_vfadd_vv_f32m4(value, __riscv_vfmul_vf_f32m4(steps, state.residual_factor, length), length);
    }
    value = __riscv_vfmax_vf_f32m4(__riscv_vfmin_vf_f32m4(value, state.high, length), state.low, length);
    const vint32m4_t whole = __riscv_vadd_vx_i32m4(__riscv_vfcvt_x_f_v_i32m4(value, length), state.y_zero, length);
    const vint16m2_t half = __riscv_vncvt_x_x_w_i16m2(whole, length);
    __riscv_vse8_v_i8m1(to, __riscv_vncvt_x_x_w_i8m1(half, length), length);
  }
};

// Registers are no elements of arrays: each sum has a name, and those that a smaller tile lacks are never used.
// `plain`: the sums are stored as they are.
template <int rows, int panels, bool plain>
__attribute__((noinline)) void RunRows(const BytePanelJob& job, const ByteTile& tile, int pixel, int count,
                                       int64_t first) {
  constexpr size_t kLength = static_cast<size_t>(panels) * kBytePanel;
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  const int64_t channels = shape.groups * shape.outputs;
  const int64_t channel = tile.group * shape.outputs + tile.output + first;
  const int8_t* packed =
      state.packed + (tile.group * shape.panels() + (tile.output + first) / kBytePanel) * state.panel_bytes;
  const int64_t left = tile.outputs - first;
  const size_t length = left < static_cast<int64_t>(kLength) ? static_cast<size_t>(left) : kLength;
  vint32m4_t a = __riscv_vle32_v_i32m4(state.starts + channel, length), b = a, c = a, d = a, e = a;
  const int64_t last = (static_cast<int64_t>(length) - 1) / kBytePanel;
  const int8_t* const* pointers = tile.rows + pixel;
  for (int64_t tap = 0; tap < shape.taps; ++tap, pointers += kByteChunkPixels) {
    const int8_t* row[rows];
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; ++i) row[i] = pointers[i] + tile.group * shape.depth;
    for (int64_t k = 0; k < shape.depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
      const vuint32m4_t filters = LoadFilters<panels>(packed, state.panel_bytes, last);
      const auto add = [&](vint16m2_t w, int at) __attribute__((always_inline)) {
        a = __riscv_vwmacc_vx_i32m4(a, row[0][at], w, kLength);
        if constexpr (rows > 1) b = __riscv_vwmacc_vx_i32m4(b, row[1][at], w, kLength);
        if constexpr (rows > 2) c = __riscv_vwmacc_vx_i32m4(c, row[2][at], w, kLength);
        if constexpr (rows > 2) d = __riscv_vwmacc_vx_i32m4(d, row[3][at], w, kLength);
        if constexpr (rows > 2) e = __riscv_vwmacc_vx_i32m4(e, row[4][at], w, kLength);
      };
      const vuint16m2_t low = __riscv_vnsrl_wx_u16m2(filters, 0, kLength);
      add(FirstOf(low, kLength), 0);
      add(SecondOf(low, kLength), 1);
      const vuint16m2_t high = __riscv_vnsrl_wx_u16m2(filters, 16, kLength);
      add(FirstOf(high, kLength), 2);
      add(SecondOf(high, kLength), 3);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; ++i) row[i] += kByteDepth;
    }
  }
  const auto put = [&](int i, vint32m4_t sums) __attribute__((always_inline)) {
    if (i >= count) return;
    const int64_t at = pixel + i;
    if constexpr (plain) return __riscv_vse32_v_i32m4(tile.sums + at * job.output_step + first, sums, length);
    const Store store = {state, state.factors + channel, length};
    store(sums, tile.residual == nullptr ? nullptr : tile.residual + at * channels + first,
          tile.to + at * job.output_step + first);
  };
  put(0, a);
  if (rows > 1) put(1, b);
  if (rows > 2) put(2, c), put(3, d), put(4, e);
}

template <int panels, bool plain>
void RunPanels(const BytePanelJob& job, const ByteTile& tile, int64_t first) {
  int count = 0;
  for (int pixel = 0; pixel < tile.count; pixel += count) {
    const int left = tile.count - pixel;
    count = left < kRows ? left : kRows;
    if (left > 2) {
      RunRows<kRows, panels, plain>(job, tile, pixel, count, first);
    } else if (left == 2) {
      RunRows<2, panels, plain>(job, tile, pixel, count, first);
    } else {
      RunRows<1, panels, plain>(job, tile, pixel, count, first);
    }
  }
}

template <bool plain>
void RunTile(const BytePanelJob& job, const ByteTile& tile) {
  const size_t lanes = __riscv_vsetvlmax_e32m1();
  const int64_t most = lanes == 8 ? 2 : lanes == 16 ? 4 : 1;
  for (int64_t first = 0; first < tile.outputs;) {
    const int64_t left = (tile.outputs - first + kBytePanel - 1) / kBytePanel;
    const int64_t panels = left > 1 ? most : 1;
    (panels == 4 ? RunPanels<4, plain> : panels == 2 ? RunPanels<2, plain> : RunPanels<1, plain>)(job, tile, first);
    first += panels * kBytePanel;
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<false>(job, tile); }

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<true>(job, tile); }

}  // namespace LATHE_ISA
}  // namespace lathe

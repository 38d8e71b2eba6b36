#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/quantised/requantise_hvx.h"

// Four products of bytes are added to a sum in one instruction, for 32 outputs and one pixel. It takes filters without
// a sign, so that 128 is added to them (ByteForm::pairs): sums begin with what that adds, 128 times the sum of the
// pixel.
namespace lathe {
namespace {

constexpr int kTileVectors = 4;  // of 32 outputs, the most of a tile

// One sum as it is stored: as byte_panels__portable.cc does it.
inline int8_t StoredSum(const BytePanelState& state, int32_t sum, int64_t output, const int8_t* residual) {
  float value = static_cast<float>(sum) * state.factors[output];
  if (residual != nullptr) value += static_cast<float>(*residual - state.residual_zero) * state.residual_factor;
  value = value < state.high ? value : state.high;
  value = value > state.low ? value : state.low;
  return Quantised<int8_t>(value, state.y_zero);
}

// Depth of a tap; rows that begin at multiples of 4 are read by words.
template <bool aligned>
LATHE_INLINE int32_t LoadStep(const int8_t* from) {
  int32_t step;
  if constexpr (aligned) {
    memcpy(&step, __builtin_assume_aligned(from, 4), sizeof step);
  } else {
    memcpy(&step, from, sizeof step);
  }
  return step;
}

// What a tile has of the numbers that are the same for all of its outputs.
struct Pixels {
  const int8_t* const* rows;
  int offset;  // of the group, in all rows
  int taps;
  int steps;     // of depth
  bool aligned;  // all rows begin at multiples of 4
  // What the filters' 128 add to the sums: 128 times the sum of a pixel's numbers, in all lanes. The first outputs of a
  // tile find it out.
  HVX_Vector bases[kByteChunkPixels];

  Pixels(const BytePanelShape& shape, const ByteTile& tile) : rows(tile.rows) {
    offset = static_cast<int>(tile.group * shape.depth);
    taps = static_cast<int>(shape.taps);
    steps = static_cast<int>(shape.steps());
    uintptr_t places = static_cast<uintptr_t>(offset);
    for (int tap = 0; tap < taps; ++tap) {
      for (int p = 0; p < tile.count; ++p) places |= reinterpret_cast<uintptr_t>(rows[tap * kByteChunkPixels + p]);
    }
    aligned = places % 4 == 0;
  }
};

// Some vectors of outputs, and how they are stored.
template <int vectors>
struct Outputs {
  const BytePanelJob& job;
  const ByteTile& tile;
  const HVX_Vector* packed;
  int panel_vectors;  // from pair to pair
  int channel;        // the first
  int place;          // of the first in the tile: below 0 where some are skipped
  int count;          // outputs
  int skipped;        // outputs in front of them: tiles may begin in the middle of a pair
  bool exact;         // factors that vectors cannot compute with
  HvxFactors factors[vectors];
  HvxFactors of_residual;
  const int8_t* residual_end;  // of the whole tensor

  Outputs(const BytePanelJob& job, const ByteTile& tile, int first) : job(job), tile(tile) {
    const BytePanelState& state = *job.state;
    const int outputs = static_cast<int>(state.shape.outputs), begin = static_cast<int>(tile.output);
    const int pairs = static_cast<int>((state.shape.panels() + 1) / 2), group = static_cast<int>(tile.group);
    const int pair = begin / kHvxLanes + first;
    skipped = first == 0 ? begin % kHvxLanes : 0;
    const int end = begin + static_cast<int>(tile.outputs), start = pair * kHvxLanes;
    panel_vectors = static_cast<int>(state.panel_bytes) / 128;
    packed = reinterpret_cast<const HVX_Vector*>(state.packed) + (group * pairs + pair) * panel_vectors;
    channel = group * outputs + start;
    place = start - begin;
    count = end - start < vectors * kHvxLanes ? end - start : vectors * kHvxLanes;
    exact = tile.residual != nullptr && !of_residual.Read(&state.residual_factor, 1);
    for (int n = 0; n < vectors && !exact; ++n)
      exact = !factors[n].Read(state.factors + channel + n * kHvxLanes, count - n * kHvxLanes);
    residual_end = job.residual + job.pixels * state.shape.groups * state.shape.outputs;
  }

  // Of the first output; null where there is none.
  LATHE_INLINE const int8_t* Residual(int pixel) const {
    const int channels = static_cast<int>(job.state->shape.groups * job.state->shape.outputs);
    return tile.residual == nullptr ? nullptr : tile.residual + pixel * channels + place;
  }

  // Adds the residual of a pixel to its numbers. What is large stays in doubt: single precision has fewer digits there.
  LATHE_INLINE void AddResidual(int pixel, int flag, HVX_Vector (&numbers)[vectors],
                                HVX_Vector (&doubts)[vectors]) const {
    const int8_t* from = Residual(pixel);
    HVX_Vector bytes;
    if (residual_end - from >= 128) {
      bytes = LoadAny(from);
    } else {  // nothing behind the tensor is read
      alignas(128) int8_t few[128] = {};
      memcpy(few + skipped, from + skipped, static_cast<size_t>(count - skipped));
      bytes = *reinterpret_cast<const HVX_Vector*>(few);
    }
    const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(bytes);
    const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves)), high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
    const HVX_Vector words[kTileVectors] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
    const HVX_Vector zero = Q6_V_vsplat_R(job.state->residual_zero), most = Q6_V_vsplat_R(512 << kDigits);
#pragma clang loop unroll(full)
    for (int n = 0; n < vectors; ++n) {
      const HVX_Vector added = of_residual.Times(Q6_Vw_vsub_VwVw(words[n], zero));
      const HVX_Vector larger = Q6_Vw_vmax_VwVw(Q6_Vw_vabs_Vw(numbers[n]), Q6_Vw_vabs_Vw(added));
      doubts[n] = Q6_V_vandor_VQR(doubts[n], Q6_Q_vcmp_gt_VwVw(larger, most), flag);
      numbers[n] = Q6_Vw_vadd_VwVw_sat(numbers[n], added);
    }
  }

  LATHE_INLINE int8_t* To(int pixel) const { return tile.to + pixel * static_cast<int>(job.output_step) + place; }

  LATHE_INLINE void StoreOne(const int32_t* numbers, int pixel, int j) const {
    const int8_t* residual = Residual(pixel);
    To(pixel)[j] = StoredSum(*job.state, numbers[j], channel + j, residual == nullptr ? nullptr : residual + j);
  }

  // One after the other.
  __attribute__((noinline)) void StoreExact(const HVX_Vector* sums, int pixel) const {
    const auto* numbers = reinterpret_cast<const int32_t*>(sums);
    for (int j = skipped; j < count; ++j) StoreOne(numbers, pixel, j);
  }

  LATHE_INLINE void Store(HVX_Vector bytes, int pixel) const {
    int8_t* to = To(pixel);
    if (vectors == kTileVectors && count == 128 && skipped == 0) {
      StoreAny(bytes, to);
    } else {
      StoreFew(Q6_V_vror_VR(bytes, skipped), count - skipped, to + skipped);
    }
  }

  // The numbers of some pixels whose rounding is in doubt: bit p of a lane of `doubts[n]`.
  __attribute__((noinline)) void Mend(const HVX_Vector* sums, const HVX_Vector* doubts, int pixel, int rows) const {
    for (int n = 0; n < vectors; ++n) {
      const auto* flags = reinterpret_cast<const uint32_t*>(doubts + n);
      for (int lane = 0; lane < kHvxLanes; ++lane) {
        const int j = n * kHvxLanes + lane;
        if (flags[lane] == 0 || j < skipped || j >= count) continue;
        for (int p = 0; p < rows; ++p) {
          if ((flags[lane] >> p & 1) == 0) continue;
          StoreOne(reinterpret_cast<const int32_t*>(sums + p * vectors), pixel + p, j);
        }
      }
    }
  }
};

// A copy in memory, so that the sums themselves stay in registers.
template <int rows, int vectors>
LATHE_INLINE void Keep(const HVX_Vector (&sums)[rows][vectors], HVX_Vector (&kept)[rows][vectors]) {
#pragma clang loop unroll(full)
  for (int p = 0; p < rows; ++p) {
#pragma clang loop unroll(full)
    for (int n = 0; n < vectors; ++n) kept[p][n] = sums[p][n];
  }
}

// What a tile's sums come to.
template <int rows, int vectors>
LATHE_INLINE void StoreTile(const HvxStore& store, const Outputs<vectors>& outputs,
                            const HVX_Vector (&sums)[rows][vectors], int first) {
  const int left = outputs.tile.count - first;
  const int used = left < rows ? left : rows;
  if (outputs.exact) {
    HVX_Vector kept[rows][vectors];
    Keep(sums, kept);
    for (int p = 0; p < used; ++p) outputs.StoreExact(kept[p], first + p);
    return;
  }
  HVX_Vector doubts[vectors];
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) doubts[n] = Q6_V_vzero();
#pragma clang loop unroll(full)
  for (int p = 0; p < rows; ++p) {
    HVX_Vector numbers[vectors], steps[vectors];
#pragma clang loop unroll(full)
    for (int n = 0; n < vectors; ++n) numbers[n] = outputs.factors[n].Times(sums[p][n]);
    if (outputs.tile.residual != nullptr && p < used) outputs.AddResidual(first + p, 1 << p, numbers, doubts);
#pragma clang loop unroll(full)
    for (int n = 0; n < vectors; ++n) steps[n] = store.Round(numbers[n], 1 << p, &doubts[n]);
    if (p < used) outputs.Store(store.Bytes(steps), first + p);
  }
  HVX_Vector all = doubts[0];
#pragma clang loop unroll(full)
  for (int n = 1; n < vectors; ++n) all = Q6_V_vor_VV(all, doubts[n]);
  if (!AnyFlag(all)) return;
  HVX_Vector kept[rows][vectors], flags[1][vectors];
  Keep(sums, kept);
  for (int n = 0; n < vectors; ++n) flags[0][n] = doubts[n];
  outputs.Mend(kept[0], flags[0], first, used);
}

// `finds`: the bases of the pixels are still to be found.
template <int rows, int vectors, bool aligned, bool finds>
__attribute__((noinline)) void RunTile(Pixels& pixels, const HvxStore& store, const Outputs<vectors>& outputs,
                                       int first) {
  const BytePanelState& state = *outputs.job.state;
  HVX_Vector sums[rows][vectors], bases[rows];
  const HVX_Vector flip = Q6_V_vsplat_R(static_cast<int32_t>(0x80808080));
#pragma clang loop unroll(full)
  for (int p = 0; p < rows; ++p) bases[p] = finds ? Q6_V_vzero() : pixels.bases[first + p];
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    const HVX_Vector start = LoadAny(state.starts + outputs.channel + n * kHvxLanes);
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) sums[p][n] = finds ? start : Q6_Vw_vsub_VwVw(start, bases[p]);
  }
  const HVX_Vector* packed = outputs.packed;
  const int8_t* const* pointers = pixels.rows + first;
  for (int tap = 0; tap < pixels.taps; ++tap, pointers += kByteChunkPixels) {
    const int8_t* row[rows];
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) row[p] = pointers[p] + pixels.offset;
    for (int k = 0; k < pixels.steps; ++k, ++packed) {
      HVX_Vector w[vectors];
#pragma clang loop unroll(full)
      for (int n = 0; n < vectors; ++n) w[n] = packed[n * outputs.panel_vectors];
#pragma clang loop unroll(full)
      for (int p = 0; p < rows; ++p) {
        const int32_t x = LoadStep<aligned>(row[p] + 4 * k);
#pragma clang loop unroll(full)
        for (int n = 0; n < vectors; ++n) sums[p][n] = Q6_Vw_vrmpyacc_VwVubRb(sums[p][n], w[n], x);
        if constexpr (finds) bases[p] = Q6_Vw_vrmpyacc_VwVubRb(bases[p], flip, x);
      }
    }
  }
  if constexpr (finds) {
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) {
      pixels.bases[first + p] = bases[p];
#pragma clang loop unroll(full)
      for (int n = 0; n < vectors; ++n) sums[p][n] = Q6_Vw_vsub_VwVw(sums[p][n], bases[p]);
    }
  }
  StoreTile(store, outputs, sums, first);
}

template <int rows, int vectors, bool finds>
void RunTiles(const BytePanelJob& job, const ByteTile& tile, Pixels& pixels, const HvxStore& store, int first) {
  static_assert(kByteChunkPixels % rows == 0, "rows are there for whole tiles");
  const Outputs<vectors> outputs(job, tile, first);
  for (int pixel = 0; pixel < tile.count; pixel += rows)
    (pixels.aligned ? RunTile<rows, vectors, true, finds> : RunTile<rows, vectors, false, finds>)(pixels, store,
                                                                                                  outputs, pixel);
}

}  // namespace
inline namespace LATHE_ISA {

// Sums, bases and filters fill the registers.
void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  Pixels pixels(job.state->shape, tile);
  const int units = tile.residual == nullptr ? kUnits : kUnitsOfTwo;
  const HvxStore store(job.state->y_zero, job.state->low, job.state->high, units);
  const int begin = static_cast<int>(tile.output) / kHvxLanes;
  const int end = (static_cast<int>(tile.output + tile.outputs) + kHvxLanes - 1) / kHvxLanes;
  const int vectors = end - begin;
  if (vectors == 1) return RunTiles<12, 1, true>(job, tile, pixels, store, 0);
  if (vectors == 2) return RunTiles<6, 2, true>(job, tile, pixels, store, 0);
  if (vectors == 3) return RunTiles<6, 3, true>(job, tile, pixels, store, 0);
  RunTiles<5, kTileVectors, true>(job, tile, pixels, store, 0);
  int first = kTileVectors;
  for (; first + kTileVectors <= vectors; first += kTileVectors)
    RunTiles<5, kTileVectors, false>(job, tile, pixels, store, first);
  const int rest = vectors - first;
  if (rest == 3) RunTiles<6, 3, false>(job, tile, pixels, store, first);
  if (rest == 2) RunTiles<10, 2, false>(job, tile, pixels, store, first);
  if (rest == 1) RunTiles<15, 1, false>(job, tile, pixels, store, first);
}

}  // namespace LATHE_ISA
}  // namespace lathe

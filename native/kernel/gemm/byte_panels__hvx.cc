#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/quantised/requantise_hvx.h"

// Four products of bytes are added to a sum in one instruction, for 32 outputs and one pixel. It takes filters without
// a sign, so that 128 is added to them (ByteForm::pairs): sums begin with what that adds, 128 times the sum of the
// pixel. Vectors find that sum out for all outputs at once. The innermost loop loads eight bytes of a pixel at a time,
// from addresses that are multiples of 8; pixels that begin elsewhere are copied first.
namespace lathe {
namespace {

constexpr int kTileVectors = 4;  // of 32 outputs, the most of a tile
constexpr int kTogether = 12;    // pixels whose sums are found out together: groups of four

// One sum as it is stored: as byte_panels__portable.cc does it.
inline int8_t StoredSum(const BytePanelState& state, int32_t sum, int64_t output, const int8_t* residual) {
  float value = static_cast<float>(sum) * state.factors[output];
  if (residual != nullptr) value += static_cast<float>(*residual - state.residual_zero) * state.residual_factor;
  value = value < state.high ? value : state.high;
  value = value > state.low ? value : state.low;
  return Quantised<int8_t>(value, state.y_zero);
}

// What a tile has of the numbers that are the same for all of its outputs.
struct Pixels {
  const int8_t* const* rows;  // per tap kByteChunkPixels pointers, to multiples of 8
  int taps;
  int steps;  // of depth
  // What the filters' 128 add to the sums: 128 times the sum of a pixel's numbers.
  int32_t bases[kByteChunkPixels + kHvxLanes];

  Pixels(const BytePanelShape& shape, const ByteTile& tile, const BytePanelJob& job) : rows(tile.rows) {
    taps = static_cast<int>(shape.taps);
    steps = static_cast<int>(shape.steps());
    const int offset = static_cast<int>(tile.group * shape.depth), depth = static_cast<int>(shape.depth);
    const bool eights = job.eights && offset == 0;
    if (eights && job.dense && SumStretch(tile.rows[0], tile.count, depth)) {
    } else if (eights) {
      Sum<false>(tile, 0, depth);
    } else {
      Sum<true>(tile, offset, depth);
    }
  }

 private:
  // The sums of 2^levels neighbouring words each, of as many vectors of four bytes, in order.
  template <int levels, bool whole>
  LATHE_INLINE static HVX_Vector SumsOfNeighbours(const int8_t* from, int left) {
    if constexpr (levels == 0) {
      const HVX_Vector ones = Q6_V_vsplat_R(static_cast<int32_t>(0x80808080));
      if (whole || left >= kHvxBytes) return Q6_Vw_vrmpy_VubVb(ones, LoadAny(from));
      return left > 0 ? Q6_Vw_vrmpy_VubVb(ones, LoadFew(from, left)) : Q6_V_vzero();
    } else {
      constexpr int kHalf = kHvxBytes << (levels - 1);
      const HVX_Vector first = SumsOfNeighbours<levels - 1, whole>(from, left);
      const HVX_Vector second = SumsOfNeighbours<levels - 1, whole>(from + kHalf, left - kHalf);
      const HVX_VectorPair dealt = Q6_W_vdeal_VVR(second, first, -4);
      return Q6_Vw_vadd_VwVw(Q6_V_lo_W(dealt), Q6_V_hi_W(dealt));
    }
  }

  // 32 pixels at a time, of 2^levels words each.
  template <int levels>
  void SumNeighbours(const int8_t* from, int count) {
    constexpr int kBytes = kHvxBytes << levels;
    int left = count * (kByteDepth << levels);
    for (int p = 0; p < count; p += kHvxLanes, from += kBytes, left -= kBytes) {
      const HVX_Vector sums =
          left >= kBytes ? SumsOfNeighbours<levels, true>(from, left) : SumsOfNeighbours<levels, false>(from, left);
      StoreAny(sums, bases + p);
    }
  }

  // Pixels of one stretch of memory, whose numbers are a power of two.
  bool SumStretch(const int8_t* from, int count, int depth) {
    if (depth == kByteDepth << 2) return SumNeighbours<2>(from, count), true;
    if (depth == kByteDepth << 3) return SumNeighbours<3>(from, count), true;
    if (depth == kByteDepth << 4) return SumNeighbours<4>(from, count), true;
    if (depth == kByteDepth << 5) return SumNeighbours<5>(from, count), true;
    return false;
  }

  // Of vectors of sums to those of four pixels, again and again.
  LATHE_INLINE static HVX_Vector SumsOfFour(const HVX_Vector* sums) {
    const HVX_VectorPair first = Q6_W_vshuff_VVR(sums[1], sums[0], -4), second = Q6_W_vshuff_VVR(sums[3], sums[2], -4);
    const HVX_Vector low = Q6_Vw_vadd_VwVw(Q6_V_lo_W(first), Q6_V_hi_W(first));
    const HVX_Vector high = Q6_Vw_vadd_VwVw(Q6_V_lo_W(second), Q6_V_hi_W(second));
    const HVX_VectorPair both = Q6_W_vshuff_VVR(high, low, -8);
    HVX_Vector all = Q6_Vw_vadd_VwVw(Q6_V_lo_W(both), Q6_V_hi_W(both));
#pragma clang loop unroll(full)
    for (int bytes = 64; bytes >= 16; bytes /= 2) all = Q6_Vw_vadd_VwVw(all, Q6_V_vror_VR(all, bytes));
    return all;
  }

  template <bool copies>
  void Sum(const ByteTile& tile, int offset, int depth) {
    const HVX_Vector ones = Q6_V_vsplat_R(static_cast<int32_t>(0x80808080));
    const int whole = depth / kHvxBytes * kHvxBytes, rest = depth - whole;
    // Filters are 128 behind the depth, too, up to a whole step.
    const int steps_end = (rest + kByteDepth - 1) / kByteDepth * kByteDepth;
    const HVX_Vector last = steps_end == kHvxBytes ? ones : Q6_V_vmux_QVV(Q6_Q_vsetq_R(steps_end), ones, Q6_V_vzero());
    const int pitch = static_cast<int>(ByteCopyPitch(depth));
    auto** places = reinterpret_cast<const int8_t**>(tile.copies);
    int8_t* copied = tile.copies + taps * kByteChunkPixels * static_cast<int>(sizeof(int8_t*));
    for (int p = 0; p < tile.count; p += kTogether) {
      HVX_Vector sums[kTogether];
#pragma clang loop unroll(full)
      for (HVX_Vector& sum : sums) sum = Q6_V_vzero();
      for (int tap = 0; tap < taps; ++tap) {
        const int at = tap * kByteChunkPixels + p;
        const int8_t* from[kTogether];
        int8_t* to = copied + at * pitch;
#pragma clang loop unroll(full)
        for (int i = 0; i < kTogether; ++i) {
          from[i] = tile.rows[at + i] + offset;
          if constexpr (copies) places[at + i] = to + i * pitch;
        }
        for (int k = 0; k < whole; k += kHvxBytes, to += kHvxBytes) {
#pragma clang loop unroll(full)
          for (int i = 0; i < kTogether; ++i) {
            const HVX_Vector x = LoadAny(from[i]);
            from[i] += kHvxBytes;
            sums[i] = Q6_Vw_vrmpyacc_VwVubVb(sums[i], ones, x);
            if constexpr (copies) StoreAny(x, to + i * pitch);
          }
        }
        if (rest == 0) continue;
#pragma clang loop unroll(full)
        for (int i = 0; i < kTogether; ++i) {
          const HVX_Vector x = LoadFew(from[i], rest);
          sums[i] = Q6_Vw_vrmpyacc_VwVubVb(sums[i], last, x);
          if constexpr (copies) StoreAny(x, to + i * pitch);
        }
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < kTogether; i += 4) StoreAny(SumsOfFour(sums + i), bases + p + i);
    }
    if constexpr (copies) {
      RepeatRows(taps, (tile.count + kTogether - 1) / kTogether * kTogether, places);
      rows = places;
    }
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
  bool follows;       // the outputs of the next pixel stand behind them
  const int8_t* end;  // of the tile, where they do

  Outputs(const BytePanelJob& job, const ByteTile& tile, int first) : job(job), tile(tile) {
    const BytePanelState& state = *job.state;
    const int outputs = static_cast<int>(state.shape.outputs), begin = static_cast<int>(tile.output);
    const int pairs = static_cast<int>((state.shape.panels() + 1) / 2), group = static_cast<int>(tile.group);
    const int pair = begin / kHvxLanes + first, step = static_cast<int>(job.output_step);
    skipped = first == 0 ? begin % kHvxLanes : 0;
    const int end_output = begin + static_cast<int>(tile.outputs), start = pair * kHvxLanes;
    panel_vectors = static_cast<int>(state.panel_bytes) / kHvxBytes;
    packed = reinterpret_cast<const HVX_Vector*>(state.packed) + (group * pairs + pair) * panel_vectors;
    channel = group * outputs + start;
    place = start - begin;
    count = end_output - start < vectors * kHvxLanes ? end_output - start : vectors * kHvxLanes;
    follows = step == count && skipped == 0;
    end = tile.to + tile.count * step;
  }

  // Of the first output; null where there is none.
  LATHE_INLINE const int8_t* Residual(int pixel) const {
    const int channels = static_cast<int>(job.state->shape.groups * job.state->shape.outputs);
    return tile.residual == nullptr ? nullptr : tile.residual + pixel * channels + place;
  }

  LATHE_INLINE int8_t* To(int pixel) const { return tile.to + pixel * static_cast<int>(job.output_step) + place; }

  // Whether a whole vector may be stored: what it writes behind the outputs is that of the next pixel, which is stored
  // later.
  LATHE_INLINE bool InStretch(int pixel) const {
    return (vectors == kTileVectors && count == kHvxBytes && skipped == 0) || (follows && end - To(pixel) >= kHvxBytes);
  }

  LATHE_INLINE void Store(HVX_Vector bytes, int pixel) const {
    int8_t* to = To(pixel);
    if (InStretch(pixel)) {
      StoreAny(bytes, to);
    } else {
      StoreFew(Q6_V_vror_VR(bytes, skipped), count - skipped, to + skipped);
    }
  }
};

// Adds the residual of a pixel to its numbers. What is large is in doubt: single precision has fewer digits there.
template <int vectors>
LATHE_INLINE void AddResidual(const Outputs<vectors>& outputs, const int8_t* from, HVX_Vector (&numbers)[vectors],
                              HVX_Vector (&large)[vectors]) {
  const BytePanelState& state = *outputs.job.state;
  HvxFactors factors;
  factors.Read(state.residual_factor);
  const HVX_Vector bytes = LoadFew(from + outputs.skipped, outputs.count - outputs.skipped);
  const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(Q6_V_vror_VR(bytes, kHvxBytes - outputs.skipped));
  const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves)), high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
  const HVX_Vector words[kTileVectors] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
  const HVX_Vector zero = Q6_V_vsplat_R(state.residual_zero), most = Q6_V_vsplat_R(512 << kDigits);
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    const HVX_Vector added = factors.Times(Q6_Vw_vsub_VwVw(words[n], zero));
    const HVX_Vector larger = Q6_Vw_vmax_VwVw(Q6_Vw_vabs_Vw(numbers[n]), Q6_Vw_vabs_Vw(added));
    large[n] = Q6_V_vand_QR(Q6_Q_vcmp_gt_VwVw(larger, most), 1);
    numbers[n] = Q6_Vw_vadd_VwVw_sat(numbers[n], added);
  }
}

// The sums of a pixel, whatever they are.
template <int vectors>
__attribute__((noinline)) void StoreRow(const Outputs<vectors>& outputs, const HvxStore& store, const HVX_Vector* sums,
                                        int pixel) {
  const BytePanelState& state = *outputs.job.state;
  const int8_t* residual = outputs.Residual(pixel);
  HVX_Vector numbers[vectors], large[vectors], raised[vectors];
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    HvxFactors factors;
    const int channel = outputs.channel + n * kHvxLanes;
    factors.Load(state.shifts + channel, state.mantissas + channel);
    numbers[n] = factors.Times(sums[n]);
    large[n] = Q6_V_vzero();
  }
  if (residual != nullptr) AddResidual(outputs, residual, numbers, large);
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) raised[n] = HvxStore::Doubt(store.Raise(numbers[n]), Q6_Q_vand_VR(large[n], 1));
  HVX_Vector least = HvxStore::NoDoubt();
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) least = HvxStore::Least(least, raised[n]);
  outputs.Store(store.Bytes(raised), pixel);
  if (!store.InDoubt(least)) return;
  int8_t* to = outputs.To(pixel);
  store.ForDoubts(raised, vectors, outputs.skipped, outputs.count, [&](int j) {
    to[j] = StoredSum(state, reinterpret_cast<const int32_t*>(sums)[j], outputs.channel + j,
                      residual == nullptr ? nullptr : residual + j);
  });
}

// What a tile's sums come to. They are kept in memory for those that need another look, and become results in place.
template <int rows, int vectors>
LATHE_INLINE void StoreTile(const HvxStore& shared, const Outputs<vectors>& outputs, HVX_Vector (&sums)[rows][vectors],
                            int first) {
  const HvxStore store = shared;  // what is stored does not change the copy
  const BytePanelState& state = *outputs.job.state;
  const int left = outputs.tile.count - first;
  const int used = left < rows ? left : rows;
  HVX_Vector kept[rows][vectors], least = HvxStore::NoDoubt();
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    HvxFactors factors;
    const int channel = outputs.channel + n * kHvxLanes;
    factors.Load(state.shifts + channel, state.mantissas + channel);
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) {
      kept[p][n] = sums[p][n];
      sums[p][n] = store.Raise(factors.TimesSmall(sums[p][n]));
      least = HvxStore::Least(least, sums[p][n]);
    }
  }
  constexpr int kBlocks = rows * vectors / kTileVectors, kRest = rows * vectors % kTileVectors;
  int8_t* to = outputs.To(first);
  const int step = static_cast<int>(outputs.job.output_step);
  bool again = !state.small_sums || outputs.tile.residual != nullptr;
  if (again) {
  } else if (vectors < kTileVectors && used == rows && outputs.follows && outputs.count == vectors * kHvxLanes) {
    // All outputs are one stretch of memory.
    const HVX_Vector* all = &sums[0][0];
#pragma clang loop unroll(full)
    for (int i = 0; i < kBlocks * kTileVectors; i += kTileVectors) {
      const HVX_Vector four[kTileVectors] = {all[i], all[i + 1], all[i + 2], all[i + 3]};
      StoreAny(store.Bytes(four), to + i * kHvxLanes);
    }
    if constexpr (kRest > 0) {
      HVX_Vector few[kRest];
#pragma clang loop unroll(full)
      for (int i = 0; i < kRest; ++i) few[i] = all[kBlocks * kTileVectors + i];
      StoreFew(store.Bytes(few), kRest * kHvxLanes, to + kBlocks * kHvxBytes);
    }
  } else if (used == rows && outputs.InStretch(first + rows - 1)) {
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) StoreAny(store.Bytes(sums[p]), to + p * step);
  } else {
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) {
      if (p < used) outputs.Store(store.Bytes(sums[p]), first + p);
    }
  }
  again = again || store.InDoubt(least);
  for (int p = 0; again && p < used; ++p) StoreRow(outputs, shared, kept[p], first + p);
}

template <int rows, int vectors>
LATHE_INLINE void AddStep(HVX_Vector (&sums)[rows][vectors], const HVX_Vector (&w)[vectors], const int64_t (&x)[rows],
                          bool second) {
#pragma clang loop unroll(full)
  for (int p = 0; p < rows; ++p) {
    const int32_t four = static_cast<int32_t>(second ? x[p] >> 32 : x[p]);
#pragma clang loop unroll(full)
    for (int n = 0; n < vectors; ++n) sums[p][n] = Q6_Vw_vrmpyacc_VwVubRb(sums[p][n], w[n], four);
  }
}

template <int rows, int vectors>
__attribute__((noinline)) void RunTile(const Pixels& pixels, const HvxStore& store, const Outputs<vectors>& outputs,
                                       int first) {
  const BytePanelState& state = *outputs.job.state;
  HVX_Vector sums[rows][vectors];
  const int32_t* bases = pixels.bases + first;
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    const HVX_Vector start = LoadAny(state.starts + outputs.channel + n * kHvxLanes);
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) sums[p][n] = Q6_Vw_vsub_VwVw(start, Q6_V_vsplat_R(bases[p]));
  }
  const HVX_Vector* packed[vectors];
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) packed[n] = outputs.packed + n * outputs.panel_vectors;
  const int8_t* const* pointers = pixels.rows + first;
  for (int tap = 0; tap < pixels.taps; ++tap, pointers += kByteChunkPixels) {
    const int64_t* row[rows];
    int64_t x[rows];
    HVX_Vector w[vectors];
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) row[p] = reinterpret_cast<const int64_t*>(pointers[p]);
    for (int k = pixels.steps / 2; k > 0; --k) {
#pragma clang loop unroll(full)
      for (int p = 0; p < rows; ++p) x[p] = *row[p]++;
#pragma clang loop unroll(full)
      for (int n = 0; n < vectors; ++n) w[n] = packed[n][0];
      AddStep(sums, w, x, false);
#pragma clang loop unroll(full)
      for (int n = 0; n < vectors; ++n) w[n] = packed[n][1];
      AddStep(sums, w, x, true);
#pragma clang loop unroll(full)
      for (int n = 0; n < vectors; ++n) packed[n] += 2;
    }
    if (pixels.steps % 2 == 0) continue;
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) x[p] = *reinterpret_cast<const int32_t*>(row[p]);
#pragma clang loop unroll(full)
    for (int n = 0; n < vectors; ++n) w[n] = *packed[n]++;
    AddStep(sums, w, x, false);
  }
  StoreTile(store, outputs, sums, first);
}

template <int rows, int vectors>
void RunTiles(const BytePanelJob& job, const ByteTile& tile, const Pixels& pixels, const HvxStore& store, int first) {
  static_assert(kByteChunkPixels % rows == 0, "rows are there for whole tiles");
  const Outputs<vectors> outputs(job, tile, first);
  int pixel = 0;
  for (; pixel + 1 < tile.count; pixel += rows) RunTile<rows, vectors>(pixels, store, outputs, pixel);
  if (pixel < tile.count) RunTile<1, vectors>(pixels, store, outputs, pixel);
}

}  // namespace
inline namespace LATHE_ISA {

// Sums and filters fill the registers.
void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  const BytePanelState& state = *job.state;
  const Pixels pixels(state.shape, tile, job);
  const HvxDoubt doubt = tile.residual != nullptr ? kDoubtOfTwo : state.whole_sums ? kDoubtOfWhole : kDoubtOfOne;
  const HvxStore store(state.y_zero, state.low, state.high, doubt);
  const int begin = static_cast<int>(tile.output) / kHvxLanes;
  const int end = (static_cast<int>(tile.output + tile.outputs) + kHvxLanes - 1) / kHvxLanes;
  const int vectors = end - begin;
  int first = 0;
  for (; first + kTileVectors <= vectors; first += kTileVectors)
    RunTiles<5, kTileVectors>(job, tile, pixels, store, first);
  const int rest = vectors - first;
  if (rest == 3) RunTiles<6, 3>(job, tile, pixels, store, first);
  if (rest == 2) RunTiles<10, 2>(job, tile, pixels, store, first);
  if (rest == 1) RunTiles<12, 1>(job, tile, pixels, store, first);
}

}  // namespace LATHE_ISA
}  // namespace lathe

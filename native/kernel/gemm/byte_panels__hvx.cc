#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/quantised/requantise_hvx.h"

// Four products of bytes are added to a sum in one instruction, for 32 outputs and one pixel. It takes filters without
// a sign, so that 128 is added to them (ByteForm::pairs): sums begin with what that adds, 128 times the sum of the
// pixel. Vectors find that sum out for all outputs at once. The innermost loop loads eight bytes of a pixel at a time,
// from addresses that are multiples of 8; pixels that begin elsewhere are copied first.
namespace lathe {
namespace {

constexpr int kTileVectors = 4;  // of 32 outputs, the most of a tile
constexpr int kTileRows = 5;     // pixels of a tile of so many
constexpr int kTogether = 12;    // pixels whose sums are found out together

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
    const bool dense = eights && job.dense;
    if (dense && SumStretch(tile.rows[0], tile.count, depth)) {
    } else if (eights) {
      Sum<false>(tile, 0, depth, dense ? SumDense(tile.rows[0], tile.count, depth) : 0);
    } else if (job.loose && depth <= kByteLoose) {
      Sum<true, true>(tile, offset, depth);
    } else {
      Sum<true>(tile, offset, depth);
    }
  }

 private:
  static constexpr int kDense = 16;  // pixels whose sums SumDense finds out together

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
      return Halved(first, second);
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

  // Of two vectors of sums, neighbours of which belong together, to one: those of `first` in front.
  LATHE_INLINE static HVX_Vector Halved(HVX_Vector first, HVX_Vector second) {
    const HVX_VectorPair dealt = Q6_W_vdeal_VVR(second, first, -4);
    return Q6_Vw_vadd_VwVw(Q6_V_lo_W(dealt), Q6_V_hi_W(dealt));
  }

  // The sums of 16 vectors `at(i)`, in order, and something behind them.
  template <int levels, typename At>
  LATHE_INLINE static HVX_Vector Halve(const At& at, int i) {
    if constexpr (levels == 0) {
      return at(i);
    } else {
      const HVX_Vector first = Halve<levels - 1>(at, i);
      return Halved(first, Halve<levels - 1>(at, i + (1 << (levels - 1))));
    }
  }

  template <typename At>
  LATHE_INLINE static HVX_Vector SumsOfSixteen(const At& at) {
    const HVX_Vector pairs = Halve<4>(at, 0);
    return Halved(pairs, pairs);
  }

  // Pixels of one stretch of memory. Reads whole vectors, and so leaves out the last pixels: gives the number of the
  // first of them, a multiple of those that Sum takes together.
  __attribute__((noinline)) int SumDense(const int8_t* stretch, int count, int depth) {
    const int whole = (depth - 1) / kHvxBytes * kHvxBytes, left = count * depth - (whole + kHvxBytes);
    const int fine = left < 0 ? 0 : left / depth + 1;
    if (fine < kDense) return 0;
    const HVX_Vector ones = Q6_V_vsplat_R(static_cast<int32_t>(0x80808080));
    const int rest = depth - whole;
    const HVX_Vector last = rest == kHvxBytes ? ones : Q6_V_vmux_QVV(Q6_Q_vsetq_R(rest), ones, Q6_V_vzero());
    for (int p = 0;;) {
      HVX_Vector sums[kDense];
      const int8_t* from = stretch + p * depth;
#pragma clang loop unroll(full)
      for (HVX_Vector& sum : sums) {
        sum = Q6_Vw_vrmpy_VubVb(last, LoadAny(from + whole));
        from += depth;
      }
      from = stretch + p * depth;
      for (int k = 0; k < whole; k += kHvxBytes, from += kHvxBytes) {
        const int8_t* place = from;
#pragma clang loop unroll(full)
        for (HVX_Vector& sum : sums) {
          sum = Q6_Vw_vrmpyacc_VwVubVb(sum, ones, LoadAny(place));
          place += depth;
        }
      }
      StoreAny(SumsOfSixteen([&](int i) { return sums[i]; }), bases + p);
      if (p + kDense == fine) return fine / kTogether * kTogether;
      p = p + 2 * kDense <= fine ? p + kDense : fine - kDense;  // the last ones overlap
    }
  }

  template <bool copies, bool loose = false>
  void Sum(const ByteTile& tile, int offset, int depth, int first = 0) {
    const HVX_Vector ones = Q6_V_vsplat_R(static_cast<int32_t>(0x80808080));
    const int whole = depth / kHvxBytes * kHvxBytes, rest = depth - whole;
    // Filters are 128 behind the depth, too, up to a whole step.
    const int steps_end = (rest + kByteDepth - 1) / kByteDepth * kByteDepth;
    const HVX_Vector last = steps_end == kHvxBytes ? ones : Q6_V_vmux_QVV(Q6_Q_vsetq_R(steps_end), ones, Q6_V_vzero());
    const int pitch = static_cast<int>(ByteCopyPitch(depth));
    auto** places = reinterpret_cast<const int8_t**>(tile.copies);
    int8_t* copied = tile.copies + taps * kByteChunkPixels * static_cast<int>(sizeof(int8_t*));
    for (int p = first; p < tile.count; p += kTogether) {
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
          const HVX_Vector x = loose ? LoadAny(from[i]) : LoadFew(from[i], rest);
          sums[i] = Q6_Vw_vrmpyacc_VwVubVb(sums[i], last, x);
          if constexpr (copies) StoreAny(x, to + i * pitch);
        }
      }
      StoreAny(SumsOfSixteen([&](int i) { return sums[i < kTogether ? i : kTogether - 1]; }), bases + p);
    }
    if constexpr (copies) {
      RepeatRows(taps, (tile.count + kTogether - 1) / kTogether * kTogether, places);
      rows = places;
    }
  }
};

// Where the filters of a group are.
struct Filters {
  int panel_vectors;         // from pair to pair
  const HVX_Vector* heads;   // kPairHead of each pair: what sums begin with, and factors
  const HVX_Vector* packed;  // of the first pair

  Filters(const BytePanelState& state, int64_t group) {
    const int pairs = static_cast<int>((state.shape.panels() + 1) / 2);
    panel_vectors = static_cast<int>(state.panel_bytes) / kHvxBytes;
    heads = reinterpret_cast<const HVX_Vector*>(state.packed) +
            static_cast<int>(group) * pairs * (kPairHead + panel_vectors);
    packed = heads + pairs * kPairHead;
  }

  // Asks for the filters of some pairs in the second cache, before they are needed. Nothing but time depends on it: the
  // processor drops what it cannot fetch.
  LATHE_INLINE void Fetch(int pair, int count) const {
    constexpr int kMost = 0xffff;
    const int wanted = count * panel_vectors, lines = wanted < kMost ? wanted : kMost;
    constexpr int64_t kStep = int64_t{kHvxBytes} << 32, kWidth = kHvxBytes << 16;
    const HVX_Vector* from = packed + pair * panel_vectors;
    __builtin_HEXAGON_Y5_l2fetch(const_cast<HVX_Vector*>(from), kStep | kWidth | lines);
  }
};

// Some vectors of outputs, and how they are stored.
template <int vectors>
struct Outputs {
  const BytePanelJob& job;
  const ByteTile& tile;
  const HVX_Vector* heads;  // those of Filters, from the first pair on
  const HVX_Vector* packed;
  int panel_vectors;
  int channel;        // the first
  int place;          // of the first in the tile: below 0 where some are skipped
  int count;          // outputs
  int skipped;        // outputs in front of them: tiles may begin in the middle of a pair
  bool follows;       // the outputs of the next pixel stand behind them
  const int8_t* end;  // of the tile, where whole vectors may be stored: what stands behind is stored later

  Outputs(const BytePanelJob& job, const ByteTile& tile, const Filters& filters, int first) : job(job), tile(tile) {
    const BytePanelState& state = *job.state;
    const int outputs = static_cast<int>(state.shape.outputs), begin = static_cast<int>(tile.output);
    const int group = static_cast<int>(tile.group);
    const int pair = begin / kHvxLanes + first, step = static_cast<int>(job.output_step);
    skipped = first == 0 ? begin % kHvxLanes : 0;
    const int end_output = begin + static_cast<int>(tile.outputs), start = pair * kHvxLanes;
    panel_vectors = filters.panel_vectors;
    packed = filters.packed + pair * panel_vectors;
    heads = filters.heads + pair * kPairHead;
    channel = group * outputs + start;
    place = start - begin;
    count = end_output - start < vectors * kHvxLanes ? end_output - start : vectors * kHvxLanes;
    follows = step == count && skipped == 0;
    // All of a pixel is of this tile, and what stands behind the last outputs is stored later.
    end = step == tile.outputs && skipped == 0 && end_output == start + count ? tile.to + tile.count * step : nullptr;
  }

  // Of the first output; null where there is none.
  LATHE_INLINE const int8_t* Residual(int pixel) const {
    const int channels = static_cast<int>(job.state->shape.groups * job.state->shape.outputs);
    return tile.residual == nullptr ? nullptr : tile.residual + pixel * channels + place;
  }

  LATHE_INLINE int8_t* To(int pixel) const { return tile.to + pixel * static_cast<int>(job.output_step) + place; }

  LATHE_INLINE bool InStretch(int pixel) const {
    return (vectors == kTileVectors && count == kHvxBytes && skipped == 0) ||
           (end != nullptr && end - To(pixel) >= kHvxBytes);
  }

  LATHE_INLINE const HVX_Vector* Head(int n) const { return heads + n * kPairHead; }
  LATHE_INLINE HvxFactors Factors(int n) const { return {Head(n)[1], Head(n)[2]}; }

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

// The sums of a pixel, whatever they are: vectors of them, `step` apart.
template <int vectors>
__attribute__((noinline)) void StoreRow(const Outputs<vectors>& outputs, const HvxStore& store, const HVX_Vector* from,
                                        int step, int pixel) {
  const BytePanelState& state = *outputs.job.state;
  const int8_t* residual = outputs.Residual(pixel);
  HVX_Vector sums[vectors], numbers[vectors], large[vectors], raised[vectors];
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    sums[n] = from[n * step];
    numbers[n] = outputs.Factors(n).Times(sums[n]);
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

// Two packets, the least that a vector of sums takes: each has half of the product with its factors. Beside them, the
// next sums are kept and shifted, those before are raised, and those before them looked at for doubts. Compilers put
// all that is stored in front, and what is looked at behind.
struct Pace {
  HVX_Vector* keep;
  HVX_Vector added;
  HVX_Vector least;

  // Gives the product. `next` is kept, and shifted afterwards; `last` is a product, and raised afterwards.
  LATHE_INLINE HVX_Vector Step(HVX_Vector shifted, HVX_Vector mantissa, HVX_Vector* next, HVX_Vector shift,
                               HVX_Vector* last, HVX_Vector raised) {
    HVX_Vector product;
    asm("{ %[product].w = vmpye(%[shifted].w,%[mantissa].uh)\n"
        "  %[next].w = vasl(%[next].w,%[shift].w)\n"
        "  vmem(%[keep]++#1) = %[next] }\n"
        "{ %[product].w += vmpyo(%[shifted].w,%[mantissa].h):<<1:sat:shift\n"
        "  %[last].w = vadd(%[last].w,%[added].w):sat\n"
        "  %[least].uh = vmin(%[least].uh,%[raised].uh) }"
        : [product] "=&v"(product), [next] "+&v"(*next), [keep] "+&r"(keep), [last] "+&v"(*last), [least] "+&v"(least)
        : [shifted] "v"(shifted), [mantissa] "v"(mantissa), [shift] "v"(shift), [added] "v"(added), [raised] "v"(raised)
        : "memory");
    return product;
  }
};

// Raises a tile's sums, which are kept as they were, and gives what is to be looked at for doubts.
template <int rows, int vectors>
LATHE_INLINE HVX_Vector RaiseTile(const HvxStore& store, const Outputs<vectors>& outputs,
                                  HVX_Vector (&sums)[rows][vectors], HVX_Vector (&kept)[vectors][rows]) {
  constexpr int kCount = rows * vectors;
  HvxFactors factors = outputs.Factors(0), next = factors;
  kept[0][0] = sums[0][0];
  sums[0][0] = Q6_Vw_vasl_VwVw(sums[0][0], factors.shift);
  Pace pace = {&kept[0][0] + 1, store.added, HvxStore::NoDoubt()};
#pragma clang loop unroll(full)
  for (int i = 0; i < kCount; ++i) {
    const int n = i / rows, p = i % rows, before = i > 0 ? i - 1 : 0, raised = i > 1 ? i - 2 : 0;
    HVX_Vector* last = &sums[before % rows][before / rows];
    if (p == 0) factors = next;
    if (i == 0 || i == kCount - 1) {
      sums[p][n] = factors.Product(sums[p][n]);
      if (i > 0) *last = store.Raise(*last);
      if (i > 1) pace.least = HvxStore::Least(pace.least, sums[raised % rows][raised / rows]);
      if (i > 0) pace.least = HvxStore::Least(pace.least, *last);
      if (i == kCount - 1) {
        sums[p][n] = store.Raise(sums[p][n]);
        pace.least = HvxStore::Least(pace.least, sums[p][n]);
      } else {
        if (rows == 1) next = outputs.Factors(1);
        HVX_Vector* following = &sums[1 % rows][1 / rows];
        *pace.keep++ = *following;
        *following = Q6_Vw_vasl_VwVw(*following, next.shift);
      }
      continue;
    }
    HVX_Vector* following = &sums[(i + 1) % rows][(i + 1) / rows];
    if ((i + 1) % rows == 0) next = outputs.Factors((i + 1) / rows);
    const HVX_Vector looked_at = i > 1 ? sums[raised % rows][raised / rows] : pace.least;
    sums[p][n] = pace.Step(sums[p][n], factors.mantissa, following, next.shift, last, looked_at);
  }
  return pace.least;
}

// What a tile's sums come to. They are kept in memory for those that need another look, and become results in place.
template <int rows, int vectors>
LATHE_INLINE void StoreTile(const HvxStore& shared, const Outputs<vectors>& outputs, HVX_Vector (&sums)[rows][vectors],
                            int first) {
  constexpr int kCount = rows * vectors;
  const HvxStore store = shared;  // what is stored does not change the copy
  const BytePanelState& state = *outputs.job.state;
  const int left = outputs.tile.count - first;
  const int used = left < rows ? left : rows;
  HVX_Vector kept[vectors][rows];
  const HVX_Vector least = RaiseTile(store, outputs, sums, kept);
  constexpr int kBlocks = kCount / kTileVectors, kRest = kCount % kTileVectors;
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
    for (int p = 0; p < rows; ++p, to += step) StoreAny(store.Bytes(sums[p]), to);
  } else {
#pragma clang loop unroll(full)
    for (int p = 0; p < rows; ++p) {
      if (p < used) outputs.Store(store.Bytes(sums[p]), first + p);
    }
  }
  again = again || store.InDoubt(least);
  if (__builtin_expect(!again, 1)) return;
  for (int p = 0; p < used; ++p) StoreRow(outputs, shared, &kept[0][p], rows, first + p);
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
LATHE_INLINE void RunTile(const Pixels& pixels, const HvxStore& store, const Outputs<vectors>& outputs, int first) {
  HVX_Vector sums[rows][vectors];
  const int32_t* bases = pixels.bases + first;
#pragma clang loop unroll(full)
  for (int n = 0; n < vectors; ++n) {
    const HVX_Vector start = *outputs.Head(n);
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
__attribute__((noinline)) void RunTiles(const BytePanelJob& job, const ByteTile& tile, const Pixels& pixels,
                                        const HvxStore& store, const Filters& filters, int first) {
  static_assert(kByteChunkPixels % rows == 0, "rows are there for whole tiles");
  const Outputs<vectors> outputs(job, tile, filters, first);
  if (first > 0) filters.Fetch(static_cast<int>(tile.output) / kHvxLanes + first - kTileVectors, kTileVectors);
  int pixel = 0;
  for (; pixel + 1 < tile.count; pixel += rows) RunTile<rows, vectors>(pixels, store, outputs, pixel);
  if (pixel < tile.count) RunTile<1, vectors>(pixels, store, outputs, pixel);
}

}  // namespace
inline namespace LATHE_ISA {

// Sums and filters fill the registers.
void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  const BytePanelState& state = *job.state;
  const int begin = static_cast<int>(tile.output) / kHvxLanes;
  const int end = (static_cast<int>(tile.output + tile.outputs) + kHvxLanes - 1) / kHvxLanes;
  const int vectors = end - begin;
  const int whole = vectors / kTileVectors * kTileVectors, rest = vectors - whole;
  const Filters filters(state, tile.group);
  filters.Fetch(rest > 0 ? begin + whole : begin + whole - kTileVectors, rest > 0 ? rest : kTileVectors);
  const Pixels pixels(state.shape, tile, job);
  const HvxDoubt doubt = tile.residual != nullptr ? kDoubtOfTwo : state.whole_sums ? kDoubtOfWhole : kDoubtOfOne;
  const HvxStore store(state.y_zero, state.low, state.high, doubt);
  // The last ones first: what is stored behind them is stored again.
  if (rest == 3) RunTiles<6, 3>(job, tile, pixels, store, filters, whole);
  if (rest == 2) RunTiles<10, 2>(job, tile, pixels, store, filters, whole);
  if (rest == 1) RunTiles<12, 1>(job, tile, pixels, store, filters, whole);
  for (int first = whole - kTileVectors; first >= 0; first -= kTileVectors)
    RunTiles<kTileRows, kTileVectors>(job, tile, pixels, store, filters, first);
}

}  // namespace LATHE_ISA
}  // namespace lathe

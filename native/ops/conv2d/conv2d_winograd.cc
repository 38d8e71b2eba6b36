// Convolution 3 x 3 with stride 1 by Winograd's minimal filtering: tiles of kTile x kTile outputs from kTile + 2
// squared inputs, as products of transformed inputs with transformed filters. The header of an instruction set goes
// before this one, and a definition of LATHE_WINOGRAD_TILE (2 or 4).
//
// With LATHE_WINOGRAD_STRIDE 2: convolution 7 x 7 with stride 2 of few channels, as networks begin. Taken as pixels of
// four times as many channels, squares of 2 x 2 pixels are convolved by 4 x 4 with stride 1.
//
// The filters come transformed and packed: [kPoints][panel of kPanelWidth outputs][depth][kPanelWidth].
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/spatial/window.h"
#include "native/ops/conv2d/winograd_place.h"
#include "native/ops/conv2d/winograd_squares.h"
#include "native/ops/conv2d/winograd_transforms.h"
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/ops/conv2d/winograd_quads_arm.h"
#define LATHE_WINOGRAD_QUADS  // inputs are transformed by fours, and stored as the tiles of products read them
#endif

namespace lathe {
namespace {

// The way back adds the point (1, 1) to every output of a tile once: what is added to it is added to all of them.
constexpr int kBiasPoint = kHasRoots ? -1 : kPatch + 1;

// Tiles that are multiplied and transformed back together, by so many output channels.
#if defined(LATHE_ISA_RVV)
constexpr int kRows = 28;  // whole tiles of panel_tiles_rvv.h
#else
constexpr int kRows = kLanes == 16 ? 28 : kVectorRegisters == 16 && kLanes == 8 ? 24 : 32;
#endif
constexpr int kOutputs = 64;
constexpr int64_t kProductElements = int64_t{kPoints} * kRows * kOutputs;
constexpr int64_t kSharedTiles = 4 * kRows;

constexpr Packing kWinogradPacking = kStride == 2
                                         ? (kPanelWidth == 8 ? Packing::kWinograd4Of7x8 : Packing::kWinograd4Of7x16)
                                     : kTile == 2 ? (kPanelWidth == 8 ? Packing::kWinograd2x8 : Packing::kWinograd2x16)
                                                  : (kPanelWidth == 8 ? Packing::kWinograd4x8 : Packing::kWinograd4x16);

struct WinogradState {
  Window window;
  Activation activation;
  int64_t depth;
  int64_t outputs;
  int64_t panels;
  const Element* packed;
};

struct WinogradPlan {
  int64_t tiles[2];  // per image and axis
  int64_t count;     // of all images
  int64_t threads;
  bool shared;     // few tiles: all threads use the inputs that all have transformed; else every thread has its own
  int64_t row;     // elements of one point of one tile: depth, rounded up to whole vectors
  int64_t packed;  // elements of the inputs of one point in the order of the tiles of products
  int64_t round_elements() const { return kPoints * row * (shared ? count : kRows); }
  int64_t product_elements() const { return kProductElements + packed; }
};

struct WinogradJob {
  const WinogradState* state;
  const WinogradPlan* plan;
  const Shape* in;
  const Shape* out;
  const Element* image;
  const Element* zeros;
  const Element* bias;
  const Element* residual;
  Element* output;
  int64_t input_step;  // from pixel to pixel
  int64_t output_step;
};

// Where the work of one round lies.
struct WinogradRound {
  int64_t first;    // tile
  int64_t tiles;    // of which there are so many
  Element* inputs;  // transformed
#if defined(LATHE_WINOGRAD_QUADS)
  // Blocks of kRows tiles, or what is left of them: [kPoints][quad of tiles][depth][4], and what is left of quads as
  // [tile][depth]. Each point of a block has room for whole rows.
  int64_t block_tiles(int64_t slot) const {
    const int64_t begin = slot / kRows * kRows;
    return tiles - begin < kRows ? tiles - begin : kRows;
  }
#else
  // [kPoints][tiles][row]
#endif
};

#if defined(LATHE_WINOGRAD_QUADS)
inline QuadTile LocateSquares(const WinogradJob& job, int64_t tile, Squares* squares) {
  CopySquares(job.image, *job.in, job.state->window, {tile, job.plan->tiles, kTile}, squares);
  const int64_t depth = job.state->depth;
  QuadTile result;
  result.first = 0;
  result.end = kPatch;
  for (int i = 0; i < kPatch; ++i) {
    result.lines[i] = squares->of + i * kPatch * depth;
    result.bytes[i] = depth * static_cast<int64_t>(sizeof(Element));
  }
  return result;
}

inline QuadTile LocateTile(const WinogradJob& job, int64_t tile) {
  const Shape& in = *job.in;
  const TilePlace place(tile, job.plan->tiles, kTile);
  const int64_t top = place.y - job.state->window.before[0];
  const int64_t left = place.x - job.state->window.before[1];
  QuadTile result;
  const int64_t first = left < 0 ? (-left < kPatch ? -left : kPatch) : 0;
  const int64_t rest = in[2] - left;
  result.first = static_cast<int>(first);
  result.end = static_cast<int>(rest < kPatch ? (rest > first ? rest : first) : kPatch);
  for (int i = 0; i < kPatch; ++i) {
    const int64_t y = top + i;
    const bool inside = y >= 0 && y < in[1] && result.end > result.first;
    const int64_t pixel = (place.batch * in[1] + y) * in[2] + left + first;
    result.lines[i] = inside ? job.image + pixel * job.input_step : job.zeros;
    result.bytes[i] = inside ? job.input_step * static_cast<int64_t>(sizeof(Element)) : 0;
  }
  return result;
}

// Transforms four tiles whose channels are whole vectors.
inline void TransformQuad(const WinogradJob& job, int64_t tile, Element* to, int64_t step) {
  const int64_t depth = job.state->depth;
  QuadTile tiles[4];
  constexpr int kSquares = kStride == 2 ? 4 : 1;
  Squares squares[kSquares];
  for (int t = 0; t < 4; ++t)
    tiles[t] = kStride == 2 ? LocateSquares(job, tile + t, &squares[t % kSquares]) : LocateTile(job, tile + t);
  for (int64_t channel = 0; channel < depth; channel += kLanes) {
    if (channel > depth - kLanes) channel = depth - kLanes;  // overlaps the one before
    Vec half[4 * kPoints];
    for (int t = 0; t < 4; ++t) TransformColumns(tiles[t], channel, half + t * kPoints);
    TransformQuadRows(half, to + 4 * channel, step * static_cast<int64_t>(sizeof(Element)));
  }
}

// Transforms one tile, whose channels follow each other from `to` on, `spread` apart, and points are `step` apart.
inline void TransformOne(const WinogradJob& job, int64_t tile, Element* to, int64_t spread, int64_t step) {
  const int64_t depth = job.state->depth;
  Squares squares;
  QuadTile place = kStride == 2 ? LocateSquares(job, tile, &squares) : LocateTile(job, tile);
  Element few[kPatch][kPatch][kLanes];  // pixels of less channels than a vector has
  if (depth < kLanes) {
    const int before = place.first, inside = place.end - place.first;
    for (int i = 0; i < kPatch; ++i) {
      const Element* from = place.lines[i];
      const int64_t pixel = place.bytes[i] / static_cast<int64_t>(sizeof(Element));
      for (int j = 0; j < inside; ++j) Store(few[i][before + j], LoadPart(from + j * pixel, static_cast<int>(depth)));
      place.lines[i] = few[i][before];
      place.bytes[i] = sizeof few[i][0];
    }
  }
  for (int64_t channel = 0; channel < depth; channel += kLanes) {
    if (channel > depth - kLanes && channel > 0) channel = depth - kLanes;  // overlaps the one before
    Vec half[kPoints];
    TransformColumns(place, channel, half);
    Element* at = to + channel;
    for (int i = 0; i < kPatch; ++i) {
      Vec x[kPatch], y[kPatch];
#pragma GCC unroll 8
      for (int j = 0; j < kPatch; ++j) x[j] = half[j * kPatch + i];
      TransformIn(x, y);
      for (int j = 0; j < kPatch; ++j, at += step) {
        if (depth >= kLanes) {
          Store(at, y[j]);
          continue;
        }
        Store(few[0][0], y[j]);
        for (int64_t k = 0; k < depth; ++k) at[k * spread] = few[0][0][k];  // beside them are other tiles
      }
    }
  }
}

// What is transformed at once: the tiles from `slot` on, a multiple of 4, up to four of one block.
inline void TransformTiles(const WinogradJob& job, const WinogradRound& round, int64_t slot) {
  const int64_t depth = job.state->depth, tiles = round.block_tiles(slot), at = slot % kRows;
  const int64_t step = tiles * job.plan->row;  // from point to point
  Element* to = round.inputs + (slot - at) * kPoints * job.plan->row + at * depth;
  const bool quad = tiles - at >= 4;
  if (quad && depth >= kLanes) return TransformQuad(job, round.first + slot, to, step);
  const int64_t count = quad ? 4 : tiles - at;
  for (int64_t t = 0; t < count; ++t) {
    TransformOne(job, round.first + slot + t, to + t * (quad ? 1 : depth), quad ? 4 : 1, step);
  }
}
constexpr int64_t kTransformed = 4;  // tiles at once
#else
// Transforms the inputs of one tile into row `slot`.
inline void TransformTile(const WinogradJob& job, const WinogradRound& round, int64_t slot) {
  const Shape& in = *job.in;
  const TilePlace place(round.first + slot, job.plan->tiles, kTile);
  const int64_t depth = job.state->depth;
  const Element* pixels[kPatch][kPatch];
  Element few[kPatch][kPatch][kLanes];  // pixels of less channels than a vector has
  Squares squares;
  if (kStride == 2) {
    CopySquares(job.image, *job.in, job.state->window, {round.first + slot, job.plan->tiles, kTile}, &squares);
  }
  for (int i = 0; i < kPatch; ++i) {
    const int64_t y = place.y + i - job.state->window.before[0];
    const Element* line = nullptr;
    if (y >= 0 && y < in[1]) line = job.image + (place.batch * in[1] + y) * in[2] * job.input_step;
    for (int j = 0; j < kPatch; ++j) {
      const int64_t x = place.x + j - job.state->window.before[1];
      pixels[i][j] = line != nullptr && x >= 0 && x < in[2] ? line + x * job.input_step : job.zeros;
      if (kStride == 2) pixels[i][j] = squares.of + (i * kPatch + j) * depth;
      if (depth >= kLanes) continue;
      Store(few[i][j], LoadPart(pixels[i][j], static_cast<int>(depth)));
      pixels[i][j] = few[i][j];
    }
  }
  const int64_t row = job.plan->row;
  const int64_t step = round.tiles * row;  // from point to point
  for (int64_t channel = 0; channel < depth; channel += kLanes) {
    if (channel > depth - kLanes && channel > 0) channel = depth - kLanes;  // overlaps the one before
    Vec half[kPatch][kPatch];
    for (int j = 0; j < kPatch; ++j) {
      Vec x[kPatch], y[kPatch];
#pragma GCC unroll 8
      for (int i = 0; i < kPatch; ++i) x[i] = Load(pixels[i][j] + channel);
      TransformIn(x, y);
#pragma GCC unroll 8
      for (int i = 0; i < kPatch; ++i) half[i][j] = y[i];
    }
    Element* to = round.inputs + slot * row + channel;
    for (int i = 0; i < kPatch; ++i) {
      Vec y[kPatch];
      TransformIn(half[i], y);
#pragma GCC unroll 8
      for (int j = 0; j < kPatch; ++j, to += step) Store(to, y[j]);
    }
  }
}

inline void TransformTiles(const WinogradJob& job, const WinogradRound& round, int64_t slot) {
  TransformTile(job, round, slot);
}
constexpr int64_t kTransformed = 1;
#endif

// What is left to do with one line of outputs of a tile.
struct TileLine {
  Element* to;
  const Element* residual;  // may be null
  int64_t to_step;          // from pixel to pixel
  int64_t residual_step;
  Vec low;
  Vec high;
  bool clips_low;
  bool clips_high;
};

// `width` pixels of `count` channels.
__attribute__((noinline)) void StorePartOfLine(const TileLine& line, const Vec (&y)[kTile], int64_t width, int count) {
  for (int j = 0; j < width; ++j) {
    Vec sum = y[j];
    if (line.residual != nullptr) sum = Add(sum, LoadPart(line.residual + j * line.residual_step, count));
    StorePart(line.to + j * line.to_step, AtMost(AtLeast(sum, line.low), line.high), count);
  }
}

#if defined(LATHE_WINOGRAD_QUADS)
// Whole vectors of a whole tile, from line to line `pixels` apart.
inline void StoreLines(const TileLine& line, int64_t pixels, Vec (&y)[kTile][kTile]) {
  if (line.residual != nullptr) {
    const Element* residual = line.residual;
    const int64_t step = line.residual_step;
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i, residual += pixels * step) {
#pragma GCC unroll 8
      for (int j = 0; j < kTile; ++j) y[i][j] = Add(y[i][j], Load(residual + j * step));
    }
  }
  if (line.clips_low) {
#pragma GCC unroll 16
    for (int i = 0; i < kTile * kTile; ++i) y[i / kTile][i % kTile] = AtLeast(y[i / kTile][i % kTile], line.low);
  }
  if (line.clips_high) {
#pragma GCC unroll 16
    for (int i = 0; i < kTile * kTile; ++i) y[i / kTile][i % kTile] = AtMost(y[i / kTile][i % kTile], line.high);
  }
  Element* to = line.to;
  const int64_t step = line.to_step;
#pragma GCC unroll 8
  for (int i = 0; i < kTile; ++i, to += pixels * step) {
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j) Store(to + j * step, y[i][j]);
  }
}

// The rest: parts of a tile, by way of memory.
__attribute__((noinline)) void StoreParts(TileLine line, int64_t pixels, const Vec (*y)[kTile], int64_t height,
                                          int64_t width, int count) {
  for (int64_t i = 0; i < height; ++i) {
    StorePartOfLine(line, y[i], width, count);
    line.to += pixels * line.to_step;
    if (line.residual != nullptr) line.residual += pixels * line.residual_step;
  }
}

// Outputs of a tile in `count` channels.
inline void StoreVectors(const WinogradJob& job, const Element* products, Vec bias, const TileLine& line,
                         int64_t height, int64_t width, int count) {
  const int64_t pixels = (*job.out)[2];
  Vec y[kTile][kTile];
  TransformBack(products, kPatch * kRows * kOutputs, kRows * kOutputs, y);
#pragma GCC unroll 16
  for (int i = 0; kHasRoots && i < kTile * kTile; ++i) y[i / kTile][i % kTile] = Add(y[i / kTile][i % kTile], bias);
  if (height == kTile && width == kTile && count == kLanes) return StoreLines(line, pixels, y);
  Vec part[kTile][kTile];  // `y` stays in registers
  memcpy(part, y, sizeof part);
  StoreParts(line, pixels, part, height, width, count);
}
#else
// Whole vectors of a whole line.
inline void StoreLine(const TileLine& line, Vec (&y)[kTile]) {
  if (line.residual != nullptr) {
    const Element* residual = line.residual;
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j, residual += line.residual_step) y[j] = Add(y[j], Load(residual));
  }
  if (line.clips_low) {
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j) y[j] = AtLeast(y[j], line.low);
  }
  if (line.clips_high) {
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j) y[j] = AtMost(y[j], line.high);
  }
  Element* to = line.to;
#pragma GCC unroll 8
  for (int j = 0; j < kTile; ++j, to += line.to_step) Store(to, y[j]);
}

// Outputs of a tile in `count` channels.
inline void StoreVectors(const WinogradJob& job, const Element* products, Vec bias, TileLine line, int64_t height,
                         int64_t width, int count) {
  const int64_t pixels = (*job.out)[2];
  Vec half[kTile][kPatch];
  for (int j = 0; j < kPatch; ++j) {
    Vec x[kPatch], y[kTile];
    const Element* from = products + j * kRows * kOutputs;
#pragma GCC unroll 8
    for (int i = 0; i < kPatch; ++i, from += kPatch * kRows * kOutputs) x[i] = Load(from);
    TransformOut(x, y);
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i) half[i][j] = y[i];
  }
  for (int i = 0; i < height; ++i) {
    Vec y[kTile];
    TransformOut(half[i], y);
#pragma GCC unroll 8
    for (int j = 0; kHasRoots && j < kTile; ++j) y[j] = Add(y[j], bias);
    if (width == kTile && count == kLanes) {
      StoreLine(line, y);
    } else {
      StorePartOfLine(line, y, width, count);
    }
    line.to += pixels * line.to_step;
    if (line.residual != nullptr) line.residual += pixels * line.residual_step;
  }
}
#endif

// Transforms the products of one tile back, for the outputs from `first`, of which there are `outputs`.
inline void StoreTile(const WinogradJob& job, const Element* products, int64_t tile, int64_t first, int64_t outputs) {
  const Shape& out = *job.out;
  const TilePlace place(tile, job.plan->tiles, kTile);
  const int64_t height = out[1] - place.y < kTile ? out[1] - place.y : kTile;
  const int64_t width = out[2] - place.x < kTile ? out[2] - place.x : kTile;
  const int64_t corner = (place.batch * out[1] + place.y) * out[2] + place.x;
  bool rest = false;
  float low = 0.0f, high = 0.0f;
  ReadClip(job.state->activation, &low, &high, &rest);
  TileLine line = {};
  line.to_step = job.output_step;
  line.residual_step = out[3];
  line.low = Fill(low);
  line.high = Fill(high);
  line.clips_low = low > -HUGE_VALF;
  line.clips_high = high < HUGE_VALF;
  for (int64_t channel = 0; channel < outputs; channel += kLanes) {
    if (channel > outputs - kLanes && channel > 0) channel = outputs - kLanes;  // overlaps the one before
    const int count = outputs < kLanes ? static_cast<int>(outputs) : kLanes;
    line.to = job.output + corner * job.output_step + first + channel;
    if (job.residual != nullptr) line.residual = job.residual + corner * out[3] + first + channel;
    const bool biased = kHasRoots && job.bias != nullptr;
    const Vec bias = biased ? LoadPart(job.bias + first + channel, count) : Fill(0.0f);
    StoreVectors(job, products + channel, bias, line, height, width, count);
  }
}

// Applies what of an activation StoreTile does not, to the outputs of `count` tiles: line by line, as far as they lie
// beside each other.
inline void ActivateTiles(const WinogradJob& job, int64_t tile, int64_t count, int64_t first, int64_t outputs) {
  const Shape& out = *job.out;
  const int64_t last = tile + count;
  while (tile < last) {
    const TilePlace place(tile, job.plan->tiles, kTile);
    const int64_t beside = job.plan->tiles[1] - place.x / kTile;
    const int64_t tiles = last - tile < beside ? last - tile : beside;
    const int64_t height = out[1] - place.y < kTile ? out[1] - place.y : kTile;
    const int64_t width = out[2] - place.x < tiles * kTile ? out[2] - place.x : tiles * kTile;
    Element* at = job.output + ((place.batch * out[1] + place.y) * out[2] + place.x) * job.output_step + first;
    for (int64_t i = 0; i < height; ++i, at += out[2] * job.output_step) {
      ActivateRows(job.state->activation, at, width, job.output_step, outputs);
    }
    tile += tiles;
  }
}

// Tiles [begin, begin + count) of the round times the filters of the outputs from `first`, whole panels of them.
inline void MultiplyRows(const WinogradJob& job, const WinogradRound& round, int64_t begin, int count, int64_t first,
                         int64_t outputs, Element* products) {
  const WinogradState& state = *job.state;
  PanelJob product = {};
  product.shape = {1, kOutputs, 1, state.depth};
  const Element* rows[kChunkPixels];
  PanelChunk chunk = {};
  chunk.count = count;
  chunk.rows = rows;
#if !defined(LATHE_WINOGRAD_QUADS)
  chunk.packed = products + kProductElements;
#endif
  const int64_t panel_elements = product.shape.panel_elements();
  Element bias[kOutputs] = {};
  if (job.bias != nullptr) memcpy(bias, job.bias + first, static_cast<size_t>(outputs) * sizeof(Element));
  for (int64_t point = 0; point < kPoints; ++point) {
    product.bias = job.bias != nullptr && point == kBiasPoint ? bias : nullptr;
#if defined(LATHE_WINOGRAD_QUADS)
    chunk.packed = round.inputs + (begin * kPoints + point * count) * job.plan->row;
#else
    const Element* inputs = round.inputs + (point * round.tiles + begin) * job.plan->row;
    for (int i = 0; i < count; ++i) rows[i] = inputs + i * job.plan->row;
    PackInputs(product, chunk);
#endif
    product.packed = state.packed + (point * state.panels + first / kPanelWidth) * panel_elements;
    product.output = products + point * kRows * kOutputs;
    RunPanelRange(product, chunk, 0, DivideUp(outputs, kPanelWidth));
  }
}

// Tiles from `slot` of the round, as many as there are up to kRows, times the outputs from `block`, up to kOutputs.
inline void MultiplyTiles(const WinogradJob& job, const WinogradRound& round, int64_t slot, int64_t block,
                          Element* products) {
  const int64_t outputs = job.state->outputs - block < kOutputs ? job.state->outputs - block : kOutputs;
  const int count = static_cast<int>(round.tiles - slot < kRows ? round.tiles - slot : kRows);
  MultiplyRows(job, round, slot, count, block, outputs, products);
  for (int i = 0; i < count; ++i) StoreTile(job, products + i * kOutputs, round.first + slot + i, block, outputs);
  if (job.state->activation.kind > ActivationKind::kClip) {
    ActivateTiles(job, round.first + slot, count, block, outputs);
  }
}

Code PrepareWinograd(PrepareContext& context) {
  WinogradState& state = *static_cast<WinogradState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 4, 1));
  LATHE_TRY(CheckAllTypes(context, kElementType));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadActivation(context, &state.activation));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  const Tensor& filter = context.input(1);
  for (int axis = 0; axis < 2; ++axis) {
    state.window.kernel[axis] = kStride == 1 ? 3 : 7;
    if (state.window.strides[axis] != kStride || state.window.dilations[axis] != 1 || groups != 1)
      return context.Fail(Code::kUnsupported, kStride == 1 ? "this kernel does dense convolutions with stride 1"
                                                           : "this kernel does dense convolutions with stride 2");
  }
  if (filter.packing != kWinogradPacking)
    return context.Fail(Code::kUnsupported, "this kernel takes filters that come transformed");
  LATHE_TRY(CheckRank(context, filter, 4, "its filter"));
  state.panels = filter.shape[1];
  state.depth = filter.shape[2];
  state.outputs = context.output(0).shape[3];
  if (filter.shape[0] != kPoints || filter.shape[3] != kPanelWidth || state.depth < 1 || state.outputs < 1 ||
      state.panels != DivideUp(state.outputs, kPanelWidth) || (kStride == 2 && state.depth > 4 * kMostChannels))
    return context.Fail(Code::kBadModel, "its transformed filter has another shape than it should");
  state.packed = filter.As<Element>();
  if (context.input_count() > 2) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  return Code::kOk;
}

Code PlanWinograd(PlanContext& context) {
  const WinogradState& state = *static_cast<const WinogradState*>(context.state());
  WinogradPlan& plan = *static_cast<WinogradPlan*>(context.plan());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  if (in[3] * kStride * kStride != state.depth) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  if (context.input_count() > 2 && context.input(2).shape[0] != state.outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, state.outputs}};
  for (int axis = 0; axis < 2; ++axis) {
    expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
    plan.tiles[axis] = DivideUp(expected.dims[1 + axis], kTile);
  }
  LATHE_TRY(CheckShape(context, 0, expected));
  for (int axis = 0; context.input_count() > 3 && axis < 4; ++axis) {
    if (context.input(3).shape[axis] != expected.dims[axis]) {
      return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
    }
  }
  plan.count = in[0] * plan.tiles[0] * plan.tiles[1];
  plan.row = DivideUp(state.depth, kLanes) * kLanes;
  plan.packed = DivideUp(PackedInputElements({1, kOutputs, 1, state.depth}, kRows), kLanes) * kLanes;
  plan.shared = plan.count <= kSharedTiles;
  const int64_t buffers = plan.shared ? 1 : context.threads();
  const int64_t elements = plan.row + buffers * plan.round_elements() + context.threads() * plan.product_elements();
  plan.threads = context.threads();
  return RequestScratch(context, elements * static_cast<int64_t>(sizeof(Element)));
}

void RunWinograd(const RunContext& context) {
  const WinogradState& state = context.State<WinogradState>();
  const WinogradPlan& plan = context.Plan<WinogradPlan>();
  WinogradJob job = {};
  job.state = &state;
  job.plan = &plan;
  job.in = &context.inputs[0].shape;
  job.out = &context.outputs[0].shape;
  job.image = context.inputs[0].As<Element>();
  job.bias = context.input_count > 2 ? context.inputs[2].As<Element>() : nullptr;
  job.residual = context.input_count > 3 ? context.inputs[3].As<Element>() : nullptr;
  job.output = context.outputs[0].As<Element>();
  job.input_step = context.inputs[0].RowStep();
  job.output_step = context.outputs[0].RowStep();
  Element* zeros = static_cast<Element*>(context.scratch);
  memset(zeros, 0, static_cast<size_t>(plan.row) * sizeof(Element));
  job.zeros = zeros;
  Element* inputs = zeros + plan.row;
  if (plan.shared) {
    const WinogradRound round = {0, plan.count, inputs};
    Element* products = inputs + plan.round_elements();
    context.For(DivideUp(plan.count, kTransformed), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t slot = begin; slot < end; ++slot) TransformTiles(job, round, slot * kTransformed);
    });
    const int64_t blocks = DivideUp(state.outputs, kOutputs);
    context.For(blocks * DivideUp(plan.count, kRows), 1, [&](int64_t begin, int64_t end, int thread) {
      for (int64_t item = begin; item < end; ++item) {
        MultiplyTiles(job, round, item / blocks * kRows, item % blocks * kOutputs,
                      products + thread * plan.product_elements());
      }
    });
    return;
  }
  Element* products = inputs + plan.threads * plan.round_elements();
  context.For(DivideUp(plan.count, kRows), 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t rest = plan.count - item * kRows;
      const WinogradRound round = {item * kRows, rest < kRows ? rest : kRows, inputs + thread * plan.round_elements()};
      for (int64_t slot = 0; slot < round.tiles; slot += kTransformed) TransformTiles(job, round, slot);
      for (int64_t block = 0; block < state.outputs; block += kOutputs) {
        MultiplyTiles(job, round, 0, block, products + thread * plan.product_elements());
      }
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::WinogradState),
    .plan_size = sizeof(lathe::WinogradPlan),
    .prepare = lathe::PrepareWinograd,
    .plan = lathe::PlanWinograd,
    .run = lathe::RunWinograd,
    .packings = lathe::PackingBit(lathe::kWinogradPacking),
};

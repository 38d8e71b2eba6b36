// Normalisation of groups of channels, channels last. Images are read in chunks of pixels, each from its first channel
// to its last: twice for statistics while a chunk is at hand, and once for the results.
#include "native/kernel/check.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct State {
  int64_t groups;
  float epsilon;
};

struct Plan {
  int64_t threads;
  int64_t pixels;  // of a chunk
  int64_t chunks;  // of an image
  int64_t row;     // floats of a pixel's channels and of what fills up their last vector
};

// Of a group in a chunk: a number near its mean, and sums of the differences to it and of their squares.
struct Sums {
  double centre;
  double differences;
  double squares;
};

constexpr int64_t kChunkFloats = 16384;
constexpr int64_t kMostPixels = 256;  // that are added up as floats; the results are added up as doubles
constexpr int kRows = 4;              // what threads have, and images: rows of floats

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 3, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  if (context.input(0).shape.rank < 2) return context.Fail(Code::kBadModel, "its input has no axis of channels");
  for (int i = 1; i < 3; ++i) LATHE_TRY(CheckRank(context, context.input(i), 1, "scale or bias"));
  LATHE_TRY(context.Float("epsilon", &state.epsilon));
  return ReadInt(context, "groups", 1, kMaxExtent, &state.groups);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Shape& shape = context.input(0).shape;
  const int64_t channels = shape[-1];
  if (channels < 1 || channels % state.groups != 0) {
    return context.Fail(Code::kBadModel, "groups do not divide the channels");
  }
  for (int i = 1; i < 3; ++i) {
    if (context.input(i).shape[0] != channels) {
      return context.Fail(Code::kBadModel, "scale or bias does not have one element per channel");
    }
  }
  LATHE_TRY(CheckShape(context, 0, shape));
  if (shape.Count() == 0) return Code::kOk;
  if (shape.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its input is too large");
  Plan& plan = *static_cast<Plan*>(context.plan());
  const int64_t fitting = kChunkFloats / channels;
  const int64_t most = fitting < 1 ? 1 : fitting < kMostPixels ? fitting : kMostPixels;
  const int64_t pixels = shape.Count(1, shape.rank - 1);
  plan.threads = context.threads();
  plan.chunks = (pixels + most - 1) / most;
  plan.pixels = (pixels + plan.chunks - 1) / plan.chunks;
  plan.row = (channels + kLanes - 1) / kLanes * kLanes;
  const int64_t sums = shape[0] * plan.chunks * state.groups * static_cast<int64_t>(sizeof(Sums));
  return RequestScratch(context,
                        sums + (plan.threads + shape[0]) * kRows * plan.row * static_cast<int64_t>(sizeof(float)));
}

// Calls f(channel, x, lanes) for the vectors of pixels that lie one after the other; a channel's vector is whole in all
// but the last one of a pixel.
template <typename F>
inline void ForPixels(const float* from, int64_t pixels, int64_t channels, const F& f) {
  for (int64_t p = 0; p < pixels; ++p, from += channels) {
    int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) f(p, c, Load(from + c), kLanes);
    const int rest = static_cast<int>(channels - c);
    if (rest > 0) f(p, c, LoadPart(from + c, rest), rest);
  }
}

// What goes on with a group at a time. `rows`: kRows rows of this thread.
void SumChunk(const float* from, int64_t pixels, int64_t channels, int64_t groups, int64_t row, float* rows,
              Sums* sums) {
  float* const first = rows;
  float* const second = rows + row;
  float* const centres = rows + 2 * row;
  const int64_t size = channels / groups;
  const double count = static_cast<double>(pixels * size);
  memset(rows, 0, static_cast<size_t>(kRows * row) * sizeof(float));
  ForPixels(from, pixels, channels, [=](int64_t, int64_t c, Vec x, int) { Store(first + c, Add(Load(first + c), x)); });
  for (int64_t group = 0; group < groups; ++group) {
    double sum = 0.0;
    for (int64_t c = group * size; c < (group + 1) * size; ++c) sum += static_cast<double>(first[c]);
    const float centre = static_cast<float>(sum / count);
    sums[group].centre = static_cast<double>(centre);
    for (int64_t c = group * size; c < (group + 1) * size; ++c) centres[c] = centre;
  }
  memset(first, 0, static_cast<size_t>(row) * sizeof(float));
  ForPixels(from, pixels, channels, [=](int64_t, int64_t c, Vec x, int) {
    const Vec difference = Sub(x, Load(centres + c));
    Store(first + c, Add(Load(first + c), difference));
    Store(second + c, MulAdd(difference, difference, Load(second + c)));
  });
  for (int64_t group = 0; group < groups; ++group) {
    double differences = 0.0, squares = 0.0;
    for (int64_t c = group * size; c < (group + 1) * size; ++c) {
      differences += static_cast<double>(first[c]);
      squares += static_cast<double>(second[c]);
    }
    sums[group].differences = differences;
    sums[group].squares = squares;
  }
}

// The mean of a group of an image and its variance, of `sums` that are `step` apart.
struct Moments {
  double mean;
  double variance;

  Moments(const Sums* sums, int64_t chunks, int64_t step, int64_t most, int64_t pixels, int64_t size) {
    const double count = static_cast<double>(pixels * size);
    const auto part = [=](int64_t chunk) {
      const int64_t left = pixels - chunk * most;
      return static_cast<double>((left < most ? left : most) * size);
    };
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < chunks; ++i) sum += sums[i * step].centre * part(i) + sums[i * step].differences;
    mean = sum / count;
    for (int64_t i = 0; i < chunks; ++i) {
      const Sums& own = sums[i * step];
      const double shift = mean - own.centre;
      squares += own.squares - 2.0 * shift * own.differences + part(i) * shift * shift;
    }
    variance = squares > 0.0 || squares != squares ? squares / count : 0.0;
  }
};

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Plan& plan = context.Plan<Plan>();
  const Shape& shape = context.inputs[0].shape;
  if (shape.Count() == 0) return;
  const int64_t channels = shape[-1], groups = state.groups, size = channels / groups;
  const int64_t pixels = shape.Count(1, shape.rank - 1);
  const float* from = context.inputs[0].As<float>();
  const float* scale = context.inputs[1].As<float>();
  const float* bias = context.inputs[2].As<float>();
  float* to = context.outputs[0].As<float>();
  Sums* const sums = static_cast<Sums*>(context.scratch);
  float* const rows = reinterpret_cast<float*>(sums + shape[0] * plan.chunks * groups);
  float* const of_images = rows + plan.threads * kRows * plan.row;
  const auto count = [&](int64_t chunk) {
    const int64_t left = pixels - chunk * plan.pixels;
    return left < plan.pixels ? left : plan.pixels;
  };
  const auto place = [&](int64_t item) {
    return (item / plan.chunks * pixels + item % plan.chunks * plan.pixels) * channels;
  };
  context.For(shape[0] * plan.chunks, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t item = begin; item < end; ++item) {
      SumChunk(from + place(item), count(item % plan.chunks), channels, groups, plan.row,
               rows + thread * kRows * plan.row, sums + item * groups);
    }
  });
  const double epsilon = static_cast<double>(state.epsilon);
  context.For(shape[0] * groups, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t image = item / groups, group = item % groups;
      const Moments moments(sums + image * plan.chunks * groups + group, plan.chunks, groups, plan.pixels, pixels,
                            size);
      const float mean = static_cast<float>(moments.mean);
      const double factor = 1.0 / __builtin_sqrt(moments.variance + epsilon);
      float* const row = of_images + image * kRows * plan.row;
      for (int64_t c = group * size; c < (group + 1) * size; ++c) {
        row[c] = mean;
        row[plan.row + c] = static_cast<float>(moments.mean - static_cast<double>(mean));
        row[2 * plan.row + c] = static_cast<float>(factor * static_cast<double>(scale[c]));
        row[3 * plan.row + c] = bias[c];
      }
    }
  });
  context.For(shape[0] * plan.chunks, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const float* const mean = of_images + item / plan.chunks * kRows * plan.row;
      const float* const rest = mean + plan.row;
      const float* const factor = rest + plan.row;
      const float* const shift = factor + plan.row;
      float* const output = to + place(item);
      ForPixels(from + place(item), count(item % plan.chunks), channels, [=](int64_t p, int64_t c, Vec x, int lanes) {
        const Vec apart = Sub(Sub(x, Load(mean + c)), Load(rest + c));
        const Vec y = MulAdd(apart, Load(factor + c), Load(shift + c));
        lanes == kLanes ? Store(output + p * channels + c, y) : StorePart(output + p * channels + c, y, lanes);
      });
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};

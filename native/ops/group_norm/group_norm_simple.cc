// Normalisation of groups of channels, channels last. The unit of work is a block of channels of one image: one group,
// or several small ones, so that neighbours in memory are handled together.
#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr int64_t kLanes = 16;

struct State {
  int64_t groups;
  float epsilon;
};

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
  const Shape& shape = context.input(0).shape;
  if (shape[-1] < 1 || shape[-1] % static_cast<const State*>(context.state())->groups != 0) {
    return context.Fail(Code::kBadModel, "groups do not divide the channels");
  }
  for (int i = 1; i < 3; ++i) {
    if (context.input(i).shape[0] != shape[-1]) {
      return context.Fail(Code::kBadModel, "scale or bias does not have one element per channel");
    }
  }
  return CheckShape(context, 0, shape);
}

// A block: `width` channels from `from`, `size` of them per group; a group that is alone may be wider than the lanes.
struct Block {
  const float* from;
  const float* scale;
  const float* bias;
  float* to;
  int64_t pixels;
  int64_t channels;  // of the image: the distance of pixels
  int64_t width;
  int64_t size;
};

// Adds f(x, lane) of all elements to the lanes, then gives every lane the mean of its group.
template <typename F>
void Means(const Block& block, const F& f, double* lanes) {
  for (int64_t j = 0; j < kLanes; ++j) lanes[j] = 0.0;
  for (int64_t p = 0; p < block.pixels; ++p) {
    const float* row = block.from + p * block.channels;
    for (int64_t c = 0; c < block.width; c += kLanes) {
      const int64_t count = block.width - c < kLanes ? block.width - c : kLanes;
      for (int64_t j = 0; j < count; ++j) lanes[j] += f(static_cast<double>(row[c + j]), j);
    }
  }
  const int64_t span = block.width > block.size ? block.size : kLanes;
  for (int64_t first = 0; first < kLanes; first += span) {
    const int64_t end = first + span < kLanes ? first + span : kLanes;
    double sum = 0.0;
    for (int64_t j = first; j < end; ++j) sum += lanes[j];
    for (int64_t j = first; j < end; ++j) lanes[j] = sum / static_cast<double>(block.pixels * block.size);
  }
}

void RunBlock(const Block& block, double epsilon) {
  double means[kLanes];
  double factors[kLanes];
  Means(block, [](double x, int64_t) { return x; }, means);
  Means(block, [&means](double x, int64_t j) { return (x - means[j]) * (x - means[j]); }, factors);
  for (int64_t j = 0; j < kLanes; ++j) factors[j] = 1.0 / __builtin_sqrt(factors[j] + epsilon);
  for (int64_t p = 0; p < block.pixels; ++p) {
    const float* row = block.from + p * block.channels;
    float* to = block.to + p * block.channels;
    for (int64_t c = 0; c < block.width; ++c) {
      const int64_t j = c % kLanes;
      const float y = static_cast<float>((static_cast<double>(row[c]) - means[j]) * factors[j]);
      to[c] = y * block.scale[c] + block.bias[c];
    }
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& shape = context.inputs[0].shape;
  const int64_t channels = shape[-1];
  const int64_t pixels = shape.Count(1, shape.rank - 1);
  const int64_t size = channels / state.groups;
  const int64_t together = size < kLanes ? kLanes / size : 1;
  const int64_t blocks = (state.groups + together - 1) / together;
  const float* from = context.inputs[0].As<float>();
  const float* scale = context.inputs[1].As<float>();
  const float* bias = context.inputs[2].As<float>();
  float* to = context.outputs[0].As<float>();
  const double epsilon = static_cast<double>(state.epsilon);
  context.For(shape[0] * blocks, 1, [=](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % blocks * together * size;
      const int64_t offset = item / blocks * pixels * channels + first;
      const int64_t width = channels - first < together * size ? channels - first : together * size;
      RunBlock({from + offset, scale + first, bias + first, to + offset, pixels, channels, width, size}, epsilon);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};

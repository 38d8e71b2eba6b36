// Determinants by elimination with the largest pivot, in double precision, one matrix per thread at a time.
#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr int64_t kMostColumns = 1 << 14;

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  if (context.input(0).shape.rank < 2) return context.Fail(Code::kBadModel, "its input holds no matrices");
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const Shape& in = context.input(0).shape;
  if (in[-1] != in[-2]) return context.Fail(Code::kBadModel, "its matrices are not square");
  if (in[-1] > kMostColumns) return context.Fail(Code::kUnsupported, "its matrices are too large");
  Shape expected = in;
  expected.rank -= 2;
  for (int axis = expected.rank; axis < kMaxRank; ++axis) expected.dims[axis] = 0;
  LATHE_TRY(CheckShape(context, 0, expected));
  return RequestScratch(context, in[-1] * in[-1] * context.threads() * static_cast<int64_t>(sizeof(double)));
}

inline double Size(double x) { return x < 0.0 ? -x : x; }

// Destroys the matrix.
double Eliminate(double* matrix, int64_t size) {
  double result = 1.0;
  for (int64_t k = 0; k < size; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < size; ++i) {
      if (Size(matrix[i * size + k]) > Size(matrix[pivot * size + k])) pivot = i;
    }
    if (pivot != k) {
      result = -result;
      for (int64_t j = k; j < size; ++j) {
        const double kept = matrix[k * size + j];
        matrix[k * size + j] = matrix[pivot * size + j];
        matrix[pivot * size + j] = kept;
      }
    }
    const double top = matrix[k * size + k];
    result *= top;
    if (top == 0.0) return 0.0;
    for (int64_t i = k + 1; i < size; ++i) {
      const double factor = matrix[i * size + k] / top;
      for (int64_t j = k + 1; j < size; ++j) matrix[i * size + j] -= factor * matrix[k * size + j];
    }
  }
  return result;
}

void Run(const RunContext& context) {
  const int64_t size = context.inputs[0].shape[-1];
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  double* scratch = static_cast<double*>(context.scratch);
  context.For(context.outputs[0].shape.Count(), 1, [=](int64_t begin, int64_t end, int thread) {
    double* matrix = scratch + thread * size * size;
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < size * size; ++j) matrix[j] = static_cast<double>(from[i * size * size + j]);
      to[i] = static_cast<float>(Eliminate(matrix, size));
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};

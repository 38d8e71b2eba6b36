// Inverses by elimination with the largest pivot, in double precision, one matrix per thread at a time.
#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

constexpr int64_t kMostColumns = 1 << 13;

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
  LATHE_TRY(CheckShape(context, 0, in));
  return RequestScratch(context, 2 * in[-1] * in[-1] * context.threads() * static_cast<int64_t>(sizeof(double)));
}

inline double Size(double x) { return x < 0.0 ? -x : x; }

inline void Swap(double* a, double* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

// Every row is the matrix's and, behind it, that of the identity, which becomes the inverse. False where there is none.
bool Eliminate(double* rows, int64_t size) {
  const int64_t width = 2 * size;
  for (int64_t k = 0; k < size; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < size; ++i) {
      if (Size(rows[i * width + k]) > Size(rows[pivot * width + k])) pivot = i;
    }
    double* top = rows + k * width;
    if (pivot != k) Swap(rows + pivot * width, top, width);
    const double number = top[k];
    if (number == 0.0) return false;
    for (int64_t j = k; j < width; ++j) top[j] /= number;
    for (int64_t i = 0; i < size; ++i) {
      double* row = rows + i * width;
      const double factor = row[k];
      if (i == k || factor == 0.0) continue;
      for (int64_t j = k; j < width; ++j) row[j] -= factor * top[j];
    }
  }
  return true;
}

void Run(const RunContext& context) {
  const int64_t size = context.inputs[0].shape[-1];
  const int64_t area = size * size;
  const float* from = context.inputs[0].As<float>();
  float* to = context.outputs[0].As<float>();
  double* scratch = static_cast<double*>(context.scratch);
  if (area == 0) return;
  context.For(context.outputs[0].shape.Count() / area, 1, [=](int64_t begin, int64_t end, int thread) {
    double* rows = scratch + thread * 2 * area;
    for (int64_t matrix = begin; matrix < end; ++matrix) {
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < size; ++j) {
          rows[i * 2 * size + j] = static_cast<double>(from[matrix * area + i * size + j]);
          rows[i * 2 * size + size + j] = i == j ? 1.0 : 0.0;
        }
      }
      const bool found = Eliminate(rows, size);
      for (int64_t i = 0; i < area; ++i) {
        const double number = rows[i / size * 2 * size + size + i % size];
        to[matrix * area + i] = found ? static_cast<float>(number) : __builtin_nanf("");
      }
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

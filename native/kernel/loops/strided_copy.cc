// Elements of every size.
#include "native/kernel/loops/strided_copy.h"

#include "native/kernel/check.h"
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/loops/whole_copy.h"
#include "native/kernel/simd/interleave.h"
#if defined(__HVX__)
#include "native/kernel/quantised/requantise_hvx.h"
#endif

namespace lathe {
namespace {

// The axis along which the input lies element by element, where it is not the last one; else -1.
inline int TransposedAxis(const StridedCopy& copy) {
  for (int axis = 0; axis + 1 < copy.rank; ++axis) {
    if (copy.strides[axis] == 1 && copy.strides[copy.rank - 1] != 1) return axis;
  }
  return -1;
}

// Of vectors of the DSP, which turn bytes.
template <typename T>
constexpr bool kWideBlocks =
#if defined(__HVX__)
    sizeof(T) == 1;
#else
    false;
#endif

#if defined(__HVX__)

// Up to 16 rows of up to 128 bytes become columns, `step` bytes apart: each of four times, rows of one half are woven
// with those of the other.
inline void TransposeTile(const uint8_t* from, int64_t stride, int rows, int columns, uint8_t* to, int64_t step) {
  constexpr int kRows = 16, kEight = 8, kHalves = kRows / kEight, kColumns = kHvxBytes / kRows;
  HVX_Vector x[kRows];
#pragma clang loop unroll(full)
  for (int i = 0; i < kRows; ++i) x[i] = LoadFew(from + (i < rows ? i : 0) * stride, columns);
#pragma clang loop unroll(full)
  for (int times = kRows; times > 1; times /= 2) {
    HVX_Vector woven[kRows];
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows / 2; ++i) {
      const HVX_VectorPair both = Q6_W_vshuff_VVR(x[i + kRows / 2], x[i], -1);
      woven[2 * i] = Q6_V_lo_W(both);
      woven[2 * i + 1] = Q6_V_hi_W(both);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) x[i] = woven[i];
  }
  alignas(kHvxBytes) HVX_Vector found[kRows];
#pragma clang loop unroll(full)
  for (int i = 0; i < kRows; ++i) found[i] = x[i];
  const auto* eights = reinterpret_cast<const uint64_t*>(found);
  const bool whole = rows == kRows && (reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(step)) % kEight == 0;
  for (int i = 0; i < columns; ++i, to += step, eights += kHalves) {
    if (whole) {
      auto* place = reinterpret_cast<uint64_t*>(to);
      place[0] = eights[0];
      place[1] = eights[1];
    } else {
      const HVX_Vector column = Q6_V_vror_VR(found[i / kColumns], i % kColumns * kRows);
      StoreFew(column, rows, reinterpret_cast<int8_t*>(to));
    }
  }
}

inline bool TransposeBlock(const uint8_t* from, int64_t stride, int64_t rows, int columns, uint8_t* to, int64_t step) {
  constexpr int64_t kRows = 16;
  for (int64_t row = 0; row < rows; row += kRows) {
    const int count = static_cast<int>(rows - row < kRows ? rows - row : kRows);
    TransposeTile(from + row * stride, stride, count, columns, to + row, step);
  }
  return true;
}

#elif defined(__x86_64__)

// Words of 4 bytes by squares of four rows and columns.
inline bool TransposeBlock(const uint32_t* from, int64_t stride, int64_t rows, int columns, uint32_t* to,
                           int64_t step) {
  constexpr int64_t kBlock = 64;  // rows whose lines of cache are read again for the next columns
  for (; rows > kBlock; rows -= kBlock, from += kBlock * stride, to += kBlock) {
    TransposeBlock(from, stride, kBlock, columns, to, step);
  }
  const int64_t whole = rows & ~int64_t{3};
  int64_t i = 0;
  for (; i + 4 <= columns; i += 4) {
    for (int64_t j = 0; j < whole; j += 4) {
      __m128 x[4];
      for (int k = 0; k < 4; ++k) {
        const auto* row = reinterpret_cast<const __m128i*>(from + (j + k) * stride + i);
        x[k] = _mm_castsi128_ps(_mm_loadu_si128(row));
      }
      _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
      for (int k = 0; k < 4; ++k) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (i + k) * step + j), _mm_castps_si128(x[k]));
      }
    }
    for (int k = 0; k < 4; ++k) {
      for (int64_t j = whole; j < rows; ++j) to[(i + k) * step + j] = from[j * stride + i + k];
    }
  }
  for (; i < columns; ++i) {
    for (int64_t j = 0; j < rows; ++j) to[i * step + j] = from[j * stride + i];
  }
  return true;
}

#endif

// False for elements that have no instructions for it.
template <typename T>
inline bool TransposeBlock(const T*, int64_t, int64_t, int, T*, int64_t) {
  return false;
}

// Blocks of the last axis and the one that is contiguous in the input, small enough that both sides stay in cache.
template <typename T>
inline void RunTransposition(const RunContext& context, const StridedCopy& copy, int axis) {
  constexpr int64_t kShort = 8;
  constexpr int64_t kColumns = 64;
  const int last = copy.rank - 1;
  const int64_t size = copy.dims[last];
  const int64_t stride = copy.strides[last];
  const int64_t length = copy.dims[axis];
  const int64_t block = size < kShort || kWideBlocks<T> ? 128 : 16;
  const int64_t blocks = (length + block - 1) / block;
  int64_t steps[kMaxRank];  // of the output
  int64_t count = 1;
  for (int i = last; i >= 0; --i) {
    steps[i] = count;
    count *= copy.dims[i];
  }
  if (count == 0) return;
  const T* from = static_cast<const T*>(context.inputs[0].data) + copy.offset;
  T* to = static_cast<T*>(context.outputs[0].data);
  const int64_t bytes = block * size * static_cast<int64_t>(sizeof(T));
  const int64_t grain = kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain);
  context.For(count / size / length * blocks, grain, [=, &copy, &steps](int64_t begin, int64_t end, int) {
    const int64_t step = steps[axis];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % blocks * block;
      const int64_t width = length - first < block ? length - first : block;
      const T* source = from + first;
      T* target = to + first * step;
      int64_t index = item / blocks;
      for (int i = last - 1; i >= 0; --i) {
        if (i == axis) continue;
        source += index % copy.dims[i] * copy.strides[i];
        target += index % copy.dims[i] * steps[i];
        index /= copy.dims[i];
      }
      if (size < kShort) {
        if (step == size && Interleave(source, stride, size, width, target)) continue;
        for (int64_t j = 0; j < size; ++j) {
          for (int64_t i = 0; i < width; ++i) target[i * step + j] = source[j * stride + i];
        }
        continue;
      }
      if (TransposeBlock(source, stride, size, static_cast<int>(width), target, step)) continue;
      for (int64_t start = 0; start < size; start += kColumns) {
        const int64_t end = start + kColumns < size ? start + kColumns : size;
        for (int64_t i = 0; i < width; ++i) {
          for (int64_t j = start; j < end; ++j) target[i * step + j] = source[j * stride + i];
        }
      }
    }
  });
}

template <typename T>
inline void CopyByStrides(const RunContext& context, const StridedCopy& copy) {
  const int axis = TransposedAxis(copy);
  if (axis >= 0) return RunTransposition<T>(context, copy, axis);
  const T* from = static_cast<const T*>(context.inputs[0].data) + copy.offset;
  T* to = static_cast<T*>(context.outputs[0].data);
  BroadcastOf<1> walk;
  walk.rank = copy.rank;
  memcpy(walk.dims, copy.dims, sizeof walk.dims);
  memcpy(walk.strides[0], copy.strides, sizeof walk.strides[0]);
  const int64_t stride = copy.strides[copy.rank - 1];
  context.For(context.outputs[0].shape.Count(), kCopyGrain / static_cast<int64_t>(sizeof(T)),
              [=, &walk](int64_t begin, int64_t end, int) {
                walk.ForStretches(begin, end, [=](int64_t at, const int64_t* offsets, int64_t count) {
                  const T* row = from + offsets[0];
                  if (stride == 1) {
                    memcpy(to + at, row, static_cast<size_t>(count) * sizeof(T));
                  } else {
                    for (int64_t i = 0; i < count; ++i) to[at + i] = row[i * stride];
                  }
                });
              });
}

StridedCopyFunction* FunctionFor(DType dtype) {
  return lathe_strided_copies.sizes[__builtin_ctz(static_cast<unsigned>(SizeOf(dtype)))];
}

}  // namespace

void Simplify(StridedCopy* copy) {
  int32_t rank = 0;
  for (int axis = 0; axis < copy->rank; ++axis) {
    if (copy->dims[axis] == 1) continue;
    if (rank > 0 && copy->strides[rank - 1] == copy->strides[axis] * copy->dims[axis]) {
      copy->dims[rank - 1] *= copy->dims[axis];
      copy->strides[rank - 1] = copy->strides[axis];
      continue;
    }
    copy->dims[rank] = copy->dims[axis];
    copy->strides[rank] = copy->strides[axis];
    ++rank;
  }
  if (rank == 0) {
    copy->dims[0] = 1;
    copy->strides[0] = 1;
    rank = 1;
  }
  copy->rank = rank;
}

Code CheckStridedCopy(PrepareContext& context) {
  LATHE_TRY(CheckSameTypes(context));
  const DType dtype = context.input(0).dtype;
  if (FunctionFor(dtype) != nullptr) return Code::kOk;
  return context.Fail(Code::kUnsupported, "the library moves no elements of %d bytes; build it with this model",
                      static_cast<int>(SizeOf(dtype)));
}

void RunStridedCopy(const RunContext& context, const StridedCopy& copy) {
  FunctionFor(context.inputs[0].dtype)(context, copy);
}

}  // namespace lathe

#define LATHE_COPY_BY_STRIDES(size, type)                                                             \
  void lathe_strided_copy__##size(const lathe::RunContext& context, const lathe::StridedCopy& copy) { \
    lathe::CopyByStrides<type>(context, copy);                                                        \
  }

LATHE_COPY_BY_STRIDES(1, uint8_t)
LATHE_COPY_BY_STRIDES(2, uint16_t)
LATHE_COPY_BY_STRIDES(4, uint32_t)
LATHE_COPY_BY_STRIDES(8, uint64_t)

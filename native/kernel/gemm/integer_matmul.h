// Matrix products of 8-bit numbers: s32 sums of (a - a_zero) * (b - b_zero) with NumPy's broadcasting. The zero points
// of a belong to rows, those of b to columns.
#ifndef LATHE_KERNEL_GEMM_INTEGER_MATMUL_H_
#define LATHE_KERNEL_GEMM_INTEGER_MATMUL_H_

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include <string.h>

#include "native/kernel/gemm/products.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

constexpr int kMatmulRows = 4;      // of a tile
constexpr int kMatmulColumns = 16;  // of a tile
constexpr int kMatmulHeight = 4;    // tiles below each other that read the same columns
constexpr int kMatmulWidth = 4;     // tiles side by side
constexpr int kMatmulPiece = 128;   // of the depth
constexpr int kMatmulLine = 64;     // of the cache
constexpr int kMatmulAhead = 16;    // rows of b that are fetched before they are copied

// Sums wrap around: one beyond s32 is the model's to avoid, but must not be undefined.
typedef uint32_t Sum;

struct MatmulInputs {
  int a;
  int a_zero;
  int b;
  int b_zero;
};

inline Code PrepareIntegerMatmul(PrepareContext& context, const MatmulInputs& inputs) {
  const Tensor& a = context.input(inputs.a);
  const Tensor& b = context.input(inputs.b);
  if (!IsByte(a.dtype) || !IsByte(b.dtype)) return context.Fail(Code::kUnsupported, "its operands are not bytes");
  if (a.shape.rank < 1 || b.shape.rank < 1) return context.Fail(Code::kBadModel, "its inputs have at least rank 1");
  LATHE_TRY(CheckScalarOrRow(context, inputs.a_zero, a.dtype));
  return CheckScalarOrRow(context, inputs.b_zero, b.dtype);
}

inline Code PlanIntegerMatmul(PlanContext& context, const MatmulInputs& inputs) {
  Products& plan = *static_cast<Products*>(context.plan());
  LATHE_TRY(PlanProducts(context, inputs.a, inputs.b, &plan));
  LATHE_TRY(CheckRowLength(context, inputs.a_zero, plan.rows));
  return CheckRowLength(context, inputs.b_zero, plan.columns);
}

// Rows of a piece of a, zero points taken off. An odd piece ends with a 0.
struct MatmulPiece {
  int16_t rows[kMatmulRows][kMatmulPiece];
  int64_t depth;
};

typedef Sum MatmulSums[kMatmulRows][kMatmulColumns];

#if defined(__AVX2__)

// Adds the products with the columns of a tile: pairs of the depth with each instruction that multiplies.
template <typename B>
inline void AddTile(const MatmulPiece& piece, const B* b, int64_t stride, MatmulSums& to) {
  __m256i sums[kMatmulRows][2];
#pragma GCC unroll 4
  for (int i = 0; i < kMatmulRows; ++i) {
    for (int j = 0; j < 2; ++j) sums[i][j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(to[i]) + j);
  }
  const auto wide = [](__m128i x) { return B(-1) < B(0) ? _mm256_cvtepi8_epi16(x) : _mm256_cvtepu8_epi16(x); };
  for (int64_t k = 0; k < piece.depth; k += 2, b += 2 * stride) {
    const B* next = k + 1 < piece.depth ? b + stride : b;
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(next));
    const __m256i pairs[] = {wide(_mm_unpacklo_epi8(first, second)), wide(_mm_unpackhi_epi8(first, second))};
#pragma GCC unroll 4
    for (int i = 0; i < kMatmulRows; ++i) {
      int32_t pair;
      memcpy(&pair, piece.rows[i] + k, sizeof pair);
      const __m256i value = _mm256_set1_epi32(pair);
      for (int j = 0; j < 2; ++j) sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(value, pairs[j]));
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kMatmulRows; ++i) {
    for (int j = 0; j < 2; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[i]) + j, sums[i][j]);
  }
}

#else

template <typename B>
inline void AddTile(const MatmulPiece& piece, const B* b, int64_t stride, MatmulSums& to) {
  for (int64_t k = 0; k < piece.depth; ++k, b += stride) {
    for (int i = 0; i < kMatmulRows; ++i) {
      const int32_t value = piece.rows[i][k];
      for (int j = 0; j < kMatmulColumns; ++j) to[i][j] += static_cast<Sum>(value * b[j]);
    }
  }
}

#endif

// Some rows of a times some columns of b. It stands on the stack, which may have 64 KB.
template <typename A, typename B>
struct MatmulBlock {
  static constexpr int64_t kRows = kMatmulHeight * kMatmulRows, kColumns = kMatmulWidth * kMatmulColumns;

  int64_t rows;
  int64_t columns;
  int32_t a_zeros[kRows];
  Sum a_sums[kRows];  // zero points taken off
  MatmulSums sums[kMatmulHeight][kMatmulWidth];
  B copy[kMatmulPiece][kColumns];  // columns of b, which stand far apart
  MatmulPiece piece;

  // The rows of a tile; those that are not there are the first one once more.
  void TakeRows(const A* a, int64_t first, const Products& plan, int64_t k) {
    for (int64_t i = 0; i < kMatmulRows; ++i) {
      const int64_t row = first + i < rows ? first + i : first;
      const A* from = a + row * plan.depth + k;
      Sum sum = 0;
      for (int64_t j = 0; j < piece.depth; ++j) {
        const int32_t value = from[j] - a_zeros[row];
        piece.rows[i][j] = static_cast<int16_t>(value);
        sum += static_cast<Sum>(value);
      }
      if (piece.depth % 2 != 0) piece.rows[i][piece.depth] = 0;
      a_sums[first + i] += sum;
    }
  }

  void Run(const A* a, const B* b, const Products& plan) {
    memset(sums, 0, sizeof sums);
    memset(a_sums, 0, sizeof a_sums);
    memset(copy, 0, sizeof copy);
    for (int64_t k = 0; k < plan.depth; k += kMatmulPiece) {
      piece.depth = plan.depth - k < kMatmulPiece ? plan.depth - k : kMatmulPiece;
      for (int64_t j = 0; j < piece.depth; ++j) {
        const B* from = b + (k + j) * plan.columns;
        for (int64_t i = 0; i < columns; i += kMatmulLine)  // nothing else foresees steps of that size
          __builtin_prefetch(from + kMatmulAhead * plan.columns + i);
        if (columns == kColumns) {
          memcpy(copy[j], from, kColumns);  // a size that the compiler knows
        } else {
          memcpy(copy[j], from, static_cast<size_t>(columns));
        }
      }
      for (int64_t first = 0; first < rows; first += kMatmulRows) {
        TakeRows(a, first, plan, k);
        for (int64_t at = 0; at < columns; at += kMatmulColumns)
          AddTile(piece, copy[0] + at, kColumns, sums[first / kMatmulRows][at / kMatmulColumns]);
      }
    }
  }
};

// `store(at, row, column, sums, count)` takes the sums of neighbouring columns, of which the first is element `at`.
template <typename A, typename B, typename Store>
inline void RunIntegerMatmul(const RunContext& context, const MatmulInputs& inputs, const Store& store) {
  using Block = MatmulBlock<A, B>;
  const Products& given = context.Plan<Products>();
  const A* a = context.inputs[inputs.a].As<A>();
  const B* b = context.inputs[inputs.b].As<B>();
  const Tensor& a_zero = context.inputs[inputs.a_zero];
  const Tensor& b_zero = context.inputs[inputs.b_zero];
  Products plan = given;
  if (context.inputs[inputs.b].shape.rank <= 2 && a_zero.shape.rank == 0) {  // all rows are those of one matrix
    plan.rows *= plan.batches();
    plan.batch_rank = 0;
  }
  const int64_t heights = (plan.rows + Block::kRows - 1) / Block::kRows;
  const int64_t widths = (plan.columns + Block::kColumns - 1) / Block::kColumns;
  context.For(plan.batches() * heights * widths, 1, [&](int64_t begin, int64_t end, int) {
    Block block;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t column = item % widths * Block::kColumns;
      const int64_t row = item / widths % heights * Block::kRows;
      const int64_t batch = item / widths / heights;
      block.rows = plan.rows - row < Block::kRows ? plan.rows - row : Block::kRows;
      block.columns = plan.columns - column < Block::kColumns ? plan.columns - column : Block::kColumns;
      for (int64_t i = 0; i < block.rows; ++i) block.a_zeros[i] = ZeroPointAt(a_zero, (row + i) * a_zero.shape.rank);
      block.Run(a + plan.OffsetOfA(batch) + row * plan.depth, b + plan.OffsetOfB(batch) + column, plan);
      for (int64_t i = 0; i < block.rows; ++i) {
        for (int64_t at = 0; at < block.columns; at += kMatmulColumns) {
          Sum(&sums)[kMatmulColumns] = block.sums[i / kMatmulRows][at / kMatmulColumns][i % kMatmulRows];
          const int64_t left = block.columns - at, count = left < kMatmulColumns ? left : kMatmulColumns;
          for (int64_t j = 0; j < count; ++j) {
            const int32_t zero = ZeroPointAt(b_zero, (column + at + j) * b_zero.shape.rank);
            sums[j] -= block.a_sums[i] * static_cast<Sum>(zero);
          }
          store((batch * plan.rows + row + i) * plan.columns + column + at, (row + i) % given.rows, column + at, sums,
                count);
        }
      }
    }
  });
}

template <typename Store>
inline void RunIntegerMatmul(const RunContext& context, const MatmulInputs& inputs, const Store& store) {
  const bool signed_a = context.inputs[inputs.a].dtype == DType::kS8;
  const bool signed_b = context.inputs[inputs.b].dtype == DType::kS8;
  if (signed_a && signed_b) return RunIntegerMatmul<int8_t, int8_t>(context, inputs, store);
  if (signed_a) return RunIntegerMatmul<int8_t, uint8_t>(context, inputs, store);
  if (signed_b) return RunIntegerMatmul<uint8_t, int8_t>(context, inputs, store);
  RunIntegerMatmul<uint8_t, uint8_t>(context, inputs, store);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_INTEGER_MATMUL_H_

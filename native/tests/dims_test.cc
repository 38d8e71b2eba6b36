#include "native/runtime/dims.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "native/tests/container_builder.h"

namespace lathe_test {
namespace {

using lathe::DimProgram;
using lathe::DimRange;
using lathe::DimSymbol;
using lathe::Span;

DimProgram Program(const std::vector<int64_t>& code) { return DimProgram(code.data(), code.size()); }

const char* Check(const std::vector<int64_t>& code) { return lathe::CheckDimProgram(Program(code), 2); }

TEST(Dims, ChecksPrograms) {
  EXPECT_EQ(Check({Sym(0), Push(2), kMul, Sym(1), kAdd}), nullptr);
  EXPECT_STREQ(Check({}), "does not end with one value");
  EXPECT_STREQ(Check({Push(1), Push(2)}), "does not end with one value");
  EXPECT_STREQ(Check({Push(1), kAdd}), "lacks an operand");
  EXPECT_STREQ(Check({Push(1), 10}), "has an unknown operation");
  EXPECT_STREQ(Check({Sym(2)}), "names a symbol that does not exist");
  EXPECT_STREQ(Check({Sym(-1)}), "names a symbol that does not exist");
  EXPECT_STREQ(Check(std::vector<int64_t>(33, Push(1))), "is nested too deeply");
  EXPECT_STREQ(Check(std::vector<int64_t>(5000, Push(1))), "is too long");
}

// The rules of Python, which are those of buildtool.ir.dims.
TEST(Dims, DividesLikePython) {
  const struct {
    int64_t a, b, floor, ceil, mod;
  } cases[] = {{7, 2, 3, 4, 1},    {-7, 2, -4, -3, 1}, {7, -2, -4, -3, -1},
               {-7, -2, 3, 4, -1}, {6, 3, 2, 2, 0},    {0, 5, 0, 0, 0}};
  for (const auto& c : cases) {
    int64_t result = 0;
    ASSERT_TRUE(lathe::EvaluateDim(Program({Push(c.a), Push(c.b), kFloorDiv}), {}, &result));
    EXPECT_EQ(result, c.floor) << c.a << " " << c.b;
    ASSERT_TRUE(lathe::EvaluateDim(Program({Push(c.a), Push(c.b), kCeilDiv}), {}, &result));
    EXPECT_EQ(result, c.ceil) << c.a << " " << c.b;
    ASSERT_TRUE(lathe::EvaluateDim(Program({Push(c.a), Push(c.b), kMod}), {}, &result));
    EXPECT_EQ(result, c.mod) << c.a << " " << c.b;
  }
}

TEST(Dims, RefusesWhatLeaves64Bits) {
  const int64_t big[] = {INT64_MAX, INT64_MIN};
  const Span<const int64_t> symbols(big);
  int64_t result = 0;
  EXPECT_FALSE(lathe::EvaluateDim(Program({Sym(0), Push(1), kAdd}), symbols, &result));
  EXPECT_FALSE(lathe::EvaluateDim(Program({Sym(1), Push(1), kSub}), symbols, &result));
  EXPECT_FALSE(lathe::EvaluateDim(Program({Sym(0), Push(2), kMul}), symbols, &result));
  EXPECT_FALSE(lathe::EvaluateDim(Program({Sym(1), Push(-1), kMul}), symbols, &result));
  EXPECT_FALSE(lathe::EvaluateDim(Program({Sym(1), Push(-1), kFloorDiv}), symbols, &result));
  EXPECT_FALSE(lathe::EvaluateDim(Program({Push(3), Push(0), kMod}), symbols, &result));
  EXPECT_TRUE(lathe::EvaluateDim(Program({Sym(0), Sym(1), kMin}), symbols, &result));
  EXPECT_EQ(result, INT64_MIN);
  EXPECT_TRUE(lathe::EvaluateDim(Program({Sym(0), Sym(1), kMod}), symbols, &result));
}

TEST(Dims, BoundsHoldEveryValue) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 2000; ++round) {
    const int low = pick(1, 5), high = low + pick(0, 5);
    const DimSymbol symbols[] = {{"a", low, high}, {"b", 2, 4}};
    std::vector<int64_t> code = {Sym(pick(0, 1))};
    for (int i = pick(0, 4); i > 0; --i) {
      code.push_back(pick(0, 1) ? Sym(pick(0, 1)) : Push(pick(1, 6)));
      code.push_back(pick(2, 9));
    }
    ASSERT_EQ(Check(code), nullptr);
    const DimRange range = lathe::BoundDim(Program(code), Span<const DimSymbol>(symbols));
    for (int64_t a = low; a <= high; ++a) {
      for (int64_t b = 2; b <= 4; ++b) {
        const int64_t values[] = {a, b};
        int64_t result = 0;
        ASSERT_TRUE(lathe::EvaluateDim(Program(code), Span<const int64_t>(values), &result));
        EXPECT_LE(range.low, result);
        EXPECT_GE(range.high, result);
      }
    }
  }
}

}  // namespace
}  // namespace lathe_test

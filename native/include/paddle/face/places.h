// The enumerations of Paddle-Lite, with its numbers.
#ifndef PADDLE_FACE_PLACES_H_
#define PADDLE_FACE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "lathe/c_api.h"

#ifndef LITE_API
#define LITE_API
#endif

namespace paddle {
namespace lite_api {

enum class TargetType : int {
  kUnk = 0,
  kHost = 1,
  kX86 = 2,
  kCUDA = 3,
  kARM = 4,
  kOpenCL = 5,
  kAny = 6,
  kFPGA = 7,
  kNPU = 8,
  kXPU = 9,
  kBM = 10,
  kMLU = 11,
  kRKNPU = 12,
  kAPU = 13,
  kHuaweiAscendNPU = 14,
  kImaginationNNA = 15,
  kIntelFPGA = 16,
  kMetal = 17,
  kNNAdapter = 18,
  NUM = 19,
};

enum class PrecisionType : int {
  kUnk = 0,
  kFloat = 1,
  kInt8 = 2,
  kInt32 = 3,
  kAny = 4,
  kFP16 = 5,
  kBool = 6,
  kInt64 = 7,
  kInt16 = 8,
  kUInt8 = 9,
  kFP64 = 10,
  NUM = 11,
};

enum class DataLayoutType : int {
  kUnk = 0,
  kNCHW = 1,
  kAny = 2,
  kNHWC = 3,
  kImageDefault = 4,
  kImageFolder = 5,
  kImageNW = 6,
  kMetalTexture2DArray = 7,
  kMetalTexture2D = 8,
  NUM = 9,
};

typedef enum { LITE_PRECISION_NORMAL = 0, LITE_PRECISION_LOW = 1 } PrecisionMode;

// Which cores an engine's threads stay on: LATHE_POWER_* says what each means.
typedef enum {
  LITE_POWER_HIGH = 0,
  LITE_POWER_LOW = 1,
  LITE_POWER_FULL = 2,
  LITE_POWER_NO_BIND = 3,
  LITE_POWER_RAND_HIGH = 4,
  LITE_POWER_RAND_LOW = 5
} PowerMode;

typedef enum { CL_TUNE_NONE = 0, CL_TUNE_RAPID = 1, CL_TUNE_NORMAL = 2, CL_TUNE_EXHAUSTIVE = 3 } CLTuneMode;

typedef enum { CL_PRECISION_AUTO = 0, CL_PRECISION_FP32 = 1, CL_PRECISION_FP16 = 2 } CLPrecisionType;

enum class LiteModelType { kProtobuf = 0, kNaiveBuffer, UNK };

enum class QuantType : int { QUANT_INT8, QUANT_INT16 };

enum class L3CacheSetMethod { kDeviceL3Cache = 0, kDeviceL2Cache = 1, kAbsolute = 2 };

inline size_t PrecisionTypeLength(PrecisionType type) {
  static const size_t sizes[] = {0, 4, 1, 4, 0, 2, 1, 8, 2, 1, 8};
  return type > PrecisionType::kUnk && type < PrecisionType::NUM ? sizes[static_cast<int>(type)] : 0;
}

// The type of elements of C++; kUnk for others.
template <typename T>
struct PrecisionTypeTrait {
  constexpr static PrecisionType Type() { return PrecisionType::kUnk; }
};
#define LATHE_PADDLE_TYPE(cpp_type, precision)                                 \
  template <>                                                                  \
  struct PrecisionTypeTrait<cpp_type> {                                        \
    constexpr static PrecisionType Type() { return PrecisionType::precision; } \
  }
LATHE_PADDLE_TYPE(bool, kBool);
LATHE_PADDLE_TYPE(float, kFloat);
LATHE_PADDLE_TYPE(double, kFP64);
LATHE_PADDLE_TYPE(uint8_t, kUInt8);
LATHE_PADDLE_TYPE(int8_t, kInt8);
LATHE_PADDLE_TYPE(int16_t, kInt16);
LATHE_PADDLE_TYPE(uint16_t, kFP16);  // its bits
LATHE_PADDLE_TYPE(int32_t, kInt32);
LATHE_PADDLE_TYPE(int64_t, kInt64);
#undef LATHE_PADDLE_TYPE

#define TARGET(item__) paddle::lite_api::TargetType::item__
#define PRECISION(item__) paddle::lite_api::PrecisionType::item__
#define DATALAYOUT(item__) paddle::lite_api::DataLayoutType::item__

namespace face {

template <typename Word>
const std::string& WordOf(const std::string* words, int count, Word value) {
  const int index = static_cast<int>(value);
  return words[index >= 0 && index < count ? index : 0];
}

// What a buffer of this type is to a library; 0 for what it has no type for.
inline lathe_dtype DTypeOf(PrecisionType type) {
  static const lathe_dtype types[] = {0,          LATHE_F32, LATHE_S8,  LATHE_S32, 0,        LATHE_F16,
                                      LATHE_BOOL, LATHE_S64, LATHE_S16, LATHE_U8,  LATHE_F64};
  return type > PrecisionType::kUnk && type < PrecisionType::NUM ? types[static_cast<int>(type)] : lathe_dtype{0};
}

// kFloat for types that Paddle-Lite has not: they are converted.
inline PrecisionType PrecisionOf(lathe_dtype type) {
  for (int i = 1; i < static_cast<int>(PrecisionType::NUM); ++i) {
    if (DTypeOf(static_cast<PrecisionType>(i)) == type) return static_cast<PrecisionType>(i);
  }
  return PrecisionType::kFloat;
}

}  // namespace face

inline const std::string& TargetToStr(TargetType target) {
  static const std::string words[] = {"unk",
                                      "host",
                                      "x86",
                                      "cuda",
                                      "arm",
                                      "opencl",
                                      "any",
                                      "fpga",
                                      "npu",
                                      "xpu",
                                      "bm",
                                      "mlu",
                                      "rknpu",
                                      "apu",
                                      "huawei_ascend_npu",
                                      "imagination_nna",
                                      "intel_fpga",
                                      "metal",
                                      "nnadapter"};
  return face::WordOf(words, 19, target);
}
inline const std::string& PrecisionToStr(PrecisionType precision) {
  static const std::string words[] = {"unk",  "float",   "int8_t",  "int32_t", "any",   "float16",
                                      "bool", "int64_t", "int16_t", "uint8_t", "double"};
  return face::WordOf(words, 11, precision);
}
inline const std::string& DataLayoutToStr(DataLayoutType layout) {
  static const std::string words[] = {
      "unk", "NCHW", "any", "NHWC", "ImageDefault", "ImageFolder", "ImageNW", "MetalTexture2DArray", "MetalTexture2D"};
  return face::WordOf(words, 9, layout);
}

// Where a program wants to compute. Lathe decides it when a library is built; kOpenCL among the places of a CxxConfig
// lets the parts of a model that were built for a GPU run there.
struct LITE_API Place {
  TargetType target = TargetType::kUnk;
  PrecisionType precision = PrecisionType::kUnk;
  DataLayoutType layout = DataLayoutType::kUnk;
  int16_t device = 0;

  Place() = default;
  Place(TargetType wanted_target, PrecisionType wanted_precision = PrecisionType::kFloat,
        DataLayoutType wanted_layout = DataLayoutType::kNCHW, int16_t wanted_device = 0)
      : target(wanted_target), precision(wanted_precision), layout(wanted_layout), device(wanted_device) {}

  bool is_valid() const {
    return target != TargetType::kUnk && precision != PrecisionType::kUnk && layout != DataLayoutType::kUnk;
  }
  size_t hash() const {
    return ((static_cast<size_t>(target) * 31 + static_cast<size_t>(precision)) * 31 + static_cast<size_t>(layout)) *
               31 +
           static_cast<size_t>(device);
  }
  bool operator==(const Place& other) const {
    return target == other.target && precision == other.precision && layout == other.layout && device == other.device;
  }
  bool operator!=(const Place& other) const { return !(*this == other); }
  friend bool operator<(const Place& a, const Place& b) {
    if (a.target != b.target) return a.target < b.target;
    if (a.precision != b.precision) return a.precision < b.precision;
    if (a.layout != b.layout) return a.layout < b.layout;
    return a.device < b.device;
  }
  std::string DebugString() const {
    return TargetToStr(target) + "/" + PrecisionToStr(precision) + "/" + DataLayoutToStr(layout);
  }
};

}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_PLACES_H_

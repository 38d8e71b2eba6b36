// Moves elements between the buffers of a caller and those of a session: in another order, in another type. For C++11
// and later; used by the interfaces of other engines.
#ifndef LATHE_ELEMENTS_H_
#define LATHE_ELEMENTS_H_

#include <cstdint>
#include <cstring>
#include <limits>

#include "lathe/c_api.h"

namespace lathe {
namespace elements {

inline size_t SizeOf(lathe_dtype type) {
  switch (type) {
    case LATHE_S8:
    case LATHE_U8:
    case LATHE_BOOL:
      return 1;
    case LATHE_F16:
    case LATHE_BF16:
    case LATHE_S16:
    case LATHE_U16:
      return 2;
    case LATHE_F64:
    case LATHE_S64:
    case LATHE_U64:
      return 8;
    default:
      return 4;
  }
}

// How many elements each of four nested loops has, and how far apart they lie in the source. The target is packed.
struct Walk {
  int64_t counts[4];
  int64_t steps[4];
};

inline Walk Straight(int64_t count) { return Walk{{1, 1, 1, count}, {0, 0, 0, 1}}; }

// Axis i of the target is axis order[i] of the source.
inline Walk Turned(const int64_t* source, const int* order) {
  int64_t steps[4] = {0, 0, 0, 1};
  for (int axis = 2; axis >= 0; --axis) steps[axis] = steps[axis + 1] * source[axis + 1];
  Walk walk;
  for (int axis = 0; axis < 4; ++axis) {
    walk.counts[axis] = source[order[axis]];
    walk.steps[axis] = steps[order[axis]];
  }
  return walk;
}

template <typename Function>
void ForEach(const Walk& walk, Function function) {
  int64_t target = 0;
  for (int64_t a = 0; a < walk.counts[0]; ++a) {
    for (int64_t b = 0; b < walk.counts[1]; ++b) {
      for (int64_t c = 0; c < walk.counts[2]; ++c) {
        const int64_t row = a * walk.steps[0] + b * walk.steps[1] + c * walk.steps[2];
        for (int64_t d = 0; d < walk.counts[3]; ++d) function(row + d * walk.steps[3], target++);
      }
    }
  }
}

template <typename T>
void MoveAs(const void* from, void* to, const Walk& walk) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  ForEach(walk, [=](int64_t i, int64_t j) { target[j] = source[i]; });
}

inline float FloatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t BitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOfHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return FloatOfBits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // A multiplication puts the exponent right, of subnormal numbers too.
  return FloatOfBits(sign | BitsOfFloat(FloatOfBits(magnitude << 13) * FloatOfBits(0x77800000u)));
}

// To the nearest, ties to even.
inline uint16_t HalfOfFloat(float value) {
  const uint32_t bits = BitsOfFloat(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // what rounds to more than 65504
  if (magnitude < 0x38800000u) {  // subnormal: an addition shifts the bits to where they belong, and rounds
    const uint32_t sum = BitsOfFloat(FloatOfBits(magnitude) + 0.5f);
    return static_cast<uint16_t>(sign | (sum - 0x3f000000u));
  }
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
}

inline uint16_t Bfloat16OfFloat(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

inline double Load(const void* from, lathe_dtype type, int64_t i) {
  switch (type) {
    case LATHE_F32:
      return static_cast<const float*>(from)[i];
    case LATHE_F16:
      return FloatOfHalf(static_cast<const uint16_t*>(from)[i]);
    case LATHE_BF16:
      return FloatOfBits(static_cast<uint32_t>(static_cast<const uint16_t*>(from)[i]) << 16);
    case LATHE_F64:
      return static_cast<const double*>(from)[i];
    case LATHE_S8:
      return static_cast<const int8_t*>(from)[i];
    case LATHE_S16:
      return static_cast<const int16_t*>(from)[i];
    case LATHE_U16:
      return static_cast<const uint16_t*>(from)[i];
    case LATHE_S32:
      return static_cast<const int32_t*>(from)[i];
    case LATHE_U32:
      return static_cast<const uint32_t*>(from)[i];
    case LATHE_S64:
      return static_cast<double>(static_cast<const int64_t*>(from)[i]);
    case LATHE_U64:
      return static_cast<double>(static_cast<const uint64_t*>(from)[i]);
    default:
      return static_cast<const uint8_t*>(from)[i];
  }
}

// Towards zero, and to the nearest number that the type has; zero for what is no number.
template <typename T>
void StoreWhole(void* to, int64_t i, double value) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  T& target = static_cast<T*>(to)[i];
  if (value >= high) {
    target = std::numeric_limits<T>::max();
  } else if (value <= low) {
    target = std::numeric_limits<T>::min();
  } else {
    target = value == value ? static_cast<T>(value) : T(0);
  }
}

inline void Store(void* to, lathe_dtype type, int64_t i, double value) {
  switch (type) {
    case LATHE_F32:
      static_cast<float*>(to)[i] = static_cast<float>(value);
      return;
    case LATHE_F16:
      static_cast<uint16_t*>(to)[i] = HalfOfFloat(static_cast<float>(value));
      return;
    case LATHE_BF16:
      static_cast<uint16_t*>(to)[i] = Bfloat16OfFloat(static_cast<float>(value));
      return;
    case LATHE_F64:
      static_cast<double*>(to)[i] = value;
      return;
    case LATHE_S8:
      return StoreWhole<int8_t>(to, i, value);
    case LATHE_U8:
      return StoreWhole<uint8_t>(to, i, value);
    case LATHE_S16:
      return StoreWhole<int16_t>(to, i, value);
    case LATHE_U16:
      return StoreWhole<uint16_t>(to, i, value);
    case LATHE_S32:
      return StoreWhole<int32_t>(to, i, value);
    case LATHE_U32:
      return StoreWhole<uint32_t>(to, i, value);
    case LATHE_S64:
      return StoreWhole<int64_t>(to, i, value);
    case LATHE_U64:
      return StoreWhole<uint64_t>(to, i, value);
    default:
      static_cast<uint8_t*>(to)[i] = value != 0;
  }
}

// `straight` tells that the walk changes no order.
inline void Move(const void* from, lathe_dtype from_type, void* to, lathe_dtype to_type, const Walk& walk,
                 bool straight) {
  if (from_type != to_type) {
    ForEach(walk, [=](int64_t i, int64_t j) { Store(to, to_type, j, Load(from, from_type, i)); });
  } else if (straight) {
    std::memcpy(to, from, static_cast<size_t>(walk.counts[3]) * SizeOf(to_type));
  } else if (SizeOf(to_type) == 1) {
    MoveAs<uint8_t>(from, to, walk);
  } else if (SizeOf(to_type) == 2) {
    MoveAs<uint16_t>(from, to, walk);
  } else if (SizeOf(to_type) == 8) {
    MoveAs<uint64_t>(from, to, walk);
  } else {
    MoveAs<uint32_t>(from, to, walk);
  }
}

}  // namespace elements
}  // namespace lathe

#endif  // LATHE_ELEMENTS_H_

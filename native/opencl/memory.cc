// Images, buffers, and constants in them.
#include <string.h>

#include "native/core/half.h"
#include "native/opencl/runtime.h"

namespace lathe {
namespace opencl {

namespace {

// To the nearest half, ties to even.
uint16_t HalfFromFloat(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // not a number
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (magnitude < 0x38800000) {                                              // subnormal: a multiple of 2^-24
    const float scaled = FloatFromBits(magnitude) * 16777216.0f;
    uint32_t whole = static_cast<uint32_t>(scaled);
    const float left = scaled - static_cast<float>(whole);
    whole += left > 0.5f || (left == 0.5f && (whole & 1) != 0) ? 1 : 0;
    return static_cast<uint16_t>(sign | whole);
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000;
  return static_cast<uint16_t>(sign | rounded >> 13);
}

// Any float tensor in the usual order of pixels.
void FillView(const float* source, const View& view, float* pixels) {
  const int64_t rows = int64_t{view.n} * view.h;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t x = 0; x < view.w; ++x) {
      for (int64_t c = 0; c < view.c; ++c) pixels[((row * view.blocks + c / 4) * view.w + x) * 4 + c % 4] = *source++;
    }
  }
}

int64_t NumberAt(const Tensor& tensor, int64_t index) {
  return tensor.dtype == DType::kS64 ? tensor.As<int64_t>()[index] : tensor.As<int32_t>()[index];
}

}  // namespace

Home Runtime::HomeFor(const PartSettings& settings, int64_t width, int64_t height) const {
  const DeviceFacts& known = facts();
  const bool fits = known.images && width <= static_cast<int64_t>(known.max_width) &&
                    height <= static_cast<int64_t>(known.max_height);
  return settings.images && fits ? Home::kImage : Home::kBuffer;
}

Code Runtime::MakeMemory(const Reporter& reporter, Home home, bool half, int64_t width, int64_t height, void* source,
                         cl_mem_flags flags, cl_mem* made) {
  cl_int error = kClSuccess;
  if (source != nullptr) flags |= kClMemCopyHostPtr;
  const int64_t bytes = width * height * (home == Home::kNumbers ? 4 : half ? 8 : 16);
  if (home == Home::kImage) {
    const cl_image_format format = {kClRgba, half ? kClHalfFloat : kClFloat};
    cl_image_desc description = {};
    description.image_type = kClMemObjectImage2d;
    description.image_width = static_cast<size_t>(width);
    description.image_height = static_cast<size_t>(height);
    *made = api_.CreateImage(context_, flags, &format, &description, source, &error);
  } else if (static_cast<uint64_t>(bytes) > facts().max_allocation) {
    return reporter.Fail(Code::kOutOfMemory,
                         "a tensor of %lld bytes is larger than the device '%s' allows (%llu): make the input smaller, "
                         "or run it on the CPU",
                         static_cast<long long>(bytes), facts().name,
                         static_cast<unsigned long long>(facts().max_allocation));
  } else {
    *made = api_.CreateBuffer(context_, flags, static_cast<size_t>(bytes), source, &error);
  }
  if (error == kClSuccess) {
    CountMemory(bytes);
    return Code::kOk;
  }
  *made = nullptr;
  return reporter.Fail(Code::kOutOfMemory, "the device '%s' has no memory for %lld bytes: %s", facts().name,
                       static_cast<long long>(bytes), ErrorName(error));
}

Code Runtime::UploadConstant(const Reporter& reporter, const Tensor& source, const PartSettings& settings,
                             FillPixels fill, const int64_t (&arguments)[4], DeviceTensor* as) {
  const Locked locked(&lock_);
  for (const Constant* each = constants_; each != nullptr; each = each->next) {
    if (each->data == source.data && each->fill == fill && each->width == as->width && each->height == as->height &&
        each->half == settings.half && each->home == as->home &&
        memcmp(each->arguments, arguments, sizeof(arguments)) == 0) {
      as->memory = each->memory;
      return Code::kOk;
    }
  }
  auto* made = static_cast<Constant*>(memory_.Allocate(sizeof(Constant), alignof(Constant)));
  if (made == nullptr) return reporter.Fail(Code::kOutOfMemory, "there is no memory for a constant");
  LATHE_TRY(FillConstant(reporter, source, settings, fill, arguments, as));
  *made = {constants_, source.data, fill, {}, as->width, as->height, settings.half, as->home, as->memory};
  memcpy(made->arguments, arguments, sizeof(arguments));
  constants_ = made;
  return Code::kOk;
}

Code Runtime::FillConstant(const Reporter& reporter, const Tensor& source, const PartSettings& settings,
                           FillPixels fill, const int64_t (&arguments)[4], DeviceTensor* as) {
  const bool numbers = as->home == Home::kNumbers;
  const int64_t count = int64_t{as->width} * as->height * (numbers ? 1 : 4);
  if (static_cast<uint64_t>(count) * sizeof(float) > kMaxBytes)
    return reporter.Fail(Code::kOutOfMemory, "a constant is too large");
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  auto* memory = static_cast<float*>(allocator_.alloc(allocator_.user, bytes));
  if (memory == nullptr) return reporter.Fail(Code::kOutOfMemory, "there is no memory for a constant");
  memset(memory, 0, bytes);
  if (numbers) {
    auto* whole = reinterpret_cast<int32_t*>(memory);
    for (int64_t i = 0; i < count; ++i) whole[i] = static_cast<int32_t>(NumberAt(source, i));
  } else if (fill != nullptr) {
    fill(source.As<float>(), source.shape, as->width, as->height, arguments, memory);
  } else {
    FillView(source.As<float>(), as->view, memory);
  }
  if (settings.half && !numbers) {
    auto* halves = reinterpret_cast<uint16_t*>(memory);  // behind what is still to be read
    for (int64_t i = 0; i < count; ++i) {
      const uint16_t half = HalfFromFloat(memory[i]);
      memcpy(halves + i, &half, sizeof(half));
    }
  }
  const Code code =
      MakeMemory(reporter, as->home, settings.half, as->width, as->height, memory, kClMemReadOnly, &as->memory);
  allocator_.free(allocator_.user, memory);
  return code;
}

}  // namespace opencl
}  // namespace lathe

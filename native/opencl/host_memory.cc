#include "native/opencl/host_memory.h"

namespace lathe {
namespace opencl {

namespace {

// Devices and processors that do not see each other's caches must not both write into one line.
constexpr size_t kCacheLine = 64;
// Intel: zero copy takes a whole page as the start, and whole cache lines.
constexpr size_t kIntelAlignment = 4096;

// Where memory has to begin so that CL_MEM_USE_HOST_PTR is no copy; 0: nowhere. Arm advises against the flag, as it
// makes a copy behind the scenes; that Qualcomm's and Imagination's drivers do better is nowhere promised.
size_t AlignmentFor(const DeviceFacts& facts) {
  const size_t usual = facts.base_alignment > kCacheLine ? facts.base_alignment : kCacheLine;
  switch (facts.maker) {
    case Maker::kAdreno:
    case Maker::kMali:
    case Maker::kPowerVr:
      return 0;
    case Maker::kIntel:
      return usual > kIntelAlignment ? usual : kIntelAlignment;
    default:
      return usual;
  }
}

}  // namespace

void HostMemory::Open(const ClApi& api, const Device& device, cl_context context) {
  api_ = &api;
  context_ = context;
  if (!device.facts.unified_memory) return;
  if (device.facts.import_host_memory)
    import_ = reinterpret_cast<ClImportMemoryArm>(
        api.GetExtensionFunctionAddressForPlatform(device.platform, "clImportMemoryARM"));
  alignment_ = import_ != nullptr ? kCacheLine : AlignmentFor(device.facts);
}

cl_mem HostMemory::Lend(void* host, size_t bytes, bool writes) const {
  if (alignment_ == 0 || reinterpret_cast<uintptr_t>(host) % alignment_ != 0 || bytes % kCacheLine != 0) return nullptr;
  cl_int error = kClSuccess;
  cl_mem made = nullptr;
  if (import_ != nullptr) {
    // The same flags for all: imports that touch the same page must not differ in them.
    const cl_import_properties_arm properties[] = {kClImportTypeArm, kClImportTypeHostArm, 0};
    made = import_(context_, kClMemReadWrite, properties, host, bytes, &error);
  } else {
    const cl_mem_flags access = writes ? kClMemReadWrite : kClMemReadOnly;
    made = api_->CreateBuffer(context_, access | kClMemUseHostPtr, bytes, host, &error);
  }
  return error == kClSuccess ? made : nullptr;
}

}  // namespace opencl
}  // namespace lathe

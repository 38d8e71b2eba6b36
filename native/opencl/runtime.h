// What an engine has of a device: the driver, a context and a queue, programs, constants, and what was planned.
#ifndef LATHE_OPENCL_RUNTIME_H_
#define LATHE_OPENCL_RUNTIME_H_

#include "native/opencl/device.h"
#include "native/opencl/host_memory.h"
#include "native/opencl/lock.h"
#include "native/opencl/node.h"
#include "native/opencl/programs.h"
#include "native/opencl/tuning.h"
#include "native/runtime/contexts.h"
#include "native/runtime/device.h"
#include "native/runtime/session.h"

namespace lathe {
namespace opencl {

struct SessionPart;

// The attributes of a device_region.
struct PartSettings {
  bool images;
  bool half;             // numbers are stored in 16 bits
  bool half_arithmetic;  // and computed in as many
  int32_t winograd;
  uint32_t opencl_queue_window_size;
  uint32_t kernel_microseconds;
};

// A device_region that this device takes.
struct Part {
  Part* next;
  const ::lathe::Node* node;
  size_t first;  // the number of its region's first node
  PartSettings settings;
  Span<const Unit*> units;  // what runs each of them
};

class Runtime final : public ::lathe::Device {
 public:
  // Makes the device of an engine, even where it cannot be used: then it says why. Null where memory is out.
  static Runtime* Of(Engine* engine);

  void Info(lathe_device_info* info) const override;
  Code Data(uint32_t what, const ErrorSink& errors, lathe_bytes* data) override;
  const char* KernelOf(size_t node) const override;
  void EndSession(const void* session) override;
  void End() override;

  bool usable() const { return usable_; }
  const char* reason() const { return reason_.text(); }
  Reason& reason_to_write() { return reason_; }
  const ClApi& api() const { return api_; }
  const DeviceFacts& facts() const { return device_.facts; }
  cl_device_id device() const { return device_.id; }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  const HostMemory& host_memory() const { return host_memory_; }
  ProgramCache& programs() { return *programs_; }
  Tuning& tuning() { return tuning_; }
  const lathe_allocator& allocator() const { return allocator_; }
  uint32_t flags() const { return flags_; }
  uint32_t queue_window() const { return queue_window_; }
  uint32_t kernel_microseconds() const { return kernel_microseconds_; }
  bool profiles() const { return profiles_; }

  Part* AddPart(const ::lathe::Node* node, size_t first, const PartSettings& settings);
  void RemovePart(Part* part);

  // The plan of a session for a part; what there was before is gone.
  SessionPart* NewSessionPart(const Session* session, Part* part);
  SessionPart* FindSessionPart(const Session* session, const Part* part);

  // A constant on the device: in the usual order of pixels where `fill` is null. `as` says home, extent and shape.
  Code UploadConstant(const Reporter& reporter, const Tensor& source, const PartSettings& settings, FillPixels fill,
                      const int64_t (&arguments)[4], DeviceTensor* as);
  // Where a tensor of this extent lives.
  Home HomeFor(const PartSettings& settings, int64_t width, int64_t height) const;
  // Of numbers, `width` is how many there are.
  static int64_t BytesOf(Home home, bool half, int64_t width, int64_t height) {
    return width * height * (home == Home::kNumbers ? 4 : half ? 8 : 16);
  }
  // Memory for a tensor. `source`: what it begins with, or null.
  Code MakeMemory(const Reporter& reporter, Home home, bool half, int64_t width, int64_t height, void* source,
                  cl_mem_flags flags, cl_mem* made);
  void CountMemory(int64_t bytes) { __atomic_add_fetch(&memory_in_use_, bytes, __ATOMIC_RELAXED); }

 private:
  struct Constant {
    Constant* next;
    const void* data;
    FillPixels fill;
    int64_t arguments[4];
    int32_t width, height;
    bool half;
    Home home;
    cl_mem memory;
  };

  explicit Runtime(Engine* engine) : allocator_(engine->allocator()), memory_(engine->allocator()) {}
  void Open(Engine* engine);
  Code OpenDevice(const lathe_device_options& options);
  Code OpenPrograms(const lathe_device_options& options);
  Code FillConstant(const Reporter& reporter, const Tensor& source, const PartSettings& settings, FillPixels fill,
                    const int64_t (&arguments)[4], DeviceTensor* as);

  lathe_allocator allocator_;
  MemoryArena memory_;
  Reason reason_;
  bool usable_ = false;
  bool profiles_ = false;
  uint32_t flags_ = 0;
  uint32_t queue_window_ = 0;
  uint32_t kernel_microseconds_ = 0;
  ClApi api_ = {};
  opencl::Device device_ = {};
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  HostMemory host_memory_;
  ProgramCache* programs_ = nullptr;
  Tuning tuning_{allocator_};
  Part* parts_ = nullptr;
  Lock lock_;  // of what follows
  Constant* constants_ = nullptr;
  SessionPart* session_parts_ = nullptr;
  MemoryArena saved_{allocator_};  // of Data
  int64_t memory_in_use_ = 0;
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_RUNTIME_H_

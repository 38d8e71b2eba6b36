// A part of a model, planned for a session: what is copied, and what is launched.
#ifndef LATHE_OPENCL_PARTS_H_
#define LATHE_OPENCL_PARTS_H_

#include "native/opencl/runtime.h"
#include "native/opencl/transfer.h"

namespace lathe {
namespace opencl {

// One kernel with all of its arguments.
struct LaunchRecord {
  LaunchRecord* next;
  const char* function;
  const char* options;
  size_t unit;  // its place in GetUnits()
  size_t node;  // of the part, from 0
  LaunchArgument* arguments;
  int32_t argument_count;
  int32_t work[3];
  int32_t group[3];  // 0: any

  // What `Realise` adds.
  cl_kernel kernel;
  size_t global[3];
  size_t local[3];
  bool driver_chooses;  // the size of work-groups: `local` is 1, 1, 1
  int32_t pieces;       // into how many it is cut
  cl_event event;
  int64_t start_ns;  // on the host, where the queue does not measure
  int64_t end_ns;
};

struct SessionPart {
  SessionPart* next = nullptr;
  const Session* session = nullptr;
  Part* part = nullptr;
  Runtime* runtime = nullptr;
  MemoryArena memory;
  LaunchRecord* launches = nullptr;
  Transfer* transfers = nullptr;
  struct OwnedMemory {
    OwnedMemory* next;
    cl_mem memory;
  }* owned = nullptr;
  cl_mem outside = nullptr;  // of LATHE_DEVICE_CHECK: how many accesses were outside of tensors
  int64_t bytes = 0;
  bool measured = false;  // kernels have been cut by what they took

  explicit SessionPart(const lathe_allocator& allocator) : memory(allocator) {}
  void Clear();  // everything planned goes

  Code Realise(const Reporter& reporter, Span<DeviceTensor*> pooled, int32_t blocks);
  Code Run(NodeRegions* regions, const RunContext& context);

  // The tuned size of its work-groups, or a usual one.
  void ChooseGroup(LaunchRecord* record);
  // 0, 0, 0: the driver chooses.
  void SetGroup(LaunchRecord* record, const size_t (&sizes)[3]) const;
  // The most work items that a group may have.
  size_t MostItems(const LaunchRecord& record) const;

 private:
  Code Own(cl_mem made);
  Code MakePool(const Reporter& reporter, Span<DeviceTensor*> pooled, int32_t blocks);
  Code MakeKernel(const Reporter& reporter, LaunchRecord* record);
  void UseTuned(LaunchRecord* record);
  Code SetArguments(const Reporter& reporter, LaunchRecord* record);
  // The most microseconds that a kernel may take; 0: any number.
  uint32_t KernelLimit() const {
    return runtime->kernel_microseconds() != 0 ? runtime->kernel_microseconds() : part->settings.kernel_microseconds;
  }
  Code RunAll(const Reporter& reporter, NodeRegions* regions, const RunContext& context);
  Code Enqueue(const Reporter& reporter, LaunchRecord* record, bool timed);
  Code Tell(const Reporter& reporter, NodeRegions* regions);
  Code CheckOutside(const Reporter& reporter);

  // transfer.cc
  void ReleaseLent();
  Code Use(const Reporter& reporter, const DeviceTensor& tensor);
  Code Bind(const Reporter& reporter, const Session& session, const RunContext& context);
  Code TakeBack(const Reporter& reporter, Transfer* transfer);
  Code Lend(const Reporter& reporter, const Session& session, Transfer* transfer);
  Code Map(const Reporter& reporter, bool to_host);
  Code Unmap(const Reporter& reporter, const Transfer& transfer);
  Code CopyAll(const Reporter& reporter, const Session& session, bool to_host);
};

int64_t NowNanoseconds();
// That a command failed: what is lost stays lost.
Code DeviceFailed(const Reporter& reporter, const Runtime& runtime, const char* function, cl_int error);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_PARTS_H_

// Plans the nodes of a part: asks units, and notes down what they launch.
#ifndef LATHE_OPENCL_PLANNER_H_
#define LATHE_OPENCL_PLANNER_H_

#include "native/opencl/parts.h"

namespace lathe {
namespace opencl {

class Planner {
 public:
  // `region` is what the core knows of the device_region. Everything that is noted lives in `memory`.
  Planner(Runtime* runtime, Part* part, const NodeView& region, MemoryArena* memory, bool keeps_all)
      : runtime_(*runtime), part_(*part), region_(region), memory_(*memory), keeps_all_(keeps_all) {}

  // From here on nodes that several units take get the second one of them.
  void PreferOthers() { prefers_others_ = true; }
  // All nodes. kUnsupported where no unit runs one of them.
  Code Plan();
  // Builds the programs of all launches and nothing more.
  Code BuildPrograms();

  LaunchRecord* launches() const { return first_; }
  Transfer* transfers() const { return transfers_; }
  // Those that share memory, in the order in which they are made; `blocks` says how many pieces of memory do for them.
  Span<DeviceTensor*> Pooled(int32_t* blocks);

  // For units, through Node and Launch.
  Code Add(Launch& launch, const int64_t (&work)[3]);
  Code Packed(const Reporter& reporter, const Tensor& source, int32_t width, int32_t height, FillPixels fill,
              const int64_t (&arguments)[4], DeviceTensor** made);
  Code Scratch(const Reporter& reporter, int32_t width, int32_t height, DeviceTensor** made);
  DeviceTensor& Of(uint32_t value) { return *of_value_[value]; }
  const Tensor& HostOf(uint32_t value) const { return region_.tensors()[value]; }
  Runtime& runtime() const { return runtime_; }
  const Part& part() const { return part_; }

 private:
  struct Listed {
    Listed* next;
    DeviceTensor tensor;
  };

  Code PlanNode(const ::lathe::Node& node);
  Code PlanBorder(const ::lathe::Node& node, bool to_host);
  Code PlanUnits(const ::lathe::Node& node);
  Code PlanWith(size_t unit, Node& node, bool asks);
  Code KeepOutputs(const ::lathe::Node& node);
  Code MakeTensors(const Reporter& reporter, const ::lathe::Node& node);
  DeviceTensor* NewTensor();
  Code CheckSize(const Reporter& reporter, const DeviceTensor& tensor) const;
  Code MakeTensor(const Reporter& reporter, uint32_t value);
  Code MakeStaging(const Reporter& reporter, uint32_t value, bool to_host, DeviceTensor** made);
  const char* OptionsOf(const Launch& launch) const;
  Code TakeArguments(Launch& launch, LaunchRecord* record);

  Runtime& runtime_;
  Part& part_;
  const NodeView& region_;
  MemoryArena& memory_;
  bool keeps_all_;
  Span<DeviceTensor*> of_value_;
  Listed* tensors_ = nullptr;  // the last one that was made first
  size_t tensor_count_ = 0;
  LaunchRecord* first_ = nullptr;
  LaunchRecord* last_ = nullptr;
  Transfer* transfers_ = nullptr;
  Transfer* last_transfer_ = nullptr;
  size_t node_ = 0;  // the one that is planned
  size_t unit_ = 0;  // the one that plans it
  bool prefers_others_ = false;
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_PLANNER_H_

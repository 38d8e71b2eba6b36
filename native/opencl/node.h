// What a unit sees of the node that it plans: its attributes, its tensors on the device, and launches.
//
// A unit is one way to run an operator on the device: see unit.h. Its plan is called
//   - once when an engine is created, at the shapes at which sessions start: that builds the programs and uploads the
//     constants, and what it launches is forgotten;
//   - at every planning of a session, at exact shapes: what it launches is what `run` enqueues, again and again.
// It answers kUnsupported where it cannot do the node; then the next unit of the operator is asked, and where none is
// left the whole region runs on the CPU.
//
// Rules for units:
//   - every tensor that a launch reads or writes may live in an image or in a buffer; common.cl hides which;
//   - lanes behind the last channel are zero when they are read, and STORE keeps them so;
//   - nothing of a shape goes into `Define`: every other value of one is another program to build. Words (which
//     activation), the size of a small kernel, flags: yes. Sizes are arguments;
//   - work items outside the given work are cut off by BEGIN, so that any work-group size may be used;
//   - attributes and ranks come from a file: check what the code relies on. Tensors have elements, always.
#ifndef LATHE_OPENCL_NODE_H_
#define LATHE_OPENCL_NODE_H_

#include "native/opencl/tensors.h"
#include "native/runtime/contexts.h"

namespace lathe {
namespace opencl {

class Planner;
struct DeviceFacts;

// Writes a constant's pixels: width * height * 4 numbers, zeroed before. `source` is the constant in its own layout.
using FillPixels = void (*)(const float* source, const Shape& shape, int32_t width, int32_t height,
                            const int64_t (&arguments)[4], float* pixels);

class Node final : public Reporter {
 public:
  Node(Planner* planner, const NodeView& view) : planner_(*planner), context_(view, nullptr, false, nullptr) {}

  // The attributes as kernels of the processor read them.
  Code Int(const char* name, int64_t* value) const { return context_.Int(name, value); }
  Code Float(const char* name, float* value) const { return context_.Float(name, value); }
  Code String(const char* name, Span<const char>* value) const { return context_.String(name, value); }
  Code Ints(const char* name, Span<const int64_t>* values) const { return context_.Ints(name, values); }
  Code Floats(const char* name, Span<const float>* values) const { return context_.Floats(name, values); }

  int input_count() const { return context_.input_count(); }  // an input that is left out is not counted
  int output_count() const { return context_.output_count(); }
  // Of constants too: they are uploaded where a launch takes them.
  DeviceTensor& input(int index);
  DeviceTensor& output(int index);
  // The constant on the host: `data` is null where the input is none.
  const Tensor& host(int index) const;
  bool is_constant(int index) const { return host(index).data != nullptr; }

  // A float constant in another order of pixels. Uploaded once per engine: asked for again with the same input,
  // function, extent and arguments it is the same one.
  Code Packed(int input, int32_t width, int32_t height, FillPixels fill, const int64_t (&arguments)[4],
              DeviceTensor** made);
  // Memory for this node alone, contents undefined: pixels that one launch writes and a later one reads.
  Code Scratch(int32_t width, int32_t height, DeviceTensor** made);

  const DeviceFacts& device() const;
  int winograd() const;  // the largest tile that may be used: 0, 2 or 4

  Planner& planner() { return planner_; }

 private:
  Code Report(Code code, const char* format, va_list* arguments) const override;
  uint32_t Input(int index) const { return context_.view().node().inputs[static_cast<size_t>(index)]; }

  Planner& planner_;
  NodePrepare context_;
};

// What a kernel is given.
struct LaunchArgument {
  enum Kind : uint8_t { kTensor, kInt, kFloat } kind;
  union {
    DeviceTensor* tensor;
    int32_t number;
    float real;
  };
};

// One launch of a kernel. Arguments are given in the order in which the kernel has them, behind WORK:
//
//   Launch launch(node, "copy_pixels");
//   launch.Define("PIXELS", 4);                // -DPIXELS=4
//   launch.In(node.input(0)).Out(node.output(0)).Int(width).Float(0.5f).Activation();
//   return launch.Enqueue(width, height);      // work items; the unit's `plan` may enqueue any number
//
// Tensors are numbered as they come: IN(0, x), OUT(1, y).
class Launch {
 public:
  Launch(Node& node, const char* function) : node_(node), function_(function) {}

  Launch& Define(const char* name, int64_t value);
  Launch& In(DeviceTensor& tensor) { return Add(tensor); }
  Launch& Out(DeviceTensor& tensor) { return Add(tensor); }
  Launch& Int(int64_t value);
  template <int n>
  LATHE_INLINE Launch& Ints(const int32_t (&values)[n]) {
    return AddInts(values, n);
  }
  Launch& Float(float value);
  // The node's attributes `activation`, `activation_alpha`, `activation_beta`: -DACTIVATION=n and two floats, which are
  // ACTIVATION_ARGUMENTS in the kernel. Nothing but `-DACTIVATION=0` costs where there is none.
  Launch& Activation();
  // n, h, w, c of a view: four ints.
  Launch& Size(const View& view) { return Ints({view.n, view.h, view.w, view.c}); }
  // A work-group of this size, and no other: for kernels that share local memory. They use no BEGIN, and the work is
  // a multiple of it.
  Launch& Group(int32_t x, int32_t y = 1, int32_t z = 1);
  Code Enqueue(int64_t x, int64_t y = 1, int64_t z = 1);

 private:
  friend class Planner;
  static constexpr int kMostArguments = 48;
  static constexpr int kMostOptions = 200;

  Launch& Add(DeviceTensor& tensor);
  Launch& AddInts(const int32_t* values, int count);
  LaunchArgument* NewArgument(LaunchArgument::Kind kind);
  void AddOption(const char* format, ...) __attribute__((format(printf, 2, 3)));

  Node& node_;
  const char* function_;
  LaunchArgument arguments_[kMostArguments];
  int argument_count_ = 0;
  char options_[kMostOptions] = "";
  int option_length_ = 0;
  int32_t group_[3] = {0, 0, 0};
  Code code_ = Code::kOk;
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_NODE_H_

#include "native/opencl/planner.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "native/opencl/border.h"
#include "native/opencl/tuner.h"

namespace lathe {
namespace opencl {

namespace {

bool IsWholeNumber(DType dtype) { return dtype == DType::kS32 || dtype == DType::kS64; }

Code OutOfMemory(const Reporter& reporter) {
  return reporter.Fail(Code::kOutOfMemory, "there is no memory to plan it");
}

// As many as kernels can count.
bool HasPixels(int32_t width, int32_t height) {
  return width > 0 && height > 0 && int64_t{width} * height <= INT32_MAX / 4;
}

size_t UnitNamed(const char* name) {
  const Span<const Unit> units = GetUnits().units;
  size_t place = 0;
  while (place < units.size() && strcmp(units[place].name, name) != 0) ++place;
  return place;
}

}  // namespace

DeviceTensor& Node::input(int index) { return planner_.Of(Input(index)); }

DeviceTensor& Node::output(int index) {
  return planner_.Of(context_.view().node().outputs[static_cast<size_t>(index)]);
}

const Tensor& Node::host(int index) const { return planner_.HostOf(Input(index)); }

Code Node::Packed(int input, int32_t width, int32_t height, FillPixels fill, const int64_t (&arguments)[4],
                  DeviceTensor** made) {
  return planner_.Packed(*this, host(input), width, height, fill, arguments, made);
}

Code Node::Scratch(int32_t width, int32_t height, DeviceTensor** made) {
  return planner_.Scratch(*this, width, height, made);
}

const DeviceFacts& Node::device() const { return planner_.runtime().facts(); }

int Node::winograd() const { return planner_.part().settings.winograd; }

Code Node::Report(Code code, const char* format, va_list* arguments) const {
  return context_.view().Report(code, format, arguments);
}

Code Planner::Plan() {
  if (!memory_.NewArray(region_.tensors().size(), &of_value_)) return OutOfMemory(Node(this, region_));
  for (const ::lathe::Node& node : part_.node->regions[0].nodes) {
    LATHE_TRY(PlanNode(node));
    ++node_;
  }
  return Code::kOk;
}

Code Planner::PlanNode(const ::lathe::Node& node) {
  if (strcmp(node.op, "to_device") == 0) return PlanBorder(node, false);
  if (strcmp(node.op, "from_device") == 0) return PlanBorder(node, true);
  return PlanUnits(node);
}

// Numbers that stay as they are need no kernel: memory that both sides see is where they live.
Code Planner::PlanBorder(const ::lathe::Node& node, bool to_host) {
  const NodeView view(region_.model(), node, region_.tensors(), region_.symbols(), {}, region_.errors());
  const Node reporter(this, view);
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return reporter.Fail(Code::kBadModel, "is no copy");
  const uint32_t in = node.inputs[0], out = node.outputs[0];
  if (HostOf(in).shape != HostOf(out).shape || HostOf(in).dtype != HostOf(out).dtype)
    return reporter.Fail(Code::kBadModel, "its output is no copy of its input");
  DeviceTensor* staging = nullptr;
  LATHE_TRY(MakeStaging(reporter, to_host ? out : in, to_host, &staging));
  if (IsWholeNumber(HostOf(in).dtype)) {
    if (to_host && of_value_[in] == nullptr) return reporter.Fail(Code::kBadModel, "its input is not on the device");
    if (to_host) {
      last_transfer_->staging = of_value_[in];
    } else {
      of_value_[out] = staging;
    }
    return Code::kOk;
  }
  of_value_[to_host ? out : in] = staging;
  return PlanUnits(node);
}

Code Planner::PlanUnits(const ::lathe::Node& node) {
  Span<int64_t> workspace;
  if (!memory_.NewArray(NodeView::DimsElements(node), &workspace)) return OutOfMemory(Node(this, region_));
  const NodeView view(region_.model(), node, region_.tensors(), region_.symbols(), workspace, region_.errors());
  Node planned(this, view);
  LATHE_TRY(MakeTensors(planned, node));
  const Span<const Unit> units = GetUnits().units;
  Tuned tuned;
  const bool is_tuned = !prefers_others_ && runtime_.tuning().Find(KeyOfNode(*this, node), &tuned);
  bool known = false;
  size_t first = units.size();              // that takes it
  constexpr bool kTurns[] = {true, false};  // what is the best goes first
  for (const bool best : kTurns) {
    for (size_t place = 0; place < units.size(); ++place) {
      if (strcmp(units[place].op, node.op) != 0) continue;
      known = true;
      if ((is_tuned && KeyOfUnit(units[place]) == tuned.unit()) != best) continue;
      const bool passes = prefers_others_ && first == units.size();
      const Code code = PlanWith(place, planned, passes);
      if (code == Code::kOk && !passes) return keeps_all_ ? KeepOutputs(node) : code;
      if (code == Code::kOk) first = place;
      if (code != Code::kOk && code != Code::kUnsupported) return code;
    }
  }
  if (first != units.size()) return PlanWith(first, planned, false);
  if (known) return Code::kUnsupported;
  return planned.Fail(Code::kUnsupported, "library '%s' has no GPU kernel for it", GetRegistry().library);
}

// What a unit launched is forgotten again where it does not take the node, or is only asked.
Code Planner::PlanWith(size_t unit, Node& node, bool asks) {
  LaunchRecord* const before = last_;
  Listed* const tensors = tensors_;
  const size_t count = tensor_count_;
  unit_ = unit;
  const Code code = GetUnits().units[unit].plan(node);
  if (code == Code::kOk && !asks) {
    if (!prefers_others_) part_.units[node_] = &GetUnits().units[unit];
    return code;
  }
  last_ = before;
  (before != nullptr ? before->next : first_) = nullptr;
  tensors_ = tensors;
  tensor_count_ = count;
  return code;
}

// Copies what a node makes to where the session keeps it.
Code Planner::KeepOutputs(const ::lathe::Node& node) {
  if (strcmp(node.op, "from_device") == 0) return Code::kOk;
  for (const uint32_t value : node.outputs) {
    const Node reporter(this, region_);
    DeviceTensor& made = Of(value);
    DeviceTensor* staging = nullptr;
    LATHE_TRY(MakeStaging(reporter, value, true, &staging));
    if (made.home == Home::kNumbers) {
      last_transfer_->staging = &made;
      continue;
    }
    unit_ = UnitNamed("from_device");
    if (unit_ == GetUnits().units.size()) return reporter.Fail(Code::kUnsupported, "the library lacks from_device");
    const NodeView view(region_.model(), node, region_.tensors(), region_.symbols(), {}, region_.errors());
    Node planned(this, view);
    LATHE_TRY(EnqueueBorder(planned, "from_device", made, *staging, made.view));
  }
  return Code::kOk;
}

Code Planner::MakeTensors(const Reporter& reporter, const ::lathe::Node& node) {
  for (const uint32_t value : node.inputs) {
    if (of_value_[value] != nullptr) continue;
    if (!HostOf(value).constant) return reporter.Fail(Code::kBadModel, "reads what is not on the device");
    LATHE_TRY(MakeTensor(reporter, value));
    of_value_[value]->host = &HostOf(value);
  }
  for (const uint32_t value : node.outputs) {
    if (of_value_[value] == nullptr) LATHE_TRY(MakeTensor(reporter, value));
  }
  return Code::kOk;
}

// What no session could allocate is no plan.
Code Planner::CheckSize(const Reporter& reporter, const DeviceTensor& tensor) const {
  const int64_t bytes = Runtime::BytesOf(tensor.home, part_.settings.half, tensor.width, tensor.height);
  const uint64_t most = runtime_.facts().max_allocation;
  if (static_cast<uint64_t>(bytes) <= most) return Code::kOk;
  return reporter.Fail(Code::kUnsupported,
                       "a tensor of %lld bytes is larger than the device '%s' allows (%llu): make the input smaller, "
                       "or run it on the CPU",
                       static_cast<long long>(bytes), runtime_.facts().name, static_cast<unsigned long long>(most));
}

DeviceTensor* Planner::NewTensor() {
  auto* listed = static_cast<Listed*>(memory_.Allocate(sizeof(Listed), alignof(Listed)));
  if (listed == nullptr) return nullptr;
  listed->tensor = DeviceTensor();
  listed->tensor.first = listed->tensor.last = static_cast<int32_t>(node_);
  listed->next = tensors_;
  tensors_ = listed;
  ++tensor_count_;
  return &listed->tensor;
}

Code Planner::MakeTensor(const Reporter& reporter, uint32_t value) {
  const Tensor& host = HostOf(value);
  View view;
  if (!ViewOf(host.shape, &view)) return reporter.Fail(Code::kUnsupported, "a tensor is too large for the device");
  if (host.shape.Count() == 0) return reporter.Fail(Code::kUnsupported, "a tensor is empty, which devices do not know");
  if (host.dtype != DType::kF32 && !IsWholeNumber(host.dtype))
    return reporter.Fail(Code::kUnsupported, "a tensor has an element type that kernels for devices do not have");
  DeviceTensor* made = NewTensor();
  if (made == nullptr) return OutOfMemory(reporter);
  made->shape = host.shape;
  made->view = view;
  made->width = view.width();
  made->height = view.height();
  made->home = runtime_.HomeFor(part_.settings, made->width, made->height);
  if (host.dtype != DType::kF32) {
    made->home = Home::kNumbers;
    made->width = static_cast<int32_t>(host.shape.Count());
    made->height = 1;
  }
  LATHE_TRY(CheckSize(reporter, *made));
  of_value_[value] = made;
  return Code::kOk;
}

// Memory that the host and the device see, and the copy through it.
Code Planner::MakeStaging(const Reporter& reporter, uint32_t value, bool to_host, DeviceTensor** made) {
  const Tensor& host = HostOf(value);
  DeviceTensor* staging = NewTensor();
  auto* transfer = static_cast<Transfer*>(memory_.Allocate(sizeof(Transfer), alignof(Transfer)));
  if (staging == nullptr || transfer == nullptr) return OutOfMemory(reporter);
  staging->shape = host.shape;
  if (!ViewOf(host.shape, &staging->view) || host.shape.Count() == 0)
    return reporter.Fail(Code::kUnsupported, "a tensor is empty or too large for the device");
  staging->home = Home::kNumbers;
  staging->block = kStaging;
  staging->width = static_cast<int32_t>(host.shape.Count());
  staging->height = 1;
  LATHE_TRY(CheckSize(reporter, *staging));
  *transfer = {nullptr, value, host.dtype, host.shape.Count(), to_host, node_, staging, 0, 0, {}};
  (last_transfer_ != nullptr ? last_transfer_->next : transfers_) = transfer;
  last_transfer_ = transfer;
  *made = staging;
  return Code::kOk;
}

Code Planner::Packed(const Reporter& reporter, const Tensor& source, int32_t width, int32_t height, FillPixels fill,
                     const int64_t (&arguments)[4], DeviceTensor** made) {
  if (source.data == nullptr || source.dtype != DType::kF32 || source.packing != Packing::kNone)
    return reporter.Fail(Code::kUnsupported, "a constant that it packs is none, or is no plain f32");
  if (!HasPixels(width, height)) return reporter.Fail(Code::kUnsupported, "a constant is too large for the device");
  DeviceTensor* packed = NewTensor();
  if (packed == nullptr) return OutOfMemory(reporter);
  packed->shape = source.shape;
  packed->width = width;
  packed->height = height;
  packed->home = runtime_.HomeFor(part_.settings, width, height);
  LATHE_TRY(CheckSize(reporter, *packed));
  LATHE_TRY(runtime_.UploadConstant(reporter, source, part_.settings, fill, arguments, packed));
  *made = packed;
  return Code::kOk;
}

Code Planner::Scratch(const Reporter& reporter, int32_t width, int32_t height, DeviceTensor** made) {
  if (!HasPixels(width, height)) return reporter.Fail(Code::kUnsupported, "scratch memory is too large");
  DeviceTensor* scratch = NewTensor();
  if (scratch == nullptr) return OutOfMemory(reporter);
  scratch->width = width;
  scratch->height = height;
  scratch->home = runtime_.HomeFor(part_.settings, width, height);
  LATHE_TRY(CheckSize(reporter, *scratch));
  *made = scratch;
  return Code::kOk;
}

// The options of a launch: where its tensors live, what the part and the application ask for, what the unit says.
const char* Planner::OptionsOf(const Launch& launch) const {
  const PartSettings& settings = part_.settings;
  char text[400];
  size_t length = 0;
  const auto add = [&](const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(text + length, sizeof(text) - length, format, arguments);
    va_end(arguments);
    length += added > 0 ? static_cast<size_t>(added) : 0;
  };
  const char usual = settings.images ? 'i' : 'b';
  add("-DK=%c", usual);
  bool buffers = false, images = false;
  int number = 0;
  for (int i = 0; i < launch.argument_count_; ++i) {
    if (launch.arguments_[i].kind != LaunchArgument::kTensor) continue;
    const Home home = launch.arguments_[i].tensor->home;
    if (home != Home::kNumbers) {
      const char own = home == Home::kImage ? 'i' : 'b';
      (own == 'b' ? buffers : images) = true;
      if (own != usual) add(" -DK%d=%c", number, own);
    }
    ++number;
  }
  if (settings.half && buffers) add(" -DHALF");
  if (settings.half && images && runtime_.facts().maker == Maker::kNvidia) add(" -DROUND");
  if (settings.half_arithmetic) add(" -DHALF_MATH");
  if ((runtime_.flags() & LATHE_DEVICE_CHECK) != 0) add(" -DCHECK");
  add("%s", launch.options_);
  if (length >= sizeof(text)) return nullptr;
  return memory_.CopyString(Span<const uint8_t>(reinterpret_cast<const uint8_t*>(text), length));
}

// Tensors live as long as launches use them; constants come to the device when the first one does.
Code Planner::TakeArguments(Launch& launch, LaunchRecord* record) {
  const size_t count = static_cast<size_t>(launch.argument_count_);
  Span<LaunchArgument> arguments;
  if (!memory_.NewArray(count, &arguments)) return OutOfMemory(launch.node_);
  for (size_t i = 0; i < count; ++i) {
    arguments[i] = launch.arguments_[i];
    if (arguments[i].kind != LaunchArgument::kTensor) continue;
    DeviceTensor& tensor = *arguments[i].tensor;
    tensor.last = static_cast<int32_t>(node_);
    if (tensor.host == nullptr || tensor.memory != nullptr) continue;
    constexpr int64_t kNone[4] = {};
    LATHE_TRY(runtime_.UploadConstant(launch.node_, *tensor.host, part_.settings, nullptr, kNone, &tensor));
  }
  record->arguments = arguments.data();
  record->argument_count = launch.argument_count_;
  return Code::kOk;
}

Code Planner::Add(Launch& launch, const int64_t (&work)[3]) {
  auto* record = static_cast<LaunchRecord*>(memory_.Allocate(sizeof(LaunchRecord), alignof(LaunchRecord)));
  if (record == nullptr) return OutOfMemory(launch.node_);
  for (int axis = 0; axis < 3; ++axis) {
    if (work[axis] < 1 || work[axis] > INT32_MAX / 2)
      return launch.node_.Fail(Code::kUnsupported, "its work is too large for the device");
    record->work[axis] = static_cast<int32_t>(work[axis]);
    record->group[axis] = launch.group_[axis];
  }
  record->function = launch.function_;
  record->unit = unit_;
  record->node = node_;
  LATHE_TRY(TakeArguments(launch, record));
  record->options = OptionsOf(launch);
  if (record->options == nullptr) return OutOfMemory(launch.node_);
  (last_ != nullptr ? last_->next : first_) = record;
  last_ = record;
  return Code::kOk;
}

Code Planner::BuildPrograms() {
  const Node reporter(this, region_);
  for (LaunchRecord* record = first_; record != nullptr; record = record->next) {
    cl_program program = nullptr;
    LATHE_TRY(runtime_.programs().Get(record->unit, record->options, reporter, &program));
  }
  return Code::kOk;
}

// Those that are made one after the other take what others have left: the block that grows least.
Span<DeviceTensor*> Planner::Pooled(int32_t* blocks) {
  struct Block {
    Home home;
    int32_t width, height, last;
  };
  Span<DeviceTensor*> pooled;
  Span<Block> known;
  *blocks = 0;
  if (!memory_.NewArray(tensor_count_, &pooled) || !memory_.NewArray(tensor_count_, &known)) return {};
  size_t count = tensor_count_;
  for (Listed* listed = tensors_; listed != nullptr; listed = listed->next) pooled[--count] = &listed->tensor;
  for (DeviceTensor* tensor : pooled) {
    if (tensor->memory != nullptr || tensor->host != nullptr || tensor->block == kStaging) continue;
    int32_t best = -1;
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < *blocks; ++i) {
      const Block& block = known[static_cast<size_t>(i)];
      if (block.home != tensor->home || block.last >= tensor->first) continue;
      const int64_t width = tensor->width > block.width ? tensor->width : block.width;
      const int64_t height = tensor->height > block.height ? tensor->height : block.height;
      const int64_t bytes = Runtime::BytesOf(tensor->home, part_.settings.half, width, height);
      if (static_cast<uint64_t>(bytes) > runtime_.facts().max_allocation) continue;
      const int64_t grown = width * height - int64_t{block.width} * block.height;
      // Growing by more than a block of its own would have is no gain.
      if (grown < least && grown < int64_t{tensor->width} * tensor->height) least = grown, best = i;
    }
    if (best < 0) {
      best = (*blocks)++;
      known[static_cast<size_t>(best)] = {tensor->home, 0, 0, 0};
    }
    Block& block = known[static_cast<size_t>(best)];
    if (tensor->width > block.width) block.width = tensor->width;
    if (tensor->height > block.height) block.height = tensor->height;
    block.last = tensor->last;
    tensor->block = best;
  }
  return pooled;
}

}  // namespace opencl
}  // namespace lathe

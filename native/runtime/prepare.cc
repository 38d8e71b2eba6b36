// Which kernel runs a node: the plan's, or the first of the registry that accepts it.
#include <string.h>

#include "native/runtime/contexts.h"

namespace lathe {

Code Engine::PrepareNodes() {
  if (!memory_.NewArray(model_.node_count, &nodes_))
    return errors_.OutOfMemory("the nodes", model_.node_count * sizeof(PreparedNode));
  uint32_t next = 0;
  return PrepareRegion(model_.body, false, &next);
}

// The reader has bounded how deep regions nest.
Code Engine::PrepareRegion(const Region& region, bool taken, uint32_t* next) {
  for (const Node& node : region.nodes) {
    PreparedNode& prepared = nodes_[(*next)++];
    prepared.node = &node;
    prepared.first_operand = static_cast<uint32_t>(operand_count_);
    operand_count_ += node.inputs.size() + node.outputs.size();
    if (!taken) LATHE_TRY(PrepareNode(node, &prepared));
    const bool takes = taken || prepared.kernel->takes_regions;
    runs_on_device_ = runs_on_device_ || takes;
    for (const Region& inner : node.regions) LATHE_TRY(PrepareRegion(inner, takes, next));
    prepared.end = *next;
  }
  return Code::kOk;
}

Code Engine::PrepareNode(const Node& node, PreparedNode* prepared) {
  return model_.planned ? PreparePlanned(node, prepared) : ChooseKernel(node, prepared);
}

const char* Engine::WhyNoDevice() const {
  for (const PreparedNode& prepared : nodes_) {
    for (const KernelDef* kernel : GetRegistry().kernels) {
      if (IsaBit(IsaOf(kernel->name)) != kDeviceIsa || strcmp(kernel->op, prepared.node->op) != 0) continue;
      return device_options_.kind == LATHE_DEVICE_CPU ? "the application asks for the CPU"
                                                      : "the application limits the instruction set";
    }
  }
  return nullptr;
}

// The first of the node's list that this machine runs and that takes the node.
Code Engine::PreparePlanned(const Node& node, PreparedNode* prepared) {
  bool tried = false;
  for (const char* name : node.planned_kernels) {
    if ((isas_ & IsaBit(IsaOf(name))) == 0) continue;
    for (const KernelDef* kernel : GetRegistry().kernels) {
      if (strcmp(kernel->name, name) != 0) continue;
      if (strcmp(kernel->op, node.op) != 0)
        return errors_.BadModel("node '%s' (%s) is planned for kernel '%s', which is one of %s", node.name, node.op,
                                kernel->name, kernel->op);
      const Code code = TryKernel(node, *kernel, prepared);
      if (code != Code::kUnsupported) return code;
      tried = true;
    }
  }
  return tried ? Code::kUnsupported : NoneRuns(node);
}

// Why no kernel of a planned node was tried: its library lacks those that this machine could run.
Code Engine::NoneRuns(const Node& node) const {
  const char* wanted = nullptr;
  for (const char* name : node.planned_kernels) {
    if (wanted == nullptr && (isas_ & IsaBit(IsaOf(name))) != 0) wanted = name;
  }
  if (wanted == nullptr)
    return errors_.Fail(Code::kUnsupported,
                        "model '%.80s': node '%.80s' (%.40s) is planned for kernel '%.80s': this machine lacks the "
                        "instruction set '%.20s', or `isa_limit` leaves it out; load the portable form of the model, "
                        "or build it with a data_type that every machine computes in (fp16_fp32)",
                        model_.name, node.name, node.op, node.planned_kernels[0], IsaOf(node.planned_kernels[0]));
  return errors_.Fail(Code::kUnsupported,
                      "model '%.80s': node '%.80s' (%.40s) is planned for kernel '%.80s', which library '%s' does not "
                      "hold; build the library with this model, or load the portable form of the model",
                      model_.name, node.name, node.op, wanted, GetRegistry().library);
}

Code Engine::ChooseKernel(const Node& node, PreparedNode* prepared) {
  const Registry& registry = GetRegistry();
  const KernelDef* last = nullptr;
  for (const KernelDef* kernel : registry.kernels) {
    if (strcmp(kernel->op, node.op) != 0 || (isas_ & IsaBit(IsaOf(kernel->name))) == 0) continue;
    const Code code = FitsQuantised(node, kernel->quantised)
                          ? TryKernel(node, *kernel, prepared)
                          : errors_.Fail(Code::kUnsupported, "it takes other quantisations");
    if (code != Code::kUnsupported) return code;
    last = kernel;
  }
  if (last == nullptr)
    return errors_.Fail(Code::kUnsupported,
                        "model '%.80s': node '%.80s' needs a kernel of operator '%.40s', of which library '%s' holds "
                        "none for this machine; build the library with this model",
                        model_.name, node.name, node.op, registry.library);
  char reason[sizeof(lathe_error::message)];
  memcpy(reason, errors_.message(), sizeof(reason));
  return errors_.Fail(Code::kUnsupported,
                      "model '%.80s': no kernel of library '%s' runs this node; build the library with this model "
                      "(the last one tried, '%s', says: %.250s)",
                      model_.name, registry.library, last->name, reason);
}

// As `misfit` of buildtool/plan/select.py decides where a model is planned: many kernels would take stored numbers for
// what they stand for.
bool Engine::FitsQuantised(const Node& node, Quantised wanted) const {
  if (wanted == Quantised::kEither) return true;
  const Tensor* first = nullptr;
  bool same = true;
  const Span<uint32_t> both[] = {node.inputs, node.outputs};
  for (const Span<uint32_t>& values : both) {
    for (const uint32_t value : values) {
      const Tensor& tensor = tensors_[value];
      if (tensor.quant == nullptr) continue;
      if (first == nullptr) first = &tensor;
      const Quant &a = *first->quant, &b = *tensor.quant;
      same = same && a.axis < 0 && b.axis < 0 && first->dtype == tensor.dtype && a.scales[0] == b.scales[0] &&
             a.zeros[0] == b.zeros[0];
    }
  }
  if (first == nullptr) return wanted != Quantised::kAny;
  return wanted == Quantised::kAny || (wanted == Quantised::kSame && same);
}

Code Engine::TryKernel(const Node& node, const KernelDef& kernel, PreparedNode* prepared) {
  if (node.regions.size() != kernel.regions)
    return errors_.BadModel("node '%s' (%s) has %zu regions, its operator %u", node.name, node.op, node.regions.size(),
                            kernel.regions);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Packing packing = tensors_[node.inputs[i]].packing;
    if (packing != Packing::kNone && (i != 1 || (kernel.packings & PackingBit(packing)) == 0))
      return errors_.Fail(Code::kUnsupported, "node '%s' (%s): kernel '%s' cannot read input %zu as it is packed",
                          node.name, node.op, kernel.name, i);
  }
  const auto load_packed = GetRegistry().load_packed;
  if (load_packed != nullptr) LATHE_TRY(load_packed(this, node, kernel));
  Span<int64_t> workspace;
  void* state = memory_.Allocate(kernel.state_size);
  if (state == nullptr || !memory_.NewArray(NodeView::DimsElements(node), &workspace))
    return errors_.OutOfMemory(kernel.name, kernel.state_size);
  const NodeView view(model_, node, tensors_, start_symbols_, workspace, errors_);
  NodePrepare context(view, this, dynamic_, state);
  prepared->kernel = &kernel;
  prepared->state = state;
  return kernel.prepare(context);
}

}  // namespace lathe

// Which kernel runs a node: the plan's, or the first of the registry that accepts it.
#include <string.h>

#include "native/core/contexts.h"

namespace lathe {

Code Engine::PrepareNodes() {
  if (!memory_.NewArray(model_.body.nodes.size(), &nodes_))
    return errors_.OutOfMemory("the nodes", model_.body.nodes.size() * sizeof(PreparedNode));
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = model_.body.nodes[i];
    nodes_[i].node = &node;
    nodes_[i].first_operand = static_cast<uint32_t>(operand_count_);
    operand_count_ += node.inputs.size() + node.outputs.size();
    LATHE_TRY(PrepareNode(node, &nodes_[i]));
  }
  return Code::kOk;
}

Code Engine::PrepareNode(const Node& node, PreparedNode* prepared) {
  if (!node.regions.empty())
    return errors_.Fail(Code::kUnsupported,
                        "model '%s': node '%s' (%s) holds regions (a loop or a branch), which this version of Lathe "
                        "does not run",
                        model_.name, node.name, node.op);
  return model_.planned ? PreparePlanned(node, prepared) : ChooseKernel(node, prepared);
}

Code Engine::PreparePlanned(const Node& node, PreparedNode* prepared) {
  const Registry& registry = GetRegistry();
  for (const KernelDef* kernel : registry.kernels) {
    if (strcmp(kernel->name, node.planned_kernel) != 0) continue;
    if (strcmp(kernel->op, node.op) != 0)
      return errors_.Fail(Code::kBadModel, "bad model: node '%s' (%s) is planned for kernel '%s', which is one of %s",
                          node.name, node.op, kernel->name, kernel->op);
    return TryKernel(node, *kernel, prepared);
  }
  return errors_.Fail(Code::kUnsupported,
                      "model '%.80s': node '%.80s' (%.40s) is planned for kernel '%.80s', which library '%s' does not "
                      "hold; build the library with this model, or load the portable form of the model",
                      model_.name, node.name, node.op, node.planned_kernel, registry.library);
}

Code Engine::ChooseKernel(const Node& node, PreparedNode* prepared) {
  const Registry& registry = GetRegistry();
  const KernelDef* last = nullptr;
  for (const KernelDef* kernel : registry.kernels) {
    if (strcmp(kernel->op, node.op) != 0) continue;
    const Code code = TryKernel(node, *kernel, prepared);
    if (code != Code::kUnsupported) return code;
    last = kernel;
  }
  if (last == nullptr)
    return errors_.Fail(Code::kUnsupported,
                        "model '%.80s': node '%.80s' needs a kernel of operator '%.40s', of which library '%s' holds "
                        "none; build the library with this model",
                        model_.name, node.name, node.op, registry.library);
  char reason[sizeof(lathe_error::message)];
  memcpy(reason, errors_.message(), sizeof(reason));
  return errors_.Fail(Code::kUnsupported,
                      "model '%.80s': no kernel of library '%s' runs this node; build the library with this model "
                      "(the last one tried, '%s', says: %.250s)",
                      model_.name, registry.library, last->name, reason);
}

Code Engine::TryKernel(const Node& node, const KernelDef& kernel, PreparedNode* prepared) {
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

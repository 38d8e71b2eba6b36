// Sizes that only the data decides. A kernel that finds one out writes it into the shapes of its outputs when it runs;
// the session then works out the shapes of everything behind it anew and lets those kernels plan again. Memory is
// planned for the largest sizes, so that nothing is allocated.
#include "native/runtime/contexts.h"
#include "native/runtime/session.h"

namespace lathe {

// A size that data decides is a symbol that no input is made of: the first node that makes a value of it finds it out.
void Session::MarkDataSizes() {
  for (uint32_t& finder : finder_) finder = kNoItem;
  for (bool& solved : solved_) solved = false;
  for (const uint32_t value : model_.body.inputs) {
    for (const DimSpec& dim : model_.values[value].dims) {
      const int64_t symbol = BareSymbol(model_, dim);
      if (symbol >= 0) solved_[static_cast<size_t>(symbol)] = true;
    }
  }
  const Span<const PreparedNode> nodes = engine_->nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const uint32_t value : nodes[i].node->outputs) {
      for (const DimSpec& dim : model_.values[value].dims) {
        const int64_t bare = BareSymbol(model_, dim);
        if (bare < 0 || solved_[static_cast<size_t>(bare)]) continue;
        solved_[static_cast<size_t>(bare)] = true;
        finder_[static_cast<size_t>(bare)] = static_cast<uint32_t>(i);
        finds_[i] = has_data_sizes_ = true;
      }
    }
  }
}

bool Session::FixedSize(uint32_t value) const {
  for (const DimSpec& dim : model_.values[value].dims) {
    if (dim.expr >= 0) return false;
  }
  return true;
}

// Whether two values of equal size have it at every run, whatever sizes the data decides.
bool Session::SameSize(uint32_t a, uint32_t b) const {
  if (!has_data_sizes_ || (FixedSize(a) && FixedSize(b))) return true;
  const Span<const DimSpec> left = model_.values[a].dims, right = model_.values[b].dims;
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].expr != right[i].expr || left[i].size != right[i].size) return false;
  }
  return true;
}

// Back to the sizes that memory was planned for.
Code Session::RestoreSizes(const ErrorSink& errors) {
  for (size_t i = 0; i < finder_.size(); ++i) {
    if (finder_[i] != kNoItem) symbols_[i] = engine_->start_symbols()[i];
  }
  LATHE_TRY(FollowSizes(0, errors));
  sizes_found_ = false;
  return Code::kOk;
}

// Takes the sizes from the outputs of a node that has run.
Code Session::FindSizes(size_t index, const ErrorSink& errors) {
  const PreparedNode& prepared = engine_->node(index);
  const Node& node = *prepared.node;
  const Tensor* outputs = operands_.data() + prepared.first_operand + node.inputs.size();
  bool changed = false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Span<const DimSpec> dims = model_.values[node.outputs[i]].dims;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const int64_t symbol = BareSymbol(model_, dims[axis]);
      if (symbol < 0 || finder_[static_cast<size_t>(symbol)] != index) continue;
      const int64_t size = outputs[i].shape.dims[axis];
      if (size < 0 || size > engine_->start_symbols()[static_cast<size_t>(symbol)])
        return errors.Fail(Code::kInternal, "node '%s' (%s) found more elements than there is room for", node.name,
                           node.op);
      changed = changed || symbols_[static_cast<size_t>(symbol)] != size;
      symbols_[static_cast<size_t>(symbol)] = size;
    }
  }
  if (!changed) return Code::kOk;
  sizes_found_ = true;
  return FollowSizes(prepared.end, errors);  // what its regions hold has run
}

// Gives all values the shapes that the symbols say, and plans the nodes from `first` on whose shapes or attributes may
// have changed.
Code Session::FollowSizes(size_t first, const ErrorSink& errors) {
  LATHE_TRY(FindShapes(symbols_, true, errors));
  const Span<const PreparedNode> nodes = engine_->nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i].node;
    const bool changed = UpdateOperands(nodes[i]);
    if (i < first || !(changed || NodeView::DimsElements(node) > 0)) continue;
    size_t scratch = 0;
    LATHE_TRY(PlanNode(i, &scratch, errors));
    if (scratch > scratch_size_)
      return errors.Fail(Code::kInternal, "node '%s' (%s) needs more scratch memory for less data", node.name, node.op);
  }
  return Code::kOk;
}

// Whether the shape of an operand is another one than before.
bool Session::UpdateOperands(const PreparedNode& prepared) {
  const Node& node = *prepared.node;
  const size_t inputs = node.inputs.size();
  bool changed = false;
  for (size_t i = 0; i < inputs + node.outputs.size(); ++i) {
    const uint32_t value = i < inputs ? node.inputs[i] : node.outputs[i - inputs];
    Shape& shape = operands_[prepared.first_operand + i].shape;
    changed = changed || shape != tensors_[value].shape;
    shape = tensors_[value].shape;
  }
  return changed;
}

}  // namespace lathe

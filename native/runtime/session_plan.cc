// What a session works out for a shape: symbols, shapes, the kernels' plans, the arena.
#include <string.h>

#include "native/runtime/contexts.h"
#include "native/runtime/session.h"

namespace lathe {

namespace {

long long Wide(int64_t value) { return static_cast<long long>(value); }

}  // namespace

Code Session::Resize(Span<const lathe_shape> shapes, const ErrorSink& errors) {
  if (ready_ && sizes_found_) LATHE_TRY(RestoreSizes(errors));
  LATHE_TRY(SolveSymbols(shapes, errors));
  LATHE_TRY(FindShapes(new_symbols_, false, errors));
  bool same = ready_;
  for (size_t i = 0; i < symbols_.size(); ++i) same = same && symbols_[i] == new_symbols_[i];
  if (same) {
    Unbind();
    return Code::kOk;
  }
  for (size_t i = 0; i < symbols_.size(); ++i) symbols_[i] = new_symbols_[i];
  return Replan(errors);
}

// Symbols that no input is made of, sizes that the data decides, keep the value at which a session starts.
Code Session::SolveSymbols(Span<const lathe_shape> shapes, const ErrorSink& errors) {
  const Span<uint32_t> inputs = model_.body.inputs;
  if (shapes.size() != inputs.size())
    return errors.Fail(Code::kInvalidArgument, "resize got %zu shapes, the model has %zu inputs", shapes.size(),
                       inputs.size());
  for (size_t i = 0; i < symbols_.size(); ++i) {
    new_symbols_[i] = engine_->start_symbols()[i];
    solved_[i] = false;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = model_.values[inputs[i]];
    if (shapes[i].rank != value.dims.size())
      return errors.Fail(Code::kInvalidArgument, "input '%s' has %zu dimensions, the shape given has %u", value.name,
                         value.dims.size(), shapes[i].rank);
    for (size_t axis = 0; axis < value.dims.size(); ++axis)
      LATHE_TRY(SolveDim(value.name, axis, value.dims[axis], shapes[i].dims[axis], errors));
  }
  for (size_t i = 0; i < inputs.size(); ++i) LATHE_TRY(CheckInputShape(i, shapes[i], errors));
  return Code::kOk;
}

Code Session::SolveDim(const char* input, size_t axis, const DimSpec& dim, int64_t size, const ErrorSink& errors) {
  const int64_t index = BareSymbol(model_, dim);
  if (index < 0) return Code::kOk;
  const size_t symbol = static_cast<size_t>(index);
  const DimSymbol& bounds = model_.symbols[symbol];
  if (size < bounds.low || size > bounds.high)
    return errors.Fail(Code::kInvalidArgument, "dimension %zu of input '%s' is %lld, allowed is %lld to %lld", axis,
                       input, Wide(size), Wide(bounds.low), Wide(bounds.high));
  if (solved_[symbol] && new_symbols_[symbol] != size)
    return errors.Fail(Code::kInvalidArgument,
                       "dimension %zu of input '%s' is %lld, another input says that '%s' is %lld", axis, input,
                       Wide(size), bounds.name, Wide(new_symbols_[symbol]));
  new_symbols_[symbol] = size;
  solved_[symbol] = true;
  return Code::kOk;
}

Code Session::CheckInputShape(size_t index, const lathe_shape& shape, const ErrorSink& errors) const {
  const Value& value = model_.values[model_.body.inputs[index]];
  for (size_t axis = 0; axis < value.dims.size(); ++axis) {
    int64_t expected = 0;
    if (EvaluateDimSpec(model_, value.dims[axis], new_symbols_, &expected) && expected == shape.dims[axis]) continue;
    return errors.Fail(Code::kInvalidArgument, "dimension %zu of input '%s' is %lld, it must be %lld", axis, value.name,
                       Wide(shape.dims[axis]), Wide(expected));
  }
  return Code::kOk;
}

// The shapes of all values, which become those of the tensors where they are kept.
Code Session::FindShapes(Span<const int64_t> symbols, bool keep, const ErrorSink& errors) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Value& value = model_.values[i];
    Shape shape;
    if (!EvaluateShape(model_, value.dims, value.dtype, symbols, &shape))
      return errors.Fail(Code::kInvalidArgument,
                         "at this shape value '%s' has a dimension that is negative or too large", value.name);
    if (keep) tensors_[i].shape = shape;
  }
  return Code::kOk;
}

// The symbols have been checked: every shape has a value.
Code Session::Replan(const ErrorSink& errors) {
  ready_ = false;
  sizes_found_ = false;
  Unbind();
  LATHE_TRY(FindShapes(symbols_, true, errors));
  for (Tensor& tensor : tensors_) {
    if (!tensor.constant) tensor.data = nullptr;
  }
  LATHE_TRY(PlanNodes(errors));
  LATHE_TRY(PlanMemory(errors));
  LATHE_TRY(AllocateBlock(errors));
  ready_ = true;
  return Code::kOk;
}

Code Session::PlanNodes(const ErrorSink& errors) {
  scratch_size_ = 0;
  for (PartOf& part : parts_) part.whole = kNoItem;
  const Span<const PreparedNode> nodes = engine_->nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    size_t scratch = 0;
    LATHE_TRY(PlanNode(i, &scratch, errors));
    if (scratch > kMaxBytes) return errors.OutOfMemory(nodes[i].node->name, scratch);
    if (scratch > scratch_size_) scratch_size_ = scratch;
  }
  return Code::kOk;
}

// Lets the kernel of a node plan for the shapes that there are; `scratch` is what it asks for.
Code Session::PlanNode(size_t index, size_t* scratch, const ErrorSink& errors) {
  const PreparedNode& prepared = engine_->node(index);
  if (prepared.kernel == nullptr || prepared.kernel->plan == nullptr) return Code::kOk;
  const KernelDef& kernel = *prepared.kernel;
  memset(plans_[index], 0, kernel.plan_size);
  const NodeView view(model_, *prepared.node, tensors_, symbols_, workspace_, errors);
  NodePlan context(view, this, parts_, prepared.state, plans_[index], engine_->pool()->threads());
  LATHE_TRY(kernel.plan(context));
  *scratch = context.scratch();
  return Code::kOk;
}

Code Session::PlanMemory(const ErrorSink& errors) {
  for (size_t i = 0; i < items_.size(); ++i) {
    items_[i] = lifetimes_[i];
    items_[i].size = BytesOf(value_of_[i]);
  }
  // The stored plan is for machines without a device: it has places for what a device computes.
  if (model_.planned && !keep_all_ && !engine_->runs_on_device() && AtStartShape()) return UseStoredPlan(errors);
  if (!keep_all_) {
    LinkParts(false);
    LinkTakeovers(false);
  }
  const uint64_t size = PlanArena(items_, order_);
  if (size > kMaxBytes) return errors.OutOfMemory("the arena", SIZE_MAX);
  arena_size_ = static_cast<size_t>(size);
  return Code::kOk;
}

bool Session::AtStartShape() const {
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i] != engine_->start_symbols()[i]) return false;
  }
  return true;
}

// Finds the values that stand inside of others: those that the stored plan puts there, at every shape. Where rows of
// the last axis lie apart the kernels know; parts of other axes are of one piece.
void Session::LinkParts(bool stored) {
  for (size_t i = 0; i < items_.size(); ++i) {
    Tensor& tensor = tensors_[value_of_[i]];
    const PartOf& part = parts_[value_of_[i]];
    tensor.pitch = 0;
    const uint32_t place = part.whole != kNoItem ? item_of_[part.whole] : kNoItem;
    if (place == kNoItem || items_[i].size == 0) continue;
    ArenaItem& whole = items_[place];
    const uint64_t at = static_cast<uint64_t>(part.at) * SizeOf(tensor.dtype);
    if (stored ? items_[i].offset != whole.offset + at : lifetimes_[i].inside != place) continue;
    if (has_data_sizes_ && !(FixedSize(value_of_[i]) && FixedSize(part.whole))) continue;
    // Nothing is part of a part. What holds parts that were made before it begins with the first of them.
    if (whole.inside != kNoItem || items_[i].first != lifetimes_[i].first) continue;
    const Shape& shape = tensors_[part.whole].shape;
    int axis = 0;
    while (axis + 1 < shape.rank && shape.dims[axis] == tensor.shape.dims[axis]) ++axis;
    if (shape.Count(0, axis) > 1) {
      if (axis + 1 < shape.rank) continue;
      tensor.pitch = shape.dims[axis];
    }
    items_[i].inside = lifetimes_[i].inside = place;
    items_[i].at = at;
    if (items_[i].first < whole.first) whole.first = items_[i].first;
    if (items_[i].last > whole.last) whole.last = items_[i].last;
  }
}

// Finds the results that continue in the memory of an input, by what the kernel allows. In a stored plan all that stand
// there do so: it knows about views, which may share even with what is read later. Else only where the input ends.
void Session::LinkTakeovers(bool stored) {
  for (const PreparedNode& prepared : engine_->nodes()) {
    if (prepared.kernel == nullptr) continue;
    const Node& node = *prepared.node;
    const size_t input = static_cast<size_t>(prepared.kernel->in_place_input);
    if (input >= node.inputs.size() || node.outputs.empty() || !node.regions.empty()) continue;
    const uint32_t source = item_of_[node.inputs[input]];
    const uint32_t result = item_of_[node.outputs[0]];
    if (source == kNoItem || items_[source].size != items_[result].size) continue;
    if (items_[source].inside != kNoItem || items_[result].inside != kNoItem ||
        items_[result].first != lifetimes_[result].first)
      continue;
    bool takes_over = stored && items_[source].offset == items_[result].offset;
    if (!stored) {
      size_t uses = 0;
      for (const uint32_t value : node.inputs) uses += value == node.inputs[input] ? 1 : 0;
      takes_over =
          uses == 1 && items_[source].last == items_[result].first && SameSize(node.inputs[input], node.outputs[0]);
    }
    if (takes_over) items_[result].takes_over = source;
  }
}

Code Session::UseStoredPlan(const ErrorSink& errors) {
  constexpr uint64_t kNowhere = UINT64_MAX;
  for (ArenaItem& item : items_) item.offset = kNowhere;
  for (const Placement& place : model_.arena) {
    const uint32_t item = item_of_[place.value];
    if (item == kNoItem) continue;  // of nothing that is made
    if (place.size < items_[item].size)
      return errors.BadModel("the plan gives value '%s' %llu bytes, it has %llu", model_.values[place.value].name,
                             static_cast<unsigned long long>(place.size),
                             static_cast<unsigned long long>(items_[item].size));
    items_[item].offset = place.offset;
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].offset == kNowhere)
      return errors.BadModel("the plan has no place for value '%s'", model_.values[value_of_[i]].name);
  }
  LinkParts(true);
  LinkTakeovers(true);
#ifndef LATHE_CHECK_MEMORY  // such builds run any plan: what it overwrites shows where that is read
  const uint32_t wrong = CheckArena(items_, order_);
  if (wrong != kNoItem)
    return errors.BadModel("the plan puts value '%s' where another one is still needed, or not at a multiple of 64",
                           model_.values[value_of_[wrong]].name);
#endif
  arena_size_ = static_cast<size_t>(model_.arena_size);
  return Code::kOk;
}

Code Session::AllocateBlock(const ErrorSink& errors) {
  const size_t scratch_offset = AlignUp(arena_size_);
  const size_t needed = scratch_offset + AlignUp(scratch_size_) + kAlignment;
  if (block_ == nullptr || needed > capacity_) {
    // The old block goes first: a session that grows would need both otherwise.
    FreeBlock();
    Device* device = engine_->device();
    block_ = device != nullptr ? static_cast<uint8_t*>(device->Allocate(needed)) : nullptr;
    shared_block_ = block_ != nullptr;
    if (block_ == nullptr) block_ = static_cast<uint8_t*>(AllocateFrom(engine_->allocator(), needed));
    if (block_ == nullptr) return errors.OutOfMemory("the session's arena", needed);
    capacity_ = needed;
  }
  for (size_t i = 0; i < items_.size(); ++i) own_[value_of_[i]] = block_ + items_[i].offset;
  for (const uint32_t value : model_.body.inputs) memset(own_[value], 0, BytesOf(value));
  Point();
  return Code::kOk;
}

}  // namespace lathe

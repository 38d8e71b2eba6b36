#include "native/runtime/session.h"

#include <string.h>

#include "native/runtime/clock.h"

namespace lathe {

Code Session::CheckUsable(const ErrorSink& errors) const {
  return ready_ ? Code::kOk
                : errors.Fail(Code::kInvalidArgument, "the last resize failed: the session has no memory to run in");
}

void Session::Unbind() {
  for (const void*& data : bound_inputs_) data = nullptr;
  for (void*& data : bound_outputs_) data = nullptr;
  pointed_ = false;
}

// Inputs that are bound and aligned are read in place; results are made in the first aligned buffer bound to them.
void Session::Point() {
  const Region& body = model_.body;
  for (size_t i = 0; i < items_.size(); ++i) tensors_[value_of_[i]].data = own_[value_of_[i]];
  for (size_t i = 0; i < bound_outputs_.size(); ++i) {
    const uint32_t value = body.outputs[i];
    if (item_of_[value] != kNoItem && bound_outputs_[i] != nullptr && IsAligned(bound_outputs_[i]))
      tensors_[value].data = bound_outputs_[i];
  }
  // After the outputs: an input that is an output as well is read where it is, and copied after the run.
  for (size_t i = 0; i < bound_inputs_.size(); ++i) {
    const uint32_t value = body.inputs[i];
    const bool direct = bound_inputs_[i] != nullptr && IsAligned(bound_inputs_[i]);
    tensors_[value].data = direct ? const_cast<void*>(bound_inputs_[i]) : own_[value];
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].inside != kNoItem)
      tensors_[value_of_[i]].data = static_cast<char*>(tensors_[value_of_[items_[i].inside]].data) + items_[i].at;
  }
  size_t operand = 0;
  for (const PreparedNode& prepared : engine_->nodes()) {
    for (const uint32_t value : prepared.node->inputs) operands_[operand++] = tensors_[value];
    for (const uint32_t value : prepared.node->outputs) operands_[operand++] = tensors_[value];
  }
  pointed_ = true;
  ++bindings_;
}

Code Session::Run(const ErrorSink& errors) {
  LATHE_TRY(CheckUsable(errors));
  if (sizes_found_) LATHE_TRY(RestoreSizes(errors));
  if (!pointed_) Point();
  const RunOnCores bound(engine_->pool()->binder(), engine_->pool());
  for (size_t i = 0; i < bound_inputs_.size(); ++i) {
    const uint32_t value = model_.body.inputs[i];
    if (bound_inputs_[i] != nullptr && bound_inputs_[i] != tensors_[value].data)
      memcpy(tensors_[value].data, bound_inputs_[i], BytesOf(value));
  }
#ifdef LATHE_CHECK_MEMORY
  PoisonMemory();
#endif
  LATHE_TRY(RunNodes(0, model_.body.nodes.size(), true, errors));
#ifdef LATHE_CHECK_MEMORY
  LATHE_TRY(CheckChecksums("the application", model_.body.outputs, errors));
#endif
  for (size_t i = 0; i < bound_outputs_.size(); ++i) {
    const uint32_t value = model_.body.outputs[i];
    if (bound_outputs_[i] != nullptr && bound_outputs_[i] != tensors_[value].data)
      memmove(bound_outputs_[i], tensors_[value].data, BytesOf(value));
  }
  return Code::kOk;
}

// `count` nodes of one region, the first of which has the number `index`.
Code Session::RunNodes(size_t index, size_t count, bool observed, const ErrorSink& errors) {
  for (; count > 0; --count, index = engine_->node(index).end) {
#ifdef LATHE_CHECK_MEMORY
    const Node& node = *engine_->node(index).node;
    LATHE_TRY(CheckChecksums(node.name, node.inputs, errors));
#endif
    LATHE_TRY(RunNode(index, observed, errors));
    if (finds_[index]) LATHE_TRY(FindSizes(index, errors));
#ifdef LATHE_CHECK_MEMORY
    for (size_t region = 0; region < node.regions.size(); ++region) LATHE_TRY(CheckTaken(index, region, errors));
    KeepChecksums(node.outputs);
#endif
  }
  return Code::kOk;
}

Code Session::RunNode(size_t index, bool observed, const ErrorSink& errors) {
  const PreparedNode& prepared = engine_->node(index);
  const Node& node = *prepared.node;
  observed = observed && observer_ != nullptr;
  const int64_t start = observed ? NowNanoseconds() : 0;
  RunContext context;
  context.inputs = operands_.data() + prepared.first_operand;
  context.outputs = operands_.data() + prepared.first_operand + node.inputs.size();
  context.input_count = static_cast<int32_t>(node.inputs.size());
  context.output_count = static_cast<int32_t>(node.outputs.size());
  context.state = prepared.state;
  context.plan = plans_[index];
  context.scratch = block_ + AlignUp(arena_size_);
  context.pool = engine_->pool();
  NodeRegions regions(this, index, observed, errors);
  context.regions = &regions;
  prepared.kernel->run(context);
  if (!observed || regions.observed()) return regions.code();
  const lathe_node_event event = {
      sizeof(event), static_cast<uint32_t>(index), node.op, node.name, prepared.kernel->name, start, NowNanoseconds()};
  observer_(observer_user_, &event);
  return regions.code();
}

void NodeRegions::Observe(size_t node, const char* kernel, int64_t start_ns, int64_t end_ns) {
  observed_ = true;
  const Node& about = *session_->engine_->node(node).node;
  const lathe_node_event event = {sizeof(event), static_cast<uint32_t>(node), about.op, about.name, kernel, start_ns,
                                  end_ns};
  session_->observer_(session_->observer_user_, &event);
}

Code Session::CheckBuffer(const char* kind, size_t index, Span<uint32_t> values, const void* data, size_t bytes,
                          const ErrorSink& errors) const {
  LATHE_TRY(CheckUsable(errors));
  LATHE_TRY(errors.CheckIndex(kind, index, values.size()));
  if (data != nullptr && bytes != PlannedBytesOf(values[index]))
    return errors.Fail(Code::kInvalidArgument, "%s '%s' has %zu bytes, the buffer given has %zu", kind,
                       model_.values[values[index]].name, PlannedBytesOf(values[index]), bytes);
  return Code::kOk;
}

Code Session::InputData(size_t index, void** data, size_t* bytes, const ErrorSink& errors) {
  LATHE_TRY(CheckBuffer("input", index, model_.body.inputs, nullptr, 0, errors));
  const uint32_t value = model_.body.inputs[index];
  *data = own_[value];
  *bytes = BytesOf(value);
  return Code::kOk;
}

Code Session::BindInput(size_t index, const void* data, size_t bytes, const ErrorSink& errors) {
  LATHE_TRY(CheckBuffer("input", index, model_.body.inputs, data, bytes, errors));
  if (bound_inputs_[index] != data) pointed_ = false;
  bound_inputs_[index] = data;
  return Code::kOk;
}

Code Session::BindOutput(size_t index, void* data, size_t bytes, const ErrorSink& errors) {
  LATHE_TRY(CheckBuffer("output", index, model_.body.outputs, data, bytes, errors));
  if (bound_outputs_[index] != data) pointed_ = false;
  bound_outputs_[index] = data;
  return Code::kOk;
}

Code Session::OutputData(size_t index, const void** data, size_t* bytes, const ErrorSink& errors) const {
  LATHE_TRY(CheckBuffer("output", index, model_.body.outputs, nullptr, 0, errors));
  const uint32_t value = model_.body.outputs[index];
  *data = tensors_[value].data;
  *bytes = BytesOf(value);
  return Code::kOk;
}

void Session::FillInfo(uint32_t value, const char* format, lathe_tensor_info* out) const {
  lathe_tensor_info info = {};
  const Value& declared = model_.values[value];
  const Shape& shape = tensors_[value].shape;
  info.dtype = static_cast<lathe_dtype>(declared.dtype);
  info.name = declared.name;
  info.format = format;
  info.rank = static_cast<uint32_t>(shape.rank);
  info.bytes = BytesOf(value);
  for (size_t axis = 0; axis < declared.dims.size(); ++axis) {
    const DimSpec& dim = declared.dims[axis];
    const DimRange range = dim.expr < 0 ? DimRange{dim.size, dim.size}
                                        : BoundDim(model_.exprs[static_cast<size_t>(dim.expr)], model_.symbols);
    info.dims[axis] = shape.dims[axis];
    info.dims_min[axis] = range.low > 0 ? range.low : 0;
    info.dims_max[axis] = range.high;
  }
  CopyOut(info, out);
}

Code Session::InputInfo(size_t index, lathe_tensor_info* info, const ErrorSink& errors) const {
  const Region& body = model_.body;
  LATHE_TRY(errors.CheckIndex("input", index, body.inputs.size()));
  FillInfo(body.inputs[index], model_.input_formats[index], info);
  return Code::kOk;
}

Code Session::OutputInfo(size_t index, lathe_tensor_info* info, const ErrorSink& errors) const {
  const Region& body = model_.body;
  LATHE_TRY(errors.CheckIndex("output", index, body.outputs.size()));
  FillInfo(body.outputs[index], model_.output_formats[index], info);
  return Code::kOk;
}

Code Session::FindValue(const char* name, lathe_tensor_info* info, const void** data, const ErrorSink& errors) const {
  LATHE_TRY(CheckUsable(errors));
  // A value's own name goes before the names it had in the source model.
  uint32_t found = kNoItem;
  for (uint32_t i = 0; i < model_.values.size(); ++i) {
    if (strcmp(model_.values[i].name, name) == 0) {
      found = i;
      break;
    }
    for (const char* source : model_.values[i].source_names) {
      if (found == kNoItem && strcmp(source, name) == 0) found = i;
    }
  }
  if (found == kNoItem) return errors.Fail(Code::kInvalidArgument, "the model has no value '%s'", name);
  LATHE_TRY(ValueAt(found, info, data, errors));
  if (*data != nullptr) return Code::kOk;
  return errors.Fail(Code::kInvalidArgument,
                     "value '%s' does not outlive the run: open the session with LATHE_SESSION_KEEP_ALL", name);
}

Code Session::ValueAt(size_t index, lathe_tensor_info* info, const void** data, const ErrorSink& errors) const {
  LATHE_TRY(CheckUsable(errors));
  LATHE_TRY(errors.CheckIndex("value", index, tensors_.size()));
  const uint32_t item = item_of_[index];
  const bool lasts = tensors_[index].constant || (item != kNoItem && lifetimes_[item].last == end_step_);
  FillInfo(static_cast<uint32_t>(index), "", info);
  *data = lasts ? tensors_[index].data : nullptr;
  return Code::kOk;
}

lathe_memory_info Session::memory_info() const {
  return {sizeof(lathe_memory_info), engine_->weights_mapped(), engine_->weights_allocated(), arena_size_,
          scratch_size_};
}

}  // namespace lathe

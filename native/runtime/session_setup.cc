// Making and ending a session, and the tables of it that depend on the model alone.
#include "native/runtime/contexts.h"
#include "native/runtime/session.h"

namespace lathe {

Code Session::Create(Engine* engine, uint32_t flags, const ErrorSink& errors, Session** session) {
  *session = nullptr;
  if ((flags & ~LATHE_SESSION_KEEP_ALL) != 0)
    return errors.Fail(Code::kInvalidArgument, "the session's flags hold one that this library does not know");
  const lathe_allocator& allocator = engine->allocator();
  void* memory = AllocateFrom(allocator, sizeof(Session));
  if (memory == nullptr) return errors.OutOfMemory("the session", sizeof(Session));
  engine->Hold();
  auto* made = new (Place(), memory) Session(engine, (flags & LATHE_SESSION_KEEP_ALL) != 0);
  Code code = made->MakeTables(errors);
  if (code == Code::kOk) code = made->Replan(errors);
  if (code == Code::kOk) {
    *session = made;
  } else {
    Destroy(made);
  }
  return code;
}

void Session::Destroy(Session* session) {
  if (session == nullptr) return;
  Engine* engine = session->engine_;
  session->~Session();
  engine->allocator().free(engine->allocator().user, session);
  Engine::Release(engine);
}

Session::~Session() {
  if (engine_->device() != nullptr) engine_->device()->EndSession(this);
  FreeBlock();
}

void Session::FreeBlock() {
  const lathe_allocator& allocator = engine_->allocator();
  if (shared_block_) {
    engine_->device()->Free(block_);
  } else if (block_ != nullptr) {
    allocator.free(allocator.user, block_);
  }
  block_ = nullptr;
  shared_block_ = false;
  capacity_ = 0;
}

Code Session::MakeTables(const ErrorSink& errors) {
  const size_t values = model_.values.size(), symbols = model_.symbols.size();
  const Span<const PreparedNode> nodes = engine_->nodes();
  size_t workspace = 0;
  memory_.NewArray(symbols, &symbols_);
  memory_.NewArray(symbols, &new_symbols_);
  memory_.NewArray(symbols, &solved_);
  memory_.NewArray(symbols, &finder_);
  memory_.NewArray(nodes.size(), &finds_);
  memory_.NewArray(values, &tensors_);
  memory_.NewArray(values, &own_);
#ifdef LATHE_CHECK_MEMORY
  memory_.NewArray(values, &checksums_);
#endif
  memory_.NewArray(engine_->operand_count(), &operands_);
  memory_.NewArray(nodes.size(), &plans_);
  memory_.NewArray(values, &item_of_);
  memory_.NewArray(values, &value_of_);
  memory_.NewArray(values, &items_);
  memory_.NewArray(values, &lifetimes_);
  memory_.NewArray(values, &order_);
  memory_.NewArray(values, &parts_);
  memory_.NewArray(model_.body.inputs.size(), &bound_inputs_);
  memory_.NewArray(model_.body.outputs.size(), &bound_outputs_);
  for (size_t i = 0; i < plans_.size(); ++i) {
    const size_t elements = NodeView::DimsElements(*nodes[i].node);
    if (elements > workspace) workspace = elements;
    if (nodes[i].kernel != nullptr) plans_[i] = memory_.Allocate(nodes[i].kernel->plan_size);
  }
  memory_.NewArray(workspace, &workspace_);
  if (memory_.failed()) return errors.OutOfMemory("the session's tables", values * sizeof(Tensor));
  for (size_t i = 0; i < symbols; ++i) symbols_[i] = engine_->start_symbols()[i];
  for (size_t i = 0; i < values; ++i) tensors_[i] = engine_->tensors()[i];
  MakeItems();
  MarkDataSizes();
  return Code::kOk;
}

uint32_t Session::AddItem(uint32_t value, uint32_t step) {
  const uint32_t item = static_cast<uint32_t>(item_count_++);
  item_of_[value] = item;
  value_of_[item] = value;
  lifetimes_[item] = {step, step, 0, kNoItem, 0, kNoItem, kNoItem, 0};
  return item;
}

void Session::Extend(uint32_t value, uint32_t step) {
  const uint32_t item = item_of_[value];
  if (item != kNoItem && lifetimes_[item].last < step) lifetimes_[item].last = step;
}

// Step 0 is before the first node. Inputs last to the end, so that a session may run again without writing them anew.
// Items are in the order in which the values appear.
void Session::MakeItems() {
  const Region& body = model_.body;
  for (uint32_t& item : item_of_) item = kNoItem;
  for (const uint32_t value : body.inputs) AddItem(value, 0);
  size_t next = 0;
  end_step_ = MakeItems(body, 1, &next);
  for (const uint32_t value : body.inputs) Extend(value, end_step_);
  for (const uint32_t value : body.outputs) Extend(value, end_step_);
  if (keep_all_) {
    for (size_t i = 0; i < item_count_; ++i) lifetimes_[i].first = 0, lifetimes_[i].last = end_step_;
  }
  items_ = items_.subspan(0, item_count_);
  order_ = order_.subspan(0, item_count_);
}

// The items of what the nodes of a region make; gives the step behind them. A node has one step, and one more for the
// end of each of its regions, where the node's kernel takes what the region gives. buildtool/plan/liveness.py counts
// alike.
uint32_t Session::MakeItems(const Region& region, uint32_t step, size_t* next) {
  for (const Node& node : region.nodes) {
    const PreparedNode& prepared = engine_->node((*next)++);
    const uint32_t first = step++;
    const size_t known = item_count_;
    for (const uint32_t value : node.outputs) AddItem(value, first);
    for (const uint32_t value : node.inputs) Extend(value, first);
    if (prepared.kernel != nullptr && prepared.kernel->takes_regions && !keep_all_) {
      MakeTakenItems(node, first);
      *next = prepared.end;
      continue;
    }
    for (const Region& inner : node.regions) {
      for (const uint32_t value : inner.inputs) AddItem(value, first);
      step = MakeItems(inner, step, next);
      for (const uint32_t value : inner.outputs) Extend(value, step);
      ++step;
    }
    if (!node.regions.empty()) KeepForRegions(node, known, first, step - 1);
  }
  return step;
}

// What a device computes needs no memory here, but what it reads has to be there.
void Session::MakeTakenItems(const Node& node, uint32_t step) {
  for (const Region& inner : node.regions) {
    for (const Node& taken : inner.nodes) {
      for (const uint32_t value : taken.inputs) Extend(value, step);
    }
  }
}

// A region may run again: what it reads from around it (items below `known` that it has used), what goes into it and
// what the node makes lasts until the node ends.
void Session::KeepForRegions(const Node& node, size_t known, uint32_t first, uint32_t last) {
  for (size_t i = 0; i < known; ++i) {
    if (lifetimes_[i].last > first && lifetimes_[i].last < last) lifetimes_[i].last = last;
  }
  for (const uint32_t value : node.outputs) Extend(value, last);
  for (const Region& inner : node.regions) {
    for (const uint32_t value : inner.inputs) Extend(value, last);
  }
}

}  // namespace lathe

// Making and ending a session, and the tables of it that depend on the model alone.
#include "native/core/contexts.h"
#include "native/core/session.h"

namespace lathe {

Code Session::Create(Engine* engine, uint32_t flags, const ErrorSink& errors, Session** session) {
  *session = nullptr;
  if ((flags & ~LATHE_SESSION_KEEP_ALL) != 0)
    return errors.Fail(Code::kInvalidArgument, "the session's flags hold one that this library does not know");
  const lathe_allocator& allocator = engine->allocator();
  void* memory = allocator.alloc(allocator.user, sizeof(Session));
  if (memory == nullptr) return errors.OutOfMemory("the session", sizeof(Session));
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
  const lathe_allocator allocator = session->engine_->allocator();
  session->~Session();
  allocator.free(allocator.user, session);
}

Session::~Session() {
  const lathe_allocator& allocator = engine_->allocator();
  if (block_ != nullptr) allocator.free(allocator.user, block_);
}

Code Session::MakeTables(const ErrorSink& errors) {
  const size_t values = model_.values.size(), symbols = model_.symbols.size();
  const Span<const PreparedNode> nodes = engine_->nodes();
  size_t workspace = 0;
  bool made = memory_.NewArray(symbols, &symbols_) && memory_.NewArray(symbols, &new_symbols_) &&
              memory_.NewArray(symbols, &solved_) && memory_.NewArray(symbols, &finder_) &&
              memory_.NewArray(nodes.size(), &finds_) && memory_.NewArray(values, &tensors_) &&
              memory_.NewArray(values, &own_) && memory_.NewArray(engine_->operand_count(), &operands_) &&
              memory_.NewArray(nodes.size(), &plans_) && memory_.NewArray(values, &item_of_) &&
              memory_.NewArray(values, &value_of_) && memory_.NewArray(values, &items_) &&
              memory_.NewArray(values, &lifetimes_) && memory_.NewArray(values, &order_) &&
              memory_.NewArray(model_.body.inputs.size(), &bound_inputs_) &&
              memory_.NewArray(model_.body.outputs.size(), &bound_outputs_);
  for (size_t i = 0; made && i < nodes.size(); ++i) {
    const size_t elements = NodeView::DimsElements(*nodes[i].node);
    if (elements > workspace) workspace = elements;
    plans_[i] = memory_.Allocate(nodes[i].kernel->plan_size);
    made = plans_[i] != nullptr;
  }
  if (!made || !memory_.NewArray(workspace, &workspace_))
    return errors.OutOfMemory("the session's tables", values * sizeof(Tensor));
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
  lifetimes_[item] = {step, step, 0, kNoItem, 0, kNoItem};
  return item;
}

// Step 0 is before the first node, step i + 1 is node i. Inputs last to the end, so that a session may run again
// without writing them anew. Items stand in the order in which the values appear.
void Session::MakeItems() {
  const Region& body = model_.body;
  const uint32_t end = static_cast<uint32_t>(body.nodes.size()) + 1;
  for (uint32_t& item : item_of_) item = kNoItem;
  for (const uint32_t value : body.inputs) lifetimes_[AddItem(value, 0)].last = end;
  for (uint32_t i = 0; i < body.nodes.size(); ++i) {
    const Node& node = body.nodes[i];
    for (const uint32_t value : node.outputs) AddItem(value, i + 1);
    for (const uint32_t value : node.inputs) {
      const uint32_t item = item_of_[value];
      if (item != kNoItem && lifetimes_[item].last < i + 1) lifetimes_[item].last = i + 1;
    }
  }
  for (const uint32_t value : body.outputs) {
    if (item_of_[value] != kNoItem) lifetimes_[item_of_[value]].last = end;
  }
  if (keep_all_) {
    for (size_t i = 0; i < item_count_; ++i) lifetimes_[i].first = 0, lifetimes_[i].last = end;
  }
  items_ = items_.subspan(0, item_count_);
  order_ = order_.subspan(0, item_count_);
}

}  // namespace lathe

#include "native/hexagon/program/program.h"

#include <string.h>

#include "native/hexagon/program/power.h"

namespace lathe {
namespace hexagon {

namespace {

constexpr size_t kVector = 128;  // bytes

// Data of an application has any alignment, and the engine reads in place.
struct Copied {
  void* memory;
  lathe_bytes model;
  lathe_bytes data;
};

Code Copy(const Argument* arguments, const ErrorSink& errors, Copied* copied) {
  const size_t model = arguments[1].buffer.size, data = arguments[2].buffer.size;
  const size_t behind = AlignUp(model, kVector);
  if (model > kMaxBytes / 2 || data > kMaxBytes / 2) return errors.Fail(Code::kBadModel, "the part is too large");
  const lathe_allocator allocator = DefaultAllocator();
  auto* memory = static_cast<uint8_t*>(AllocateFrom(allocator, behind + data + 1));
  if (memory == nullptr) return errors.OutOfMemory("the model", behind + data);
  memcpy(memory, arguments[1].buffer.data, model);
  memcpy(memory + behind, arguments[2].buffer.data, data);
  *copied = {memory, {memory, model}, {memory + behind, data}};
  return Code::kOk;
}

bool IsBlock(const Argument& argument, size_t size) {
  return argument.buffer.size == size && argument.buffer.data != nullptr;
}

// The messages of one call, which end in its reply.
class Messages {
 public:
  Messages() : sink_(&error_) { error_.message[0] = 0; }
  const ErrorSink& sink() const { return sink_; }
  void Tell(Code code, Reply* reply) const {
    reply->code = static_cast<int32_t>(code);
    if (code == Code::kOk) return;
    memcpy(reply->message, error_.message, sizeof reply->message);
    reply->message[sizeof reply->message - 1] = 0;
  }

 private:
  lathe_error error_ = {};
  ErrorSink sink_;
};

// What an observer notes down: the time of each node, by its number.
struct Times {
  NodeTime* times;
  size_t count;
};

void NoteTime(void* user, const lathe_node_event* event) {
  const Times& times = *static_cast<const Times*>(user);
  if (event->index < times.count)
    times.times[event->index].nanoseconds = static_cast<uint64_t>(event->end_ns - event->start_ns);
}

// The buffers of a run.
struct Run {
  Span<const Argument> inputs, outputs;
  const Argument& wished;  // where there is one
};

// What all nodes give, behind each other.
Code CopyValues(const Session& session, const Argument& to, const ErrorSink& errors) {
  size_t at = 0;
  for (const PreparedNode& prepared : session.engine().nodes()) {
    for (const uint32_t value : prepared.node->outputs) {
      const Tensor& tensor = session.tensors()[value];
      const size_t size = static_cast<size_t>(tensor.shape.Count()) * SizeOf(tensor.dtype);
      if (at > to.buffer.size || size > to.buffer.size - at)
        return errors.Fail(Code::kInvalidArgument, "the values of the part are larger than their buffer");
      if (size > 0) memcpy(static_cast<uint8_t*>(to.buffer.data) + at, tensor.data, size);
      at += AlignUp(size);
    }
  }
  return Code::kOk;
}

Code RunSession(Session* session, const Run& run, Wish wish, const ErrorSink& errors) {
  for (size_t i = 0; i < run.inputs.size(); ++i)
    LATHE_TRY(session->BindInput(i, run.inputs[i].buffer.data, run.inputs[i].buffer.size, errors));
  for (size_t i = 0; i < run.outputs.size(); ++i)
    LATHE_TRY(session->BindOutput(i, run.outputs[i].buffer.data, run.outputs[i].buffer.size, errors));
  if (wish != Wish::kTimes) {
    LATHE_TRY(session->Run(errors));
    return wish == Wish::kValues ? CopyValues(*session, run.wished, errors) : Code::kOk;
  }
  const auto& buffer = run.wished.buffer;
  memset(buffer.data, 0, buffer.size);
  Times times = {static_cast<NodeTime*>(buffer.data), buffer.size / sizeof(NodeTime)};
  session->SetObserver(NoteTime, &times);
  const Code code = session->Run(errors);
  session->SetObserver(nullptr, nullptr);
  return code;
}

}  // namespace

Program* Program::Open() {
  const lathe_allocator allocator = DefaultAllocator();
  void* memory = AllocateFrom(allocator, sizeof(Program));
  return memory == nullptr ? nullptr : new (Place(), memory) Program();
}

void Program::Close() {
  for (Part& part : parts_) Release(&part);
  ThreadPool::Release(pool_);
  const lathe_allocator allocator = DefaultAllocator();
  allocator.free(allocator.user, this);
}

void Program::Release(Part* part) {
  Session::Destroy(part->session);
  if (part->engine != nullptr) Engine::Release(part->engine);
  const lathe_allocator allocator = DefaultAllocator();
  allocator.free(allocator.user, part->memory);
  *part = {};
}

Program::Part* Program::Find(const Argument& block) {
  if (!IsBlock(block, sizeof(Call))) return nullptr;
  Call call;
  memcpy(&call, block.buffer.data, sizeof call);
  return call.part < kMostParts && parts_[call.part].session != nullptr ? &parts_[call.part] : nullptr;
}

Code Program::MakePart(const Argument* arguments, const ErrorSink& errors, Part* part) {
  Create block;
  memcpy(&block, arguments[0].buffer.data, sizeof block);
  if (block.version != kProtocolVersion)
    return errors.Fail(Code::kUnsupported, "the program on the DSP has version %u of its interface, the library %u",
                       static_cast<unsigned>(kProtocolVersion), static_cast<unsigned>(block.version));
  VoteForPower(this, block.power);
  Copied copied = {};
  LATHE_TRY(Copy(arguments, errors, &copied));
  part->memory = copied.memory;
  lathe_engine_options options = {};
  options.struct_size = sizeof options;
  options.model = copied.model;
  options.data = copied.data;
  if (pool_ == nullptr) {
    const uint32_t threads = block.threads < 1 ? 1 : block.threads < kMostThreads ? block.threads : kMostThreads;
    LATHE_TRY(ThreadPool::Create(static_cast<int>(threads), DefaultAllocator(), errors, &pool_));
  }
  options.pool = reinterpret_cast<lathe_pool*>(pool_);
  LATHE_TRY(Engine::Create(options, errors, &part->engine));
  return Session::Create(part->engine, 0, errors, &part->session);
}

void Program::CreatePart(const Argument* arguments, Reply* reply) {
  const Messages messages;
  uint32_t number = 0;
  while (number < kMostParts && parts_[number].session != nullptr) ++number;
  if (number == kMostParts)
    return messages.Tell(messages.sink().Fail(Code::kOutOfMemory, "too many parts on the DSP"), reply);
  Part part = {};
  const Code code = MakePart(arguments, messages.sink(), &part);
  messages.Tell(code, reply);
  if (code != Code::kOk) return Release(&part);
  parts_[number] = part;
  reply->part = number;
  const lathe_memory_info memory = part.session->memory_info();
  reply->memory_bytes = memory.arena + memory.scratch + memory.weights_allocated + memory.weights_mapped;
}

void Program::RunPart(uint32_t scalars, Argument* arguments, Reply* reply) {
  const Messages messages;
  Part* part = Find(arguments[0]);
  if (part == nullptr)
    return messages.Tell(messages.sink().Fail(Code::kInvalidArgument, "no such part on the DSP"), reply);
  Call call;
  memcpy(&call, arguments[0].buffer.data, sizeof call);
  const size_t inputs = InputsOf(scalars) - 1, outputs = OutputsOf(scalars) - (call.wish == Wish::kNothing ? 1 : 2);
  const Region& body = part->engine->model().body;
  if (inputs != body.inputs.size() || outputs != body.outputs.size())
    return messages.Tell(
        messages.sink().Fail(Code::kInvalidArgument, "the part on the DSP has other inputs or outputs"), reply);
  const Run run = {Span<const Argument>(arguments + 1, inputs), Span<const Argument>(arguments + inputs + 2, outputs),
                   arguments[inputs + outputs + 2]};
  Session* session = part->session;
  Code code = Code::kOk;
  if (call.wish == Wish::kValues)
    code = Session::Create(part->engine, LATHE_SESSION_KEEP_ALL, messages.sink(), &session);
  if (code == Code::kOk) code = RunSession(session, run, call.wish, messages.sink());
  if (session != part->session) Session::Destroy(session);
  messages.Tell(code, reply);
}

void Program::DestroyPart(const Argument* arguments, Reply* reply) {
  const Messages messages;
  Part* part = Find(arguments[0]);
  if (part == nullptr)
    return messages.Tell(messages.sink().Fail(Code::kInvalidArgument, "no such part on the DSP"), reply);
  Release(part);
}

int Program::Invoke(uint32_t scalars, Argument* arguments) {
  const uint32_t method = MethodOf(scalars), inputs = InputsOf(scalars), outputs = OutputsOf(scalars);
  if (inputs < 1 || outputs < 1 || HandlesInOf(scalars) + HandlesOutOf(scalars) > 0) return kBadParameter;
  if (!IsBlock(arguments[inputs], sizeof(Reply))) return kBadParameter;
  Reply* reply = static_cast<Reply*>(arguments[inputs].buffer.data);
  memset(reply, 0, sizeof *reply);
  switch (method) {
    case kMethodCreate:
      if (inputs != 3 || outputs != 1 || !IsBlock(arguments[0], sizeof(Create))) return kBadParameter;
      CreatePart(arguments, reply);
      return kOk;
    case kMethodRun:
      RunPart(scalars, arguments, reply);
      return kOk;
    case kMethodDestroy:
      DestroyPart(arguments, reply);
      return kOk;
    default:
      return kUnsupported;
  }
}

}  // namespace hexagon
}  // namespace lathe

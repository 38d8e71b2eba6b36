// The functions of the table in lathe/c_api.h: they check what the caller passes and hand over to Engine and Session.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/runtime/engine.h"
#include "native/runtime/handles.h"
#include "native/runtime/registry.h"
#include "native/runtime/session.h"

namespace lathe {
namespace api {

namespace {

constexpr char kNames[][8] = {"pool", "engine", "session"};

// The start of a call: the error of the caller is empty.
ErrorSink Begin(lathe_error* error) {
  if (error != nullptr) {
    error->code = LATHE_OK;
    error->message[0] = 0;
  }
  return ErrorSink(error);
}

// The start of a call on an object; null, with a message, where the handle is none.
__attribute__((noinline)) void* Begin(Kind kind, const void* handle, lathe_error* error) {
  void* object = FindHandle(kind, handle);
  const ErrorSink errors = Begin(error);
  if (object == nullptr)
    errors.Fail(Code::kInvalidArgument,
                handle == nullptr ? "the %s is NULL" : "this %s was destroyed, or never created",
                kNames[static_cast<uint32_t>(kind)]);
  return object;
}
Session* Begin(const lathe_session* session, lathe_error* error) {
  return static_cast<Session*>(Begin(Kind::kSession, session, error));
}
Engine* Begin(const lathe_engine* engine, lathe_error* error) {
  return static_cast<Engine*>(Begin(Kind::kEngine, engine, error));
}

__attribute__((noinline)) lathe_code NullArgument(const ErrorSink& errors) {
  return static_cast<lathe_code>(errors.Fail(Code::kInvalidArgument, "a pointer that must not be NULL is NULL"));
}

lathe_code Public(Code code) { return static_cast<lathe_code>(code); }

// What the caller filled in of a struct that may be older or newer than ours; the rest is zero.
template <typename T>
T CopyIn(const T* given) {
  T copy = {};
  if (given != nullptr) memcpy(&copy, given, given->struct_size < sizeof(T) ? given->struct_size : sizeof(T));
  return copy;
}

__attribute__((noinline)) Code CheckSize(const uint32_t* size, const ErrorSink& errors) {
  if (size == nullptr) return static_cast<Code>(NullArgument(errors));
  if (*size < sizeof(uint32_t)) return errors.Fail(Code::kInvalidArgument, "struct_size of a struct is not set");
  return Code::kOk;
}

template <typename T>
Code CheckStruct(const T* given, const ErrorSink& errors) {
  return CheckSize(given != nullptr ? &given->struct_size : nullptr, errors);
}

// For functions that have no error to report: null where the handle is none.
Engine* Own(const lathe_engine* engine) { return static_cast<Engine*>(FindHandle(Kind::kEngine, engine)); }
Session* Own(const lathe_session* session) { return static_cast<Session*>(FindHandle(Kind::kSession, session)); }

void Release(Kind kind, void* object) {
  if (kind == Kind::kPool) ThreadPool::Release(static_cast<ThreadPool*>(object));
  if (kind == Kind::kEngine) Engine::Release(static_cast<Engine*>(object));
  if (kind == Kind::kSession) Session::Destroy(static_cast<Session*>(object));
}

// What was made, if it was, becomes a handle: null where there are too many.
__attribute__((noinline)) void* Give(Kind kind, Code* code, void* made, const ErrorSink& errors) {
  if (*code != Code::kOk) return nullptr;
  void* handle = AddHandle(kind, made);
  if (handle != nullptr) return handle;
  Release(kind, made);
  *code = errors.Fail(Code::kOutOfMemory, "a library has at most %u pools, engines and sessions", kMaxHandles);
  return nullptr;
}

// NULL is nobody's. To destroy something twice is a mistake of the application that nothing else can report.
__attribute__((noinline)) void Destroy(Kind kind, const void* handle) {
  if (handle == nullptr) return;
  if (void* object = TakeHandle(kind, handle)) return Release(kind, object);
  lathe_error error;
  Begin(kind, handle, &error);
  char text[96];
  const int size = snprintf(text, sizeof(text), "lathe: destroy: %.60s\n", error.message);
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) >= 0) abort();
  abort();
}

}  // namespace

size_t KernelCount() { return GetRegistry().kernels.size(); }

const char* KernelName(size_t index) {
  const Registry& registry = GetRegistry();
  return index < registry.kernels.size() ? registry.kernels[index]->name : nullptr;
}

size_t ModelCount() { return GetRegistry().models.size(); }

const lathe_embedded_model* ModelAt(size_t index) {
  const Registry& registry = GetRegistry();
  return index < registry.models.size() ? &registry.models[index] : nullptr;
}

lathe_code PoolCreate(int32_t num_threads, lathe_pool** pool, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  if (pool == nullptr) return NullArgument(errors);
  ThreadPool* made = nullptr;
  Code code = ThreadPool::Create(num_threads, DefaultAllocator(), errors, &made);
  *pool = static_cast<lathe_pool*>(Give(Kind::kPool, &code, made, errors));
  return Public(code);
}

void PoolDestroy(lathe_pool* pool) { Destroy(Kind::kPool, pool); }

lathe_code EngineCreate(const lathe_engine_options* options, lathe_engine** engine, lathe_error* error) {
  lathe_error own;
  if (error == nullptr) error = &own;  // what kernels say is read back
  const ErrorSink errors = Begin(error);
  if (engine == nullptr) return NullArgument(errors);
  Code code = CheckStruct(options, errors);
  if (code != Code::kOk) return Public(code);
  lathe_engine_options copy = CopyIn(options);
  if (copy.pool != nullptr) {
    copy.pool = static_cast<lathe_pool*>(Begin(Kind::kPool, copy.pool, error));
    if (copy.pool == nullptr) return LATHE_INVALID_ARGUMENT;
  }
  Engine* made = nullptr;
  code = Engine::Create(copy, errors, &made);
  *engine = static_cast<lathe_engine*>(Give(Kind::kEngine, &code, made, errors));
  return Public(code);
}

void EngineDestroy(lathe_engine* engine) { Destroy(Kind::kEngine, engine); }

size_t InputCount(const lathe_engine* engine) {
  const Engine* own = Own(engine);
  return own != nullptr ? own->model().body.inputs.size() : 0;
}
size_t OutputCount(const lathe_engine* engine) {
  const Engine* own = Own(engine);
  return own != nullptr ? own->model().body.outputs.size() : 0;
}

lathe_code SessionCreate(lathe_engine* engine, const lathe_session_options* options, lathe_session** session,
                         lathe_error* error) {
  Engine* own = Begin(engine, error);
  const ErrorSink errors(error);
  if (session == nullptr) return NullArgument(errors);
  *session = nullptr;
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  Session* made = nullptr;
  Code code = Session::Create(own, options != nullptr && options->struct_size >= sizeof(*options) ? options->flags : 0,
                              errors, &made);
  *session = static_cast<lathe_session*>(Give(Kind::kSession, &code, made, errors));
  return Public(code);
}

void SessionDestroy(lathe_session* session) { Destroy(Kind::kSession, session); }

lathe_code InputInfo(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : own->InputInfo(index, info, errors));
}

lathe_code OutputInfo(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : own->OutputInfo(index, info, errors));
}

lathe_code Resize(lathe_session* session, size_t count, const lathe_shape* shapes, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  if (shapes == nullptr && count != 0) return NullArgument(errors);
  return Public(own->Resize(Span<const lathe_shape>(shapes, count), errors));
}

lathe_code InputData(lathe_session* session, size_t index, void** data, size_t* bytes, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  size_t ignored = 0;
  if (data == nullptr) return NullArgument(errors);
  return Public(own->InputData(index, data, bytes != nullptr ? bytes : &ignored, errors));
}

lathe_code BindInput(lathe_session* session, size_t index, const void* data, size_t bytes, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  return Public(own->BindInput(index, data, bytes, errors));
}

lathe_code BindOutput(lathe_session* session, size_t index, void* data, size_t bytes, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  return Public(own->BindOutput(index, data, bytes, errors));
}

lathe_code Run(lathe_session* session, lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  return Public(own->Run(errors));
}

lathe_code OutputData(const lathe_session* session, size_t index, const void** data, size_t* bytes,
                      lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  size_t ignored = 0;
  if (data == nullptr) return NullArgument(errors);
  return Public(own->OutputData(index, data, bytes != nullptr ? bytes : &ignored, errors));
}

lathe_code Value(const lathe_session* session, const char* name, lathe_tensor_info* info, const void** data,
                 lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  if (name == nullptr || data == nullptr) return NullArgument(errors);
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : own->FindValue(name, info, data, errors));
}

void SetObserver(lathe_session* session, lathe_observer observer, void* user) {
  if (Session* own = Own(session)) own->SetObserver(observer, user);
}

void MemoryInfo(const lathe_session* session, lathe_memory_info* info) {
  const Session* own = Own(session);
  if (info != nullptr) CopyOut(own != nullptr ? own->memory_info() : lathe_memory_info{}, info);
}

size_t ValueCount(const lathe_engine* engine) {
  const Engine* own = Own(engine);
  return own != nullptr ? own->model().values.size() : 0;
}

lathe_code ValueAt(const lathe_session* session, size_t index, lathe_tensor_info* info, const void** data,
                   lathe_error* error) {
  Session* own = Begin(session, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  if (data == nullptr) return NullArgument(errors);
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : own->ValueAt(index, info, data, errors));
}

lathe_code NodeAt(const lathe_engine* engine, size_t index, lathe_node_info* info, lathe_error* error) {
  Engine* own = Begin(engine, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  const Span<const PreparedNode> nodes = own->nodes();
  Code code = CheckStruct(info, errors);
  if (code == Code::kOk) code = errors.CheckIndex("node", index, nodes.size());
  if (code != Code::kOk) return Public(code);
  const Node& node = *nodes[index].node;
  const Device* device = own->device();
  const KernelDef* known = nodes[index].kernel;
  const char* kernel = known != nullptr ? known->name : device != nullptr ? device->KernelOf(index) : nullptr;
  CopyOut(lathe_node_info{sizeof(*info), node.op, node.name, kernel, node.inputs.size(), node.inputs.data(),
                          node.outputs.size(), node.outputs.data()},
          info);
  return LATHE_OK;
}

const int64_t* NodeNumbers(const lathe_engine* engine, size_t index, const char* attribute, size_t* count) {
  const Engine* own = Own(engine);
  if (own == nullptr || index >= own->nodes().size()) return nullptr;
  const Span<const PreparedNode> nodes = own->nodes();
  for (const Attr& attr : nodes[index].node->attrs) {
    if (strcmp(attr.name, attribute) != 0) continue;
    if (attr.kind == AttrKind::kInts) {
      *count = attr.ints.size();
      return attr.ints.data();
    }
    *count = 1;
    return attr.kind == AttrKind::kInt ? &attr.i : nullptr;
  }
  return nullptr;
}

lathe_code DeviceInfo(const lathe_engine* engine, lathe_device_info* info, lathe_error* error) {
  Engine* own = Begin(engine, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  const Code code = CheckStruct(info, errors);
  if (code != Code::kOk) return Public(code);
  lathe_device_info found = {};
  found.kind = LATHE_DEVICE_CPU;
  if (own->device() != nullptr)
    own->device()->Info(&found);
  else
    found.reason = own->WhyNoDevice();
  CopyOut(found, info);
  return LATHE_OK;
}

lathe_code DeviceData(const lathe_engine* engine, uint32_t what, lathe_bytes* data, lathe_error* error) {
  Engine* own = Begin(engine, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  if (data == nullptr) return NullArgument(errors);
  Device* device = own->device();
  *data = {};
  return device != nullptr ? Public(device->Data(what, errors, data)) : LATHE_OK;
}

void SetThreadObserver(lathe_engine* engine, lathe_thread_observer observer, void* user) {
  if (Engine* own = Own(engine)) own->pool()->SetObserver(observer, user);
}

size_t CoreCount() {
  Cores cores;
  GetRegistry().core_binding->find(&cores);
  return cores.count;
}

lathe_code CoreAt(size_t index, lathe_core_info* info, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Cores cores;
  GetRegistry().core_binding->find(&cores);
  Code code = CheckStruct(info, errors);
  if (code == Code::kOk) code = errors.CheckIndex("core", index, cores.count);
  if (code == Code::kOk) CopyOut(cores.info[index], info);
  return Public(code);
}

lathe_code EngineBind(lathe_engine* engine, const lathe_cpu_options* options, lathe_error* error) {
  Engine* own = Begin(engine, error);
  const ErrorSink errors(error);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  const Code code = CheckStruct(options, errors);
  return Public(code != Code::kOk ? code : GetRegistry().core_binding->bind(own->pool(), CopyIn(options), errors));
}

size_t EngineCores(const lathe_engine* engine, uint32_t* cores, size_t most) {
  const Engine* own = Own(engine);
  const Binder* binder = own != nullptr ? own->pool()->binder() : nullptr;
  return binder != nullptr ? binder->CoresNow(cores, cores != nullptr ? most : 0) : 0;
}

size_t NoCores() { return 0; }

lathe_code NoCoreAt(size_t, lathe_core_info*, lathe_error* error) { return Public(Engine::NoBinding(Begin(error))); }

lathe_code NoEngineBind(lathe_engine* engine, const lathe_cpu_options*, lathe_error* error) {
  return Begin(engine, error) != nullptr ? Public(Engine::NoBinding(ErrorSink(error))) : LATHE_INVALID_ARGUMENT;
}

size_t NoEngineCores(const lathe_engine*, uint32_t*, size_t) { return 0; }

}  // namespace api
}  // namespace lathe

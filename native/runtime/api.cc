// The functions of the table in lathe/c_api.h: they check what the caller passes and hand over to Engine and Session.
#include <string.h>

#include "native/runtime/engine.h"
#include "native/runtime/registry.h"
#include "native/runtime/session.h"

namespace lathe {
namespace api {

namespace {

// The lathe_error of the caller, or one of our own where there is none, so that the core may always write a message.
class Errors {
 public:
  explicit Errors(lathe_error* error) : sink_(error, &own_) {
    if (error != nullptr) {
      error->code = LATHE_OK;
      error->message[0] = 0;
    }
    own_.message[0] = 0;
  }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;

  operator const ErrorSink&() const { return sink_; }
  const ErrorSink* operator->() const { return &sink_; }
  lathe_code NullArgument() const {
    return static_cast<lathe_code>(sink_.Fail(Code::kInvalidArgument, "a pointer that must not be NULL is NULL"));
  }

 private:
  lathe_error own_;
  ErrorSink sink_;
};

lathe_code Public(Code code) { return static_cast<lathe_code>(code); }

// What the caller filled in of a struct that may be older or newer than ours; the rest is zero.
template <typename T>
T CopyIn(const T* given) {
  T copy = {};
  if (given != nullptr) memcpy(&copy, given, given->struct_size < sizeof(T) ? given->struct_size : sizeof(T));
  return copy;
}

template <typename T>
Code CheckStruct(const T* given, const ErrorSink& errors) {
  if (given == nullptr) return errors.Fail(Code::kInvalidArgument, "a pointer that must not be NULL is NULL");
  if (given->struct_size < sizeof(uint32_t))
    return errors.Fail(Code::kInvalidArgument, "struct_size of a struct is not set");
  return Code::kOk;
}

Session* Own(lathe_session* session) { return reinterpret_cast<Session*>(session); }
const Session* Own(const lathe_session* session) { return reinterpret_cast<const Session*>(session); }
Engine* Own(lathe_engine* engine) { return reinterpret_cast<Engine*>(engine); }
const Engine* Own(const lathe_engine* engine) { return reinterpret_cast<const Engine*>(engine); }

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
  const Errors errors(error);
  if (pool == nullptr) return errors.NullArgument();
  return Public(ThreadPool::Create(num_threads, DefaultAllocator(), errors, reinterpret_cast<ThreadPool**>(pool)));
}

void PoolDestroy(lathe_pool* pool) { ThreadPool::Destroy(reinterpret_cast<ThreadPool*>(pool)); }

lathe_code EngineCreate(const lathe_engine_options* options, lathe_engine** engine, lathe_error* error) {
  const Errors errors(error);
  if (engine == nullptr) return errors.NullArgument();
  const Code code = CheckStruct(options, errors);
  if (code != Code::kOk) return Public(code);
  return Public(Engine::Create(CopyIn(options), errors, reinterpret_cast<Engine**>(engine)));
}

void EngineDestroy(lathe_engine* engine) { Engine::Destroy(Own(engine)); }

size_t InputCount(const lathe_engine* engine) { return Own(engine)->model().body.inputs.size(); }
size_t OutputCount(const lathe_engine* engine) { return Own(engine)->model().body.outputs.size(); }

lathe_code SessionCreate(lathe_engine* engine, const lathe_session_options* options, lathe_session** session,
                         lathe_error* error) {
  const Errors errors(error);
  if (engine == nullptr || session == nullptr) return errors.NullArgument();
  return Public(Session::Create(Own(engine), CopyIn(options).flags, errors, reinterpret_cast<Session**>(session)));
}

void SessionDestroy(lathe_session* session) { Session::Destroy(Own(session)); }

lathe_code InputInfo(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr) return errors.NullArgument();
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : Own(session)->InputInfo(index, info, errors));
}

lathe_code OutputInfo(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr) return errors.NullArgument();
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : Own(session)->OutputInfo(index, info, errors));
}

lathe_code Resize(lathe_session* session, size_t count, const lathe_shape* shapes, lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr || (shapes == nullptr && count != 0)) return errors.NullArgument();
  return Public(Own(session)->Resize(Span<const lathe_shape>(shapes, count), errors));
}

lathe_code InputData(lathe_session* session, size_t index, void** data, size_t* bytes, lathe_error* error) {
  const Errors errors(error);
  size_t ignored = 0;
  if (session == nullptr || data == nullptr) return errors.NullArgument();
  return Public(Own(session)->InputData(index, data, bytes != nullptr ? bytes : &ignored, errors));
}

lathe_code BindInput(lathe_session* session, size_t index, const void* data, size_t bytes, lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr) return errors.NullArgument();
  return Public(Own(session)->BindInput(index, data, bytes, errors));
}

lathe_code BindOutput(lathe_session* session, size_t index, void* data, size_t bytes, lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr) return errors.NullArgument();
  return Public(Own(session)->BindOutput(index, data, bytes, errors));
}

lathe_code Run(lathe_session* session, lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr) return errors.NullArgument();
  return Public(Own(session)->Run(errors));
}

lathe_code OutputData(const lathe_session* session, size_t index, const void** data, size_t* bytes,
                      lathe_error* error) {
  const Errors errors(error);
  size_t ignored = 0;
  if (session == nullptr || data == nullptr) return errors.NullArgument();
  return Public(Own(session)->OutputData(index, data, bytes != nullptr ? bytes : &ignored, errors));
}

lathe_code Value(const lathe_session* session, const char* name, lathe_tensor_info* info, const void** data,
                 lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr || name == nullptr || data == nullptr) return errors.NullArgument();
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : Own(session)->FindValue(name, info, data, errors));
}

void SetObserver(lathe_session* session, lathe_observer observer, void* user) {
  if (session != nullptr) Own(session)->SetObserver(observer, user);
}

void MemoryInfo(const lathe_session* session, lathe_memory_info* info) {
  if (session == nullptr || info == nullptr) return;
  CopyOut(Own(session)->memory_info(), info);
}

size_t ValueCount(const lathe_engine* engine) { return Own(engine)->model().values.size(); }

lathe_code ValueAt(const lathe_session* session, size_t index, lathe_tensor_info* info, const void** data,
                   lathe_error* error) {
  const Errors errors(error);
  if (session == nullptr || data == nullptr) return errors.NullArgument();
  const Code code = CheckStruct(info, errors);
  return Public(code != Code::kOk ? code : Own(session)->ValueAt(index, info, data, errors));
}

lathe_code NodeAt(const lathe_engine* engine, size_t index, lathe_node_info* info, lathe_error* error) {
  const Errors errors(error);
  if (engine == nullptr) return errors.NullArgument();
  const Span<const PreparedNode> nodes = Own(engine)->nodes();
  Code code = CheckStruct(info, errors);
  if (code == Code::kOk) code = errors->CheckIndex("node", index, nodes.size());
  if (code != Code::kOk) return Public(code);
  const Node& node = *nodes[index].node;
  const Device* device = Own(engine)->device();
  const KernelDef* known = nodes[index].kernel;
  const char* kernel = known != nullptr ? known->name : device != nullptr ? device->KernelOf(index) : nullptr;
  CopyOut(lathe_node_info{sizeof(*info), node.op, node.name, kernel, node.inputs.size(), node.inputs.data(),
                          node.outputs.size(), node.outputs.data()},
          info);
  return LATHE_OK;
}

const int64_t* NodeNumbers(const lathe_engine* engine, size_t index, const char* attribute, size_t* count) {
  const Span<const PreparedNode> nodes = Own(engine)->nodes();
  if (index >= nodes.size()) return nullptr;
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
  const Errors errors(error);
  if (engine == nullptr) return errors.NullArgument();
  const Code code = CheckStruct(info, errors);
  if (code != Code::kOk) return Public(code);
  lathe_device_info found = {};
  found.kind = LATHE_DEVICE_CPU;
  if (Own(engine)->device() != nullptr)
    Own(engine)->device()->Info(&found);
  else
    found.reason = Own(engine)->WhyNoDevice();
  CopyOut(found, info);
  return LATHE_OK;
}

lathe_code DeviceData(const lathe_engine* engine, uint32_t what, lathe_bytes* data, lathe_error* error) {
  const Errors errors(error);
  if (engine == nullptr || data == nullptr) return errors.NullArgument();
  Device* device = Own(engine)->device();
  *data = {};
  return device != nullptr ? Public(device->Data(what, errors, data)) : LATHE_OK;
}

void SetThreadObserver(lathe_engine* engine, lathe_thread_observer observer, void* user) {
  if (engine != nullptr) Own(engine)->pool()->SetObserver(observer, user);
}

}  // namespace api
}  // namespace lathe

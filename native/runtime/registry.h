// The hand-over of a library's kernels and models to the core. A generated file of each library reads
//
//   #include "native/runtime/registry.h"
//   LATHE_DECLARE_KERNEL(conv2d_f32_direct__portable)
//   extern "C" __attribute__((visibility("hidden"))) const unsigned char lathe_model_digits[];
//   namespace {
//   constexpr const lathe::KernelDef* kernels[] = {&lathe_kernel_conv2d_f32_direct__portable};
//   constexpr lathe_embedded_model models[] = {{"digits", {lathe_model_digits, 1234}, {nullptr, 0}}};
//   constexpr lathe::Registry registry = {"digits", "0.1.0", kernels, models};
//   }
//   LATHE_DEFINE_API(digits, registry)
//
// and is the only file of the core that differs between libraries. Kernels of one operator are in the order in which
// they are tried: larger priority first. A library without kernels or models says `{}`.
#ifndef LATHE_RUNTIME_REGISTRY_H_
#define LATHE_RUNTIME_REGISTRY_H_

#include "lathe/c_api.h"
#include "native/runtime/block_weights.h"
#include "native/runtime/cores.h"
#include "native/runtime/kernel.h"
#include "native/runtime/packed_constants.h"

namespace lathe {

struct Registry {
  const char* library;
  const char* version;
  Span<const KernelDef* const> kernels;
  Span<const lathe_embedded_model> models;
  // ExpandScaled where a model of the library has such constants: elsewhere the linker leaves it out.
  decltype(&ExpandScaled) expand_scaled = nullptr;
  // kCoreBinding where the library can bind threads to cores.
  const CoreBinding* core_binding = nullptr;
  // The functions for images that the deployment asks for: native/vision.
  const lathe_vision_api* vision = nullptr;
  // LoadPackedConstants where a kernel of the library reads constants as they are stored.
  decltype(&LoadPackedConstants) load_packed = nullptr;
};

// The registry that this copy of the core serves: defined by LATHE_DEFINE_API, hidden.
__attribute__((visibility("hidden"))) const Registry& GetRegistry();

// The functions of the table (api.cc).
namespace api {
size_t KernelCount();
const char* KernelName(size_t index);
size_t ModelCount();
const lathe_embedded_model* ModelAt(size_t index);
lathe_code PoolCreate(int32_t num_threads, lathe_pool** pool, lathe_error* error);
void PoolDestroy(lathe_pool* pool);
lathe_code EngineCreate(const lathe_engine_options* options, lathe_engine** engine, lathe_error* error);
void EngineDestroy(lathe_engine* engine);
size_t InputCount(const lathe_engine* engine);
size_t OutputCount(const lathe_engine* engine);
lathe_code SessionCreate(lathe_engine* engine, const lathe_session_options* options, lathe_session** session,
                         lathe_error* error);
void SessionDestroy(lathe_session* session);
lathe_code InputInfo(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error);
lathe_code OutputInfo(const lathe_session* session, size_t index, lathe_tensor_info* info, lathe_error* error);
lathe_code Resize(lathe_session* session, size_t count, const lathe_shape* shapes, lathe_error* error);
lathe_code InputData(lathe_session* session, size_t index, void** data, size_t* bytes, lathe_error* error);
lathe_code BindInput(lathe_session* session, size_t index, const void* data, size_t bytes, lathe_error* error);
lathe_code BindOutput(lathe_session* session, size_t index, void* data, size_t bytes, lathe_error* error);
lathe_code Run(lathe_session* session, lathe_error* error);
lathe_code OutputData(const lathe_session* session, size_t index, const void** data, size_t* bytes, lathe_error* error);
lathe_code Value(const lathe_session* session, const char* name, lathe_tensor_info* info, const void** data,
                 lathe_error* error);
void SetObserver(lathe_session* session, lathe_observer observer, void* user);
void MemoryInfo(const lathe_session* session, lathe_memory_info* info);
size_t ValueCount(const lathe_engine* engine);
lathe_code ValueAt(const lathe_session* session, size_t index, lathe_tensor_info* info, const void** data,
                   lathe_error* error);
lathe_code NodeAt(const lathe_engine* engine, size_t index, lathe_node_info* info, lathe_error* error);
const int64_t* NodeNumbers(const lathe_engine* engine, size_t index, const char* attribute, size_t* count);
lathe_code DeviceInfo(const lathe_engine* engine, lathe_device_info* info, lathe_error* error);
lathe_code DeviceData(const lathe_engine* engine, uint32_t what, lathe_bytes* data, lathe_error* error);
void SetThreadObserver(lathe_engine* engine, lathe_thread_observer observer, void* user);
size_t CoreCount();
lathe_code CoreAt(size_t index, lathe_core_info* info, lathe_error* error);
lathe_code EngineBind(lathe_engine* engine, const lathe_cpu_options* options, lathe_error* error);
size_t EngineCores(const lathe_engine* engine, uint32_t* cores, size_t most);
// The same for libraries that cannot bind threads.
size_t NoCores();
lathe_code NoCoreAt(size_t index, lathe_core_info* info, lathe_error* error);
lathe_code NoEngineBind(lathe_engine* engine, const lathe_cpu_options* options, lathe_error* error);
size_t NoEngineCores(const lathe_engine* engine, uint32_t* cores, size_t most);
}  // namespace api

// Whether there is a binding. Under sanitizers GCC does not compare addresses at compile time.
template <const CoreBinding* binding>
struct Binds {
  enum : bool { kValue = true };
};
template <>
struct Binds<nullptr> {
  enum : bool { kValue = false };
};

// What a library cannot do is not in its table, and the linker leaves it out.
constexpr lathe_api MakeApi(const Registry& registry, bool binds) {
  return {sizeof(lathe_api),
          LATHE_ABI_VERSION,
          registry.library,
          registry.version,
          api::KernelCount,
          api::KernelName,
          api::ModelCount,
          api::ModelAt,
          api::PoolCreate,
          api::PoolDestroy,
          api::EngineCreate,
          api::EngineDestroy,
          api::InputCount,
          api::OutputCount,
          api::SessionCreate,
          api::SessionDestroy,
          api::InputInfo,
          api::OutputInfo,
          api::Resize,
          api::InputData,
          api::BindInput,
          api::BindOutput,
          api::Run,
          api::OutputData,
          api::Value,
          api::SetObserver,
          api::MemoryInfo,
          api::ValueCount,
          api::ValueAt,
          api::NodeAt,
          api::NodeNumbers,
          api::DeviceInfo,
          api::DeviceData,
          api::SetThreadObserver,
          binds ? api::CoreCount : api::NoCores,
          binds ? api::CoreAt : api::NoCoreAt,
          binds ? api::EngineBind : api::NoEngineBind,
          binds ? api::EngineCores : api::NoEngineCores,
          registry.vision};
}

}  // namespace lathe

#define LATHE_DECLARE_KERNEL(name) \
  extern "C" __attribute__((visibility("hidden"))) const ::lathe::KernelDef lathe_kernel_##name;

// At global scope, once per library. `registry` is a constexpr ::lathe::Registry.
#define LATHE_DEFINE_API(library_name, registry)                                                                  \
  namespace lathe {                                                                                               \
  const Registry& GetRegistry() { return registry; }                                                              \
  }                                                                                                               \
  extern "C" __attribute__((visibility("default"))) const lathe_api* lathe_api_##library_name(void);              \
  extern "C" __attribute__((visibility("default"))) const lathe_api* lathe_api_##library_name(void) {             \
    static constexpr lathe_api table = ::lathe::MakeApi(registry, ::lathe::Binds<registry.core_binding>::kValue); \
    return &table;                                                                                                \
  }

#endif  // LATHE_RUNTIME_REGISTRY_H_

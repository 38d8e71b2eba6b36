// Ties the Java class Model to the function table of one tailored library.
//
// LATHE_JAVA_PACKAGE is the package of the class ("lathe/digits"), LATHE_JAVA_API the function of the library. Nothing
// that Java passes in is trusted but handles, which only Model has: sizes are checked here, arrays are copied, and what
// goes wrong becomes a LatheException. Texts cross as bytes of UTF-8, because JNI's strings are of another encoding.
#include <jni.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lathe/c_api.h"

extern "C" const lathe_api* LATHE_JAVA_API(void);

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMaxText = sizeof(lathe_error::message);
constexpr size_t kFloat = sizeof(float);

// What a handle points to.
struct Model {
  lathe_engine* engine;
  lathe_session* session;
  void* graph;  // copies of what came in arrays
  void* data;
};

const lathe_api& Api() { return *LATHE_JAVA_API(); }

Model* ModelOf(jlong handle) { return reinterpret_cast<Model*>(static_cast<intptr_t>(handle)); }

jbyteArray Bytes(JNIEnv* env, const char* text) {
  const size_t size = strlen(text);
  jbyteArray bytes = env->NewByteArray(static_cast<jsize>(size));
  if (bytes == nullptr) return nullptr;
  env->SetByteArrayRegion(bytes, 0, static_cast<jsize>(size), reinterpret_cast<const jbyte*>(text));
  return env->ExceptionCheck() ? nullptr : bytes;
}

// Leaves a LatheException pending; one that is pending already stays.
void Throw(JNIEnv* env, lathe_code code, const char* text) {
  if (env->ExceptionCheck()) return;
  jclass type = env->FindClass(LATHE_JAVA_PACKAGE "/LatheException");
  if (type == nullptr) return;
  const jmethodID make = env->GetMethodID(type, "<init>", "(I[B)V");
  if (make == nullptr) return;
  jbyteArray bytes = Bytes(env, text);
  if (bytes == nullptr) return;
  jobject exception = env->NewObject(type, make, static_cast<jint>(code), bytes);
  if (exception != nullptr && !env->ExceptionCheck()) env->Throw(static_cast<jthrowable>(exception));
}

__attribute__((format(printf, 2, 3))) void Refuse(JNIEnv* env, const char* format, ...) {
  char text[kMaxText];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  Throw(env, LATHE_INVALID_ARGUMENT, text);
}

// Whether the library has done it; else the exception is pending.
bool Done(JNIEnv* env, lathe_code code, const lathe_error& error) {
  if (code != LATHE_OK) Throw(env, code, error.message);
  return code == LATHE_OK;
}

lathe_tensor_info EmptyInfo() {
  lathe_tensor_info info;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  return info;
}

bool Info(JNIEnv* env, const Model* model, bool output, size_t index, lathe_tensor_info* info) {
  lathe_error error;
  *info = EmptyInfo();
  const auto ask = output ? Api().output_info : Api().input_info;
  return Done(env, ask(model->session, index, info, &error), error);
}

size_t Count(const Model* model, bool output) {
  return output ? Api().output_count(model->engine) : Api().input_count(model->engine);
}

// Zeros, aligned as the library likes it; null and an exception where there is no memory.
void* Allocate(JNIEnv* env, size_t size) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, size) == 0) return memset(memory, 0, size);
  Throw(env, LATHE_OUT_OF_MEMORY, "no memory for the model");
  return nullptr;
}

// A copy of an array in memory of its own, with a zero behind it; null and an exception where it fails.
void* Copy(JNIEnv* env, jbyteArray from, size_t* size) {
  const jsize length = env->GetArrayLength(from);
  *size = static_cast<size_t>(length);
  void* memory = Allocate(env, *size + 1);
  if (memory == nullptr) return nullptr;
  env->GetByteArrayRegion(from, 0, length, static_cast<jbyte*>(memory));
  if (!env->ExceptionCheck()) return memory;
  free(memory);
  return nullptr;
}

// The memory of a direct buffer from `at` on; null and an exception where it does not reach that far.
uint8_t* Direct(JNIEnv* env, jobject buffer, jint at, jint size) {
  auto* address = static_cast<uint8_t*>(env->GetDirectBufferAddress(buffer));
  const jlong capacity = env->GetDirectBufferCapacity(buffer);
  if (address == nullptr || at < 0 || size < 0 || static_cast<jlong>(at) + size > capacity) {
    Refuse(env, "a buffer has no memory at %d to %lld", at, static_cast<long long>(at) + size);
    return nullptr;
  }
  return address + at;
}

void Destroy(Model* model) {
  if (model->session != nullptr) Api().session_destroy(model->session);
  if (model->engine != nullptr) Api().engine_destroy(model->engine);
  free(model->graph);
  free(model->data);
  free(model);
}

// --- Native.create and what a model is -----------------------------------------------------------------------------

struct Texts {
  char* name;
  char* model_path;
  char* data_path;
};

bool Text(JNIEnv* env, jbyteArray from, char** to) {
  size_t size = 0;
  if (from != nullptr) *to = static_cast<char*>(Copy(env, from, &size));
  return from == nullptr || *to != nullptr;
}

void Open(JNIEnv* env, Model* model, const lathe_engine_options& options) {
  lathe_error error;
  if (!Done(env, Api().engine_create(&options, &model->engine, &error), error)) return;
  Done(env, Api().session_create(model->engine, nullptr, &model->session, &error), error);
}

jlong Create(JNIEnv* env, jclass, jbyteArray name, jbyteArray model_path, jbyteArray data_path, jbyteArray graph,
             jbyteArray data, jobject mapped, jint at, jint size, jint threads) {
  auto* model = static_cast<Model*>(Allocate(env, sizeof(Model)));
  if (model == nullptr) return 0;
  lathe_engine_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.num_threads = threads;
  Texts texts = {nullptr, nullptr, nullptr};
  bool ready = Text(env, name, &texts.name) && Text(env, model_path, &texts.model_path) &&
               Text(env, data_path, &texts.data_path);
  options.model_name = texts.name;
  options.model_path = texts.model_path;
  options.data_path = texts.data_path;
  if (ready && graph != nullptr) {
    options.model.data = model->graph = Copy(env, graph, &options.model.size);
    ready = model->graph != nullptr;
  }
  if (ready && data != nullptr) {
    options.data.data = model->data = Copy(env, data, &options.data.size);
    ready = model->data != nullptr;
  }
  if (ready && mapped != nullptr) {
    options.data = {Direct(env, mapped, at, size), static_cast<size_t>(size)};
    ready = options.data.data != nullptr;
  }
  if (ready) Open(env, model, options);
  free(texts.name);
  free(texts.model_path);
  free(texts.data_path);
  if (!env->ExceptionCheck()) return static_cast<jlong>(reinterpret_cast<intptr_t>(model));
  Destroy(model);
  return 0;
}

void Close(JNIEnv*, jclass, jlong handle) { Destroy(ModelOf(handle)); }

// `power`: LATHE_POWER_*.
void BindThreads(JNIEnv* env, jclass, jlong handle, jint power) {
  lathe_cpu_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.power = static_cast<uint32_t>(power);
  lathe_error error;
  Done(env, Api().engine_bind(ModelOf(handle)->engine, &options, &error), error);
}

jbyteArray Embedded(JNIEnv* env, jclass, jint index) {
  if (index < 0 || static_cast<size_t>(index) >= Api().model_count()) return nullptr;
  return Bytes(env, Api().model_at(static_cast<size_t>(index))->name);
}

jint CountOf(JNIEnv*, jclass, jlong handle, jboolean output) {
  return static_cast<jint>(Count(ModelOf(handle), output != 0));
}

// Type, bytes, and three times as many sizes as the tensor has dimensions: current, least, largest.
jlongArray Describe(JNIEnv* env, jclass, jlong handle, jboolean output, jint index) {
  lathe_tensor_info info;
  if (!Info(env, ModelOf(handle), output != 0, static_cast<size_t>(index), &info)) return nullptr;
  jlong numbers[2 + 3 * LATHE_MAX_RANK] = {static_cast<jlong>(info.dtype), static_cast<jlong>(info.bytes)};
  jlong* next = numbers + 2;
  const int64_t* const all[] = {info.dims, info.dims_min, info.dims_max};
  for (const int64_t* sizes : all) {
    for (uint32_t axis = 0; axis < info.rank; ++axis) *next++ = sizes[axis];
  }
  const auto count = static_cast<jsize>(next - numbers);
  jlongArray result = env->NewLongArray(count);
  if (result != nullptr) env->SetLongArrayRegion(result, 0, count, numbers);
  return result;
}

jbyteArray Name(JNIEnv* env, jclass, jlong handle, jboolean output, jint index) {
  lathe_tensor_info info;
  const bool found = Info(env, ModelOf(handle), output != 0, static_cast<size_t>(index), &info);
  return found ? Bytes(env, info.name) : nullptr;
}

jbyteArray Format(JNIEnv* env, jclass, jlong handle, jboolean output, jint index) {
  lathe_tensor_info info;
  const bool found = Info(env, ModelOf(handle), output != 0, static_cast<size_t>(index), &info);
  return found ? Bytes(env, info.format) : nullptr;
}

// --- Native.resize -------------------------------------------------------------------------------------------------

// Whether as many things came as the model has inputs or outputs.
bool CountFits(JNIEnv* env, const Model* model, jobjectArray things, bool output, const char* what) {
  const auto given = static_cast<size_t>(env->GetArrayLength(things));
  const size_t wanted = Count(model, output);
  if (given == wanted) return true;
  Refuse(env, "%zu %s are given; the model has %zu %s", given, what, wanted, output ? "output(s)" : "input(s)");
  return false;
}

bool Shape(JNIEnv* env, jobjectArray shapes, jsize index, lathe_shape* to) {
  auto sizes = static_cast<jlongArray>(env->GetObjectArrayElement(shapes, index));
  if (env->ExceptionCheck()) return false;
  const jsize rank = sizes == nullptr ? 0 : env->GetArrayLength(sizes);
  if (sizes == nullptr || rank > LATHE_MAX_RANK) {
    Refuse(env, sizes == nullptr ? "shape %d is null" : "shape %d has too many dimensions", index);
    return false;
  }
  jlong dims[LATHE_MAX_RANK];
  env->GetLongArrayRegion(sizes, 0, rank, dims);
  env->DeleteLocalRef(sizes);
  to->rank = static_cast<uint32_t>(rank);
  for (jsize axis = 0; axis < rank; ++axis) to->dims[axis] = dims[axis];
  return !env->ExceptionCheck();
}

void Resize(JNIEnv* env, jclass, jlong handle, jobjectArray shapes) {
  const Model* model = ModelOf(handle);
  if (!CountFits(env, model, shapes, false, "shapes")) return;
  const jsize count = env->GetArrayLength(shapes);
  auto* all = static_cast<lathe_shape*>(Allocate(env, (static_cast<size_t>(count) + 1) * sizeof(lathe_shape)));
  if (all == nullptr) return;
  bool ready = true;
  for (jsize index = 0; ready && index < count; ++index) ready = Shape(env, shapes, index, all + index);
  lathe_error error;
  if (ready) Done(env, Api().resize(model->session, static_cast<size_t>(count), all, &error), error);
  free(all);
}

// --- Native.runFloats, Native.runBuffers ---------------------------------------------------------------------------

bool AreFloats(JNIEnv* env, const lathe_tensor_info& info) {
  if (info.dtype == LATHE_F32) return true;
  Refuse(env, "'%s' does not hold floats: use buffers", info.name);
  return false;
}

// The session's own memory of an input.
bool InputMemory(JNIEnv* env, const Model* model, size_t index, void** data, size_t* bytes) {
  lathe_error error;
  return Done(env, Api().input_data(model->session, index, data, bytes, &error), error);
}

bool OutputMemory(JNIEnv* env, const Model* model, size_t index, const void** data, size_t* bytes) {
  lathe_error error;
  return Done(env, Api().output_data(model->session, index, data, bytes, &error), error);
}

bool Run(JNIEnv* env, const Model* model) {
  lathe_error error;
  return Done(env, Api().run(model->session, &error), error);
}

bool FloatsIn(JNIEnv* env, const Model* model, size_t index, jfloatArray floats) {
  lathe_tensor_info info;
  void* data = nullptr;
  size_t bytes = 0;
  if (!Info(env, model, false, index, &info) || !AreFloats(env, info)) return false;
  if (!InputMemory(env, model, index, &data, &bytes)) return false;
  if (floats == nullptr) {
    Refuse(env, "the array for input '%s' is null", info.name);
    return false;
  }
  const jsize length = env->GetArrayLength(floats);
  if (static_cast<size_t>(length) != bytes / kFloat) {
    Refuse(env, "input '%s' takes %zu floats, and %d are given", info.name, bytes / kFloat, length);
    return false;
  }
  env->GetFloatArrayRegion(floats, 0, length, static_cast<jfloat*>(data));
  return !env->ExceptionCheck();
}

// A new array with an output, or null and an exception.
jfloatArray FloatsOut(JNIEnv* env, const Model* model, size_t index) {
  const void* data = nullptr;
  size_t bytes = 0;
  if (!OutputMemory(env, model, index, &data, &bytes)) return nullptr;
  if (bytes / kFloat > INT_MAX) {
    Refuse(env, "output %zu has too many floats for an array of Java", index);
    return nullptr;
  }
  const auto length = static_cast<jsize>(bytes / kFloat);
  jfloatArray floats = env->NewFloatArray(length);
  if (floats == nullptr) return nullptr;
  env->SetFloatArrayRegion(floats, 0, length, static_cast<const jfloat*>(data));
  return env->ExceptionCheck() ? nullptr : floats;
}

jobjectArray RunFloats(JNIEnv* env, jclass, jlong handle, jobjectArray inputs) {
  const Model* model = ModelOf(handle);
  if (!CountFits(env, model, inputs, false, "arrays")) return nullptr;
  const size_t outputs = Count(model, true);
  for (size_t index = 0; index < outputs; ++index) {
    lathe_tensor_info info;
    if (!Info(env, model, true, index, &info) || !AreFloats(env, info)) return nullptr;
  }
  for (size_t index = 0; index < Count(model, false); ++index) {
    jobject floats = env->GetObjectArrayElement(inputs, static_cast<jsize>(index));
    if (env->ExceptionCheck() || !FloatsIn(env, model, index, static_cast<jfloatArray>(floats))) return nullptr;
    env->DeleteLocalRef(floats);
  }
  if (!Run(env, model)) return nullptr;
  jclass type = env->FindClass("[F");
  if (type == nullptr) return nullptr;
  jobjectArray result = env->NewObjectArray(static_cast<jsize>(outputs), type, nullptr);
  for (size_t index = 0; result != nullptr && index < outputs; ++index) {
    jfloatArray floats = FloatsOut(env, model, index);
    if (floats == nullptr) return nullptr;
    env->SetObjectArrayElement(result, static_cast<jsize>(index), floats);
    if (env->ExceptionCheck()) return nullptr;
    env->DeleteLocalRef(floats);
  }
  return result;
}

// A buffer of an array, and the place in it that the numbers of the Java side tell.
uint8_t* Place(JNIEnv* env, jobjectArray buffers, jintArray places, size_t index, size_t* size) {
  jint place[2];
  env->GetIntArrayRegion(places, static_cast<jsize>(2 * index), 2, place);
  if (env->ExceptionCheck()) return nullptr;
  jobject buffer = env->GetObjectArrayElement(buffers, static_cast<jsize>(index));
  if (env->ExceptionCheck()) return nullptr;
  uint8_t* memory = Direct(env, buffer, place[0], place[1]);
  env->DeleteLocalRef(buffer);
  *size = static_cast<size_t>(place[1]);
  return memory;
}

bool BufferIn(JNIEnv* env, const Model* model, jobjectArray buffers, jintArray places, size_t index) {
  lathe_tensor_info info;
  void* data = nullptr;
  size_t bytes = 0, size = 0;
  if (!Info(env, model, false, index, &info) || !InputMemory(env, model, index, &data, &bytes)) return false;
  const uint8_t* memory = Place(env, buffers, places, index, &size);
  if (memory == nullptr) return false;
  if (size != bytes) {
    Refuse(env, "input '%s' takes %zu bytes, and %zu are given", info.name, bytes, size);
    return false;
  }
  memcpy(data, memory, bytes);
  return true;
}

// Whether an output fits into its buffer; without `copied` nothing is written yet.
bool BufferOut(JNIEnv* env, const Model* model, jobjectArray buffers, jintArray places, size_t index, jint* copied) {
  lathe_tensor_info info;
  const void* data = nullptr;
  size_t bytes = 0, size = 0;
  if (!Info(env, model, true, index, &info) || !OutputMemory(env, model, index, &data, &bytes)) return false;
  uint8_t* memory = Place(env, buffers, places, index, &size);
  if (memory == nullptr) return false;
  if (size < bytes) {
    Refuse(env, "output '%s' has %zu bytes, and the buffer has room for %zu", info.name, bytes, size);
    return false;
  }
  if (copied == nullptr) return true;
  memcpy(memory, data, bytes);
  *copied = static_cast<jint>(bytes);
  return true;
}

// How many bytes each output has become. `places`: two numbers per buffer, where it begins and how many bytes it has.
jintArray RunBuffers(JNIEnv* env, jclass, jlong handle, jobjectArray inputs, jintArray input_places,
                     jobjectArray outputs, jintArray output_places) {
  const Model* model = ModelOf(handle);
  if (!CountFits(env, model, inputs, false, "buffers") || !CountFits(env, model, outputs, true, "buffers"))
    return nullptr;
  for (size_t index = 0; index < Count(model, false); ++index) {
    if (!BufferIn(env, model, inputs, input_places, index)) return nullptr;
  }
  if (!Run(env, model)) return nullptr;
  const size_t count = Count(model, true);
  for (size_t index = 0; index < count; ++index) {
    if (!BufferOut(env, model, outputs, output_places, index, nullptr)) return nullptr;
  }
  jintArray sizes = env->NewIntArray(static_cast<jsize>(count));
  for (size_t index = 0; sizes != nullptr && index < count; ++index) {
    jint size = 0;
    if (!BufferOut(env, model, outputs, output_places, index, &size)) return nullptr;
    env->SetIntArrayRegion(sizes, static_cast<jsize>(index), 1, &size);
    if (env->ExceptionCheck()) return nullptr;
  }
  return sizes;
}

// The headers of Java and of Android disagree about whether names are constant.
template <typename Function>
JNINativeMethod Method(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM* vm, void*) {
  void* found = nullptr;
  if (vm->GetEnv(&found, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  auto* env = static_cast<JNIEnv*>(found);
  if (Api().abi_version != LATHE_ABI_VERSION || Api().struct_size < sizeof(lathe_api)) return JNI_ERR;
  jclass type = env->FindClass(LATHE_JAVA_PACKAGE "/Native");
  if (type == nullptr) return JNI_ERR;
  const JNINativeMethod methods[] = {
      Method("create", "([B[B[B[B[BLjava/nio/ByteBuffer;III)J", &Create),
      Method("close", "(J)V", &Close),
      Method("bind", "(JI)V", &BindThreads),
      Method("embedded", "(I)[B", &Embedded),
      Method("count", "(JZ)I", &CountOf),
      Method("describe", "(JZI)[J", &Describe),
      Method("name", "(JZI)[B", &Name),
      Method("format", "(JZI)[B", &Format),
      Method("resize", "(J[[J)V", &Resize),
      Method("runFloats", "(J[[F)[[F", &RunFloats),
      Method("runBuffers", "(J[Ljava/nio/ByteBuffer;[I[Ljava/nio/ByteBuffer;[I)[I", &RunBuffers),
  };
  const jint count = sizeof(methods) / sizeof(methods[0]);
  return env->RegisterNatives(type, methods, count) == JNI_OK ? JNI_VERSION_1_6 : JNI_ERR;
}

#include "native/runtime/engine.h"

#include <string.h>

#include "native/runtime/half.h"

namespace lathe {

namespace {

bool IsGiven(lathe_bytes bytes) { return bytes.data != nullptr; }

}  // namespace

Code Engine::Create(const lathe_engine_options& options, const ErrorSink& errors, Engine** engine) {
  *engine = nullptr;
  const lathe_allocator allocator = options.allocator != nullptr ? *options.allocator : DefaultAllocator();
  if (allocator.alloc == nullptr || allocator.free == nullptr)
    return errors.Fail(Code::kInvalidArgument, "the allocator lacks a function");
  void* memory = AllocateFrom(allocator, sizeof(Engine));
  if (memory == nullptr) return errors.OutOfMemory("the engine", sizeof(Engine));
  Engine* made = new (Place(), memory) Engine(allocator, errors);
  const Code code = made->Load(options);
  if (code == Code::kOk) {
    *engine = made;
  } else {
    Release(made);
  }
  return code;
}

void Engine::Release(Engine* engine) {
  if (__atomic_sub_fetch(&engine->holders_, 1, __ATOMIC_SEQ_CST) != 0) return;
  const lathe_allocator allocator = engine->allocator_;
  engine->~Engine();
  allocator.free(allocator.user, engine);
}

Engine::~Engine() {
  if (device_ != nullptr) device_->End();
  ThreadPool::Release(pool_);
}

Code Engine::Load(const lathe_engine_options& options) {
  lathe_bytes model = {nullptr, 0}, data = {nullptr, 0};
  LATHE_TRY(FindModel(options, &model, &data));
  const PbBytes bytes(static_cast<const uint8_t*>(model.data), model.size);
  LATHE_TRY(ReadModel(bytes, &memory_, errors_, &model_));
  if (!IsGiven(data)) data = {model_.weights.data(), model_.weights.size()};
  LATHE_TRY(FindIsas(options));
  data_ = data;
  LATHE_TRY(MakeTensors());
  LATHE_TRY(FindThreads(options));
  return PrepareNodes();
}

Code Engine::FindThreads(const lathe_engine_options& options) {
  lathe_cpu_options cpu = {};
  if (options.cpu != nullptr) {
    const size_t known = sizeof(cpu), given = options.cpu->struct_size;
    memcpy(&cpu, options.cpu, given < known ? given : known);
  }
  const bool bound = cpu.power != LATHE_POWER_NO_BIND || cpu.core_count != 0;
  const CoreBinding* binding = GetRegistry().core_binding;
  if (bound && binding == nullptr) return NoBinding(errors_);
  if (options.pool != nullptr) {
    pool_ = reinterpret_cast<ThreadPool*>(options.pool);  // no handle any more: see EngineCreate
    pool_->Hold();
    return bound ? binding->bind(pool_, cpu, errors_) : Code::kOk;
  }
  return bound ? binding->create(cpu, options.num_threads, allocator_, errors_, &pool_)
               : ThreadPool::Create(options.num_threads, allocator_, errors_, &pool_);
}

Code Engine::NoBinding(const ErrorSink& errors) {
  return errors.Fail(Code::kUnsupported, "library '%s' cannot bind threads to cores: build it with core_binding: 1",
                     GetRegistry().library);
}

Code Engine::FindIsas(const lathe_engine_options& options) {
  isas_ = CpuIsas();
  if (options.device != nullptr) {
    const size_t known = sizeof(device_options_), given = options.device->struct_size;
    memcpy(&device_options_, options.device, given < known ? given : known);
    if (device_options_.kind == LATHE_DEVICE_CPU) isas_ &= ~kDeviceIsa;
  }
  const char* limit = options.isa_limit;
  if (limit == nullptr) return Code::kOk;
  const IsaMask bit = IsaBit(limit);
  if (bit == 0)
    return errors_.Fail(Code::kInvalidArgument, "isa_limit: '%.40s' is no instruction set of this architecture", limit);
  // `opencl` leaves nothing out; what limits the processor leaves out devices.
  if (bit != kDeviceIsa) isas_ &= ~(bit - 1) & ~kDeviceIsa;
  return Code::kOk;
}

Code Engine::FindModel(const lathe_engine_options& options, lathe_bytes* model, lathe_bytes* data) {
  if (IsGiven(options.model)) {
    *model = options.model;
  } else if (options.model_path != nullptr) {
    LATHE_TRY(model_file_.Open(options.model_path, errors_));
    *model = model_file_.bytes();
  } else {
    const lathe_embedded_model* embedded = nullptr;
    LATHE_TRY(FindEmbedded(options.model_name, &embedded));
    *model = embedded->model;
    *data = embedded->data;
  }
  if (IsGiven(options.data)) {
    *data = options.data;
  } else if (options.data_path != nullptr) {
    LATHE_TRY(data_file_.Open(options.data_path, errors_));
    *data = data_file_.bytes();
  }
  return Code::kOk;
}

Code Engine::FindEmbedded(const char* name, const lathe_embedded_model** found) {
  const Registry& registry = GetRegistry();
  for (const lathe_embedded_model& model : registry.models) {
    if (name == nullptr ? registry.models.size() == 1 : strcmp(model.name, name) == 0) {
      *found = &model;
      return Code::kOk;
    }
  }
  if (name == nullptr)
    return errors_.Fail(Code::kInvalidArgument,
                        "library '%s' holds %zu models: give a model file or the name of a model", registry.library,
                        registry.models.size());
  return errors_.Fail(Code::kInvalidArgument, "library '%s' holds no model '%s'", registry.library, name);
}

Code Engine::MakeTensors() {
  if (model_.data_size != data_.size)
    return errors_.BadModel("'%s' belongs to a data file of %llu bytes, %s %llu bytes", model_.name,
                            static_cast<unsigned long long>(model_.data_size),
                            data_.size == 0 ? "no data was given:" : "this one has",
                            static_cast<unsigned long long>(data_.size));
  if (!memory_.NewArray(model_.symbols.size(), &start_symbols_) || !memory_.NewArray(model_.values.size(), &tensors_))
    return errors_.OutOfMemory("the model", model_.values.size() * sizeof(Tensor));
  for (size_t i = 0; i < start_symbols_.size(); ++i) {
    const DimSymbol& symbol = model_.symbols[i];
    start_symbols_[i] = symbol.high != kUnbounded ? symbol.high : symbol.low > 0 ? symbol.low : 1;
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Value& value = model_.values[i];
    tensors_[i].dtype = value.dtype;
    tensors_[i].constant = value.constant;
    tensors_[i].packing = value.packing;
    tensors_[i].quant = value.quant;
    for (const DimSpec& dim : value.dims) dynamic_ = dynamic_ || dim.expr >= 0;
    if (!EvaluateShape(model_, value.dims, value.dtype, start_symbols_, &tensors_[i].shape))
      return errors_.BadModel("value '%s' has a dimension that is negative or too large", value.name);
    // What comes packed waits for its kernel, which may want it as it is stored.
    const bool waits = value.packing != Packing::kNone && GetRegistry().load_packed != nullptr;
    if (value.constant && !waits) LATHE_TRY(LoadConstant(value, &tensors_[i]));
  }
  return Code::kOk;
}

// The reader has checked that the constant lies inside of the data.
Code Engine::LoadConstant(const Value& value, Tensor* tensor) {
  const size_t count = static_cast<size_t>(tensor->shape.Count());
  const size_t size = count * SizeOf(value.storage);
  auto* stored = static_cast<const uint8_t*>(data_.data) + value.offset;
  if (value.storage == value.dtype && value.scaled.empty() && IsAligned(stored) && size > 0) {
    weights_mapped_ += size;
    tensor->data = const_cast<uint8_t*>(stored);  // nobody writes to constants
    return Code::kOk;
  }
  tensor->data = AllocateWeights(count * SizeOf(value.dtype));
  if (tensor->data == nullptr) return errors_.OutOfMemory(value.name, count * SizeOf(value.dtype));
  if (!value.scaled.empty()) {
    const auto expand = GetRegistry().expand_scaled;
    if (expand == nullptr)
      return errors_.Fail(Code::kUnsupported, "constant '%s' has integers with scales, which '%s' cannot read",
                          value.name, GetRegistry().library);
    return expand(value, data_, errors_, Span<float>(tensor->As<float>(), count), nullptr);
  }
  if (value.storage == value.dtype) {
    if (size > 0) memcpy(tensor->data, stored, size);
    return Code::kOk;
  }
  float* expanded = tensor->As<float>();
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    memcpy(&half, stored + 2 * i, sizeof(half));
    expanded[i] = value.storage == DType::kF16 ? FloatFromF16(half) : FloatFromBf16(half);
  }
  return Code::kOk;
}

void* Engine::AllocateWeights(size_t bytes) {
  void* memory = memory_.Allocate(bytes);
  if (memory != nullptr) weights_allocated_ += bytes;
  return memory;
}

}  // namespace lathe

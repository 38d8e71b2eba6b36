// The Python module buildtool._runtime: any tailored library, loaded by path, with NumPy arrays. It holds no kernels
// and is thin on purpose; buildtool/runtime.py is what users see.
#include <dlfcn.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lathe/c_api.h"

namespace py = pybind11;

namespace {

// What a library refuses; becomes buildtool._runtime.NativeError with the message and the code.
class NativeError : public std::runtime_error {
 public:
  NativeError(lathe_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  lathe_code code() const { return code_; }

 private:
  lathe_code code_;
};

template <typename Function>
void Check(Function function) {
  lathe_error error = {};
  const lathe_code code = function(&error);
  if (code != LATHE_OK) throw NativeError(code, error.message);
}

// Names come from files, which may hold anything.
py::str Text(const char* text) { return py::str(PyUnicode_DecodeUTF8(text, std::strlen(text), "replace")); }

// NumPy's type for an element type; bf16 arrives as its bits.
py::dtype TypeOf(lathe_dtype dtype) {
  static const char* const kTypes[] = {"", "f4", "f2", "u2", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"};
  if (dtype < 1 || dtype >= sizeof(kTypes) / sizeof(kTypes[0]))
    throw NativeError(LATHE_INTERNAL, "the library uses an element type that this module does not know");
  return py::dtype(kTypes[dtype]);
}

lathe_tensor_info NewInfo() {
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  return info;
}

py::dict Describe(const lathe_tensor_info& info) {
  const auto dims = [&](const int64_t* sizes) {
    return py::tuple(py::cast(std::vector<int64_t>(sizes, sizes + info.rank)));
  };
  py::dict result;
  result["name"] = Text(info.name);
  result["dtype"] = info.dtype;
  result["format"] = Text(info.format);
  result["shape"] = dims(info.dims);
  result["min_shape"] = dims(info.dims_min);
  result["max_shape"] = dims(info.dims_max);
  return result;
}

// The copy outlives the session.
py::array Copy(const lathe_tensor_info& info, const void* data) {
  std::vector<py::ssize_t> shape(info.dims, info.dims + info.rank);
  py::array array(TypeOf(info.dtype), shape);
  if (static_cast<size_t>(array.nbytes()) != info.bytes)
    throw NativeError(LATHE_INTERNAL, "a tensor's bytes do not fit its shape");
  if (info.bytes != 0) std::memcpy(array.mutable_data(), data, info.bytes);
  return array;
}

class Library {
 public:
  Library(const std::string& path, const std::string& symbol) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* said = dlerror();
      throw NativeError(LATHE_IO, said != nullptr ? said : "it cannot be loaded");
    }
    handle_ = std::shared_ptr<void>(handle, dlclose);
    void* function = dlsym(handle, symbol.c_str());
    if (function == nullptr) throw NativeError(LATHE_IO, "it has no function '" + symbol + "'");
    using GetApi = const lathe_api* (*)();
    api_ = reinterpret_cast<GetApi>(function)();
    if (api_ == nullptr) throw NativeError(LATHE_IO, "'" + symbol + "' gives no interface");
    if (api_->abi_version != LATHE_ABI_VERSION || api_->struct_size < offsetof(lathe_api, node_at))
      throw NativeError(LATHE_UNSUPPORTED, "it was built by another version of Lathe: build it again");
  }

  const lathe_api* api() const { return api_; }
  py::str name() const { return Text(api_->library); }
  py::str version() const { return Text(api_->version); }

  py::list kernels() const {
    py::list names;
    for (size_t i = 0; i < api_->kernel_count(); ++i) names.append(Text(api_->kernel_name(i)));
    return names;
  }

  py::list models() const {
    py::list names;
    for (size_t i = 0; i < api_->model_count(); ++i) names.append(Text(api_->model_at(i)->name));
    return names;
  }

 private:
  std::shared_ptr<void> handle_;
  const lathe_api* api_ = nullptr;
};

// What lathe_device_options holds, with owners for its texts. `given` has some of these names.
class DeviceOptions {
 public:
  explicit DeviceOptions(const py::dict& given)
      : storage_(Word(given, "storage_path")), tuning_path_(Word(given, "tuning_path")) {
    if (given.contains("binary_paths")) paths_ = given["binary_paths"].cast<std::vector<std::string>>();
    for (const std::string& path : paths_) pointers_.push_back(path.c_str());
    options_.struct_size = sizeof(options_);
    const auto number = [&](const char* name) { return given.contains(name) ? given[name].cast<uint32_t>() : 0u; };
    options_.kind = number("kind");
    options_.flags = number("flags");
    options_.perf_hint = number("perf_hint");
    options_.priority_hint = number("priority_hint");
    options_.rebuilds_programs = number("rebuilds_programs");
    options_.tuning_milliseconds = number("tuning_milliseconds");
    options_.queue_window = number("queue_window");
    options_.kernel_microseconds = number("kernel_microseconds");
    options_.storage_path = storage_ ? storage_->c_str() : nullptr;
    options_.tuning_path = tuning_path_ ? tuning_path_->c_str() : nullptr;
    options_.binary_path_count = pointers_.size();
    options_.binary_paths = pointers_.data();
    binary_ = Bytes(given, "binary");
    tuning_ = Bytes(given, "tuning");
    options_.binary = {binary_.data(), binary_.size()};
    options_.tuning = {tuning_.data(), tuning_.size()};
    if (binary_.empty()) options_.binary = {};
    if (tuning_.empty()) options_.tuning = {};
  }
  const lathe_device_options* get() const { return &options_; }

 private:
  static std::optional<std::string> Word(const py::dict& given, const char* name) {
    if (!given.contains(name)) return std::nullopt;
    return given[name].cast<std::string>();
  }
  static std::string Bytes(const py::dict& given, const char* name) {
    return given.contains(name) ? given[name].cast<std::string>() : std::string();
  }

  lathe_device_options options_ = {};
  std::optional<std::string> storage_, tuning_path_;
  std::vector<std::string> paths_;
  std::vector<const char*> pointers_;
  std::string binary_, tuning_;
};

class Engine {
 public:
  Engine(std::shared_ptr<Library> library, const std::optional<std::string>& model_path,
         const std::optional<std::string>& data_path, py::object model, py::object data,
         const std::optional<std::string>& model_name, int threads, const py::dict& device,
         const std::optional<std::string>& isa_limit)
      : device_(device), library_(std::move(library)), model_(std::move(model)), data_(std::move(data)) {
    const auto text = [](const std::optional<std::string>& string) { return string ? string->c_str() : nullptr; };
    const auto bytes = [](const py::object& object) -> lathe_bytes {
      if (object.is_none()) return {nullptr, 0};
      char* start = nullptr;
      py::ssize_t size = 0;
      if (PyBytes_AsStringAndSize(object.ptr(), &start, &size) != 0) throw py::error_already_set();
      return {start, static_cast<size_t>(size)};
    };
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = threads;
    options.model_name = text(model_name);
    options.model_path = text(model_path);
    options.data_path = text(data_path);
    options.model = bytes(model_);
    options.data = bytes(data_);
    options.isa_limit = text(isa_limit);
    options.device = device_.get();
    Check([&](lathe_error* error) {
      const py::gil_scoped_release release;
      return api()->engine_create(&options, &engine_, error);
    });
  }
  ~Engine() { api()->engine_destroy(engine_); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const lathe_api* api() const { return library_->api(); }
  lathe_engine* get() const { return engine_; }

  // Libraries from before there were devices know nothing of them.
  py::dict device_info() const {
    lathe_device_info info = {};
    info.struct_size = sizeof(info);
    if (api()->struct_size > offsetof(lathe_api, device_info))
      Check([&](lathe_error* error) { return api()->device_info(engine_, &info, error); });
    const auto text = [](const char* word) { return word != nullptr ? py::object(Text(word)) : py::none(); };
    py::dict result;
    result["on_device"] = info.kind != LATHE_DEVICE_CPU;
    result["device"] = text(info.device);
    result["driver"] = text(info.driver);
    result["reason"] = text(info.reason);
    result["programs_built"] = info.programs_built;
    result["programs_loaded"] = info.programs_loaded;
    result["programs_ms"] = info.programs_ms;
    result["memory"] = info.memory;
    return result;
  }

  py::bytes device_data(uint32_t what) const {
    lathe_bytes data = {};
    if (api()->struct_size > offsetof(lathe_api, device_data))
      Check([&](lathe_error* error) { return api()->device_data(engine_, what, &data, error); });
    return py::bytes(static_cast<const char*>(data.data), data.size);
  }

 private:
  DeviceOptions device_;
  std::shared_ptr<Library> library_;
  py::object model_, data_;  // bytes that the engine reads in place
  lathe_engine* engine_ = nullptr;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Engine> engine, bool keep_all) : engine_(std::move(engine)) {
    const lathe_session_options options = {sizeof(options), keep_all ? uint32_t{LATHE_SESSION_KEEP_ALL} : 0u};
    Check([&](lathe_error* error) { return api()->session_create(engine_->get(), &options, &session_, error); });
  }
  ~Session() { api()->session_destroy(session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  py::list inputs() { return List(api()->input_info, api()->input_count(engine_->get())); }
  py::list outputs() { return List(api()->output_info, api()->output_count(engine_->get())); }

  // One call from inputs to outputs, so that threads that share a session never see each other's numbers. `arrays` have
  // the types of the inputs: the Python side sees to it, and says what is wrong in its words. Views, instead of copies,
  // show the session's own memory, which the next run writes; while one lives the session keeps its shapes.
  py::list run(const std::vector<py::array>& arrays, bool views) {
    std::vector<Feed> feeds;
    for (const py::array& array : arrays) feeds.push_back(FeedOf(array));
    std::vector<Result> results;
    {
      const py::gil_scoped_release release;  // before the lock: whoever holds it may want to continue in Python
      const std::lock_guard<std::mutex> lock(mutex_);
      Fit(feeds);
      for (size_t i = 0; i < feeds.size(); ++i) Write(i, feeds[i]);
      Check([&](lathe_error* error) { return api()->run(session_, error); });
      const size_t count = api()->output_count(engine_->get());
      for (size_t i = 0; i < count; ++i) results.push_back(Read(i, views));
    }
    py::list outputs;
    for (Result& result : results) outputs.append(ArrayOf(std::move(result), views));
    return outputs;
  }

  void resize(const std::vector<std::vector<int64_t>>& shapes) {
    std::vector<lathe_shape> plain(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].size() > LATHE_MAX_RANK)
        throw NativeError(LATHE_INVALID_ARGUMENT, "a shape has too many dimensions");
      plain[i].rank = static_cast<uint32_t>(shapes[i].size());
      for (size_t axis = 0; axis < shapes[i].size(); ++axis) plain[i].dims[axis] = shapes[i][axis];
    }
    const py::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(mutex_);
    Resize(plain);
  }

  // The description and the contents of a value.
  py::tuple value(const std::string& name) {
    const std::unique_lock<std::mutex> lock = Locked();
    lathe_tensor_info info = NewInfo();
    const void* data = nullptr;
    Check([&](lathe_error* error) { return api()->value(session_, name.c_str(), &info, &data, error); });
    return py::make_tuple(Describe(info), Copy(info, data));
  }

  // Names of all values that can be read.
  py::list value_names() {
    const std::unique_lock<std::mutex> lock = Locked();
    py::list names;
    for (size_t i = 0; i < api()->value_count(engine_->get()); ++i) {
      lathe_tensor_info info = NewInfo();
      const void* data = nullptr;
      Check([&](lathe_error* error) { return api()->value_at(session_, i, &info, &data, error); });
      if (data != nullptr) names.append(Text(info.name));
    }
    return names;
  }

  // Runs once and gives (name, operator, kernel, nanoseconds) of each node.
  py::list profile() {
    std::vector<lathe_node_event> events;
    Run(&events);
    py::list result;
    for (const lathe_node_event& event : events)
      result.append(
          py::make_tuple(Text(event.name), Text(event.op), Text(event.kernel), event.end_ns - event.start_ns));
    return result;
  }

  py::dict memory_info() {
    lathe_memory_info info = {};
    info.struct_size = sizeof(info);
    api()->memory_info(session_, &info);
    py::dict result;
    result["weights_mapped"] = info.weights_mapped;
    result["weights_allocated"] = info.weights_allocated;
    result["arena"] = info.arena;
    result["scratch"] = info.scratch;
    return result;
  }

 private:
  using InfoFunction = lathe_code (*)(const lathe_session*, size_t, lathe_tensor_info*, lathe_error*);

  struct View {};

  // What an input gets.
  struct Feed {
    py::array array;  // keeps the data alive; not touched without the interpreter's lock
    const void* data;
    size_t bytes;
    lathe_shape shape;
  };

  // What an output gave: a copy, or the session's own memory.
  struct Result {
    lathe_tensor_info info;
    std::unique_ptr<char[]> copy;
    void* memory;
  };

  const lathe_api* api() const { return engine_->api(); }

  // Threads that wait for the session let others run Python: one that holds it may need the interpreter to go on.
  std::unique_lock<std::mutex> Locked() {
    const py::gil_scoped_release release;
    return std::unique_lock<std::mutex>(mutex_);
  }

  static Feed FeedOf(const py::array& array) {
    const py::array plain = py::array::ensure(array, py::array::c_style);
    if (!plain || plain.ndim() > LATHE_MAX_RANK)
      throw NativeError(LATHE_INVALID_ARGUMENT, "an array has too many dimensions");
    Feed feed = {plain, plain.data(), static_cast<size_t>(plain.nbytes()), {}};
    feed.shape.rank = static_cast<uint32_t>(plain.ndim());
    for (py::ssize_t axis = 0; axis < plain.ndim(); ++axis) feed.shape.dims[axis] = plain.shape(axis);
    return feed;
  }

  // Gives the inputs the shapes of what is fed, where they have others.
  void Fit(const std::vector<Feed>& feeds) {
    bool same = true;
    std::vector<lathe_shape> shapes;
    for (size_t i = 0; i < feeds.size(); ++i) {
      lathe_tensor_info info = NewInfo();
      Check([&](lathe_error* error) { return api()->input_info(session_, i, &info, error); });
      const lathe_shape& shape = feeds[i].shape;
      same = same && shape.rank == info.rank && std::equal(info.dims, info.dims + info.rank, shape.dims);
      shapes.push_back(shape);
    }
    if (!same) Resize(shapes);
  }

  void Resize(const std::vector<lathe_shape>& shapes) {
    if (views_.use_count() > 1)
      throw NativeError(LATHE_INVALID_ARGUMENT,
                        "outputs of this session that are views are still in use, and its shapes cannot change: "
                        "drop them, or run with copies");
    Check([&](lathe_error* error) { return api()->resize(session_, shapes.size(), shapes.data(), error); });
  }

  void Write(size_t index, const Feed& feed) {
    void* data = nullptr;
    size_t bytes = 0;
    Check([&](lathe_error* error) { return api()->input_data(session_, index, &data, &bytes, error); });
    if (feed.bytes != bytes) throw NativeError(LATHE_INVALID_ARGUMENT, "an array does not fit its input");
    if (bytes != 0) std::memcpy(data, feed.data, bytes);
  }

  Result Read(size_t index, bool views) {
    Result result = {NewInfo(), nullptr, nullptr};
    const void* data = nullptr;
    Check([&](lathe_error* error) { return api()->output_info(session_, index, &result.info, error); });
    Check([&](lathe_error* error) { return api()->output_data(session_, index, &data, nullptr, error); });
    result.memory = const_cast<void*>(data);
    if (views) return result;
    result.copy = std::make_unique<char[]>(result.info.bytes + 1);
    if (result.info.bytes != 0) std::memcpy(result.copy.get(), data, result.info.bytes);
    return result;
  }

  py::array ArrayOf(Result result, bool views) {
    const lathe_tensor_info& info = result.info;
    const std::vector<py::ssize_t> shape(info.dims, info.dims + info.rank);
    const py::dtype type = TypeOf(info.dtype);
    py::ssize_t bytes = type.itemsize();
    for (const py::ssize_t size : shape) bytes *= size;
    if (static_cast<size_t>(bytes) != info.bytes)
      throw NativeError(LATHE_INTERNAL, "a tensor's bytes do not fit its shape");
    if (!views) {
      char* const memory = result.copy.release();
      const py::capsule owner(memory, [](void* owned) { delete[] static_cast<char*>(owned); });
      return py::array(type, shape, memory, owner);
    }
    using Owner = std::pair<std::shared_ptr<Session>, std::shared_ptr<View>>;
    const py::capsule owner(new Owner(shared_from_this(), views_),
                            [](void* owned) { delete static_cast<Owner*>(owned); });
    py::array array(type, shape, result.memory, owner);
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
  }

  // Fills in `events` unless it is NULL.
  void Run(std::vector<lathe_node_event>* events) {
    const auto observer = [](void* user, const lathe_node_event* event) {
      static_cast<std::vector<lathe_node_event>*>(user)->push_back(*event);
    };
    lathe_error error = {};
    lathe_code code = LATHE_OK;
    {
      const py::gil_scoped_release release;
      const std::lock_guard<std::mutex> lock(mutex_);
      api()->set_observer(session_, events != nullptr ? +observer : nullptr, events);
      code = api()->run(session_, &error);
    }
    if (code != LATHE_OK) throw NativeError(code, error.message);
  }

  py::list List(InfoFunction get_info, size_t count) {
    const std::unique_lock<std::mutex> lock = Locked();
    py::list tensors;
    for (size_t i = 0; i < count; ++i) {
      lathe_tensor_info info = NewInfo();
      Check([&](lathe_error* error) { return get_info(session_, i, &info, error); });
      tensors.append(Describe(info));
    }
    return tensors;
  }

  std::shared_ptr<Engine> engine_;
  lathe_session* session_ = nullptr;
  std::shared_ptr<View> views_ = std::make_shared<View>();  // shared with each output that shows the session's memory
  std::mutex mutex_;                                        // a session belongs to one thread at a time
};

}  // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "Loads tailored libraries. Use buildtool.runtime.";
  static py::exception<NativeError> error(module, "NativeError");
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const NativeError& native) {
      const std::string text = native.what();
      py::object message = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
      PyErr_SetObject(error.ptr(), py::make_tuple(message, native.code()).ptr());
    }
  });
  py::class_<Library, std::shared_ptr<Library>>(module, "Library")
      .def(py::init<const std::string&, const std::string&>(), py::arg("path"), py::arg("symbol"))
      .def_property_readonly("name", &Library::name)
      .def_property_readonly("version", &Library::version)
      .def_property_readonly("kernels", &Library::kernels)
      .def_property_readonly("models", &Library::models);
  py::class_<Engine, std::shared_ptr<Engine>>(module, "Engine")
      .def(py::init<std::shared_ptr<Library>, const std::optional<std::string>&, const std::optional<std::string>&,
                    py::object, py::object, const std::optional<std::string>&, int, const py::dict&,
                    const std::optional<std::string>&>(),
           py::arg("library"), py::arg("model_path"), py::arg("data_path"), py::arg("model"), py::arg("data"),
           py::arg("model_name"), py::arg("threads"), py::arg("device"), py::arg("isa_limit"))
      .def("device_info", &Engine::device_info)
      .def("device_data", &Engine::device_data, py::arg("what"));
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def(py::init<std::shared_ptr<Engine>, bool>(), py::arg("engine"), py::arg("keep_all"))
      .def("inputs", &Session::inputs)
      .def("outputs", &Session::outputs)
      .def("resize", &Session::resize, py::arg("shapes"))
      .def("run", &Session::run, py::arg("arrays"), py::arg("views"))
      .def("value", &Session::value, py::arg("name"))
      .def("value_names", &Session::value_names)
      .def("profile", &Session::profile)
      .def("memory_info", &Session::memory_info);
}

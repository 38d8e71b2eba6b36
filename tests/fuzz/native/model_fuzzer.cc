// Any model file gives a status, and one that is taken can be run at its largest and its smallest sizes.
//
// An input is the length of `<model>.pb` in four bytes, the file, and then `<model>.data`; tests/fuzz/container_file.py
// writes them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "tests/fuzz/native/wire.h"

extern "C" const lathe_api* lathe_api_lathe_full(void);
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using lathe_fuzz::Field;

constexpr size_t kLargest = size_t{1} << 20;  // of one piece of memory: larger requests get none
constexpr size_t kMostToRun = size_t{1} << 16;
constexpr uint64_t kNumbers[] = {0,         1,         2,        3,          4,          5,          7,
                                 8,         15,        16,       17,         64,         127,        128,
                                 255,       1u << 16,  1u << 20, 0x7fffffff, 0x80000000, 0xffffffff, uint64_t{1} << 40,
                                 INT64_MAX, UINT64_MAX};

void* Allocate(void*, size_t size) {
  void* memory = nullptr;
  if (size > kLargest || posix_memalign(&memory, 64, size > 0 ? size : 1) != 0) return nullptr;
  memset(memory, 0x3f, size);
  return memory;
}

void Free(void*, void* memory) { free(memory); }

[[noreturn]] void Complain(const char* what, const lathe_error& error) {
  fprintf(stderr, "%s: %s\n", what, error.message);
  abort();
}

struct Files {
  std::string model, data;
};

Files Part(const std::string& joined) {
  uint32_t size = 0;
  if (joined.size() < sizeof(size)) return {};
  memcpy(&size, joined.data(), sizeof(size));
  const size_t model = std::min<size_t>(size, joined.size() - sizeof(size));
  return {joined.substr(sizeof(size), model), joined.substr(sizeof(size) + model)};
}

std::string Join(const Files& files) {
  const uint32_t size = static_cast<uint32_t>(files.model.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + files.model + files.data;
}

void ReadOutputs(const lathe_api* api, const lathe_engine* engine, lathe_session* session) {
  lathe_error error = {};
  for (size_t i = 0; i < api->output_count(engine); ++i) {
    const void* bytes = nullptr;
    size_t size = 0;
    if (api->output_data(session, i, &bytes, &size, &error) != LATHE_OK) Complain("an output cannot be read", error);
    volatile uint8_t sum = 0;
    for (size_t j = 0; j < size; ++j) sum = static_cast<uint8_t>(sum + static_cast<const uint8_t*>(bytes)[j]);
  }
}

// Fills the inputs with bytes of the data, and runs what is cheap to run. A loop may go on as long as the model says.
void Run(const lathe_api* api, const Files& files, const lathe_engine* engine, lathe_session* session) {
  lathe_memory_info memory = {};
  memory.struct_size = sizeof(memory);
  api->memory_info(session, &memory);
  if (memory.arena + memory.scratch > kMostToRun || files.model.find("loop") != std::string::npos) return;
  lathe_error error = {};
  for (size_t i = 0; i < api->input_count(engine); ++i) {
    void* input = nullptr;
    size_t size = 0;
    if (api->input_data(session, i, &input, &size, &error) != LATHE_OK) Complain("an input has no memory", error);
    for (size_t j = 0; j < size; ++j)
      static_cast<char*>(input)[j] = files.data.empty() ? 1 : files.data[j % files.data.size()];
  }
  const lathe_code code = api->run(session, &error);
  if (code == LATHE_INTERNAL) Complain("a run failed with an internal error", error);
  if (code == LATHE_OK) ReadOutputs(api, engine, session);
}

// All inputs at their smallest.
bool Shrink(const lathe_api* api, const lathe_engine* engine, lathe_session* session) {
  std::vector<lathe_shape> shapes(api->input_count(engine));
  lathe_error error = {};
  for (size_t i = 0; i < shapes.size(); ++i) {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    if (api->input_info(session, i, &info, &error) != LATHE_OK) Complain("an input has no type", error);
    shapes[i].rank = info.rank;
    memcpy(shapes[i].dims, info.dims_min, sizeof(info.dims_min));
  }
  const lathe_code code = api->resize(session, shapes.size(), shapes.data(), &error);
  if (code != LATHE_OK && error.message[0] == 0) Complain("resize gives no reason", error);
  return code == LATHE_OK;
}

// --- changing models
// --------------------------------------------------------------------------------------------------
using Dice = std::mt19937;

size_t Roll(Dice* dice, size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(*dice); }

// The fields of a random message, deep ones more often than the outermost.
std::vector<Field>* Somewhere(std::vector<Field>* fields, Dice* dice) {
  std::vector<Field*> inner;
  for (Field& field : *fields)
    if (!field.message.empty()) inner.push_back(&field);
  if (inner.empty() || Roll(dice, 6) == 0) return fields;
  return Somewhere(&inner[Roll(dice, inner.size())]->message, dice);
}

void ChangeField(Field* field, Dice* dice) {
  if (field->wire != 2) {
    const size_t how = Roll(dice, 4);
    if (how == 0) field->scalar = kNumbers[Roll(dice, sizeof(kNumbers) / sizeof(kNumbers[0]))];
    if (how == 1) field->scalar += 1 - 2 * Roll(dice, 2);
    if (how == 2) field->scalar = Roll(dice, 20);
    if (how == 3) field->scalar ^= uint64_t{1} << Roll(dice, 64);
    return;
  }
  std::string bytes = field->message.empty() ? field->bytes : lathe_fuzz::Write(field->message);
  const size_t size = bytes.size();
  bytes.resize(size + 8);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(&bytes[0]), size, size + 8));
  field->bytes = bytes;
  field->message.clear();
}

void Change(std::vector<Field>* model, Dice* dice) {
  std::vector<Field>* fields = Somewhere(model, dice);
  if (fields->empty()) return;
  const size_t at = Roll(dice, fields->size());
  switch (Roll(dice, 8)) {
    case 0:
      fields->erase(fields->begin() + static_cast<ptrdiff_t>(at));
      return;
    case 1: {
      const Field copy = (*fields)[at];
      fields->insert(fields->begin() + static_cast<ptrdiff_t>(Roll(dice, fields->size() + 1)), copy);
      return;
    }
    case 2: {
      const std::vector<Field>* other = Somewhere(model, dice);
      if (other->empty()) return;
      const Field copy = (*other)[Roll(dice, other->size())];
      (*fields)[at] = copy;
      return;
    }
    default:
      ChangeField(&(*fields)[at], dice);
  }
}

// The size of the data file is put right, since no chance would find it.
void SetDataSize(std::vector<Field>* model, size_t size) {
  for (Field& field : *model)
    if (field.number == 4 && field.wire == 0) field.scalar = size;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const Files files = Part(std::string(reinterpret_cast<const char*>(bytes), size));
  const lathe_api* api = lathe_api_lathe_full();
  const lathe_allocator allocator = {Allocate, Free, nullptr};
  void* data = Allocate(nullptr, files.data.size());  // aligned, and as long as the file: what is read beyond is seen
  if (data == nullptr) return 0;
  memcpy(data, files.data.data(), files.data.size());
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.num_threads = 1;
  options.model = {files.model.data(), files.model.size()};
  options.data = {data, files.data.size()};
  options.allocator = &allocator;
  lathe_error error = {};
  lathe_engine* engine = nullptr;
  lathe_session* session = nullptr;
  lathe_code code = api->engine_create(&options, &engine, &error);
  if (code == LATHE_OK) code = api->session_create(engine, nullptr, &session, &error);
  if (code == LATHE_INTERNAL || (code != LATHE_OK && error.message[0] == 0)) Complain("no proper status", error);
  if (code == LATHE_OK) {
    Run(api, files, engine, session);
    if (Shrink(api, engine, session)) Run(api, files, engine, session);
  }
  if (session != nullptr) api->session_destroy(session);
  if (engine != nullptr) api->engine_destroy(engine);
  free(data);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t max_size, unsigned int seed) {
  Dice dice(seed);
  Files files = Part(std::string(reinterpret_cast<const char*>(bytes), size));
  std::vector<Field> model;
  if (Roll(&dice, 20) == 0 || !lathe_fuzz::Parse(files.model, &model)) return LLVMFuzzerMutate(bytes, size, max_size);
  for (size_t count = 1 + Roll(&dice, 3); count > 0; --count) Change(&model, &dice);
  if (Roll(&dice, 20) != 0) SetDataSize(&model, files.data.size());
  files.model = lathe_fuzz::Write(model);
  const std::string joined = Join(files);
  if (joined.size() > max_size) return size;
  memcpy(bytes, joined.data(), joined.size());
  return joined.size();
}

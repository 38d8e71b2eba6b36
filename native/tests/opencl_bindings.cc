// Runs a model of a library several times, with its inputs and outputs bound to memory that the command line names:
//
//   opencl_bindings <library> <function> <model> <data> <folder of programs> <inputs> <outputs> <run> ...
//
// `function` gives the library's table. `inputs` is a file with what goes into each run: all inputs, one after the
// other. The outputs of all runs are written to `outputs` in the same way. A run is a list of places, for the inputs
// and then for the outputs: "a+0,b+64,own" is the start of the piece of memory `a`, the 64th byte of `b`, and the
// session's own memory. Pieces are named from a to h and begin with a page.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lathe/engine.h"

namespace {

constexpr size_t kPage = 4096, kPieces = 8, kPieceSize = 16 * kPage;

[[noreturn]] void Refuse(const std::string& what) {
  fprintf(stderr, "%s\n", what.c_str());
  exit(1);
}

void Check(const lathe::Status& status) {
  if (!status.ok()) Refuse(status.message());
}

const lathe_api* TableOf(const char* library, const char* function) {
  void* loaded = dlopen(library, RTLD_NOW);
  if (loaded == nullptr) Refuse(dlerror());
  const auto table = reinterpret_cast<const lathe_api* (*)()>(dlsym(loaded, function));
  if (table == nullptr) Refuse(dlerror());
  return table();
}

// What sessions have themselves begins with a page, so that whether the device works there does not change from one
// process to the next.
void* Pages(void* /*user*/, size_t size) { return aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage); }
void Release(void* /*user*/, void* memory) { free(memory); }
constexpr lathe_allocator kAllocator = {Pages, Release, nullptr};

// Null: the session's own memory.
char* PlaceOf(const std::string& word, char* pieces) {
  if (word == "own") return nullptr;
  return pieces + static_cast<size_t>(word[0] - 'a') * kPieceSize + static_cast<size_t>(atol(word.c_str() + 2));
}

class Runs {
 public:
  Runs(lathe::Session session, const char* inputs, const char* outputs)
      : session_(std::move(session)), inputs_(inputs, std::ios::binary), outputs_(outputs, std::ios::binary) {
    if (posix_memalign(reinterpret_cast<void**>(&pieces_), kPage, kPieces * kPieceSize) != 0) abort();
  }
  ~Runs() { free(pieces_); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  void Run(const std::string& places) {
    std::istringstream words(places);
    std::vector<char*> bound;
    for (std::string word; std::getline(words, word, ',');) bound.push_back(PlaceOf(word, pieces_));
    if (bound.size() != session_.input_count() + session_.output_count()) Refuse(places + " has too few or many");
    memset(pieces_, 0xFF, kPieces * kPieceSize);
    for (size_t i = 0; i < session_.output_count(); ++i)
      Check(session_.BindOutput(i, bound[session_.input_count() + i], session_.Output(i)->byte_size()));
    for (size_t i = 0; i < session_.input_count(); ++i) {
      const lathe::Tensor own = *session_.Input(i);
      Check(session_.BindInput(i, bound[i], own.byte_size()));
      char* to = bound[i] != nullptr ? bound[i] : static_cast<char*>(own.bytes());
      if (!inputs_.read(to, static_cast<std::streamsize>(own.byte_size()))) Refuse("there is no input for " + places);
    }
    Check(session_.Run());
    for (size_t i = 0; i < session_.output_count(); ++i) {
      const char* made = bound[session_.input_count() + i];
      const lathe::Tensor own = *session_.Output(i);
      outputs_.write(made != nullptr ? made : static_cast<char*>(own.bytes()),
                     static_cast<std::streamsize>(own.byte_size()));
    }
  }

 private:
  lathe::Session session_;
  std::ifstream inputs_;
  std::ofstream outputs_;
  char* pieces_ = nullptr;
};

}  // namespace

int main(int count, char** words) {
  constexpr int kFirstRun = 8;
  if (count <= kFirstRun) Refuse("opencl_bindings <library> <function> <model> <data> <programs> <in> <out> <run> ...");
  lathe::EngineOptions options;
  options.threads = 1;
  options.allocator = &kAllocator;
  options.model_path = words[3];
  options.data_path = words[4];
  options.device.kind = lathe::DeviceKind::kGpu;
  options.device.storage_path = words[5];
  auto engine = lathe::Engine::Create(TableOf(words[1], words[2]), options);
  Check(engine.status());
  auto session = engine->CreateSession();
  Check(session.status());
  Runs runs(std::move(*session), words[6], words[7]);
  for (int i = kFirstRun; i < count; ++i) runs.Run(words[i]);
  return 0;
}

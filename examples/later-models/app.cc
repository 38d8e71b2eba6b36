// Downloads a model that was made after this program, verifies who made it, and runs it on a library with the kernels
// of all operators (lathe build --all-ops).
//
//   app PUBLIC_KEY URL      URL: of <model>.pb; <model>.data and the signatures (.sig) are beside it
//
// The bytes that were verified are the bytes that are used: nothing is written, and nothing is read twice. Downloads
// have a limit of size and time, and come over https; --insecure-http is there for tests on one machine.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "lathe/engine.h"
#include "lathe/general.h"
#include "lathe/verify.h"

namespace {

constexpr size_t kMostBytes = 64 << 20;
const char* protocol = "=https";

// What curl writes, without a shell between: a URL is one word, whatever is in it. False where it fails or is too
// large.
bool Download(const std::string& url, std::vector<uint8_t>* bytes) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execlp("curl", "curl", "--silent", "--show-error", "--fail", "--proto", protocol, "--max-time", "60", "--",
           url.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  uint8_t part[1 << 16];
  bool fits = child > 0;
  ssize_t size = 0;
  while (fits && (size = read(ends[0], part, sizeof(part))) > 0) {
    bytes->insert(bytes->end(), part, part + size);
    fits = bytes->size() <= kMostBytes;
  }
  close(ends[0]);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && fits && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A file with a signature of this key.
std::vector<uint8_t> Signed(const std::string& url, const uint8_t* key) {
  std::vector<uint8_t> bytes, signature;
  if (!Download(url, &bytes) || !Download(url + ".sig", &signature)) {
    std::fprintf(stderr, "%s: cannot be downloaded\n", url.c_str());
    std::exit(1);
  }
  if (signature.size() != LATHE_SIGNATURE_SIZE || !lathe_verify(bytes.data(), bytes.size(), signature.data(), key)) {
    std::fprintf(stderr, "%s: the signature does not fit, so it is not loaded\n", url.c_str());
    std::exit(1);
  }
  return bytes;
}

bool ReadKey(const char* hex, uint8_t* key) {
  for (int i = 0; i < LATHE_KEY_SIZE; ++i) {
    unsigned value = 0;
    if (std::sscanf(hex + 2 * i, "%2x", &value) != 1) return false;
    key[i] = static_cast<uint8_t>(value);
  }
  return hex[2 * LATHE_KEY_SIZE] == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--insecure-http") {
    protocol = "=http,https";
    --argc, ++argv;
  }
  uint8_t key[LATHE_KEY_SIZE];
  const std::string url = argc == 3 ? argv[2] : "";
  if (argc != 3 || std::string(argv[1]).size() != 2 * LATHE_KEY_SIZE || !ReadKey(argv[1], key) || url.size() < 4 ||
      url.substr(url.size() - 3) != ".pb") {
    std::fprintf(stderr, "app PUBLIC_KEY URL_OF_MODEL.pb\n");
    return 2;
  }
  const std::vector<uint8_t> model = Signed(url, key);
  const std::vector<uint8_t> data = Signed(url.substr(0, url.size() - 2) + "data", key);
  lathe::EngineOptions options;
  options.model = {model.data(), model.size()};
  options.data = {data.data(), data.size()};
  const auto engine = lathe::Engine::Create(lathe_api_general(), options);
  if (!engine.ok()) {
    std::fprintf(stderr, "%s: %s\n", url.c_str(), engine.status().message().c_str());
    return 1;
  }
  auto session = engine->CreateSession();
  const lathe::Status status = session.ok() ? session->Run() : session.status();  // inputs are zeros
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", url.c_str(), status.message().c_str());
    return 1;
  }
  for (size_t i = 0; i < session->output_count(); ++i) {
    const auto output = session->Output(i);
    if (!output.ok()) return 1;
    std::printf("%s:", output->name());
    const float* values = output->data<float>();
    for (size_t k = 0; values != nullptr && k < output->byte_size() / sizeof(float) && k < 10; ++k)
      std::printf(" %a", values[k]);
    std::printf("\n");
  }
  return 0;
}

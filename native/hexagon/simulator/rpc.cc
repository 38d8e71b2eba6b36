// A stand-in for libcdsprpc.so, by which applications reach Qualcomm's DSP: it runs programs for the DSP in
// qemu-hexagon.
//
//   LATHE_DSP_SIM         the program that is the emulated DSP (dsp/)
//   LATHE_DSP_SIM_QEMU    qemu-hexagon with its options, words separated by spaces
//   DSP_LIBRARY_PATH, ADSP_LIBRARY_PATH   folders of programs, separated by ';' or ':'
//   LATHE_DSP_SIM_FAULT   what is to fail: <point>[@<n>]=<kind>, separated by ','. Points: session, open, invoke,
//   close,
//                         alloc; the n-th time since the variable has its value, from 1, or always. Kinds: memory,
//                         restart, timeout, signature, failed
//   LATHE_DSP_SIM_THREADS how many threads a program may have at a time besides the one that calls it; at 0 it finds
//                         no functions for threads
//   LATHE_DSP_SIM_VECTORS how many threads of a program may hold the vectors at a time; others wait. At 0 all are
//   refused LATHE_DSP_SIM_LOG     a file that gets a line for each call, with the voltage corner and the latency that
//   the
//                         program has asked for, the threads that it has made, and the threads and blocks of memory
//                         that it holds; behind them, how many buffers are shared, and how many bytes of others are
//                         copied
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/hexagon/fastrpc.h"
#include "native/hexagon/simulator/wire.h"

extern char** environ;

namespace lathe {
namespace hexagon {

namespace {

constexpr size_t kMostWords = 32;
constexpr size_t kMostShared = 256;

// A program that runs in an emulator of its own.
struct Opened {
  pid_t process;
  int socket;
  bool down;  // it has ended, or was ended
  Handle inner;
  pthread_mutex_t lock;
  uint32_t shared_buffers;  // of the last call
  uint64_t copied_bytes;
};

const char* Environment(const char* name, const char* otherwise) {
  const char* value = getenv(name);
  return value != nullptr && *value != 0 ? value : otherwise;
}

uint32_t MostOf(const char* name) { return static_cast<uint32_t>(atoi(Environment(name, "64"))); }
uint32_t MostThreads() { return MostOf("LATHE_DSP_SIM_THREADS"); }
uint32_t MostVectors() { return MostOf("LATHE_DSP_SIM_VECTORS"); }

// `invoked`: of a call of the program.
void Log(const char* what, int answer, const AnswerHead& head, const Opened* invoked = nullptr) {
  const char* file = Environment("LATHE_DSP_SIM_LOG", nullptr);
  FILE* log = file != nullptr ? fopen(file, "a") : nullptr;
  if (log == nullptr) return;
  fprintf(log, "%s %d %x %u %u %u %u", what, answer, static_cast<unsigned>(head.corner),
          static_cast<unsigned>(head.latency), static_cast<unsigned>(head.made_threads),
          static_cast<unsigned>(head.live_threads), static_cast<unsigned>(head.live_blocks));
  if (invoked != nullptr)
    fprintf(log, " %u %llu", static_cast<unsigned>(invoked->shared_buffers),
            static_cast<unsigned long long>(invoked->copied_bytes));
  fprintf(log, "\n");
  fclose(log);
}

int AnswerOf(const char* kind, size_t length) {
  constexpr struct {
    const char* word;
    int answer;
  } kKinds[] = {{"memory", kNoMemory}, {"restart", kDspDown}, {"timeout", kExpired}, {"signature", kSignature}};
  for (const auto& one : kKinds) {
    if (strlen(one.word) == length && memcmp(one.word, kind, length) == 0) return one.answer;
  }
  return kFailed;
}

enum Point { kSession, kOpen, kInvoke, kClose, kAlloc, kPoints };
constexpr const char* kPointNames[kPoints] = {"session", "open", "invoke", "close", "alloc"};

pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
char fault_text[1024];  // for which the points were counted
int fault_counts[kPoints];

// How often a point has been passed since the variable has the value that it has.
int CountOf(Point point, const char* text) {
  pthread_mutex_lock(&fault_lock);
  if (strncmp(fault_text, text, sizeof fault_text - 1) != 0) {
    snprintf(fault_text, sizeof fault_text, "%s", text);
    memset(fault_counts, 0, sizeof fault_counts);
  }
  const int count = ++fault_counts[point];
  pthread_mutex_unlock(&fault_lock);
  return count;
}

// What LATHE_DSP_SIM_FAULT says of this point now; kOk where nothing is to fail.
int Fault(Point point) {
  const char* name = kPointNames[point];
  const char* at = Environment("LATHE_DSP_SIM_FAULT", "");
  const int now = CountOf(point, at);
  const size_t length = strlen(name);
  while (*at != 0) {
    const size_t whole = strcspn(at, ",");
    const char* kind = static_cast<const char*>(memchr(at, '=', whole));
    if (kind != nullptr && strncmp(at, name, length) == 0) {
      const char* behind = at + length;
      const bool chosen = *behind == '@' ? atoi(behind + 1) == now : behind == kind;
      if (chosen) return AnswerOf(kind + 1, static_cast<size_t>(at + whole - kind - 1));
    }
    at += whole + (at[whole] == ',' ? 1 : 0);
  }
  return kOk;
}

bool SendAll(int socket, const void* from, size_t count) {
  const char* bytes = static_cast<const char*>(from);
  while (count > 0) {
    const ssize_t put = send(socket, bytes, count, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    count -= static_cast<size_t>(put);
  }
  return true;
}

bool ReceiveAll(int socket, void* to, size_t count) {
  char* bytes = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = recv(socket, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

// The file of a program in the folders of one variable. False where none has it.
bool FindIn(const char* folders, const char* name, size_t length, char* path, size_t size) {
  for (const char* at = folders; *at != 0;) {
    const size_t whole = strcspn(at, ";:");
    const int written = snprintf(path, size, "%.*s/%.*s", static_cast<int>(whole), at, static_cast<int>(length), name);
    if (written > 0 && static_cast<size_t>(written) < size && access(path, R_OK) == 0) return true;
    at += whole + (at[whole] != 0 ? 1 : 0);
  }
  return false;
}

bool StartEmulator(Opened* opened) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  char command[4096];
  snprintf(command, sizeof command, "%s %s", Environment("LATHE_DSP_SIM_QEMU", "qemu-hexagon"),
           Environment("LATHE_DSP_SIM", "lathe_dsp"));
  char* words[kMostWords + 1] = {};
  size_t count = 0;
  char* rest = nullptr;
  for (char* word = strtok_r(command, " ", &rest); word != nullptr && count < kMostWords;
       word = strtok_r(nullptr, " ", &rest))
    words[count++] = word;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], kSocket);
  const int failure = posix_spawnp(&opened->process, words[0], &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  opened->socket = sockets[0];
  if (failure == 0) return true;
  fprintf(stderr, "dsp: cannot start '%s': %s\n", words[0], strerror(failure));
  close(sockets[0]);
  return false;
}

void StopEmulator(Opened* opened) {
  if (opened->down) return;
  opened->down = true;
  close(opened->socket);
  kill(opened->process, SIGKILL);
  waitpid(opened->process, nullptr, 0);
}

// `uri`: file:///<file>?<entry>&...
bool LoadInto(const Opened& opened, const char* uri) {
  const char* slash = strrchr(uri, '/');
  const char* file = slash != nullptr ? slash + 1 : uri;
  const size_t length = strcspn(file, "?");
  const char* entry = file[length] == '?' ? file + length + 1 : "";
  const size_t entry_length = strcspn(entry, "&");
  char text[4096];
  if (!FindIn(Environment("DSP_LIBRARY_PATH", ""), file, length, text, sizeof text / 2) &&
      !FindIn(Environment("ADSP_LIBRARY_PATH", ""), file, length, text, sizeof text / 2)) {
    fprintf(stderr, "dsp: DSP_LIBRARY_PATH has no %.*s\n", static_cast<int>(length), file);
    return false;
  }
  const size_t path_length = strlen(text) + 1;
  if (entry_length + 1 > sizeof text - path_length) return false;
  memcpy(text + path_length, entry, entry_length);
  text[path_length + entry_length] = 0;
  const RequestHead head = {Request::kLoad, 0, 0, static_cast<uint32_t>(path_length + entry_length + 1), MostThreads(),
                            MostVectors(),  0};
  AnswerHead answer = {};
  return SendAll(opened.socket, &head, sizeof head) && SendAll(opened.socket, text, head.count) &&
         ReceiveAll(opened.socket, &answer, sizeof answer) && answer.result == kOk;
}

// Memory of rpcmem_alloc, which has a file behind it.
struct SharedMemory {
  void* data;
  size_t size;
  int file;
  uint32_t number;
};
uint32_t shared_count = 0;
SharedMemory shared[kMostShared];
pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

SharedMemory* SharedAt(void* data) {
  for (SharedMemory& one : shared) {
    if (one.data == data) return &one;
  }
  return nullptr;
}

// Where an argument lies.
BufferHead HeadOf(const Argument& argument) {
  const auto begin = reinterpret_cast<uintptr_t>(argument.buffer.data);
  const size_t size = argument.buffer.size;
  BufferHead head = {size, 0, 0, 0, 0, 0};
  pthread_mutex_lock(&shared_lock);
  for (const SharedMemory& one : shared) {
    const auto from = reinterpret_cast<uintptr_t>(one.data);
    if (one.data == nullptr || begin < from || begin - from > one.size || size > one.size - (begin - from)) continue;
    head = {size,
            begin - from,
            static_cast<uint32_t>(getpid()),
            static_cast<uint32_t>(one.file),  //
            static_cast<uint32_t>(one.size),
            one.number};
  }
  pthread_mutex_unlock(&shared_lock);
  return head;
}

// A call into the emulator; kDspDown where it has ended.
int Carry(Opened* opened, uint32_t scalars, Argument* arguments, Handle* out, AnswerHead* head_out) {
  const uint32_t inputs = InputsOf(scalars), buffers = inputs + OutputsOf(scalars);
  BufferHead heads[512];
  opened->shared_buffers = 0;
  opened->copied_bytes = 0;
  for (uint32_t i = 0; i < buffers; ++i) {
    heads[i] = HeadOf(arguments[i]);
    opened->shared_buffers += heads[i].process != 0 ? 1 : 0;
    opened->copied_bytes += heads[i].process != 0 ? 0 : heads[i].size;
  }
  const RequestHead head = {Request::kInvoke, scalars, opened->inner, buffers, MostThreads(), MostVectors(), 0};
  AnswerHead answer = {};
  bool fine = SendAll(opened->socket, &head, sizeof head) && SendAll(opened->socket, heads, buffers * sizeof *heads);
  for (uint32_t i = 0; i < inputs && fine; ++i)
    fine = heads[i].process != 0 || SendAll(opened->socket, arguments[i].buffer.data, arguments[i].buffer.size);
  fine = fine && ReceiveAll(opened->socket, &answer, sizeof answer);
  for (uint32_t i = inputs; i < buffers && fine && answer.result == kOk; ++i)
    fine = heads[i].process != 0 || ReceiveAll(opened->socket, arguments[i].buffer.data, arguments[i].buffer.size);
  if (!fine) {
    StopEmulator(opened);
    return kDspDown;
  }
  if (out != nullptr) *out = answer.handle;
  *head_out = answer;
  return answer.result;
}

int OpenInside(Opened* opened, const char* uri) {
  uint32_t numbers[1] = {static_cast<uint32_t>(strlen(uri) + 1)};
  Argument arguments[3] = {};
  arguments[0].buffer = {numbers, sizeof numbers};
  arguments[1].buffer = {const_cast<char*>(uri), strlen(uri) + 1};
  AnswerHead told = {};
  const int answer = Carry(opened, Scalars(kMethodOpen, 2, 0, 0, 1), arguments, &opened->inner, &told);
  Log("open", answer, told);
  return answer;
}

}  // namespace
}  // namespace hexagon
}  // namespace lathe

#define LATHE_RPC extern "C" __attribute__((visibility("default")))

namespace {
using namespace lathe::hexagon;
}

LATHE_RPC int remote_session_control(uint32_t request, void*, uint32_t) {
  return request == kRequestUnsigned ? Fault(kSession) : kOk;
}

LATHE_RPC int remote_handle64_open(const char* uri, Handle* handle) {
  const int fault = Fault(kOpen);
  if (fault != kOk) return fault;
  auto* opened = static_cast<Opened*>(calloc(1, sizeof(Opened)));
  if (opened == nullptr) return kNoMemory;
  pthread_mutex_init(&opened->lock, nullptr);
  if (!StartEmulator(opened)) {
    free(opened);
    return kFailed;
  }
  const int answer = LoadInto(*opened, uri) ? OpenInside(opened, uri) : kFailed;
  if (answer != kOk) {
    StopEmulator(opened);
    free(opened);
    return answer;
  }
  *handle = reinterpret_cast<uintptr_t>(opened);
  return kOk;
}

LATHE_RPC int remote_handle64_invoke(Handle handle, uint32_t scalars, Argument* arguments) {
  auto* opened = reinterpret_cast<Opened*>(static_cast<uintptr_t>(handle));
  const int fault = Fault(kInvoke);
  pthread_mutex_lock(&opened->lock);
  int answer = fault;
  AnswerHead told = {};
  if (fault == kDspDown) StopEmulator(opened);
  if (fault == kOk) answer = opened->down ? kDspDown : Carry(opened, scalars, arguments, nullptr, &told);
  Log("invoke", answer, told, opened);
  pthread_mutex_unlock(&opened->lock);
  return answer;
}

LATHE_RPC int remote_handle64_close(Handle handle) {
  auto* opened = reinterpret_cast<Opened*>(static_cast<uintptr_t>(handle));
  const int fault = Fault(kClose);
  int answer = kDspDown;
  if (!opened->down) {
    Argument arguments[1] = {};
    AnswerHead told = {};
    arguments[0].handle64 = opened->inner;
    answer = Carry(opened, Scalars(kMethodClose, 0, 0, 1, 0), arguments, nullptr, &told);
    Log("close", answer, told);
  }
  StopEmulator(opened);
  pthread_mutex_destroy(&opened->lock);
  free(opened);
  return fault != kOk ? fault : answer;
}

LATHE_RPC int remote_handle64_control(Handle, uint32_t, void*, uint32_t) { return kOk; }

LATHE_RPC void* rpcmem_alloc(int, uint32_t, int bytes) {
  if (bytes <= 0 || Fault(kAlloc) != kOk) return nullptr;
  const int file = memfd_create("rpcmem", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  const size_t size = static_cast<size_t>(bytes);
  void* data =
      ftruncate(file, bytes) == 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  pthread_mutex_lock(&shared_lock);
  SharedMemory* place = data != MAP_FAILED ? SharedAt(nullptr) : nullptr;
  if (place != nullptr) *place = {data, size, file, ++shared_count};
  pthread_mutex_unlock(&shared_lock);
  if (place != nullptr) return data;
  if (data != MAP_FAILED) munmap(data, size);
  close(file);
  return nullptr;
}

LATHE_RPC void rpcmem_free(void* data) {
  if (data == nullptr) return;
  pthread_mutex_lock(&shared_lock);
  SharedMemory* place = SharedAt(data);
  if (place != nullptr) {
    munmap(place->data, place->size);
    close(place->file);
    *place = {};
  }
  pthread_mutex_unlock(&shared_lock);
}

LATHE_RPC int rpcmem_to_fd(void* data) {
  pthread_mutex_lock(&shared_lock);
  const SharedMemory* place = data != nullptr ? SharedAt(data) : nullptr;
  const int file = place != nullptr ? place->file : -1;
  pthread_mutex_unlock(&shared_lock);
  return file;
}

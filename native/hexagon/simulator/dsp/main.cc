// The emulated DSP: loads the program that it is told, and carries calls to it until the application's side is gone.
#include <string.h>

#include "native/hexagon/fastrpc.h"
#include "native/hexagon/simulator/dsp/system.h"
#include "native/hexagon/simulator/wire.h"

namespace lathe {
namespace hexagon {

namespace {

constexpr uint32_t kMostArguments = 0xff + 0xff + 0xf + 0xf;
constexpr size_t kVector = 128;

using Entry = int (*)(Handle handle, uint32_t scalars, Argument* arguments);

void ReadAll(void* to, size_t count) {
  auto* bytes = static_cast<uint8_t*>(to);
  while (count > 0) {
    const long got = Read(kSocket, bytes, count);
    if (got <= 0) Exit(0);  // the application has ended
    bytes += got;
    count -= static_cast<size_t>(got);
  }
}

void WriteAll(const void* from, size_t count) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  while (count > 0) {
    const long put = Write(kSocket, bytes, count);
    if (put <= 0) Exit(0);
    bytes += put;
    count -= static_cast<size_t>(put);
  }
}

// The memory of one call's arguments. Nothing lies behind the end of the last one but a page that is not there.
struct Memory {
  uint8_t* data = nullptr;
  size_t size = 0;

  bool Reserve(size_t wanted) {
    if (wanted <= size) return true;
    if (data != nullptr) UnmapMemory(data, size);
    size = (wanted + 0xffff) & ~size_t{0xffff};
    data = static_cast<uint8_t*>(MapMemory(size));
    if (data == nullptr) size = 0;
    return data != nullptr;
  }
};

// What an argument takes of the memory of a call, and how far its file is needed.
uint64_t BytesOf(const BufferHead& head) {
  return head.process != 0 ? 0 : (head.size + kVector - 1) / kVector * kVector;
}

// Memory that both sides see stays where it is from call to call, as the driver leaves it.
struct Mapped {
  BufferHead head;
  uint8_t* data;
};

uint8_t* MappedOf(const BufferHead& head) {
  constexpr uint32_t kMost = 64;
  static Mapped mapped[kMost];
  static uint32_t next;
  for (const Mapped& one : mapped) {
    if (one.data != nullptr && one.head.process == head.process && one.head.number == head.number) return one.data;
  }
  Mapped* place = &mapped[next++ % kMost];
  if (place->data != nullptr) UnmapMemory(place->data, place->head.whole);
  *place = {head, static_cast<uint8_t*>(MapShared(head.process, head.file, head.whole))};
  return place->data;
}

void Load(uint32_t count, Entry* entry) {
  char text[4096];
  AnswerHead answer = {kFailed, 0, 0, 0, 0, 0, 0};
  if (count > sizeof text) Exit(1);
  ReadAll(text, count);
  text[sizeof text - 1] = 0;
  const uintptr_t found = LoadProgram(text, text + strlen(text) + 1);
  *entry = reinterpret_cast<Entry>(found);
  if (found != 0) answer.result = kOk;
  WriteAll(&answer, sizeof answer);
}

void Invoke(const RequestHead& head, Entry entry, Memory* memory) {
  static Argument arguments[kMostArguments];
  static BufferHead heads[kMostArguments];
  const uint32_t inputs = InputsOf(head.scalars), buffers = inputs + OutputsOf(head.scalars);
  uint64_t total = 0;
  ReadAll(heads, buffers * sizeof *heads);
  for (uint32_t i = 0; i < buffers; ++i) total += BytesOf(heads[i]);
  AnswerHead answer = {kNoMemory, 0, 0, 0, 0, 0, 0};
  if (total > (uint64_t{1} << 31) || !memory->Reserve(static_cast<size_t>(total) + kVector)) Exit(1);
  uint8_t* at = memory->data;
  for (uint32_t i = 0; i < buffers; ++i) {
    const BufferHead& buffer = heads[i];
    arguments[i].buffer.size = static_cast<size_t>(buffer.size);
    if (buffer.process != 0) {
      uint8_t* mapped = MappedOf(buffer);
      if (mapped == nullptr) Exit(1);
      arguments[i].buffer.data = mapped + buffer.offset;
      continue;
    }
    arguments[i].buffer.data = at;
    if (i < inputs) ReadAll(at, static_cast<size_t>(buffer.size));
    at += BytesOf(buffer);
  }
  const uint32_t handles_in = HandlesInOf(head.scalars);
  for (uint32_t i = 0; i < handles_in; ++i) arguments[buffers + i].handle64 = head.handle;
  Mark(MethodOf(head.scalars));
  answer.result = entry == nullptr ? kFailed : entry(head.handle, head.scalars, arguments);
  Mark(MethodOf(head.scalars));
  if (HandlesOutOf(head.scalars) > 0) answer.handle = arguments[buffers + handles_in].handle64;
  answer.live_blocks = LiveBlocks();
  TellPower(&answer.corner, &answer.latency);
  CountThreads(&answer.made_threads, &answer.live_threads);
  WriteAll(&answer, sizeof answer);
  for (uint32_t i = inputs; i < buffers && answer.result == kOk; ++i) {
    if (heads[i].process == 0) WriteAll(arguments[i].buffer.data, arguments[i].buffer.size);
  }
}

}  // namespace

extern "C" [[noreturn]] void lathe_dsp_main() {
  Entry entry = nullptr;
  Memory memory;
  for (;;) {
    RequestHead head;
    ReadAll(&head, sizeof head);
    LimitThreads(head.most_threads, head.most_vectors);
    if (head.request == Request::kLoad) {
      Load(head.count, &entry);
    } else {
      Invoke(head, entry, &memory);
    }
  }
}

}  // namespace hexagon
}  // namespace lathe

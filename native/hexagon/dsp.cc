#include "native/hexagon/dsp.h"

#include <string.h>

#include "native/hexagon/region.h"

namespace lathe {
namespace hexagon {

namespace {

class Locked {
 public:
  explicit Locked(pthread_mutex_t* lock) : lock_(lock) { pthread_mutex_lock(lock_); }
  ~Locked() { pthread_mutex_unlock(lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t* lock_;
};

bool IsDown(int answer) { return answer == kDspDown || answer == kConnectionReset; }

}  // namespace

Dsp* Dsp::Of(Engine* engine) {
  if (engine->device() != nullptr) return static_cast<Dsp*>(engine->device());
  const lathe_allocator& allocator = engine->allocator();
  void* memory = AllocateFrom(allocator, sizeof(Dsp));
  if (memory == nullptr) return nullptr;
  auto* made = new (Place(), memory) Dsp(engine);
  engine->set_device(made);
  return made;
}

void Dsp::End() {
  if (opened_) rpc_.close(handle_);
  const lathe_allocator allocator = allocator_;
  this->~Dsp();
  allocator.free(allocator.user, this);
}

void Dsp::Info(lathe_device_info* info) const {
  info->kind = parts_ != nullptr ? LATHE_DEVICE_DSP : LATHE_DEVICE_CPU;
  if (opened_) info->device = "Hexagon DSP";
  if (reason_.message[0] != 0) info->reason = reason_.message;
  info->memory = static_cast<size_t>(memory_bytes_);
}

// Memory of FastRPC, which the DSP sees: the driver copies everything else in each call.
void* Dsp::Allocate(size_t bytes) {
  if (!opened_ || rpc_.allocate == nullptr || bytes > INT32_MAX) return nullptr;
  return rpc_.allocate(kSystemHeap, kDefaultFlags, static_cast<int>(bytes));
}

void Dsp::Free(void* memory) { rpc_.release(memory); }

Code Dsp::Data(uint32_t, const ErrorSink&, lathe_bytes*) { return Code::kOk; }

const char* Dsp::KernelOf(size_t node) const {
  for (const Part* part = parts_; part != nullptr; part = part->next) {
    if (node >= part->first && node - part->first < part->node->regions[0].nodes.size()) return "dsp";
  }
  return nullptr;
}

Code Dsp::Open(const ErrorSink& errors) {
  if (!loaded_) {
    LATHE_TRY(LoadRpc(errors, &rpc_));
    loaded_ = true;
  }
  if ((head_.flags & kPartUnsigned) != 0 || (wishes_.dsp_flags & LATHE_DSP_UNSIGNED) != 0) {
    UnsignedDomain domain = {kComputeDomain, 1};
    const int answer =
        rpc_.control != nullptr ? rpc_.control(kRequestUnsigned, &domain, sizeof domain) : hexagon::kUnsupported;
    if (answer != kOk)
      return errors.Fail(Code::kUnsupported,
                         "the DSP takes no unsigned programs: %s (0x%x); sign the program, and set "
                         "hexagon_unsigned: 0",
                         AnswerName(answer), static_cast<unsigned>(answer));
  }
  // Kernels keep vectors on the stack; where this is refused, the usual stack has to do.
  ThreadParameters thread = {kComputeDomain, -1, 128 * 1024};
  if (rpc_.control != nullptr) rpc_.control(kRequestThread, &thread, sizeof thread);
  const int answer = rpc_.open(ProgramUri(), &handle_);
  if (answer != kOk)
    return errors.Fail(Code::kUnsupported, "the DSP does not open '%s': %s (0x%x); is its folder in DSP_LIBRARY_PATH?",
                       ProgramUri(), AnswerName(answer), static_cast<unsigned>(answer));
  opened_ = true;
  return Code::kOk;
}

// One call, and what the program replies.
Code Dsp::Call(uint32_t scalars, Argument* arguments, Reply* reply, const ErrorSink& errors, int* answer) {
  *answer = rpc_.invoke(handle_, scalars, arguments);
  if (*answer != kOk)
    return errors.Fail(Code::kInternal, "the DSP failed: %s (0x%x)", AnswerName(*answer),
                       static_cast<unsigned>(*answer));
  if (reply->code == 0) return Code::kOk;
  reply->message[sizeof reply->message - 1] = 0;
  const bool known = reply->code > 0 && reply->code <= static_cast<int32_t>(Code::kInternal);
  return errors.Fail(known ? static_cast<Code>(reply->code) : Code::kInternal, "the program on the DSP says: %s",
                     reply->message);
}

// What the application says goes before what the build says.
Power Dsp::WishedPower() const {
  constexpr uint32_t kMostLatency = 0xffff;
  const uint32_t level = wishes_.dsp_power != LATHE_DSP_POWER_AS_BUILT ? wishes_.dsp_power : head_.power;
  const uint32_t latency = wishes_.dsp_latency < kMostLatency ? wishes_.dsp_latency : kMostLatency;
  const bool fixed = (wishes_.dsp_flags & LATHE_DSP_FIXED_CLOCKS) != 0;
  return {static_cast<uint8_t>(level <= kPowerSvs2 ? level : kPowerAsItIs), static_cast<uint8_t>(fixed ? 0 : 1),
          static_cast<uint16_t>(latency)};
}

// The constants travel once. They are put together for the call alone.
Code Dsp::SendPart(Part* part, const ErrorSink& errors) {
  const bool shares = rpc_.allocate != nullptr && part->data_size > 0 && part->data_size <= INT32_MAX;
  void* shared = shares ? rpc_.allocate(kSystemHeap, kDefaultFlags, static_cast<int>(part->data_size)) : nullptr;
  void* data = shared != nullptr ? shared : AllocateFrom(allocator_, part->data_size + 1);
  if (data == nullptr) return errors.OutOfMemory("the constants for the DSP", part->data_size);
  memset(data, 0, part->data_size);
  size_t at = 0;
  for (const Tensor* constant : part->constants) {
    const size_t size = static_cast<size_t>(constant->shape.Count()) * SizeOf(constant->dtype);
    if (size > 0) memcpy(static_cast<uint8_t*>(data) + at, constant->data, size);
    at += AlignUp(size);
  }
  Create block = {kProtocolVersion, WishedPower(), static_cast<uint32_t>(threads_)};
  Reply reply = {};
  Argument arguments[4] = {};
  arguments[0].buffer = {&block, sizeof block};
  arguments[1].buffer = {const_cast<void*>(part->program.data), part->program.size};
  arguments[2].buffer = {data, part->data_size};
  arguments[3].buffer = {&reply, sizeof reply};
  int answer = kOk;
  const Code code = Call(Scalars(kMethodCreate, 3, 1), arguments, &reply, errors, &answer);
  if (shared != nullptr) {
    rpc_.release(shared);
  } else {
    allocator_.free(allocator_.user, data);
  }
  if (code != Code::kOk) return code;
  part->number = reply.part;
  memory_bytes_ += reply.memory_bytes;
  return Code::kOk;
}

Code Dsp::AddPart(const PartHead& head, Part* part) {
  const ErrorSink reason(&reason_);
  if (reason_.message[0] != 0) return static_cast<Code>(reason_.code);  // what failed once is not tried again
  head_ = head;
  if (!opened_) LATHE_TRY(Open(reason));
  LATHE_TRY(SendPart(part, reason));
  part->next = parts_;
  parts_ = part;
  return Code::kOk;
}

// A new program, with all parts.
Code Dsp::Restart(const ErrorSink& errors) {
  if (opened_) rpc_.close(handle_);
  opened_ = false;
  memory_bytes_ = 0;
  LATHE_TRY(Open(errors));
  for (Part* part = parts_; part != nullptr; part = part->next) LATHE_TRY(SendPart(part, errors));
  return Code::kOk;
}

Code Dsp::Run(const Part& part, size_t inputs, size_t outputs, Wish wish, Argument* arguments,
              const ErrorSink& errors) {
  const Locked locked(&lock_);
  if (wish != Wish::kNothing) ++outputs;
  const uint32_t scalars = Scalars(kMethodRun, static_cast<uint32_t>(inputs) + 1, static_cast<uint32_t>(outputs) + 1);
  Code code = Code::kOk;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt > 0 || !opened_) {
      lathe_error why = {};
      if (Restart(ErrorSink(&why)) != Code::kOk)
        return errors.Fail(Code::kInternal, "the DSP went down, and cannot be started again: %.350s", why.message);
    }
    hexagon::Call block = {part.number, wish};
    Reply reply = {};
    arguments[0].buffer = {&block, sizeof block};
    arguments[1 + inputs].buffer = {&reply, sizeof reply};
    int answer = kOk;
    code = Call(scalars, arguments, &reply, errors, &answer);
    if (!IsDown(answer)) break;
  }
  return code;
}

}  // namespace hexagon
}  // namespace lathe

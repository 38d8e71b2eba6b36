#include "native/opencl/transfer.h"

#include <string.h>

#include "native/opencl/parts.h"

namespace lathe {
namespace opencl {

namespace {

// Where the host has the value, or wants it.
void* HostOf(const Transfer& transfer, const Session& session, const RunContext& context) {
  void* host = session.tensors()[transfer.value].data;
  if (!transfer.to_host) return host;
  const RegionTensors body = context.Region(0);
  for (int i = 0; i < body.output_count(); ++i) {
    if (body.outputs[static_cast<size_t>(i)] == transfer.value) host = context.outputs[i].data;
  }
  return host;
}

bool Overlap(const Transfer& a, const Transfer& b) {
  const char *first = static_cast<const char*>(a.bound.host), *second = static_cast<const char*>(b.bound.host);
  return first < second + b.bytes() && second < first + a.bytes();
}

// s64 has 32 bits on the device. A tensor that is brought here and taken back at once has one memory for both.
bool CanBeLent(const Transfer& transfer, const Transfer* all, const Session& session) {
  if (transfer.staging->block != kStaging || transfer.dtype == DType::kS64) return false;
  if (session.tensors()[transfer.value].constant) return false;  // memory of a file that nobody may write to
  for (const Transfer* other = all; other != nullptr; other = other->next) {
    if (other == &transfer) continue;
    // What several buffers over one memory do is undefined.
    if (other->staging == transfer.staging || (other->bound.lent != nullptr && Overlap(transfer, *other))) return false;
  }
  return true;
}

// Between the two sides' forms of numbers.
void CopyNumbers(const Transfer& transfer) {
  const size_t count = static_cast<size_t>(transfer.count);
  void *host = transfer.bound.host, *mapped = transfer.bound.mapped;
  if (transfer.dtype != DType::kS64) {
    memcpy(transfer.to_host ? host : mapped, transfer.to_host ? mapped : host, transfer.bytes());
  } else if (transfer.to_host) {
    for (size_t i = 0; i < count; ++i) static_cast<int64_t*>(host)[i] = static_cast<int32_t*>(mapped)[i];
  } else {
    for (size_t i = 0; i < count; ++i)
      static_cast<int32_t*>(mapped)[i] = static_cast<int32_t>(static_cast<int64_t*>(host)[i]);
  }
}

}  // namespace

void SessionPart::ReleaseLent() {
  for (Transfer* each = transfers; each != nullptr; each = each->next) {
    if (each->bound.lent != nullptr) runtime->api().ReleaseMemObject(each->bound.lent);
    each->bound.lent = nullptr;
  }
}

// Kernels keep the memory that they were given until they are given another one.
Code SessionPart::Use(const Reporter& reporter, const DeviceTensor& tensor) {
  for (LaunchRecord* record = launches; record != nullptr; record = record->next) {
    bool uses = false;
    for (int32_t i = 0; i < record->argument_count; ++i) {
      const LaunchArgument& argument = record->arguments[i];
      uses = uses || (argument.kind == LaunchArgument::kTensor && argument.tensor == &tensor);
    }
    if (uses) LATHE_TRY(SetArguments(reporter, record));
  }
  return Code::kOk;
}

// Looks where the values are on the host at this run. A buffer over the host's memory is made where the application
// has bound another one, and at no other run; only the driver may allocate for it. Those of cl_arm_import_memory hold
// on to pages: whatever is bound anew, its address may be an old one whose pages are new.
Code SessionPart::Bind(const Reporter& reporter, const Session& session, const RunContext& context) {
  const bool imports = runtime->host_memory().imports();
  for (Transfer* each = transfers; each != nullptr; each = each->next) {
    void* host = HostOf(*each, session, context);
    HostBinding& bound = each->bound;
    if (host == nullptr) return reporter.Fail(Code::kBadModel, "a value that is copied to the device is not there");
    if (host == bound.host && (!imports || bound.bindings == session.bindings())) continue;
    LATHE_TRY(TakeBack(reporter, each));
    bound.host = host;
    bound.bindings = session.bindings();
    bound.settled = false;
  }
  // Behind the others, as memory may have gone from one to another one.
  for (Transfer* each = transfers; each != nullptr; each = each->next) {
    if (!each->bound.settled) LATHE_TRY(Lend(reporter, session, each));
  }
  return Code::kOk;
}

Code SessionPart::TakeBack(const Reporter& reporter, Transfer* transfer) {
  HostBinding& bound = transfer->bound;
  if (bound.copied == nullptr) bound.copied = transfer->staging->memory;
  if (bound.lent == nullptr) return Code::kOk;
  bound.host = nullptr;  // should it fail, the next run does it
  transfer->staging->memory = bound.copied;
  LATHE_TRY(Use(reporter, *transfer->staging));
  runtime->api().ReleaseMemObject(bound.lent);
  bound.lent = nullptr;
  return Code::kOk;
}

Code SessionPart::Lend(const Reporter& reporter, const Session& session, Transfer* transfer) {
  HostBinding& bound = transfer->bound;
  if (bound.lent == nullptr && CanBeLent(*transfer, transfers, session))
    bound.lent = runtime->host_memory().Lend(bound.host, transfer->bytes(), transfer->to_host);
  if (bound.lent != nullptr) {
    transfer->staging->memory = bound.lent;
    LATHE_TRY(Use(reporter, *transfer->staging));
  }
  bound.settled = true;
  return Code::kOk;
}

// Maps what goes in one direction. All of them wait for each other in the queue, so waiting for the last one that is
// copied is enough; what is lent has to be mapped so that both sides see the same, and nobody needs its address.
// Of the mapped bytes the host writes all, or has written all.
Code SessionPart::Map(const Reporter& reporter, bool to_host) {
  const ClApi& api = runtime->api();
  const bool imports = runtime->host_memory().imports();
  const Transfer* last = nullptr;
  for (const Transfer* each = transfers; each != nullptr; each = each->next) {
    const bool lent = each->bound.lent != nullptr;
    if (each->to_host == to_host && (lent ? to_host && !imports : true)) last = each;
  }
  for (Transfer* each = transfers; each != nullptr; each = each->next) {
    const bool lent = each->bound.lent != nullptr;
    if (each->to_host != to_host || (lent && imports)) continue;
    cl_int error = kClSuccess;
    each->bound.mapped = api.EnqueueMapBuffer(
        runtime->queue(), each->staging->memory, each == last ? kClTrue : kClFalse,
        to_host ? kClMapRead : kClMapWriteInvalidateRegion, 0, each->bytes(), 0, nullptr, nullptr, &error);
    if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clEnqueueMapBuffer", error);
    if (lent) LATHE_TRY(Unmap(reporter, *each));
  }
  return Code::kOk;
}

Code SessionPart::Unmap(const Reporter& reporter, const Transfer& transfer) {
  const cl_int error = runtime->api().EnqueueUnmapMemObject(runtime->queue(), transfer.staging->memory,
                                                            transfer.bound.mapped, 0, nullptr, nullptr);
  return error == kClSuccess ? Code::kOk : DeviceFailed(reporter, *runtime, "clEnqueueUnmapMemObject", error);
}

// The time of each begins where that of the one before it ends: they wait together.
Code SessionPart::CopyAll(const Reporter& reporter, const Session& session, bool to_host) {
  int64_t now = NowNanoseconds();
  LATHE_TRY(Map(reporter, to_host));
  for (Transfer* each = transfers; each != nullptr; each = each->next) {
    if (each->to_host != to_host) continue;
    each->start_ns = now;
    if (each->bound.lent == nullptr) {
      CopyNumbers(*each);
      LATHE_TRY(Unmap(reporter, *each));
    }
    void* const kept = session.tensors()[each->value].data;  // by a session that keeps every value
    if (to_host && kept != nullptr && kept != each->bound.host)
      memcpy(kept, each->bound.host, static_cast<size_t>(each->count) * SizeOf(each->dtype));
    each->end_ns = now = NowNanoseconds();
  }
  return Code::kOk;
}

}  // namespace opencl
}  // namespace lathe

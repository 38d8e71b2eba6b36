// The pool of programs whose thread does everything by itself, as on pages and on the DSP: one source of such a program
// includes this instead of threads.cc. The loops are cut as everywhere else, so that results are the same.
#ifndef LATHE_RUNTIME_ONE_THREAD_H_
#define LATHE_RUNTIME_ONE_THREAD_H_

#include "native/runtime/threads.h"

namespace lathe {

int AvailableCores() { return 1; }

Code ThreadPool::Create(int, const lathe_allocator& allocator, const ErrorSink& errors, ThreadPool** pool) {
  void* memory = AllocateFrom(allocator, sizeof(ThreadPool));
  *pool = memory != nullptr ? new (Place(), memory) ThreadPool(allocator) : nullptr;
  return memory != nullptr ? Code::kOk : errors.OutOfMemory("the thread pool", sizeof(ThreadPool));
}

void ThreadPool::Release(ThreadPool* pool) {
  if (pool == nullptr || __atomic_sub_fetch(&pool->holders_, 1, __ATOMIC_SEQ_CST) != 0) return;
  const lathe_allocator allocator = pool->allocator_;
  allocator.free(allocator.user, pool);
}

void ThreadPool::Job::RunSlice(uint32_t slice, int thread) const {
  // The first `rest` slices are one item longer.
  const int64_t length = count / slices, rest = count % slices;
  const int64_t begin = slice * length + (slice < rest ? slice : rest);
  body(argument, begin, begin + length + (slice < rest ? 1 : 0), thread);
}

void ThreadPool::Parallel(int64_t count, int64_t grain, ParallelBody body, void* argument) {
  if (count <= 0) return;
  const Job job = {body, argument, count, static_cast<uint32_t>(SliceCount(count, grain))};
  for (uint32_t slice = 0; slice < job.slices; ++slice) job.RunSlice(slice, 0);
}

}  // namespace lathe

#endif  // LATHE_RUNTIME_ONE_THREAD_H_

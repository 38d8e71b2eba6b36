// What applications hold in the place of pointers: numbers of entries in a table, each with the generation of its
// entry. A handle of something that was destroyed is found out, whatever stands in its entry since.
#ifndef LATHE_RUNTIME_HANDLES_H_
#define LATHE_RUNTIME_HANDLES_H_

#include <stdint.h>

namespace lathe {

enum class Kind : uint32_t { kPool, kEngine, kSession };

// Objects of one library that may exist at once.
constexpr uint32_t kMaxHandles = (1u << 12) - 1;

// Null where the table is full.
void* AddHandle(Kind kind, void* object);
// The object of a handle; null where there is none of this kind.
void* FindHandle(Kind kind, const void* handle);
// The same, and the handle is of no use any more: of several threads that take one handle, one gets the object.
void* TakeHandle(Kind kind, const void* handle);

}  // namespace lathe

#endif  // LATHE_RUNTIME_HANDLES_H_

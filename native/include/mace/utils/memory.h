// make_unique, for C++11 too.
#ifndef MACE_UTILS_MEMORY_H_
#define MACE_UTILS_MEMORY_H_

#include <memory>
#include <type_traits>
#include <utility>

namespace mace {

#if __cplusplus > 201103L
using std::make_unique;
#else
template <typename T, typename... Args>
typename std::enable_if<!std::is_array<T>::value, std::unique_ptr<T>>::type make_unique(Args&&... args) {
  return std::unique_ptr<T>(new T(std::forward<Args>(args)...));
}

template <typename T>
typename std::enable_if<std::is_array<T>::value && std::extent<T>::value == 0, std::unique_ptr<T>>::type make_unique(
    size_t count) {
  return std::unique_ptr<T>(new typename std::remove_extent<T>::type[count]());
}
#endif

}  // namespace mace

#endif  // MACE_UTILS_MEMORY_H_

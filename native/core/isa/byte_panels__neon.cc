#include "native/core/bytes_neon.h"
// The header of the instruction set goes first.
#include "native/core/byte_sums_neon.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  constexpr int kRows = 2;  // as many as there are registers for
  RunByteSums<kRows>(job, tile);
}

}  // namespace LATHE_VECTORS
}  // namespace lathe

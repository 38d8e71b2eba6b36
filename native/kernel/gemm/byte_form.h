// How the products of bytes of the instruction set that this file is compiled for want their operands.
#ifndef LATHE_KERNEL_GEMM_BYTE_FORM_H_
#define LATHE_KERNEL_GEMM_BYTE_FORM_H_

#include "native/kernel/gemm/byte_state.h"

#ifndef LATHE_ISA
#define LATHE_ISA portable
#endif

namespace lathe {
namespace {

#if defined(LATHE_ISA_I8MM)
constexpr ByteForm kByteForm = {true, 0, false};
#elif defined(LATHE_ISA_VNNI)
constexpr ByteForm kByteForm = {false, 128, false};
#elif defined(LATHE_ISA_AVX2)
constexpr ByteForm kByteForm = {false, 0, true};
#elif defined(LATHE_ISA_HVX)
constexpr ByteForm kByteForm = {false, 0, false, true};
#else
constexpr ByteForm kByteForm = {false, 0, false};
#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_FORM_H_

// Our declarations of OpenCL against those of Khronos: equal numbers, and functions of equal types but for their names.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <gtest/gtest.h>
#include <stddef.h>

#include <type_traits>

#include "native/opencl/cl.h"
#include "native/opencl/loader.h"

namespace lathe::opencl {
namespace {

// Whether values of these types can take each other's place in a call.
template <typename Ours, typename Theirs>
constexpr bool IsAlike() {
  if (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  return sizeof(Ours) == sizeof(Theirs) && std::is_integral_v<Ours> && std::is_integral_v<Theirs> &&
         std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
}

template <typename Ours, typename Theirs>
struct Functions : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct Functions<R (*)(A...), S (*)(B...)> {
  static constexpr bool Compare() {
    if constexpr (sizeof...(A) == sizeof...(B)) return (IsAlike<R, S>() && ... && IsAlike<A, B>());
    return false;
  }
  static constexpr bool value = Compare();
};

#define LATHE_COMPARE(result, name, parameters) \
  static_assert(Functions<decltype(ClApi::name), decltype(&::cl##name)>::value, #name);
LATHE_OPENCL_FUNCTIONS(LATHE_COMPARE, LATHE_COMPARE)
#undef LATHE_COMPARE

static_assert(sizeof(::cl_image_desc) == sizeof(cl_image_desc), "");
static_assert(offsetof(::cl_image_desc, image_row_pitch) == offsetof(cl_image_desc, image_row_pitch), "");
static_assert(offsetof(::cl_image_desc, buffer) == offsetof(cl_image_desc, buffer), "");
static_assert(sizeof(::cl_image_format) == sizeof(cl_image_format), "");
static_assert(sizeof(::cl_buffer_region) == sizeof(cl_buffer_region), "");

struct Pair {
  const char* name;
  long long ours, theirs;
};

#define PAIR(ours, theirs) {#theirs, static_cast<long long>(ours), static_cast<long long>(theirs)}
constexpr Pair kPairs[] = {
    PAIR(kClFalse, CL_FALSE),
    PAIR(kClTrue, CL_TRUE),
    PAIR(kClSuccess, CL_SUCCESS),
    PAIR(kClDeviceNotFound, CL_DEVICE_NOT_FOUND),
    PAIR(kClDeviceNotAvailable, CL_DEVICE_NOT_AVAILABLE),
    PAIR(kClCompilerNotAvailable, CL_COMPILER_NOT_AVAILABLE),
    PAIR(kClMemObjectAllocationFailure, CL_MEM_OBJECT_ALLOCATION_FAILURE),
    PAIR(kClOutOfResources, CL_OUT_OF_RESOURCES),
    PAIR(kClOutOfHostMemory, CL_OUT_OF_HOST_MEMORY),
    PAIR(kClProfilingInfoNotAvailable, CL_PROFILING_INFO_NOT_AVAILABLE),
    PAIR(kClImageFormatNotSupported, CL_IMAGE_FORMAT_NOT_SUPPORTED),
    PAIR(kClBuildProgramFailure, CL_BUILD_PROGRAM_FAILURE),
    PAIR(kClMapFailure, CL_MAP_FAILURE),
    PAIR(kClExecStatusErrorForEventsInWaitList, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    PAIR(kClInvalidValue, CL_INVALID_VALUE),
    PAIR(kClInvalidDeviceType, CL_INVALID_DEVICE_TYPE),
    PAIR(kClInvalidPlatform, CL_INVALID_PLATFORM),
    PAIR(kClInvalidDevice, CL_INVALID_DEVICE),
    PAIR(kClInvalidContext, CL_INVALID_CONTEXT),
    PAIR(kClInvalidQueueProperties, CL_INVALID_QUEUE_PROPERTIES),
    PAIR(kClInvalidCommandQueue, CL_INVALID_COMMAND_QUEUE),
    PAIR(kClInvalidMemObject, CL_INVALID_MEM_OBJECT),
    PAIR(kClInvalidImageFormatDescriptor, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    PAIR(kClInvalidImageSize, CL_INVALID_IMAGE_SIZE),
    PAIR(kClInvalidBinary, CL_INVALID_BINARY),
    PAIR(kClInvalidBuildOptions, CL_INVALID_BUILD_OPTIONS),
    PAIR(kClInvalidProgram, CL_INVALID_PROGRAM),
    PAIR(kClInvalidProgramExecutable, CL_INVALID_PROGRAM_EXECUTABLE),
    PAIR(kClInvalidKernelName, CL_INVALID_KERNEL_NAME),
    PAIR(kClInvalidKernel, CL_INVALID_KERNEL),
    PAIR(kClInvalidArgIndex, CL_INVALID_ARG_INDEX),
    PAIR(kClInvalidArgValue, CL_INVALID_ARG_VALUE),
    PAIR(kClInvalidArgSize, CL_INVALID_ARG_SIZE),
    PAIR(kClInvalidKernelArgs, CL_INVALID_KERNEL_ARGS),
    PAIR(kClInvalidWorkDimension, CL_INVALID_WORK_DIMENSION),
    PAIR(kClInvalidWorkGroupSize, CL_INVALID_WORK_GROUP_SIZE),
    PAIR(kClInvalidWorkItemSize, CL_INVALID_WORK_ITEM_SIZE),
    PAIR(kClInvalidEventWaitList, CL_INVALID_EVENT_WAIT_LIST),
    PAIR(kClInvalidEvent, CL_INVALID_EVENT),
    PAIR(kClInvalidOperation, CL_INVALID_OPERATION),
    PAIR(kClInvalidBufferSize, CL_INVALID_BUFFER_SIZE),
    PAIR(kClInvalidGlobalWorkSize, CL_INVALID_GLOBAL_WORK_SIZE),
    PAIR(kClInvalidProperty, CL_INVALID_PROPERTY),
    PAIR(kClInvalidImageDescriptor, CL_INVALID_IMAGE_DESCRIPTOR),
    PAIR(kClPlatformNotFoundKhr, CL_PLATFORM_NOT_FOUND_KHR),
    PAIR(kClPlatformVersion, CL_PLATFORM_VERSION),
    PAIR(kClPlatformName, CL_PLATFORM_NAME),
    PAIR(kClPlatformVendor, CL_PLATFORM_VENDOR),
    PAIR(kClPlatformExtensions, CL_PLATFORM_EXTENSIONS),
    PAIR(kClDeviceTypeCpu, CL_DEVICE_TYPE_CPU),
    PAIR(kClDeviceTypeGpu, CL_DEVICE_TYPE_GPU),
    PAIR(kClDeviceTypeAccelerator, CL_DEVICE_TYPE_ACCELERATOR),
    PAIR(kClDeviceTypeAll, CL_DEVICE_TYPE_ALL),
    PAIR(kClDeviceType, CL_DEVICE_TYPE),
    PAIR(kClDeviceVendorId, CL_DEVICE_VENDOR_ID),
    PAIR(kClDeviceMaxComputeUnits, CL_DEVICE_MAX_COMPUTE_UNITS),
    PAIR(kClDeviceMaxWorkItemDimensions, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS),
    PAIR(kClDeviceMaxWorkGroupSize, CL_DEVICE_MAX_WORK_GROUP_SIZE),
    PAIR(kClDeviceMaxWorkItemSizes, CL_DEVICE_MAX_WORK_ITEM_SIZES),
    PAIR(kClDeviceMaxClockFrequency, CL_DEVICE_MAX_CLOCK_FREQUENCY),
    PAIR(kClDeviceMaxMemAllocSize, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
    PAIR(kClDeviceImage2dMaxWidth, CL_DEVICE_IMAGE2D_MAX_WIDTH),
    PAIR(kClDeviceImage2dMaxHeight, CL_DEVICE_IMAGE2D_MAX_HEIGHT),
    PAIR(kClDeviceImageSupport, CL_DEVICE_IMAGE_SUPPORT),
    PAIR(kClDeviceMemBaseAddrAlign, CL_DEVICE_MEM_BASE_ADDR_ALIGN),
    PAIR(kClDeviceGlobalMemCacheSize, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
    PAIR(kClDeviceGlobalMemSize, CL_DEVICE_GLOBAL_MEM_SIZE),
    PAIR(kClDeviceMaxConstantBufferSize, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE),
    PAIR(kClDeviceLocalMemType, CL_DEVICE_LOCAL_MEM_TYPE),
    PAIR(kClDeviceLocalMemSize, CL_DEVICE_LOCAL_MEM_SIZE),
    PAIR(kClLocalMemTypeLocal, CL_LOCAL),
    PAIR(kClDeviceEndianLittle, CL_DEVICE_ENDIAN_LITTLE),
    PAIR(kClDeviceAvailable, CL_DEVICE_AVAILABLE),
    PAIR(kClDeviceCompilerAvailable, CL_DEVICE_COMPILER_AVAILABLE),
    PAIR(kClDeviceName, CL_DEVICE_NAME),
    PAIR(kClDeviceVendor, CL_DEVICE_VENDOR),
    PAIR(kClDriverVersion, CL_DRIVER_VERSION),
    PAIR(kClDeviceVersion, CL_DEVICE_VERSION),
    PAIR(kClDeviceExtensions, CL_DEVICE_EXTENSIONS),
    PAIR(kClDeviceHalfFpConfig, CL_DEVICE_HALF_FP_CONFIG),
    PAIR(kClDeviceHostUnifiedMemory, CL_DEVICE_HOST_UNIFIED_MEMORY),
    PAIR(kClDeviceOpenclCVersion, CL_DEVICE_OPENCL_C_VERSION),
    PAIR(kClDeviceImageMaxBufferSize, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE),
    PAIR(kClDeviceImagePitchAlignment, CL_DEVICE_IMAGE_PITCH_ALIGNMENT),
    PAIR(kClDeviceImageBaseAddressAlignment, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT),
    PAIR(kClContextPlatform, CL_CONTEXT_PLATFORM),
    PAIR(kClQueueProfilingEnable, CL_QUEUE_PROFILING_ENABLE),
    PAIR(kClQueueProperties, CL_QUEUE_PROPERTIES),
    PAIR(kClQueuePriorityKhr, CL_QUEUE_PRIORITY_KHR),
    PAIR(kClQueuePriorityHighKhr, CL_QUEUE_PRIORITY_HIGH_KHR),
    PAIR(kClQueuePriorityMedKhr, CL_QUEUE_PRIORITY_MED_KHR),
    PAIR(kClQueuePriorityLowKhr, CL_QUEUE_PRIORITY_LOW_KHR),
    PAIR(kClMemReadWrite, CL_MEM_READ_WRITE),
    PAIR(kClMemWriteOnly, CL_MEM_WRITE_ONLY),
    PAIR(kClMemReadOnly, CL_MEM_READ_ONLY),
    PAIR(kClMemUseHostPtr, CL_MEM_USE_HOST_PTR),
    PAIR(kClMemAllocHostPtr, CL_MEM_ALLOC_HOST_PTR),
    PAIR(kClMemCopyHostPtr, CL_MEM_COPY_HOST_PTR),
    PAIR(kClMapRead, CL_MAP_READ),
    PAIR(kClMapWrite, CL_MAP_WRITE),
    PAIR(kClMapWriteInvalidateRegion, CL_MAP_WRITE_INVALIDATE_REGION),
    PAIR(kClR, CL_R),
    PAIR(kClRgba, CL_RGBA),
    PAIR(kClSignedInt8, CL_SIGNED_INT8),
    PAIR(kClSignedInt16, CL_SIGNED_INT16),
    PAIR(kClSignedInt32, CL_SIGNED_INT32),
    PAIR(kClUnsignedInt8, CL_UNSIGNED_INT8),
    PAIR(kClUnsignedInt16, CL_UNSIGNED_INT16),
    PAIR(kClUnsignedInt32, CL_UNSIGNED_INT32),
    PAIR(kClHalfFloat, CL_HALF_FLOAT),
    PAIR(kClFloat, CL_FLOAT),
    PAIR(kClMemObjectBuffer, CL_MEM_OBJECT_BUFFER),
    PAIR(kClMemObjectImage2d, CL_MEM_OBJECT_IMAGE2D),
    PAIR(kClMemObjectImage1dBuffer, CL_MEM_OBJECT_IMAGE1D_BUFFER),
    PAIR(kClMemType, CL_MEM_TYPE),
    PAIR(kClMemFlags, CL_MEM_FLAGS),
    PAIR(kClMemSize, CL_MEM_SIZE),
    PAIR(kClImageRowPitch, CL_IMAGE_ROW_PITCH),
    PAIR(kClImageWidth, CL_IMAGE_WIDTH),
    PAIR(kClImageHeight, CL_IMAGE_HEIGHT),
    PAIR(kClBufferCreateTypeRegion, CL_BUFFER_CREATE_TYPE_REGION),
    PAIR(kClProgramNumDevices, CL_PROGRAM_NUM_DEVICES),
    PAIR(kClProgramBinarySizes, CL_PROGRAM_BINARY_SIZES),
    PAIR(kClProgramBinaries, CL_PROGRAM_BINARIES),
    PAIR(kClProgramNumKernels, CL_PROGRAM_NUM_KERNELS),
    PAIR(kClProgramKernelNames, CL_PROGRAM_KERNEL_NAMES),
    PAIR(kClProgramBuildStatus, CL_PROGRAM_BUILD_STATUS),
    PAIR(kClProgramBuildOptions, CL_PROGRAM_BUILD_OPTIONS),
    PAIR(kClProgramBuildLog, CL_PROGRAM_BUILD_LOG),
    PAIR(kClBuildSuccess, CL_BUILD_SUCCESS),
    PAIR(kClBuildNone, CL_BUILD_NONE),
    PAIR(kClBuildError, CL_BUILD_ERROR),
    PAIR(kClBuildInProgress, CL_BUILD_IN_PROGRESS),
    PAIR(kClKernelFunctionName, CL_KERNEL_FUNCTION_NAME),
    PAIR(kClKernelNumArgs, CL_KERNEL_NUM_ARGS),
    PAIR(kClKernelWorkGroupSize, CL_KERNEL_WORK_GROUP_SIZE),
    PAIR(kClKernelCompileWorkGroupSize, CL_KERNEL_COMPILE_WORK_GROUP_SIZE),
    PAIR(kClKernelLocalMemSize, CL_KERNEL_LOCAL_MEM_SIZE),
    PAIR(kClKernelPreferredWorkGroupSizeMultiple, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
    PAIR(kClKernelPrivateMemSize, CL_KERNEL_PRIVATE_MEM_SIZE),
    PAIR(kClEventCommandExecutionStatus, CL_EVENT_COMMAND_EXECUTION_STATUS),
    PAIR(kClComplete, CL_COMPLETE),
    PAIR(kClProfilingCommandQueued, CL_PROFILING_COMMAND_QUEUED),
    PAIR(kClProfilingCommandSubmit, CL_PROFILING_COMMAND_SUBMIT),
    PAIR(kClProfilingCommandStart, CL_PROFILING_COMMAND_START),
    PAIR(kClProfilingCommandEnd, CL_PROFILING_COMMAND_END),
    PAIR(kClImportTypeArm, CL_IMPORT_TYPE_ARM),
    PAIR(kClImportTypeHostArm, CL_IMPORT_TYPE_HOST_ARM),
    PAIR(kClImportTypeDmaBufArm, CL_IMPORT_TYPE_DMA_BUF_ARM),
};

struct Answer {
  const char* name;
  cl_int code;
};

#define ANSWER(name) {#name, name}
constexpr Answer kAnswers[] = {
    ANSWER(CL_DEVICE_NOT_FOUND),
    ANSWER(CL_DEVICE_NOT_AVAILABLE),
    ANSWER(CL_COMPILER_NOT_AVAILABLE),
    ANSWER(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    ANSWER(CL_OUT_OF_RESOURCES),
    ANSWER(CL_OUT_OF_HOST_MEMORY),
    ANSWER(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    ANSWER(CL_BUILD_PROGRAM_FAILURE),
    ANSWER(CL_MAP_FAILURE),
    ANSWER(CL_INVALID_VALUE),
    ANSWER(CL_INVALID_COMMAND_QUEUE),
    ANSWER(CL_INVALID_MEM_OBJECT),
    ANSWER(CL_INVALID_IMAGE_SIZE),
    ANSWER(CL_INVALID_BUILD_OPTIONS),
    ANSWER(CL_INVALID_KERNEL_NAME),
    ANSWER(CL_INVALID_ARG_VALUE),
    ANSWER(CL_INVALID_ARG_SIZE),
    ANSWER(CL_INVALID_WORK_GROUP_SIZE),
    ANSWER(CL_INVALID_BUFFER_SIZE),
    ANSWER(CL_INVALID_GLOBAL_WORK_SIZE),
};

TEST(OpenclValues, AreThoseOfTheStandard) {
  for (const Pair& pair : kPairs) EXPECT_EQ(pair.ours, pair.theirs) << pair.name;
}

TEST(OpenclValues, AnswersHaveTheNamesOfTheStandard) {
  for (const Answer& answer : kAnswers) EXPECT_STREQ(ErrorName(answer.code), answer.name);
  for (const cl_int unknown : {1, 0, -20, -29, -64, -73, -1000, -1002, INT32_MIN, INT32_MAX})
    EXPECT_STREQ(ErrorName(unknown), "unknown") << unknown;
}

}  // namespace
}  // namespace lathe::opencl

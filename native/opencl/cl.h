// OpenCL 1.2 as far as Lathe uses it: types, constants, and a table of functions, which the loader fills at run time.
// No header and no library of OpenCL is needed to build. Types and functions have the names of the standard (functions
// without their "cl"), but are in this namespace; constants are no macros. So a user's <CL/cl.h> can be included as
// well.
#ifndef LATHE_OPENCL_CL_H_
#define LATHE_OPENCL_CL_H_

#include <stddef.h>
#include <stdint.h>

namespace lathe {
namespace opencl {

using cl_int = int32_t;
using cl_uint = uint32_t;
using cl_ulong = uint64_t;
using cl_half = uint16_t;
using cl_bool = cl_uint;
using cl_bitfield = cl_ulong;

using cl_platform_id = struct ClPlatform*;
using cl_device_id = struct ClDevice*;
using cl_context = struct ClContext*;
using cl_command_queue = struct ClCommandQueue*;
using cl_mem = struct ClMem*;
using cl_program = struct ClProgram*;
using cl_kernel = struct ClKernel*;
using cl_event = struct ClEvent*;

using cl_platform_info = cl_uint;
using cl_device_info = cl_uint;
using cl_device_type = cl_bitfield;
using cl_device_fp_config = cl_bitfield;
using cl_context_properties = intptr_t;
using cl_command_queue_properties = cl_bitfield;
using cl_queue_properties = cl_ulong;
using cl_mem_flags = cl_bitfield;
using cl_map_flags = cl_bitfield;
using cl_mem_object_type = cl_uint;
using cl_mem_info = cl_uint;
using cl_image_info = cl_uint;
using cl_buffer_create_type = cl_uint;
using cl_channel_order = cl_uint;
using cl_channel_type = cl_uint;
using cl_program_info = cl_uint;
using cl_program_build_info = cl_uint;
using cl_build_status = cl_int;
using cl_kernel_info = cl_uint;
using cl_kernel_work_group_info = cl_uint;
using cl_event_info = cl_uint;
using cl_profiling_info = cl_uint;

struct cl_image_format {
  cl_channel_order image_channel_order;
  cl_channel_type image_channel_data_type;
};

struct cl_image_desc {
  cl_mem_object_type image_type;
  size_t image_width;
  size_t image_height;
  size_t image_depth;
  size_t image_array_size;
  size_t image_row_pitch;
  size_t image_slice_pitch;
  cl_uint num_mip_levels;
  cl_uint num_samples;
  cl_mem buffer;
};

struct cl_buffer_region {
  size_t origin;
  size_t size;
};

constexpr cl_bool kClFalse = 0;
constexpr cl_bool kClTrue = 1;

// What a function returns. `ErrorName` of loader.h has the words.
constexpr cl_int kClSuccess = 0;
constexpr cl_int kClDeviceNotFound = -1;
constexpr cl_int kClDeviceNotAvailable = -2;
constexpr cl_int kClCompilerNotAvailable = -3;
constexpr cl_int kClMemObjectAllocationFailure = -4;
constexpr cl_int kClOutOfResources = -5;
constexpr cl_int kClOutOfHostMemory = -6;
constexpr cl_int kClProfilingInfoNotAvailable = -7;
constexpr cl_int kClImageFormatNotSupported = -10;
constexpr cl_int kClBuildProgramFailure = -11;
constexpr cl_int kClMapFailure = -12;
constexpr cl_int kClExecStatusErrorForEventsInWaitList = -14;
constexpr cl_int kClInvalidValue = -30;
constexpr cl_int kClInvalidDeviceType = -31;
constexpr cl_int kClInvalidPlatform = -32;
constexpr cl_int kClInvalidDevice = -33;
constexpr cl_int kClInvalidContext = -34;
constexpr cl_int kClInvalidQueueProperties = -35;
constexpr cl_int kClInvalidCommandQueue = -36;
constexpr cl_int kClInvalidMemObject = -38;
constexpr cl_int kClInvalidImageFormatDescriptor = -39;
constexpr cl_int kClInvalidImageSize = -40;
constexpr cl_int kClInvalidBinary = -42;
constexpr cl_int kClInvalidBuildOptions = -43;
constexpr cl_int kClInvalidProgram = -44;
constexpr cl_int kClInvalidProgramExecutable = -45;
constexpr cl_int kClInvalidKernelName = -46;
constexpr cl_int kClInvalidKernel = -48;
constexpr cl_int kClInvalidArgIndex = -49;
constexpr cl_int kClInvalidArgValue = -50;
constexpr cl_int kClInvalidArgSize = -51;
constexpr cl_int kClInvalidKernelArgs = -52;
constexpr cl_int kClInvalidWorkDimension = -53;
constexpr cl_int kClInvalidWorkGroupSize = -54;
constexpr cl_int kClInvalidWorkItemSize = -55;
constexpr cl_int kClInvalidEventWaitList = -57;
constexpr cl_int kClInvalidEvent = -58;
constexpr cl_int kClInvalidOperation = -59;
constexpr cl_int kClInvalidBufferSize = -61;
constexpr cl_int kClInvalidGlobalWorkSize = -63;
constexpr cl_int kClInvalidProperty = -64;
constexpr cl_int kClInvalidImageDescriptor = -65;
constexpr cl_int kClPlatformNotFoundKhr = -1001;

constexpr cl_platform_info kClPlatformVersion = 0x0901;
constexpr cl_platform_info kClPlatformName = 0x0902;
constexpr cl_platform_info kClPlatformVendor = 0x0903;
constexpr cl_platform_info kClPlatformExtensions = 0x0904;

constexpr cl_device_type kClDeviceTypeCpu = 1 << 1;
constexpr cl_device_type kClDeviceTypeGpu = 1 << 2;
constexpr cl_device_type kClDeviceTypeAccelerator = 1 << 3;
constexpr cl_device_type kClDeviceTypeAll = 0xFFFFFFFF;

constexpr cl_device_info kClDeviceType = 0x1000;
constexpr cl_device_info kClDeviceVendorId = 0x1001;
constexpr cl_device_info kClDeviceMaxComputeUnits = 0x1002;
constexpr cl_device_info kClDeviceMaxWorkItemDimensions = 0x1003;
constexpr cl_device_info kClDeviceMaxWorkGroupSize = 0x1004;
constexpr cl_device_info kClDeviceMaxWorkItemSizes = 0x1005;
constexpr cl_device_info kClDeviceMaxClockFrequency = 0x100C;
constexpr cl_device_info kClDeviceMaxMemAllocSize = 0x1010;
constexpr cl_device_info kClDeviceImage2dMaxWidth = 0x1011;
constexpr cl_device_info kClDeviceImage2dMaxHeight = 0x1012;
constexpr cl_device_info kClDeviceImageSupport = 0x1016;
constexpr cl_device_info kClDeviceMemBaseAddrAlign = 0x1019;
constexpr cl_device_info kClDeviceGlobalMemCacheSize = 0x101E;
constexpr cl_device_info kClDeviceGlobalMemSize = 0x101F;
constexpr cl_device_info kClDeviceMaxConstantBufferSize = 0x1020;
constexpr cl_device_info kClDeviceLocalMemType = 0x1022;
constexpr cl_device_info kClDeviceLocalMemSize = 0x1023;
constexpr cl_device_info kClDeviceEndianLittle = 0x1026;
constexpr cl_device_info kClDeviceAvailable = 0x1027;
constexpr cl_device_info kClDeviceCompilerAvailable = 0x1028;
constexpr cl_device_info kClDeviceName = 0x102B;
constexpr cl_device_info kClDeviceVendor = 0x102C;
constexpr cl_device_info kClDriverVersion = 0x102D;
constexpr cl_device_info kClDeviceVersion = 0x102F;
constexpr cl_device_info kClDeviceExtensions = 0x1030;
constexpr cl_device_info kClDeviceHalfFpConfig = 0x1033;
constexpr cl_device_info kClDeviceHostUnifiedMemory = 0x1035;
constexpr cl_device_info kClDeviceOpenclCVersion = 0x103D;
constexpr cl_device_info kClDeviceImageMaxBufferSize = 0x1040;
constexpr cl_device_info kClDeviceImagePitchAlignment = 0x104A;        // in pixels; cl_khr_image2d_from_buffer
constexpr cl_device_info kClDeviceImageBaseAddressAlignment = 0x104B;  // the same

constexpr cl_uint kClLocalMemTypeLocal = 1;  // kClDeviceLocalMemType: memory of its own, not a piece of global memory

constexpr cl_context_properties kClContextPlatform = 0x1084;
// cl_qcom_perf_hint and cl_qcom_priority_hint, of Adreno.
constexpr cl_context_properties kClContextPerfHintQcom = 0x40C2;
constexpr cl_context_properties kClPerfHintHighQcom = 0x40C3;
constexpr cl_context_properties kClPerfHintNormalQcom = 0x40C4;
constexpr cl_context_properties kClPerfHintLowQcom = 0x40C5;
constexpr cl_context_properties kClContextPriorityHintQcom = 0x40C9;
constexpr cl_context_properties kClPriorityHintHighQcom = 0x40CA;
constexpr cl_context_properties kClPriorityHintNormalQcom = 0x40CB;
constexpr cl_context_properties kClPriorityHintLowQcom = 0x40CC;

constexpr cl_command_queue_properties kClQueueProfilingEnable = 1 << 1;
constexpr cl_queue_properties kClQueueProperties = 0x1093;
// cl_khr_priority_hints.
constexpr cl_queue_properties kClQueuePriorityKhr = 0x1096;
constexpr cl_queue_properties kClQueuePriorityHighKhr = 1 << 0;
constexpr cl_queue_properties kClQueuePriorityMedKhr = 1 << 1;
constexpr cl_queue_properties kClQueuePriorityLowKhr = 1 << 2;

constexpr cl_mem_flags kClMemReadWrite = 1 << 0;
constexpr cl_mem_flags kClMemWriteOnly = 1 << 1;
constexpr cl_mem_flags kClMemReadOnly = 1 << 2;
constexpr cl_mem_flags kClMemUseHostPtr = 1 << 3;
constexpr cl_mem_flags kClMemAllocHostPtr = 1 << 4;
constexpr cl_mem_flags kClMemCopyHostPtr = 1 << 5;

constexpr cl_map_flags kClMapRead = 1 << 0;
constexpr cl_map_flags kClMapWrite = 1 << 1;
constexpr cl_map_flags kClMapWriteInvalidateRegion = 1 << 2;

constexpr cl_channel_order kClR = 0x10B0;
constexpr cl_channel_order kClRgba = 0x10B5;
constexpr cl_channel_type kClSignedInt8 = 0x10D7;
constexpr cl_channel_type kClSignedInt16 = 0x10D8;
constexpr cl_channel_type kClSignedInt32 = 0x10D9;
constexpr cl_channel_type kClUnsignedInt8 = 0x10DA;
constexpr cl_channel_type kClUnsignedInt16 = 0x10DB;
constexpr cl_channel_type kClUnsignedInt32 = 0x10DC;
constexpr cl_channel_type kClHalfFloat = 0x10DD;
constexpr cl_channel_type kClFloat = 0x10DE;

constexpr cl_mem_object_type kClMemObjectBuffer = 0x10F0;
constexpr cl_mem_object_type kClMemObjectImage2d = 0x10F1;
constexpr cl_mem_object_type kClMemObjectImage1dBuffer = 0x10F6;
constexpr cl_mem_info kClMemType = 0x1100;
constexpr cl_mem_info kClMemFlags = 0x1101;
constexpr cl_mem_info kClMemSize = 0x1102;
constexpr cl_image_info kClImageRowPitch = 0x1112;
constexpr cl_image_info kClImageWidth = 0x1114;
constexpr cl_image_info kClImageHeight = 0x1115;
constexpr cl_buffer_create_type kClBufferCreateTypeRegion = 0x1220;

constexpr cl_program_info kClProgramNumDevices = 0x1162;
constexpr cl_program_info kClProgramBinarySizes = 0x1165;
constexpr cl_program_info kClProgramBinaries = 0x1166;
constexpr cl_program_info kClProgramNumKernels = 0x1167;
constexpr cl_program_info kClProgramKernelNames = 0x1168;
constexpr cl_program_build_info kClProgramBuildStatus = 0x1181;
constexpr cl_program_build_info kClProgramBuildOptions = 0x1182;
constexpr cl_program_build_info kClProgramBuildLog = 0x1183;
constexpr cl_build_status kClBuildSuccess = 0;
constexpr cl_build_status kClBuildNone = -1;
constexpr cl_build_status kClBuildError = -2;
constexpr cl_build_status kClBuildInProgress = -3;

constexpr cl_kernel_info kClKernelFunctionName = 0x1190;
constexpr cl_kernel_info kClKernelNumArgs = 0x1191;
constexpr cl_kernel_work_group_info kClKernelWorkGroupSize = 0x11B0;
constexpr cl_kernel_work_group_info kClKernelCompileWorkGroupSize = 0x11B1;
constexpr cl_kernel_work_group_info kClKernelLocalMemSize = 0x11B2;
constexpr cl_kernel_work_group_info kClKernelPreferredWorkGroupSizeMultiple = 0x11B3;
constexpr cl_kernel_work_group_info kClKernelPrivateMemSize = 0x11B4;

constexpr cl_event_info kClEventCommandExecutionStatus = 0x11D3;
constexpr cl_int kClComplete = 0;
constexpr cl_profiling_info kClProfilingCommandQueued = 0x1280;
constexpr cl_profiling_info kClProfilingCommandSubmit = 0x1281;
constexpr cl_profiling_info kClProfilingCommandStart = 0x1282;
constexpr cl_profiling_info kClProfilingCommandEnd = 0x1283;

// cl_arm_import_memory: clImportMemoryARM, found with GetExtensionFunctionAddressForPlatform.
using cl_import_properties_arm = intptr_t;
constexpr cl_import_properties_arm kClImportTypeArm = 0x40B2;
constexpr cl_import_properties_arm kClImportTypeHostArm = 0x40B3;
constexpr cl_import_properties_arm kClImportTypeDmaBufArm = 0x40B4;
using ClImportMemoryArm = cl_mem (*)(cl_context context, cl_mem_flags flags, const cl_import_properties_arm* properties,
                                     void* memory, size_t size, cl_int* error);

using ClContextNotify = void (*)(const char* text, const void* data, size_t size, void* user);
using ClProgramNotify = void (*)(cl_program program, void* user);

}  // namespace opencl
}  // namespace lathe

// All functions, as `kind(result, name, (parameters))`. Every driver for OpenCL 1.2 has those of the kind `needed`;
// those that are `optional` are null in the table where the driver is too old for them.
// clang-format off
#define LATHE_OPENCL_FUNCTIONS(needed, optional) \
  needed(cl_int, GetPlatformIDs, (cl_uint count, cl_platform_id* platforms, cl_uint* found)) \
  needed(cl_int, GetPlatformInfo, \
         (cl_platform_id platform, cl_platform_info what, size_t size, void* value, size_t* needs)) \
  needed(cl_int, GetDeviceIDs, \
         (cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* devices, cl_uint* found)) \
  needed(cl_int, GetDeviceInfo, (cl_device_id device, cl_device_info what, size_t size, void* value, size_t* needs)) \
  needed(void*, GetExtensionFunctionAddressForPlatform, (cl_platform_id platform, const char* name)) \
  needed(cl_context, CreateContext, \
         (const cl_context_properties* properties, cl_uint count, const cl_device_id* devices, \
          ClContextNotify notify, void* user, cl_int* error)) \
  needed(cl_int, ReleaseContext, (cl_context context)) \
  needed(cl_command_queue, CreateCommandQueue, \
         (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int* error)) \
  optional(cl_command_queue, CreateCommandQueueWithProperties, \
           (cl_context context, cl_device_id device, const cl_queue_properties* properties, cl_int* error)) \
  needed(cl_int, ReleaseCommandQueue, (cl_command_queue queue)) \
  needed(cl_mem, CreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error)) \
  needed(cl_mem, CreateImage, \
         (cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* description, \
          void* host, cl_int* error)) \
  needed(cl_int, ReleaseMemObject, (cl_mem memory)) \
  needed(cl_program, CreateProgramWithSource, \
         (cl_context context, cl_uint count, const char** texts, const size_t* lengths, cl_int* error)) \
  needed(cl_program, CreateProgramWithBinary, \
         (cl_context context, cl_uint count, const cl_device_id* devices, const size_t* lengths, \
          const unsigned char** binaries, cl_int* status, cl_int* error)) \
  needed(cl_int, BuildProgram, \
         (cl_program program, cl_uint count, const cl_device_id* devices, const char* options, \
          ClProgramNotify notify, void* user)) \
  needed(cl_int, ReleaseProgram, (cl_program program)) \
  needed(cl_int, GetProgramInfo, (cl_program program, cl_program_info what, size_t size, void* value, size_t* needs)) \
  needed(cl_int, GetProgramBuildInfo, \
         (cl_program program, cl_device_id device, cl_program_build_info what, size_t size, void* value, \
          size_t* needs)) \
  needed(cl_kernel, CreateKernel, (cl_program program, const char* name, cl_int* error)) \
  needed(cl_int, ReleaseKernel, (cl_kernel kernel)) \
  needed(cl_int, SetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void* value)) \
  needed(cl_int, GetKernelWorkGroupInfo, \
         (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size, void* value, \
          size_t* needs)) \
  needed(cl_int, EnqueueNDRangeKernel, \
         (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset, const size_t* global, \
          const size_t* local, cl_uint waits, const cl_event* wait_list, cl_event* event)) \
  needed(cl_int, EnqueueReadBuffer, \
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* host, \
          cl_uint waits, const cl_event* wait_list, cl_event* event)) \
  needed(cl_int, EnqueueWriteBuffer, \
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void* host, \
          cl_uint waits, const cl_event* wait_list, cl_event* event)) \
  needed(void*, EnqueueMapBuffer, \
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size, \
          cl_uint waits, const cl_event* wait_list, cl_event* event, cl_int* error)) \
  needed(cl_int, EnqueueUnmapMemObject, \
         (cl_command_queue queue, cl_mem memory, void* mapped, cl_uint waits, const cl_event* wait_list, \
          cl_event* event)) \
  needed(cl_int, Flush, (cl_command_queue queue)) \
  needed(cl_int, Finish, (cl_command_queue queue)) \
  needed(cl_int, WaitForEvents, (cl_uint count, const cl_event* events)) \
  needed(cl_int, GetEventProfilingInfo, \
         (cl_event event, cl_profiling_info what, size_t size, void* value, size_t* needs)) \
  needed(cl_int, ReleaseEvent, (cl_event event))
// clang-format on

namespace lathe {
namespace opencl {

struct ClApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define LATHE_OPENCL_MEMBER(result, name, parameters) result(*name) parameters;
  LATHE_OPENCL_FUNCTIONS(LATHE_OPENCL_MEMBER, LATHE_OPENCL_MEMBER)
#undef LATHE_OPENCL_MEMBER
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_CL_H_

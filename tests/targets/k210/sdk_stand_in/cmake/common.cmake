# Before `project`: the compiler, and the flags of all sources.
foreach(needed BUILDING_SDK SDK_ROOT)
  if(NOT ${needed})
    message(FATAL_ERROR "${needed} has to be set before")
  endif()
endforeach()
if(NOT TOOLCHAIN)
  find_path(TOOLCHAIN riscv64-unknown-elf-gcc)
endif()
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER "${TOOLCHAIN}/riscv64-unknown-elf-gcc")
set(CMAKE_CXX_COMPILER "${TOOLCHAIN}/riscv64-unknown-elf-g++")
set(CMAKE_OBJCOPY "${TOOLCHAIN}/riscv64-unknown-elf-objcopy" CACHE STRING "" FORCE)
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_WORKS 1)
  set(
    CMAKE_${language}_FLAGS
    "-march=rv64imafc -mabi=lp64f -mcmodel=medany --specs=picolibc.specs -ffast-math -fsingle-precision-constant -Os -Wall -Wextra -Werror=all -Werror=frame-larger-than=32768"
  )
endforeach()
set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -std=gnu11")
set(
  CMAKE_EXE_LINKER_FLAGS
  "-Wl,--gc-sections -Wl,--defsym=__flash=0x80000000 -Wl,--defsym=__flash_size=0x300000 -Wl,--defsym=__ram=0x80300000 -Wl,--defsym=__ram_size=0x300000 -Wl,--defsym=__stack_size=0x8000"
)

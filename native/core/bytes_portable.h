// Bytes on any machine.
#ifndef LATHE_CORE_BYTES_PORTABLE_H_
#define LATHE_CORE_BYTES_PORTABLE_H_

#define LATHE_VECTORS portable

#endif  // LATHE_CORE_BYTES_PORTABLE_H_

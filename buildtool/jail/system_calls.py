"""The filter of system calls of the jail, as the kernel takes it: a program of its packet filter.

What is not listed fails. It is a list of what Python and PyTorch need, not of what is known to be bad. Numbers are
those of x86-64 and of aarch64; 0 stands for a call that the machine does not have (`read`, which is 0, is on both).
"""

from __future__ import annotations

import struct

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column below; the kernel's word for it
_READ = (0, 63)

#: Calls that are harmless whatever their arguments: files are Landlock's affair.
_FREE = {
    "close": (3, 57), "fstat": (5, 80), "lseek": (8, 62), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214),
    "write": (1, 64), "futex": (202, 98), "newfstatat": (262, 79), "stat": (4, 0), "lstat": (6, 0), "poll": (7, 0),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "pread64": (17, 67),
    "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70),
    "access": (21, 0), "faccessat": (269, 48), "faccessat2": (439, 439), "pipe": (22, 0), "pipe2": (293, 59),
    "select": (23, 0), "pselect6": (270, 72), "ppoll": (271, 73), "sched_yield": (24, 124), "mremap": (25, 216),
    "msync": (26, 227), "mincore": (27, 232), "madvise": (28, 233), "dup": (32, 23), "dup2": (33, 0),
    "dup3": (292, 24), "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "alarm": (37, 0), "getitimer": (36, 102),
    "setitimer": (38, 103), "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158), "getpgrp": (111, 0),
    "getpgid": (121, 155), "sendfile": (40, 71), "copy_file_range": (326, 285), "exit": (60, 93),
    "exit_group": (231, 94), "uname": (63, 160), "sysinfo": (99, 179), "times": (100, 153), "time": (201, 0),
    "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114), "getrusage": (98, 165),
    "getrlimit": (97, 163), "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "fallocate": (285, 47),
    "fadvise64": (221, 223), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "getdents64": (217, 61),
    "readlink": (89, 0), "readlinkat": (267, 78), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44),
    "umask": (95, 166), "sigaltstack": (131, 132), "arch_prctl": (158, 0), "set_tid_address": (218, 96),
    "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293), "membarrier": (324, 283),
    "getrandom": (318, 278), "getcpu": (309, 168), "sched_getaffinity": (204, 123), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "mbind": (237, 235), "get_mempolicy": (239, 236), "eventfd2": (290, 19), "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21), "epoll_wait": (232, 0), "epoll_pwait": (281, 22), "close_range": (436, 436),
    "restart_syscall": (219, 128),
}  # fmt: skip

_MMAP, _OPEN, _OPENAT, _CLONE = (9, 222), (2, 0), (257, 56), (56, 220)
_IOCTL, _FCNTL, _PRCTL, _PRLIMIT = (16, 29), (72, 25), (157, 167), (302, 261)
_KILL, _TGKILL, _SET_AFFINITY = (62, 129), (234, 131), (203, 122)
_TRUNCATE, _ACCESS = 0o1000, 3  # of the flags of open: O_TRUNC, and the bits of which O_RDONLY has none
_SHARED_ANONYMOUS, _GROWS_DOWN = 0x21, 0x100
_THREAD, _NAMESPACES = 0x10000, 0x7E020080
_TERMINAL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_OF_DESCRIPTORS = (0, 1, 2, 3, 4, 1030, 1033, 1034)  # F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL ..., not F_SETOWN
_NAMES = (15, 16, 0x53564D41)  # PR_SET_NAME PR_GET_NAME PR_SET_VMA

# Instructions: load a word, and with the accumulator, jump where equal or not below, leave with an answer.
_LOAD, _AND, _EQUAL, _NOT_BELOW, _ANSWER = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _FAIL, _END = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS = 1, 38
_YOUNG = 424  # calls from here on are missing in older kernels, and callers do without them
_OTHER_ABI = 0x40000000  # x32 calls, which have numbers of their own


def program(machine: str, process: int) -> bytes | None:
    """The filter for a process. None for machines whose system calls are not known here."""
    if machine not in _MACHINES or struct.calcsize("P") != 8:
        return None
    column, word = _MACHINES[machine]
    free = [_READ[column], *(numbers[column] for numbers in _FREE.values() if numbers[column])]
    parts = [_one(_LOAD, 4), _one(_EQUAL, word, 1, 0), _one(_ANSWER, _END)]
    parts += [_one(_LOAD, 0), _one(_NOT_BELOW, _OTHER_ABI, 0, 1), _one(_ANSWER, _END)]
    parts += [_one(_EQUAL, number, 0, 1) + _one(_ANSWER, _ALLOW) for number in free]
    refused = _one(_ANSWER, _FAIL | _EPERM)
    for numbers, tests in _conditions(process):
        if number := numbers[column]:
            body = tests + refused
            parts += [_one(_EQUAL, number, 0, len(body) // 8), body]
    parts += [_one(_NOT_BELOW, _YOUNG, 0, 1), _one(_ANSWER, _FAIL | _ENOSYS), refused]
    return b"".join(parts)


def _conditions(process: int) -> list[tuple[tuple[int, int], bytes]]:
    """Calls that are allowed with some arguments only."""
    own = _among(0, (process,))
    flags = _TRUNCATE | _ACCESS  # older kernels empty files that are opened for reading, if asked to
    return [
        # memory that is shared, or grows by itself, counts for no limit
        (_MMAP, _unless(3, _SHARED_ANONYMOUS, _SHARED_ANONYMOUS) + _unless(3, _GROWS_DOWN, _GROWS_DOWN) + _allowed()),
        (_OPENAT, _unless(2, flags, _TRUNCATE) + _allowed()),
        (_OPEN, _unless(1, flags, _TRUNCATE) + _allowed()),
        (_CLONE, _masked(0, _THREAD | _NAMESPACES, _THREAD)),
        (_IOCTL, _among(1, _TERMINAL)),
        (_FCNTL, _among(1, _OF_DESCRIPTORS)),
        (_PRCTL, _among(0, _NAMES)),
        (_PRLIMIT, _unless_zero(2) + _allowed()),
        (_KILL, own),
        (_TGKILL, own),
        (_SET_AFFINITY, _among(0, (0,))),
    ]


def _one(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


def _argument(index: int, *, high: bool = False) -> bytes:
    """Loads half of an argument; both machines store the low half first."""
    return _one(_LOAD, 16 + 8 * index + 4 * high)


def _allowed() -> bytes:
    return _one(_ANSWER, _ALLOW)


def _refused() -> bytes:
    return _one(_ANSWER, _FAIL | _EPERM)


def _among(index: int, values: tuple[int, ...]) -> bytes:
    return _argument(index) + b"".join(_one(_EQUAL, value, 0, 1) + _allowed() for value in values)


def _masked(index: int, mask: int, value: int) -> bytes:
    """Allowed where these bits are so."""
    return _argument(index) + _one(_AND, mask) + _one(_EQUAL, value, 0, 1) + _allowed()


def _unless(index: int, mask: int, value: int) -> bytes:
    """Refused where these bits are so."""
    return _argument(index) + _one(_AND, mask) + _one(_EQUAL, value, 0, 1) + _refused()


def _unless_zero(index: int) -> bytes:
    return b"".join(_argument(index, high=high) + _one(_EQUAL, 0, 1, 0) + _refused() for high in (False, True))

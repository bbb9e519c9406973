/*
 * Lets a kernel run on processors with AMX; loaded into it in front of libc, there alone.
 *
 * User-mode Linux keeps 2,696 bytes of a process's extended registers. ptrace(2) hands over that part
 * of a larger set, but takes back the whole set or fails with EFAULT, and the kernel panics. So this code
 * takes the other registers from the process unchanged. They are empty, because no guest has been given AMX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PEEKTEXT = 1, PEEKUSER = 3, GETREGSET = 0x4204, SETREGSET = 0x4205, X86_XSTATE = 0x202 };

long ptrace(int request, ...) {
  va_list more;
  va_start(more, request);
  pid_t process = va_arg(more, pid_t);
  void *address = va_arg(more, void *);
  void *data = va_arg(more, void *);
  va_end(more);
  if (request == SETREGSET && (long)address == X86_XSTATE) {
    /* A kernel has one processor, and so one thread that traces. */
    static char registers[64 << 10] __attribute__((aligned(64)));
    struct iovec *kept = data, whole = {registers, sizeof registers};
    if (syscall(SYS_ptrace, GETREGSET, process, address, &whole) < 0) {
      return -1;
    }
    if (kept->iov_len < whole.iov_len) {
      memcpy(registers, kept->iov_base, kept->iov_len);
      data = &whole;
    }
    return syscall(SYS_ptrace, request, process, address, data);
  }
  if (request >= PEEKTEXT && request <= PEEKUSER) {
    /* As in libc, the function returns the word that the system call stores. */
    long word = 0;
    return syscall(SYS_ptrace, request, process, address, &word) < 0 ? -1 : word;
  }
  return syscall(SYS_ptrace, request, process, address, data);
}

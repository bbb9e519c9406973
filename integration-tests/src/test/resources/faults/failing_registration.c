// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into the JVMs of a node: while the file of FAILING_REGISTRATION exists, the kernel refuses one allocation in every second
// registration of memory, the first one in the first of them, the second one in the next, and so on up to DEPTH. Only the system call that
// registers fails, no other allocation of the thread: its own memory would be refused too, which ends a JVM.
//
// Counts by /proc/thread-self/fail-nth, see the kernel's Documentation/fault-injection/fault-injection.rst; which kinds of allocations
// count is set in debugfs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 12

static atomic_uint registrations;

// Whether a command registers memory. libibverbs sends this one as a command of the older interface inside the newer one.
static int registers(const struct ib_uverbs_ioctl_hdr *command) {
  if (command->object_id != UVERBS_OBJECT_DEVICE || command->method_id != UVERBS_METHOD_INVOKE_WRITE) {
    return 0;
  }
  for (int i = 0; i < command->num_attrs; i++) {
    if (command->attrs[i].attr_id == UVERBS_ATTR_WRITE_CMD) {
      return command->attrs[i].data == IB_USER_VERBS_CMD_REG_MR;
    }
  }
  return 0;
}

// Position of the allocation that fails in this registration, from 1; 0 for none.
static unsigned position(void) {
  const char *file = getenv("FAILING_REGISTRATION");
  if (file == NULL || access(file, F_OK) != 0) {
    return 0;
  }
  unsigned number = atomic_fetch_add(&registrations, 1);
  return number % 2 == 1 ? 0 : 1 + number / 2 % DEPTH;
}

static void set(int counter, unsigned nth) {
  char text[16];
  int length = snprintf(text, sizeof text, "%u", nth);
  if (pwrite(counter, text, length, 0) != length) {
    perror("fail-nth");
    abort();
  }
}

int ioctl(int fd, unsigned long request, ...) {
  static int (*next)(int, unsigned long, ...);
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (next == NULL) {
    next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
  }
  unsigned nth = request == RDMA_VERBS_IOCTL && registers(argument) ? position() : 0;
  if (nth == 0) {
    return next(fd, request, argument);
  }
  int counter = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
  if (counter < 0) {
    perror("/proc/thread-self/fail-nth");
    abort();
  }
  set(counter, nth);
  int result = next(fd, request, argument);
  int error = errno;
  set(counter, 0);
  close(counter);
  errno = error;
  return result;
}

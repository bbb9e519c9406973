// SPDX-License-Identifier: Apache-2.0
//
// A disk that fails under map outputs, for LD_PRELOAD. From the moment when the file named by the environment
// variable FAILING_DISK exists, every function that reads a map output that is not newer than that file fails with
// EIO. Each failure appends one byte to the file with the suffix ".hits".
//
// A map output is a file shuffle_*.data of Spark, or a hard link to one, which the loopback engine makes beside it
// as .sparkrdma-soft-NAME. The functions call the kernel directly, so they also work before this library is
// initialized.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_map_output(int fd) {
  char link[64];
  char path[PATH_MAX + 1];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX);
  if (length < 0) {
    return 0;
  }
  path[length] = 0;
  if (strstr(path, "/.sparkrdma-soft-")) {
    return 1;
  }
  char *name = strrchr(path, '/');
  return name && !strncmp(name, "/shuffle_", strlen("/shuffle_")) && strstr(name, ".data");
}

static int is_newer(const struct stat *file, const struct stat *than) {
  return file->st_mtim.tv_sec != than->st_mtim.tv_sec
             ? file->st_mtim.tv_sec > than->st_mtim.tv_sec
             : file->st_mtim.tv_nsec > than->st_mtim.tv_nsec;
}

static void add_hit(const char *begin) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s.hits", begin);
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) {
    if (write(fd, "x", 1) != 1) {
      abort();
    }
    close(fd);
  }
}

// Returns 1 and sets errno when reads of this descriptor fail; otherwise leaves errno as it is.
static int fails(int fd) {
  int saved = errno;
  const char *begin = getenv("FAILING_DISK");
  struct stat file;
  struct stat since;
  int result = begin && !fstat(fd, &file) && S_ISREG(file.st_mode) && !stat(begin, &since)
               && !is_newer(&file, &since) && is_map_output(fd);
  if (result) {
    add_hit(begin);
  }
  errno = result ? EIO : saved;
  return result;
}

ssize_t read(int fd, void *buffer, size_t bytes) {
  return fails(fd) ? -1 : syscall(SYS_read, fd, buffer, bytes);
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset) {
  return fails(fd) ? -1 : syscall(SYS_pread64, fd, buffer, bytes, offset);
}

ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset) {
  return fails(fd) ? -1 : syscall(SYS_pread64, fd, buffer, bytes, offset);
}

ssize_t readv(int fd, const struct iovec *parts, int count) {
  return fails(fd) ? -1 : syscall(SYS_readv, fd, parts, count);
}

ssize_t sendfile(int out, int in, off_t *offset, size_t bytes) {
  return fails(in) ? -1 : syscall(SYS_sendfile, out, in, offset, bytes);
}

ssize_t sendfile64(int out, int in, off64_t *offset, size_t bytes) {
  return fails(in) ? -1 : syscall(SYS_sendfile, out, in, offset, bytes);
}

ssize_t copy_file_range(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t bytes, unsigned flags) {
  return fails(in) ? -1 : syscall(SYS_copy_file_range, in, in_offset, out, out_offset, bytes, flags);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return fd >= 0 && fails(fd) ? MAP_FAILED
                              : (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset) {
  return fd >= 0 && fails(fd) ? MAP_FAILED
                              : (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

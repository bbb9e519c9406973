// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The functions of the C library that the engine uses. A failure returns -1, see {@link
 * SetUpCalls#errno}.
 */
public final class Libc {
  private static final int EINTR = 4;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EINVAL = 22;
  static final int ENOSYS = 38;
  public static final int EOPNOTSUPP = 95;
  private static final int ENOPROTOOPT = 92;
  public static final int POLLIN = 1;
  private static final int POLLERR_POLLHUP_POLLNVAL = 0x38;

  private static final int PROT_READ = 1;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  private static final int MADV_DONTNEED = 4;
  private static final int MADV_DONTFORK = 10;
  private static final int MADV_HUGEPAGE = 14;

  /** Since Linux 5.14. */
  private static final int MADV_POPULATE_WRITE = 23;

  private static final int O_RDONLY = 0;
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = 0x80000;
  private static final int SEEK_END = 2;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int EFD_CLOEXEC_NONBLOCK = 0x80800;
  private static final long FAILED = -1;

  /** The JDK's charset for file names. */
  private static final Charset FILE_NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private static final Symbols LIBRARY = Symbols.ofC();
  private static final long PPOLL = LIBRARY.get("ppoll");
  private static final long READ = LIBRARY.get("read");
  private static final long WRITE = LIBRARY.get("write");

  private Libc() {}

  /** Whether the error number means that the kernel lacks a feature. */
  public static boolean isUnsupported(int errno) {
    return errno == ENOSYS || errno == ENOPROTOOPT || errno == EOPNOTSUPP;
  }

  /** See calloc(3): zeroed memory, or 0. {@link #free} frees it. */
  static long calloc(long lengthBytes) {
    return SetUpCalls.call(LIBRARY.get("calloc"), 1, lengthBytes);
  }

  static void free(long address) {
    SetUpCalls.call(LIBRARY.get("free"), address);
  }

  /**
   * Maps zeroed memory, present, and not to be copied into child processes. It asks for huge pages,
   * so that a device needs few entries to translate its addresses; a kernel without them gives
   * small ones, one before 6.7 also at both ends.
   *
   * @return its address, or -1
   */
  public static long map(long lengthBytes) {
    long address =
        SetUpCalls.call(
            LIBRARY.get("mmap"), 0, lengthBytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
    if (address != FAILED) {
      SetUpCalls.callInt(LIBRARY.get("madvise"), address, lengthBytes, MADV_HUGEPAGE);
      // Where the kernel lacks it, the registration faults the pages in.
      SetUpCalls.callInt(LIBRARY.get("madvise"), address, lengthBytes, MADV_POPULATE_WRITE);
      SetUpCalls.callInt(LIBRARY.get("madvise"), address, lengthBytes, MADV_DONTFORK);
    }
    return address;
  }

  /**
   * Opens a file for reading, or for reading and writing.
   *
   * @return its descriptor, or -errno: freeing the path replaces the errno of this call
   */
  public static int openFile(Path file, boolean writable) {
    try (NativeArena one = new NativeArena()) {
      long path = one.allocate(file.toString().getBytes(FILE_NAMES), 1);
      int flags = O_CLOEXEC | (writable ? O_RDWR : O_RDONLY);
      int fd = SetUpCalls.callInt(LIBRARY.get("open"), path, flags);
      return fd < 0 ? -SetUpCalls.errno() : fd;
    }
  }

  /** The length of an open file, or -1. */
  public static long fileBytes(int fd) {
    return SetUpCalls.call(LIBRARY.get("lseek"), fd, 0, SEEK_END);
  }

  /**
   * Maps a range of an open file, shared with other processes.
   *
   * @param offset a multiple of {@link #pageBytes}
   * @return its address, or -1
   */
  public static long mapFile(int fd, long offset, long lengthBytes, boolean writable) {
    int protection = writable ? PROT_READ_WRITE : PROT_READ;
    return SetUpCalls.call(LIBRARY.get("mmap"), 0, lengthBytes, protection, MAP_SHARED, fd, offset);
  }

  /** The size of a page. */
  public static int pageBytes() {
    return SetUpCalls.callInt(LIBRARY.get("getpagesize"));
  }

  /** Returns the pages of anonymous memory to the system; the next read finds zeros. */
  static void dropPages(long address, long lengthBytes) {
    SetUpCalls.callInt(LIBRARY.get("madvise"), address, lengthBytes, MADV_DONTNEED);
  }

  public static void unmap(long address, long lengthBytes) {
    SetUpCalls.callInt(LIBRARY.get("munmap"), address, lengthBytes);
  }

  /** Makes reads of a descriptor non-blocking. */
  public static int setNonBlocking(int fd) {
    int flags = SetUpCalls.callInt(LIBRARY.get("fcntl"), fd, F_GETFL, 0);
    return SetUpCalls.callInt(LIBRARY.get("fcntl"), fd, F_SETFL, flags | O_NONBLOCK);
  }

  /** See ppoll(2); {@code timespec} 0 waits for ever. Keeps no errno. */
  public static int poll(long pollfds, int count, long timespec) {
    return Native.ppoll(PPOLL, pollfds, count, timespec);
  }

  /** Whether a descriptor with these {@code revents} will be ready for ever without an event. */
  public static boolean isDead(int revents) {
    return (revents & POLLIN) == 0 && (revents & POLLERR_POLLHUP_POLLNVAL) != 0;
  }

  /**
   * Whether a call that takes an event failed with this error number because there is none now.
   * After any other one the descriptor may stay readable for ever without an event.
   */
  public static boolean isNoEvent(int errno) {
    return errno == EAGAIN || errno == EINTR;
  }

  /** A descriptor that wakes a waiting thread, see eventfd(2). */
  public static int eventfd() {
    return SetUpCalls.callInt(LIBRARY.get("eventfd"), 0, EFD_CLOEXEC_NONBLOCK);
  }

  /** See read(2), for a few bytes. Keeps no errno. */
  public static int read(int fd, long buffer, int lengthBytes) {
    return Native.callThree(READ, fd, buffer, lengthBytes);
  }

  /** See write(2), for a few bytes. Keeps no errno. */
  public static int write(int fd, long buffer, int lengthBytes) {
    return Native.callThree(WRITE, fd, buffer, lengthBytes);
  }

  public static void close(int fd) {
    SetUpCalls.callInt(LIBRARY.get("close"), fd);
  }

  /**
   * Sets a variable in the environment of C libraries, unless it is set; see setenv(3). Processes
   * that Java starts later may inherit it. C code that reads the environment at the same time reads
   * the array of the process's start, which the first change copies and does not free.
   */
  static void setEnvironment(String name, String value) {
    try (NativeArena one = new NativeArena()) {
      long nameAt = one.allocate(name.getBytes(StandardCharsets.UTF_8), 1);
      long valueAt = one.allocate(value.getBytes(StandardCharsets.UTF_8), 1);
      SetUpCalls.callInt(LIBRARY.get("setenv"), nameAt, valueAt, 0);
    }
  }

  /** The system's text for an errno. */
  public static String strerror(int errno) {
    return Native.string(SetUpCalls.call(LIBRARY.get("strerror"), errno));
  }
}

/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.ibverbs.ffi;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/**
 * What the engine needs of the C library. Failures come back as -1, see {@link Downcalls#errno}.
 */
public final class Libc {
  public static final int EINTR = 4;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  static final int ENOSYS = 38;
  static final int EOPNOTSUPP = 95;
  public static final int POLLIN = 1;

  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_PRIVATE_ANONYMOUS_POPULATE = 0x8022;
  private static final int MADV_DONTFORK = 10;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int EFD_CLOEXEC_NONBLOCK = 0x80800;
  private static final long FAILED = -1;

  private static final SymbolLookup LIBRARY = Linker.nativeLinker().defaultLookup();
  private static final MemorySegment MMAP = find("mmap");
  private static final MemorySegment MUNMAP = find("munmap");
  private static final MemorySegment MADVISE = find("madvise");
  private static final MemorySegment FCNTL = find("fcntl");
  private static final MemorySegment PPOLL = find("ppoll");
  private static final MemorySegment EVENTFD = find("eventfd");
  private static final MemorySegment READ = find("read");
  private static final MemorySegment WRITE = find("write");
  private static final MemorySegment CLOSE = find("close");
  private static final MemorySegment STRERROR = find("strerror");

  private Libc() {}

  private static MemorySegment find(String name) {
    return LIBRARY.find(name).orElseThrow(() -> new LinkageError("no such C function: " + name));
  }

  /**
   * Maps zeroed memory, present, and not to be copied into child processes.
   *
   * @return its address, or -1
   */
  public static long map(long lengthBytes) {
    long address =
        Downcalls.callLong(
            MMAP, 0, lengthBytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_POPULATE, -1, 0);
    if (address != FAILED) {
      Downcalls.callInt(MADVISE, address, lengthBytes, MADV_DONTFORK);
    }
    return address;
  }

  public static void unmap(long address, long lengthBytes) {
    Downcalls.callInt(MUNMAP, address, lengthBytes);
  }

  /** Makes reading from a descriptor return at once when there is nothing. */
  public static int setNonBlocking(int fd) {
    int flags = Downcalls.callInt(FCNTL, fd, F_GETFL, 0);
    return Downcalls.callInt(FCNTL, fd, F_SETFL, flags | O_NONBLOCK);
  }

  /** See ppoll(2); {@code timespec} 0 waits for ever. Keeps no errno. */
  public static int poll(long pollfds, int count, long timespec) {
    return Downcalls.ppoll(PPOLL, pollfds, count, timespec);
  }

  /** A descriptor to be woken by, see eventfd(2). */
  public static int eventfd() {
    return Downcalls.callInt(EVENTFD, 0, EFD_CLOEXEC_NONBLOCK);
  }

  /** See read(2), of a few bytes. Keeps no errno. */
  public static int read(int fd, long buffer, int lengthBytes) {
    return Downcalls.callThree(READ, fd, buffer, lengthBytes);
  }

  /** See write(2), of a few bytes. Keeps no errno. */
  public static int write(int fd, long buffer, int lengthBytes) {
    return Downcalls.callThree(WRITE, fd, buffer, lengthBytes);
  }

  public static void close(int fd) {
    Downcalls.callInt(CLOSE, fd);
  }

  /** The system's words for an error number. */
  public static String strerror(int errno) {
    return Memory.string(Downcalls.callLong(STRERROR, errno));
  }
}

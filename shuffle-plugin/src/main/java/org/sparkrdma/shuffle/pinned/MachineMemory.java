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
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * How much memory this process may have, as the system says.
 *
 * @param physicalBytes of the host
 * @param containerBytes least limit of the control groups it is in; empty for none
 * @param lockableBytes RLIMIT_MEMLOCK, see getrlimit(2); empty for unlimited
 * @param locksFreely whether that limit does not bind it: CAP_IPC_LOCK, see capabilities(7)
 * @param heapBytes most that the Java heap takes
 * @param pageBytes of a page
 * @param processors that this process may use
 */
public record MachineMemory(
    OptionalLong physicalBytes,
    OptionalLong containerBytes,
    OptionalLong lockableBytes,
    boolean locksFreely,
    long heapBytes,
    long pageBytes,
    int processors) {
  private static final long AT_PAGESZ = 6;
  private static final long COMMON_PAGE_BYTES = 4_096;
  private static final int CAP_IPC_LOCK = 14;
  private static final int HEX = 16;
  private static final String ALL_USERS = "0 0 4294967295";

  /** Asks this machine. */
  public static MachineMemory ofThisMachine() {
    Runtime runtime = Runtime.getRuntime();
    return under(Path.of("/"), runtime.maxMemory(), runtime.availableProcessors());
  }

  /** Reads the files that tell it under a root directory; what cannot be read is left empty. */
  static MachineMemory under(Path root, long heapBytes, int processors) {
    SystemFiles files = new SystemFiles(root);
    OptionalLong physical = OptionalLong.empty();
    for (String line : files.lines("proc/meminfo")) {
      if (line.startsWith("MemTotal:")) {
        OptionalLong kibibytes = SystemFiles.number(line);
        physical = OptionalLong.of(kibibytes.orElse(0) * 1024);
      }
    }
    return new MachineMemory(
        physical,
        new ControlGroups(files).leastLimit(),
        lockable(files),
        locksFreely(files),
        heapBytes,
        pageBytes(root),
        processors);
  }

  /** RLIMIT_MEMLOCK as far as it binds; empty when it does not. */
  OptionalLong boundBytes() {
    return locksFreely ? OptionalLong.empty() : lockableBytes;
  }

  private static OptionalLong lockable(SystemFiles files) {
    String name = "Max locked memory";
    for (String line : files.lines("proc/self/limits")) {
      if (line.startsWith(name)) {
        // Soft before hard limit; a soft one in words is "unlimited".
        String soft = line.substring(name.length()).trim().split("\\s+", 2)[0];
        return SystemFiles.number(soft);
      }
    }
    return OptionalLong.empty();
  }

  /** The kernel asks for the capability in its first user namespace, where all users are mapped. */
  private static boolean locksFreely(SystemFiles files) {
    boolean first =
        files.lines("proc/self/uid_map").stream()
            .anyMatch(line -> line.trim().replaceAll("\\s+", " ").equals(ALL_USERS));
    if (!first) {
      return false;
    }
    for (String line : files.lines("proc/self/status")) {
      if (line.startsWith("CapEff:")) {
        try {
          long mask = Long.parseUnsignedLong(line.substring("CapEff:".length()).trim(), HEX);
          return ((mask >> CAP_IPC_LOCK) & 1) == 1;
        } catch (NumberFormatException e) {
          return false;
        }
      }
    }
    return false;
  }

  /** See getauxval(3): pairs of words, kind and value. */
  private static long pageBytes(Path root) {
    try {
      ByteBuffer words =
          ByteBuffer.wrap(Files.readAllBytes(root.resolve("proc/self/auxv")))
              .order(ByteOrder.nativeOrder());
      while (words.remaining() >= 2 * Long.BYTES) {
        long kind = words.getLong();
        long value = words.getLong();
        if (kind == AT_PAGESZ) {
          return value;
        }
      }
    } catch (IOException e) {
      return COMMON_PAGE_BYTES;
    }
    return COMMON_PAGE_BYTES;
  }
}

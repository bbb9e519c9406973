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
package org.sparkrdma.shuffle.settings;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How much memory this process may have, as the system says.
 *
 * @param physicalBytes of the host
 * @param containerBytes limit of the control group, see cgroups(7); empty for none
 * @param lockableBytes RLIMIT_MEMLOCK, see getrlimit(2); empty for unlimited
 * @param heapBytes most that the Java heap takes
 * @param pageBytes of a page
 */
public record MachineMemory(
    OptionalLong physicalBytes,
    OptionalLong containerBytes,
    OptionalLong lockableBytes,
    long heapBytes,
    long pageBytes) {
  private static final Pattern NUMBER = Pattern.compile("\\d{1,19}");
  private static final long AT_PAGESZ = 6;
  private static final long COMMON_PAGE_BYTES = 4_096;

  /** Asks this machine. */
  public static MachineMemory ofThisMachine() {
    return under(Path.of("/"), Runtime.getRuntime().maxMemory());
  }

  /** Reads the files that tell it under a root directory; what cannot be read is left empty. */
  static MachineMemory under(Path root, long heapBytes) {
    OptionalLong physical = OptionalLong.empty();
    for (String line : lines(root.resolve("proc/meminfo"))) {
      if (line.startsWith("MemTotal:")) {
        OptionalLong kibibytes = number(line);
        physical = OptionalLong.of(kibibytes.orElse(0) * 1024);
      }
    }
    OptionalLong lockable = OptionalLong.empty();
    for (String line : lines(root.resolve("proc/self/limits"))) {
      if (line.startsWith("Max locked memory")) {
        // A soft limit of "unlimited" has a hard one of the same.
        lockable = number(line);
      }
    }
    return new MachineMemory(physical, containerBytes(root), lockable, heapBytes, pageBytes(root));
  }

  /** The least limit of this process's own control group and of the container's root one. */
  private static OptionalLong containerBytes(Path root) {
    Path version2 = root.resolve("sys/fs/cgroup");
    Path version1 = version2.resolve("memory");
    List<Path> files = new ArrayList<>();
    files.add(version2.resolve("memory.max"));
    files.add(version1.resolve("memory.limit_in_bytes"));
    for (String line : lines(root.resolve("proc/self/cgroup"))) {
      String own = line.substring(line.lastIndexOf(':') + 1).replaceFirst("^/+", "");
      if (line.startsWith("0::")) {
        files.add(version2.resolve(own).resolve("memory.max"));
      } else if (line.contains(":memory:")) {
        files.add(version1.resolve(own).resolve("memory.limit_in_bytes"));
      }
    }
    // Version 2 says "max" for none, version 1 a number near 2^63.
    return files.stream()
        .flatMap(file -> lines(file).stream())
        .map(MachineMemory::number)
        .flatMapToLong(OptionalLong::stream)
        .filter(limit -> limit < Long.MAX_VALUE / 2)
        .min();
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

  /** The first number of a line. */
  private static OptionalLong number(String line) {
    Matcher matcher = NUMBER.matcher(line);
    return matcher.find() ? OptionalLong.of(Long.parseLong(matcher.group())) : OptionalLong.empty();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }
}

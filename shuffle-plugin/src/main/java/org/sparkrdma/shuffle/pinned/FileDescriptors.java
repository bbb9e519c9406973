// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** File descriptors of this process and their limit ({@code ulimit -n}). Stateless. */
public final class FileDescriptors {
  /** RDMA starts only when this many are free, so that Spark's tasks have the rest. */
  public static final int NEEDED = 64;

  private FileDescriptors() {}

  /**
   * Number of descriptors that are free, 0 also where the count itself gets none; empty where the
   * system does not report them, as some sandboxes, or has no limit.
   */
  public static OptionalLong free(SystemFiles files) {
    Path own = files.root().resolve("proc/self");
    try (Stream<Path> open = Files.list(own.resolve("fd"))) {
      for (String line : Files.readAllLines(own.resolve("limits"), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith("Max open files ")) {
          OptionalLong limit = SystemFiles.number(line.split(" +", -1)[3]);
          return limit.isEmpty()
              ? limit
              : OptionalLong.of(Math.max(0, limit.getAsLong() - open.count()));
        }
      }
      return OptionalLong.empty();
    } catch (NoSuchFileException | AccessDeniedException e) {
      return OptionalLong.empty();
    } catch (IOException e) {
      return OptionalLong.of(0);
    }
  }
}

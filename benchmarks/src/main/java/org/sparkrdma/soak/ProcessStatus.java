// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The kernel's file {@code status} of a process, see proc(5).
 *
 * @param lines of the file
 */
record ProcessStatus(List<String> lines) {
  private static final double KIB_PER_MIB = 1024;

  /**
   * Reads the file.
   *
   * @param process directory of the process in /proc
   * @throws IOException when the process has ended
   */
  static ProcessStatus of(Path process) throws IOException {
    return new ProcessStatus(Files.readAllLines(process.resolve("status")));
  }

  /**
   * Returns an amount of memory in MiB.
   *
   * @throws IOException when the file has no such line: the process has ended
   */
  double mib(String key) throws IOException {
    return Double.parseDouble(value(key).split(" ", -1)[0]) / KIB_PER_MIB;
  }

  private String value(String key) throws IOException {
    String start = key + ":";
    return lines.stream()
        .filter(line -> line.startsWith(start))
        .findFirst()
        .map(line -> line.substring(start.length()).strip())
        .orElseThrow(() -> new IOException("the process has ended: no " + key));
  }
}

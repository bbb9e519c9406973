// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** The last lines of a log of any length. */
final class LogTail {
  private static final int MAX_BYTES = 64 << 10;

  private LogTail() {}

  static List<String> of(Path log, int lines) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      long start = Math.max(0, file.length() - MAX_BYTES);
      byte[] end = new byte[(int) (file.length() - start)];
      file.seek(start);
      file.readFully(end);
      List<String> all = new String(end, StandardCharsets.UTF_8).lines().toList();
      return all.subList(Math.max(0, all.size() - lines), all.size());
    }
  }
}

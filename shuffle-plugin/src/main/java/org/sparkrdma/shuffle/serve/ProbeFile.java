// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A temporary file of zeros for tests of a device. The creator closes it, which deletes it. */
record ProbeFile(Path path) implements AutoCloseable {
  /**
   * Writes a file into the directory.
   *
   * @throws IOException when it cannot be written; then it is deleted
   */
  static ProbeFile create(Path directory, int lengthBytes) throws IOException {
    Path path = Files.createTempFile(directory, "rdma-probe", ".tmp");
    try {
      Files.write(path, new byte[lengthBytes]);
      return new ProbeFile(path);
    } catch (IOException e) {
      Files.deleteIfExists(path);
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(path);
  }
}

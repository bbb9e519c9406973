// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Chooses how files are mapped; the multi-release part has another version of this class for Java
 * 22.
 */
public final class Mappings {
  private Mappings() {}

  /** Maps the first {@code lengthBytes} of the file, which the channel has open. */
  public static Mapping of(FileChannel channel, Path file, long lengthBytes) throws IOException {
    return new MappedWindows(channel, file, lengthBytes);
  }
}

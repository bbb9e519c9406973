// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.channels.FileChannel;

/** Chooses how files are mapped, on Java 22 and newer. */
public final class Mappings {
  private Mappings() {}

  /** Maps the first {@code lengthBytes} of the file; the mapping closes the channel. */
  public static Mapping of(FileChannel channel, long lengthBytes) throws IOException {
    return new MappedSegment(channel, lengthBytes);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A registered file and its links, shared by its regions; created and counted by {@link FileLinks}.
 */
public final class LinkedFile {
  final Object fileKey;
  final long fileId;
  final Path hardLink;
  int regions;
  private FileChannel channel;
  private boolean closed;

  LinkedFile(Object fileKey, long fileId, Path hardLink) {
    this.fileKey = fileKey;
    this.fileId = fileId;
    this.hardLink = hardLink;
  }

  /** Id by which peers find it. */
  public long fileId() {
    return fileId;
  }

  /** The file, open for reading; for SENDs from it. */
  public synchronized FileChannel channel() throws IOException {
    if (closed) {
      throw new IOException("the region was deregistered");
    }
    if (channel == null || !channel.isOpen()) {
      channel = FileChannel.open(hardLink, StandardOpenOption.READ);
    }
    return channel;
  }

  synchronized void close() {
    closed = true;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}

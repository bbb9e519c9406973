// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Set;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Another device as this one uses it: its table, the reader slots of this device in it, and its
 * open files. Guarded by the lock of the device; created and counted by {@link SoftPeers}.
 */
final class SoftPeer {
  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  /** Maximum number of open files of a peer; the least recently used one is closed. */
  private static final int MAX_OPEN_FILES = 256;

  final String name;
  final ProcessIdentity process;
  final SharedTable table;

  /** Reader slots of this device in the table: of copies with the lock, and of the long copy. */
  final int shortReader;

  final int longReader;

  /** The file of the long copy in progress, which stays open. */
  FileChannel inUse;

  int connections;
  private final Path directory;

  /** The file in which a region was found last, by the region's index; null when it is closed. */
  private OpenFile[] files = new OpenFile[64];

  private int openFiles;
  private long uses;

  SoftPeer(
      String name,
      ProcessIdentity process,
      SharedTable table,
      int shortReader,
      int longReader,
      Path directory) {
    this.name = name;
    this.process = process;
    this.table = table;
    this.shortReader = shortReader;
    this.longReader = longReader;
    this.directory = directory;
  }

  /** The open file of a region; the caller holds the region in the reader slot. */
  FileChannel file(long fileId, int region) throws IOException {
    if (region >= files.length) {
      files = Arrays.copyOf(files, Math.max(region + 1, 2 * files.length));
    }
    OpenFile file = files[region];
    if (file == null || file.fileId != fileId || !file.channel.isOpen()) {
      // Of an earlier region, or closed by an interrupt.
      close(region);
      if (openFiles == MAX_OPEN_FILES) {
        closeOldest();
      }
      Path path = SharedDirectory.file(directory, fileId);
      file = new OpenFile(fileId, FileChannel.open(path, READ_WRITE));
      files[region] = file;
      openFiles++;
    }
    file.lastUse = uses++;
    return file.channel;
  }

  private void closeOldest() {
    int oldest = -1;
    for (int i = 0; i < files.length; i++) {
      OpenFile file = files[i];
      if (file != null
          && file.channel != inUse
          && (oldest < 0 || file.lastUse < files[oldest].lastUse)) {
        oldest = i;
      }
    }
    close(oldest);
  }

  private void close(int region) {
    OpenFile file = files[region];
    if (file != null) {
      files[region] = null;
      openFiles--;
      try {
        file.channel.close();
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  }

  /** The receives of a queue pair of the peer. */
  SharedReceives receives(int queuePairNumber) throws IOException {
    return SharedReceives.attach(SharedDirectory.receives(directory, queuePairNumber));
  }

  /** Closes files whose region was deregistered, so that they do not occupy disk space. */
  void closeDeadFiles() {
    for (int i = 0; i < files.length; i++) {
      OpenFile file = files[i];
      if (file != null && !table.isRegionOf(i, file.fileId)) {
        close(i);
      }
    }
  }

  void close() {
    for (int i = 0; i < files.length; i++) {
      close(i);
    }
    table.releaseReader(shortReader);
    table.releaseReader(longReader);
  }

  /** An open file of the peer. */
  private static final class OpenFile {
    final long fileId;
    final FileChannel channel;
    long lastUse;

    OpenFile(long fileId, FileChannel channel) {
      this.fileId = fileId;
      this.channel = channel;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  /** Maximum number of open files of one peer; the least recently used one is closed. */
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
  private final List<OpenFile> files = new ArrayList<>();

  /**
   * The file that each region was found in last, by the region's index; may be another's by now.
   */
  private OpenFile[] found = new OpenFile[64];

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
  FileChannel file(long fileId, int region, boolean writable) throws IOException {
    OpenFile known = region < found.length ? found[region] : null;
    OpenFile file = known;
    if (file == null || file.fileId != fileId || !file.channel.isOpen()) {
      file = find(fileId);
    }
    if (file != null && writable && !file.writable) {
      if (file.channel != inUse) {
        close(file);
      }
      file = null;
    }
    if (file == null) {
      file = open(fileId, writable);
    }
    file.region = region;
    file.lastUse = uses++;
    if (file != known) {
      remember(region, file);
    }
    return file.channel;
  }

  private void remember(int region, OpenFile file) {
    if (region >= found.length) {
      found = Arrays.copyOf(found, Math.max(region + 1, 2 * found.length));
    }
    found[region] = file;
  }

  private OpenFile find(long fileId) {
    for (int i = 0; i < files.size(); i++) {
      OpenFile file = files.get(i);
      if (file.fileId == fileId) {
        if (file.channel.isOpen()) {
          return file;
        }
        // Closed by an interrupt.
        files.remove(i);
        return null;
      }
    }
    return null;
  }

  private OpenFile open(long fileId, boolean writable) throws IOException {
    if (files.size() >= MAX_OPEN_FILES) {
      closeOldest();
    }
    Set<StandardOpenOption> options = writable ? READ_WRITE : Set.of(StandardOpenOption.READ);
    var opened =
        new OpenFile(
            fileId, FileChannel.open(SharedDirectory.file(directory, fileId), options), writable);
    files.add(opened);
    return opened;
  }

  private void closeOldest() {
    OpenFile oldest = null;
    for (OpenFile file : files) {
      if (file.channel != inUse && (oldest == null || file.lastUse < oldest.lastUse)) {
        oldest = file;
      }
    }
    if (oldest != null) {
      close(oldest);
    }
  }

  private void close(OpenFile file) {
    files.remove(file);
    try {
      file.channel.close();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** The receives of a queue pair of the peer. */
  SharedReceives receives(int queuePairNumber) throws IOException {
    return SharedReceives.attach(SharedDirectory.receives(directory, queuePairNumber));
  }

  /** Closes files whose region was deregistered, so that they do not occupy disk space. */
  void closeDeadFiles() {
    for (int i = files.size() - 1; i >= 0; i--) {
      OpenFile file = files.get(i);
      if (!table.isRegionOf(file.region, file.fileId)) {
        close(file);
      }
    }
  }

  void close() {
    while (!files.isEmpty()) {
      close(files.get(files.size() - 1));
    }
    table.releaseReader(shortReader);
    table.releaseReader(longReader);
  }

  /** An open file of the peer. */
  private static final class OpenFile {
    final long fileId;
    final FileChannel channel;
    final boolean writable;
    int region;
    long lastUse;

    OpenFile(long fileId, FileChannel channel, boolean writable) {
      this.fileId = fileId;
      this.channel = channel;
      this.writable = writable;
    }
  }
}

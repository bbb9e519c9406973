// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.PrivateFiles;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Another device as this one uses it: its table, the reader slot of this device in it, and its open
 * files. Guarded by the lock of the device; created and counted by {@link RemoteDevices}.
 *
 * <p>Its memory is copied in pieces: announce, check, copy, check. The copy is a positioned read or
 * write of the owner's file, so that a truncated file is an error and no signal, and a stopped
 * process can be read.
 */
final class RemoteDevice {
  /** Length of a piece: other threads and deregistrations wait for one at most. */
  static final int PIECE_BYTES = 1 << 19;

  private static final Logger LOG = LoggerFactory.getLogger(RemoteDevice.class);

  final String name;
  final SharedTable table;
  int connections;
  private final Path directory;
  private final boolean copiesReads;
  private final int maxOpenFiles;
  private final int reader;

  /** The file in which a region was found last, by the region's index; null when it is closed. */
  private OpenFile[] files = new OpenFile[64];

  int openFiles;

  /**
   * Attaches to the device of that directory.
   *
   * @param copiesReads false leaves the data of READs out, see {@link SoftProvider#loadWithoutCopy}
   * @param maxOpenFiles at that number one is closed for the next
   */
  RemoteDevice(Path directory, boolean copiesReads, int maxOpenFiles) throws IOException {
    this.directory = directory;
    this.copiesReads = copiesReads;
    this.maxOpenFiles = maxOpenFiles;
    name = directory.getFileName().toString();
    table = SharedTable.attach(directory.resolve(SharedDirectory.TABLE));
    reader = table.claimReader(ProcessIdentity.self());
    if (reader < 0) {
      throw new IOException("the peer has too many peers: limit=" + SharedTable.READERS);
    }
  }

  /** The receives of a queue pair of the peer. */
  SharedReceives receives(int queuePairNumber) throws IOException {
    return SharedReceives.attach(SharedDirectory.receives(directory, queuePairNumber));
  }

  /** Checks that the peer's queue pair can receive. */
  WorkStatus check(int queuePairNumber) {
    int queuePair = SharedTable.queuePairIndex(queuePairNumber);
    return table.isQueuePairLive(queuePair, queuePairNumber)
        ? WorkStatus.SUCCESS
        : WorkStatus.RETRY_EXCEEDED;
  }

  /**
   * Copies the next piece of a request that has bytes left, and advances its progress.
   *
   * @param queuePairNumber the peer's
   * @param key of the peer's memory
   * @param address in the peer's memory
   * @param limit bytes that must lie in the peer's memory; at most that many are copied
   * @param access required of the peer's memory, as in RegionAccess
   */
  WorkStatus copy(
      int queuePairNumber, WorkEntry entry, int key, long address, long limit, int access) {
    int queuePair = SharedTable.queuePairIndex(queuePairNumber);
    int region = SharedTable.regionIndex(key);
    table.enter(reader, queuePair, region, access != RegionAccess.REMOTE_READ);
    try {
      WorkStatus allowed = check(queuePairNumber, key, address, limit, access);
      if (allowed != WorkStatus.SUCCESS) {
        return allowed;
      }
      if (entry.opcode == Opcode.READ && !copiesReads) {
        entry.progress = entry.totalBytes;
        return WorkStatus.SUCCESS;
      }
      long left = Math.min(limit, entry.totalBytes - entry.progress);
      long position = table.filePosition(region, address);
      WorkStatus copied =
          copyPiece(region, entry, position, position + Math.min(left, PIECE_BYTES));
      // The owner may have waited in vain, and used its memory again.
      VarHandle.acquireFence();
      return copied == WorkStatus.SUCCESS
          ? check(queuePairNumber, key, address, limit, access)
          : copied;
    } finally {
      table.leave(reader);
    }
  }

  private WorkStatus check(int queuePairNumber, int key, long address, long limit, int access) {
    int queuePair = SharedTable.queuePairIndex(queuePairNumber);
    int region = SharedTable.regionIndex(key);
    if (!table.isQueuePairLive(queuePair, queuePairNumber)) {
      return WorkStatus.RETRY_EXCEEDED;
    }
    return table.allows(queuePair, region, key, address, limit, access)
        ? WorkStatus.SUCCESS
        : WorkStatus.REMOTE_ACCESS_ERROR;
  }

  private WorkStatus copyPiece(int region, WorkEntry entry, long start, long end) {
    boolean interrupted = false;
    long position = start;
    try {
      while (position < end) {
        FileChannel file = file(table.regionFileId(region), region);
        int count;
        try {
          count = entry.copy(file, position, (int) (end - position));
        } catch (AsynchronousCloseException e) {
          // An interrupt of a thread closes the channel that it uses: it is opened again.
          interrupted |= Thread.interrupted();
          continue;
        }
        if (count <= 0) {
          return WorkStatus.REMOTE_OPERATION_ERROR;
        }
        position += count;
        entry.progress += count;
      }
      return WorkStatus.SUCCESS;
    } catch (IOException e) {
      LOG.debug("Could not reach the peer's memory: peer={}", name, e);
      return WorkStatus.REMOTE_OPERATION_ERROR;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The open file of a region, which the reader slot holds. */
  private FileChannel file(long fileId, int region) throws IOException {
    if (region >= files.length) {
      files = Arrays.copyOf(files, Math.max(region + 1, 2 * files.length));
    }
    OpenFile file = files[region];
    if (file == null || file.fileId != fileId || !file.channel.isOpen()) {
      // Of an earlier region, or closed by an interrupt.
      close(region);
      if (openFiles >= maxOpenFiles) {
        closeAny();
      }
      file = new OpenFile(fileId, PrivateFiles.open(SharedDirectory.file(directory, fileId)));
      files[region] = file;
      openFiles++;
    }
    return file.channel;
  }

  /**
   * Closes one at random: blocks are often read in the same order again, and the oldest one would
   * be closed just before it is read.
   */
  private void closeAny() {
    int region = ThreadLocalRandom.current().nextInt(files.length);
    while (files[region] == null) {
      region = (region + 1) % files.length;
    }
    close(region);
  }

  private void close(int region) {
    OpenFile file = files[region];
    if (file != null) {
      files[region] = null;
      openFiles--;
      try {
        file.channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Closes files whose region was deregistered, so that they do not occupy disk space. */
  void closeDeadFiles() {
    for (int i = 0; i < files.length; i++) {
      if (files[i] != null && !table.isRegionOf(i, files[i].fileId)) {
        close(i);
      }
    }
  }

  void close() {
    for (int i = 0; i < files.length; i++) {
      close(i);
    }
    table.releaseReader(reader);
  }

  /** An open file of the peer. */
  private record OpenFile(long fileId, FileChannel channel) {}
}

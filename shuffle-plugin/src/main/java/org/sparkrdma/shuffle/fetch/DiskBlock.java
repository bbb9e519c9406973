// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.TransportConf;

/**
 * The file of a block that is written to disk. It ends once: it is left to Spark or deleted. Any
 * thread may discard it; while a write runs, the file is deleted when the write ends. All other
 * methods are called by the thread that writes.
 */
final class DiskBlock {
  private final DownloadFileManager files;

  /** Null until it is created; it and the next two are used by one thread at a time. */
  private DownloadFile file;

  /** Null before the first write. */
  private DownloadFileWritableChannel channel;

  private BlockVerifier verifier;

  /** Path of the file; null until it is created. */
  private volatile String path;

  /** Writes that run: the next one may begin shortly before the end of the last. */
  private int writes;

  private boolean discarded;
  private boolean ended;

  DiskBlock(DownloadFileManager files) {
    this.files = files;
  }

  /** From now until {@link #endWrite} the file is not deleted. */
  synchronized void beginWrite() {
    writes++;
  }

  /** Deletes the file when it was discarded meanwhile. */
  void endWrite() {
    synchronized (this) {
      writes--;
    }
    deleteIfUnused();
  }

  /** Path of the file, for any thread; null until it is created. */
  String path() {
    return path;
  }

  /**
   * Creates the file, whose path is known from then on; once.
   *
   * @throws IOException when that fails, or the block was discarded
   */
  void create(TransportConf conf) throws IOException {
    requireUse();
    file = files.createTempFile(conf);
    path = file.path();
  }

  /**
   * Opens the file before the first write; does nothing at later ones.
   *
   * @throws IOException when that fails, or the block was discarded
   */
  void open(int checksumKind, PartitionChecksums sums) throws IOException {
    requireUse();
    if (channel == null) {
      verifier = new BlockVerifier(checksumKind, sums);
      channel = file.openForWriting();
    }
  }

  private void requireUse() throws IOException {
    if (isDiscarded()) {
      throw new IOException("the block was discarded");
    }
  }

  private synchronized boolean isDiscarded() {
    return discarded;
  }

  void write(BlockMemory memory, boolean verify) throws IOException {
    for (int i = 0; i < memory.count(); i++) {
      ByteBuffer bytes = memory.view(i);
      if (verify) {
        verifier.feed(bytes.duplicate());
      }
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
  }

  BlockVerifier.Verdict verdict() {
    return verifier.verdict();
  }

  /** Closes the file and opens its content. */
  ManagedBuffer finish() throws IOException {
    return channel.closeAndRead();
  }

  /** Passes the file to Spark's cleaner; deletes it when the task has ended. */
  void leaveToSpark() {
    synchronized (this) {
      ended = true;
    }
    if (!files.registerTempFileToClean(file)) {
      file.delete();
    }
  }

  /** Deletes the file if there is one, after the end of a write that runs. */
  void discard() {
    synchronized (this) {
      discarded = true;
    }
    deleteIfUnused();
  }

  private void deleteIfUnused() {
    if (!mayDelete() || file == null) {
      return;
    }
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // The file is deleted either way.
    }
    file.delete();
  }

  /** Returns true once. */
  private synchronized boolean mayDelete() {
    boolean may = discarded && writes == 0 && !ended;
    ended |= may;
    return may;
  }
}

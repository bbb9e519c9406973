// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.TransportConf;

/** A block that is written to a file of Spark; owned by one delivery thread at a time. */
final class DiskBlock {
  private final DownloadFileManager files;
  private final DownloadFile file;
  private final DownloadFileWritableChannel channel;
  private final BlockVerifier verifier;

  DiskBlock(DownloadFileManager files, TransportConf conf, int checksumKind, PartitionSums sums)
      throws IOException {
    this.files = files;
    this.file = files.createTempFile(conf);
    this.verifier = new BlockVerifier(checksumKind, sums);
    try {
      this.channel = file.openForWriting();
    } catch (Throwable e) {
      file.delete();
      throw e;
    }
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
    if (!files.registerTempFileToClean(file)) {
      file.delete();
    }
  }

  /** Deletes the file. */
  void discard() {
    try {
      channel.close();
    } catch (IOException e) {
      // The file is deleted either way.
    }
    file.delete();
  }
}

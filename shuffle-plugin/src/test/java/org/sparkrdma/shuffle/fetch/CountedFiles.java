// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.TransportConf;

/** Temporary files in memory, and how each has ended: registered with Spark, or deleted. */
public final class CountedFiles implements DownloadFileManager {
  private final BooleanSupplier taskLives;
  private final List<TestFile> created = new ArrayList<>();

  /**
   * @param taskLives whether a file can be registered
   */
  public CountedFiles(BooleanSupplier taskLives) {
    this.taskLives = taskLives;
  }

  /** Number of all files. */
  public int created() {
    return created.size();
  }

  /** Number of files that are neither registered nor deleted, or can still be written. */
  public long open() {
    return created.stream().filter(file -> file.ends == 0 || file.writable).count();
  }

  /** Number of files that were registered or deleted more than once. */
  public long endedTwice() {
    return created.stream().filter(file -> file.ends > 1).count();
  }

  /** Number of files that were registered. */
  public long registered() {
    return created.stream().filter(file -> file.registered).count();
  }

  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    TestFile file = new TestFile();
    created.add(file);
    return file;
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    boolean lives = taskLives.getAsBoolean();
    if (lives) {
      ((TestFile) file).registered = true;
      ((TestFile) file).ends++;
    }
    return lives;
  }

  private static final class TestFile implements DownloadFile, DownloadFileWritableChannel {
    private int bytes;
    private int ends;
    private boolean writable;
    private boolean registered;

    @Override
    public boolean delete() {
      ends++;
      return ends == 1;
    }

    @Override
    public DownloadFileWritableChannel openForWriting() {
      writable = true;
      return this;
    }

    @Override
    public String path() {
      return "test";
    }

    @Override
    public ManagedBuffer closeAndRead() {
      writable = false;
      return new NioManagedBuffer(ByteBuffer.allocate(bytes));
    }

    @Override
    public int write(ByteBuffer from) {
      if (!writable || ends > 0) {
        throw new IllegalStateException("written after its end");
      }
      int written = from.remaining();
      from.position(from.limit());
      bytes += written;
      return written;
    }

    @Override
    public boolean isOpen() {
      return writable;
    }

    @Override
    public void close() {
      writable = false;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.pages;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Reads a file that is on disk and in the page cache, then registers it window by window. After
 * each step prints the dirty bytes and the bytes written to the disk.
 */
public final class RegisterFile {
  /** Prefix of a line with a figure. */
  public static final String FIGURE = "figure";

  /** Length of the file. */
  public static final int FILE_BYTES = 64 << 20;

  private static final int WINDOW_BYTES = 16 << 20;
  private static final int SECTOR_BYTES = 512;

  /** Sectors written, counted from 0: Documentation/block/stat.rst of the kernel. */
  private static final int SECTORS_WRITTEN = 6;

  private final Path file;
  private final Path diskStatistics;

  private RegisterFile(Path file, Path diskStatistics) {
    this.file = file;
    this.diskStatistics = diskStatistics;
  }

  /**
   * Runs it in the guest.
   *
   * @param arguments a directory on a separate disk, and the disk's name under /sys/block
   */
  public static void main(String[] arguments) throws Exception {
    Verbs.Choice choice = Verbs.choose("ibverbs", EngineSettings.none());
    if (choice.engine() == null) {
      throw new IllegalStateException("no engine: reasons=" + choice.reasons());
    }
    var one =
        new RegisterFile(
            Path.of(arguments[0], "map-output"), Path.of("/sys/block", arguments[1], "stat"));
    try (VerbsEngine engine = choice.engine();
        Device device = engine.open(engine.devices().get(0).name());
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      one.write();
      one.print("read", one::read);
      one.print("registered", () -> one.register(domain));
    }
  }

  private void write() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20);
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int i = 0; i < FILE_BYTES >> 20; i++) {
        out.write(bytes.clear());
      }
      out.force(true);
    }
  }

  private void read() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20);
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      while (in.read(bytes.clear()) > 0) {
        // Only reads it.
      }
    }
  }

  private void register(ProtectionDomain domain) throws VerbsException {
    for (int offset = 0; offset < FILE_BYTES; offset += WINDOW_BYTES) {
      MemoryRegion window =
          domain.registerFile(file, offset, WINDOW_BYTES, Set.of(AccessFlag.REMOTE_READ));
      window.close();
    }
  }

  private void print(String what, Step step) throws IOException, VerbsException {
    long dirty = dirtyBytes();
    long written = writtenBytes();
    long startNs = System.nanoTime();
    step.run();
    long tookNs = System.nanoTime() - startNs;
    dirty = dirtyBytes() - dirty;
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    System.out.println(
        String.join(
            " ",
            FIGURE,
            what,
            Long.toString(dirty),
            Long.toString(writtenBytes() - written),
            Long.toString(tookNs / 1_000)));
  }

  private static long dirtyBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
      String[] words = line.split(" +", -1);
      if (words[0].equals("Dirty:")) {
        return Long.parseLong(words[1]) << 10;
      }
    }
    throw new IOException("/proc/meminfo has no line for dirty pages");
  }

  private long writtenBytes() throws IOException {
    String[] words = Files.readString(diskStatistics).strip().split(" +", -1);
    return Long.parseLong(words[SECTORS_WRITTEN]) * SECTOR_BYTES;
  }

  private interface Step {
    void run() throws IOException, VerbsException;
  }
}

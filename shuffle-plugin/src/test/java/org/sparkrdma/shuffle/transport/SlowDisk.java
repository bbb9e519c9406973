// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An ext4 file system on a loop device that the kernel can slow down. Needs root. Closed by its
 * creator, on the thread that made it.
 */
final class SlowDisk implements AutoCloseable {
  private static final int SECTOR_BYTES = 512;

  /** Sectors written, counted from 0: Documentation/block/stat.rst of the kernel. */
  private static final int SECTORS_WRITTEN = 6;

  private final Path mounted;
  private final String device;
  private final SlowReads reads;

  private SlowDisk(Path mounted, String device, SlowReads reads) {
    this.mounted = mounted;
    this.device = device;
    this.reads = reads;
  }

  /**
   * @param folder for the image and the mount point; empty
   * @param imageBytes size of the file system
   * @param reads how it is slowed down
   */
  static SlowDisk make(Path folder, long imageBytes, SlowReads reads) throws IOException {
    Path image = folder.resolve("image");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(imageBytes);
    }
    SlowReads.run("mkfs.ext4", "-q", "-F", image.toString());
    String device = SlowReads.run("losetup", "--find", "--show", image.toString()).trim();
    Path mounted = Files.createDirectory(folder.resolve("mounted"));
    SlowReads.run("mount", reads.over(device), mounted.toString());
    return new SlowDisk(mounted, device, reads);
  }

  Path path() {
    return mounted;
  }

  /** Writes all that was changed to the device. */
  void sync() throws IOException {
    SlowReads.run("sync", "-f", mounted.toString());
  }

  /** Bytes written to the device since it was made. */
  long writtenBytes() throws IOException {
    Path statistics = Path.of("/sys/block", Path.of(device).getFileName().toString(), "stat");
    String[] words = Files.readString(statistics).strip().split(" +", -1);
    return Long.parseLong(words[SECTORS_WRITTEN]) * SECTOR_BYTES;
  }

  /** Drops what is cached of it, and slows it down from now on. */
  void slowDown() throws IOException {
    sync();
    Files.writeString(Path.of("/proc/sys/vm/drop_caches"), "1");
    reads.begin();
  }

  @Override
  public void close() throws IOException {
    reads.end();
    SlowReads.run("umount", "--lazy", mounted.toString());
    SlowReads.run("losetup", "--detach", device);
  }
}

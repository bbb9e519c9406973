// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * An ext4 file system on a loop device whose reads the kernel limits for this process: blkio of
 * cgroup v1 (Documentation/admin-guide/cgroup-v1/blkio-controller.rst). Needs root. Closed by its
 * creator, on the thread that made it.
 */
final class SlowDisk implements AutoCloseable {
  private static final Path BLKIO = Path.of("/sys/fs/cgroup/blkio");
  private static final long COMMAND_SECONDS = 30;

  private final Path mounted;
  private final String device;
  private final Path group;

  private SlowDisk(Path mounted, String device, Path group) {
    this.mounted = mounted;
    this.device = device;
    this.group = group;
  }

  /** Whether this process may make one. */
  static boolean available() {
    return Files.isWritable(BLKIO.resolve("cgroup.procs"))
        && Files.isWritable(Path.of("/dev/loop-control"))
        && "root".equals(System.getProperty("user.name"));
  }

  /**
   * @param folder for the image and the mount point; empty
   * @param imageBytes size of the file system
   */
  static SlowDisk make(Path folder, long imageBytes) throws IOException {
    Path image = folder.resolve("image");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(imageBytes);
    }
    run("mkfs.ext4", "-q", "-F", image.toString());
    String device = run("losetup", "--find", "--show", image.toString()).trim();
    Path mounted = Files.createDirectory(folder.resolve("mounted"));
    run("mount", device, mounted.toString());
    Path group = Files.createDirectory(BLKIO.resolve("slow-disk-" + ProcessHandle.current().pid()));
    return new SlowDisk(mounted, device, group);
  }

  Path path() {
    return mounted;
  }

  /** Drops what is cached of it, and limits reads of this process from now on. */
  void slowDown(long bytesPerSecond) throws IOException {
    run("sync", "-f", mounted.toString());
    Files.writeString(Path.of("/proc/sys/vm/drop_caches"), "1");
    String numbers = run("lsblk", "--noheadings", "--output", "MAJ:MIN", device).trim();
    Files.writeString(
        group.resolve("blkio.throttle.read_bps_device"), numbers + " " + bytesPerSecond);
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(ProcessHandle.current().pid()));
  }

  @Override
  public void close() throws IOException {
    Files.writeString(BLKIO.resolve("cgroup.procs"), Long.toString(ProcessHandle.current().pid()));
    Files.delete(group);
    run("umount", "--lazy", mounted.toString());
    run("losetup", "--detach", device);
  }

  private static String run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean ended;
    try {
      ended = process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted: " + command[0], e);
    }
    assertThat(ended && process.exitValue() == 0)
        .as("%s: %s", String.join(" ", command), output)
        .isTrue();
    return output;
  }
}

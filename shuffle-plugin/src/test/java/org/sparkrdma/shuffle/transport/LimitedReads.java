// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A limit on the bytes that this process reads each second: blkio of cgroup v1
 * (Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
 */
final class LimitedReads implements SlowReads {
  private static final Path BLKIO = Path.of("/sys/fs/cgroup/blkio");
  private static final long BYTES_PER_SECOND = 2 << 20;

  private final Path group = BLKIO.resolve("slow-disk-" + ProcessHandle.current().pid());
  private String limited;

  /** Whether this process may set one. */
  static boolean available() {
    return Files.isWritable(BLKIO.resolve("cgroup.procs"))
        && Files.isWritable(Path.of("/dev/loop-control"))
        && "root".equals(System.getProperty("user.name"));
  }

  @Override
  public String over(String device) throws IOException {
    limited = device;
    Files.createDirectory(group);
    return device;
  }

  @Override
  public void begin() throws IOException {
    String numbers = SlowReads.run("lsblk", "--noheadings", "--output", "MAJ:MIN", limited).trim();
    Files.writeString(
        group.resolve("blkio.throttle.read_bps_device"), numbers + " " + BYTES_PER_SECOND);
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(ProcessHandle.current().pid()));
  }

  @Override
  public void end() throws IOException {
    Files.writeString(BLKIO.resolve("cgroup.procs"), Long.toString(ProcessHandle.current().pid()));
    Files.delete(group);
  }
}

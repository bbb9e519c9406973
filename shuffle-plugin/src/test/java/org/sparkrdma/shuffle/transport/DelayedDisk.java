// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;

/**
 * Each read, or each write, takes a time more, however many there are at once: dm-delay
 * (Documentation/admin-guide/device-mapper/delay.rst). Needs root and dmsetup(8).
 *
 * <p>With a delay of less than 50 ms the kernel's thread for it does not sleep while requests wait
 * (delay_ctr in drivers/md/dm-delay.c), which on one processor takes the time of the test.
 */
final class DelayedDisk implements SlowReads {
  private static final int DELAY_MS = 100;

  private final String name = "slow-disk-" + ProcessHandle.current().pid();
  private final int readMs;
  private final int writeMs;
  private String delayed;

  private DelayedDisk(int readMs, int writeMs) {
    this.readMs = readMs;
    this.writeMs = writeMs;
  }

  static DelayedDisk ofReads() {
    return new DelayedDisk(DELAY_MS, 0);
  }

  static DelayedDisk ofWrites() {
    return new DelayedDisk(0, DELAY_MS);
  }

  @Override
  public String over(String device) throws IOException {
    delayed = device;
    SlowReads.run("dmsetup", "create", name, "--table", table(0, 0));
    // Where no udev runs, as in a guest, nothing else makes the node.
    SlowReads.run("dmsetup", "mknodes", name);
    return "/dev/mapper/" + name;
  }

  @Override
  public void begin() throws IOException {
    SlowReads.run("dmsetup", "reload", name, "--table", table(readMs, writeMs));
    SlowReads.run("dmsetup", "resume", name);
  }

  @Override
  public void end() throws IOException {
    SlowReads.run("dmsetup", "remove", "--deferred", name);
  }

  /** All sectors: start and length, then device, first sector and delay of reads and of writes. */
  private String table(int ofReads, int ofWrites) throws IOException {
    String sectors = SlowReads.run("blockdev", "--getsz", delayed).trim();
    return String.join(
        " ",
        "0",
        sectors,
        "delay",
        delayed,
        "0",
        Integer.toString(ofReads),
        delayed,
        "0",
        Integer.toString(ofWrites));
  }
}

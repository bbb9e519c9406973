// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.sparkrdma.guest.pages.RegisterFile;

/**
 * Effect of registration on the pages of a map output that is already on disk. Older kernels pin
 * file pages for writing even where peers may only read (FOLL_WRITE in
 * drivers/infiniband/core/umem.c of 6.1). This makes them dirty, and they are written again; 6.12
 * does not. SPARKRDMA_GUEST_LINUX=6.1 runs this on such a kernel.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(240)
final class DirtyPagesIT {
  private static final String DISK =
      "truncate -s 256M /tmp/disk.img && mkfs.ext4 -q /tmp/disk.img && mkdir /tmp/disk"
          + " && mount -o loop /tmp/disk.img /tmp/disk"
          + " && disk=$(findmnt -no SOURCE /tmp/disk) && ";

  @Test
  void shouldWriteNothingToTheDiskOnKernelsThatPinForReading() throws Exception {
    GuestResult result =
        Guest.nodes(1)
            .memory("1500M")
            .timeout(Duration.ofSeconds(200))
            .bash(
                DISK
                    + ("echo kernel $(uname -r) && " + GuestJava.command("-Xmx64m"))
                    + (" " + RegisterFile.class.getName() + " /tmp/disk ${disk#/dev/}"));

    assertThat(result.exitCode()).as(result.output()).isZero();
    List<String> lines = result.node(1).lines();
    Map<String, long[]> figures = figures(lines);
    String kernel = lines.stream().filter(line -> line.startsWith("kernel ")).findFirst().get();
    System.out.println(kernel + ": step, bytes made dirty, bytes written, microseconds");
    figures.forEach((what, each) -> System.out.println(what + " " + Arrays.toString(each)));
    assertThat(figures.get("read")[1]).isLessThan(RegisterFile.FILE_BYTES / 16);
    if (kernel.startsWith("kernel 6.1.")) {
      assertThat(figures.get("registered")[1]).isGreaterThanOrEqualTo(RegisterFile.FILE_BYTES);
    } else {
      assertThat(figures.get("registered")[1]).isLessThan(RegisterFile.FILE_BYTES / 16);
    }
  }

  private static Map<String, long[]> figures(List<String> lines) {
    Map<String, long[]> figures = new HashMap<>();
    for (String line : lines) {
      String[] words = line.strip().split(" ", -1);
      if (words[0].equals(RegisterFile.FIGURE)) {
        figures.put(words[1], Arrays.stream(words).skip(2).mapToLong(Long::parseLong).toArray());
      }
    }
    return figures;
  }
}

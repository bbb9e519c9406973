// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The scope of measured CPU time. */
enum CpuScope {
  /** This process; complete where the kernel moves no data in threads of its own. */
  PROCESS {
    @Override
    Usage begin() throws IOException {
      long pid = ProcessHandle.current().pid();
      ProcessCpu before = ProcessCpu.of(pid);
      return () -> ProcessCpu.of(pid).since(before);
    }
  },
  /** The whole machine, for soft RDMA in the kernel; it must run nothing but the executor. */
  MACHINE {
    @Override
    Usage begin() throws IOException {
      long before = busyNs(Files.readString(STAT));
      return () -> busyNs(Files.readString(STAT)) - before;
    }
  };

  private static final Path STAT = Path.of("/proc/stat");
  private static final long NS_PER_TICK = 10_000_000;
  private static final int IDLE = 4;
  private static final int WAITING = 5;
  private static final int STOLEN = 8;

  /** CPU time used since {@link #begin}. */
  interface Usage {
    long ns() throws IOException;
  }

  abstract Usage begin() throws IOException;

  /**
   * Busy time of all processors, in nanoseconds.
   *
   * @param stat content of /proc/stat, see proc(5), in ticks of 10 ms
   */
  static long busyNs(String stat) {
    String[] columns = stat.lines().findFirst().orElseThrow().split(" +", -1);
    long ticks = 0;
    for (int i = 1; i <= Math.min(STOLEN, columns.length - 1); i++) {
      if (i != IDLE && i != WAITING) {
        ticks += Long.parseLong(columns[i]);
      }
    }
    return ticks * NS_PER_TICK;
  }
}

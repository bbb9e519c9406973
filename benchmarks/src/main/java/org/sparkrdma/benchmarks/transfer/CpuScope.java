/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whose CPU time is measured. */
enum CpuScope {
  /** This process's; enough where no kernel works for it in threads of its own. */
  PROCESS {
    @Override
    Usage begin() throws IOException {
      long pid = ProcessHandle.current().pid();
      ProcessCpu before = ProcessCpu.of(pid);
      return () -> ProcessCpu.of(pid).nsSince(before);
    }
  },
  /** All of the machine's, for soft RDMA in the kernel; the executor must be alone on it. */
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

  /** What has been used since the beginning, in nanoseconds. */
  interface Usage {
    long ns() throws IOException;
  }

  abstract Usage begin() throws IOException;

  /**
   * Of all processors together.
   *
   * @param stat the kernel's file, see proc(5): ticks of 10 ms
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

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** CPU time of processes. Stateless. */
final class CpuTime {
  private CpuTime() {}

  /** The time that all threads of this process have used so far, in nanoseconds. */
  static long ofThisProcessNs() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}

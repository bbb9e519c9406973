// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.util.Map;
import org.sparkrdma.scenarios.CSource;

/**
 * The kernel of node 2 refuses allocations while its executor registers memory: small ones ({@code
 * failslab}) or pages ({@code failpages}). A preloaded library ({@code failing_registration.c})
 * says for which system call, so that no memory of the JVM itself is refused. Source: the kernel's
 * Documentation/fault-injection/fault-injection.rst.
 */
final class FailingAllocations {
  private static final String LIBRARY = "failing_registration";

  /** While it exists, registrations fail. */
  private static final String SWITCH = "/run/" + LIBRARY;

  /** The number of refused allocations that the kernel has reported. */
  private static final String REFUSED = "refused-allocations";

  private static final String DEBUG = "/sys/kernel/debug";

  /** Which allocations count, by the fault of a cell. Those that may sleep count as well. */
  private static final Map<String, String> KINDS =
      Map.of(
          "failslab",
          "cd failslab && echo N >ignore-gfp-wait",
          "failpages",
          "cd fail_page_alloc && echo N >ignore-gfp-wait && echo N >ignore-gfp-highmem"
              + " && echo 0 >min-order");

  private FailingAllocations() {}

  static boolean isFault(String fault) {
    return KINDS.containsKey(fault);
  }

  /**
   * The run with the library preloaded in all its processes, which does nothing until the fault.
   */
  static ClusterRun prepare(ClusterRun run) throws IOException {
    try {
      String library =
          CSource.compile(LIBRARY, run.file("."), "-shared", "-fPIC", "-ldl").toString();
      return run.with("--env", "LD_PRELOAD=" + library)
          .with("--env", "FAILING_REGISTRATION=" + SWITCH);
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** A line of bash for each node, a format for its number, that begins the fault. */
  static String faultLine(String fault) {
    return "((%1$d == 1)) || { { mountpoint -q "
        + DEBUG
        + (" || mount -t debugfs none " + DEBUG + "; } && cd " + DEBUG + " && ")
        + (KINDS.get(fault) + " && echo 1 >verbose && touch " + SWITCH + "; }");
  }

  /** A line of bash for each node, a format for its number, that ends the fault. */
  static String repairLine(ClusterRun run) {
    return "((%1$d == 1)) || { rm "
        + SWITCH
        + " && { dmesg | grep -c FAULT_INJECTION >"
        + (run.file(REFUSED) + " || true; }; }");
  }

  /** The allocations that the kernel has refused in a run that has ended. */
  static int refused(ClusterRun run) throws IOException {
    return Integer.parseInt(run.content(REFUSED).strip());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;
import org.sparkrdma.shuffle.pinned.WritePins;

/** Operating system, processor and kernel. */
final class SystemCheck implements Check {
  @Override
  public String name() {
    return "system";
  }

  @Override
  public List<Finding> run(Facts facts) {
    String system = facts.java().getOrDefault("os.name", "unknown");
    String processor = facts.java().getOrDefault("os.arch", "unknown");
    if (!system.equals("Linux")) {
      return List.of(
          Finding.problem(
              "This is " + system + " on " + processor + "; RDMA needs Linux.",
              "run executors on Linux, x86-64 or aarch64"));
    }
    String kernel = facts.files().text("proc/sys/kernel/osrelease").orElse("of unknown version");
    String text = "Linux " + kernel + " on " + processor + ".";
    if (WritePins.byKernel(kernel)) {
      return List.of(
          Finding.note(
              text
                  + " Linux before 6.2 marks registered pages of files as changed, so it writes map outputs"
                  + " to the disk once more. By default they are copied instead.",
              "nothing, unless spark.shuffle.rdma.serve=window is set"));
    }
    return List.of(Finding.ok(text));
  }
}

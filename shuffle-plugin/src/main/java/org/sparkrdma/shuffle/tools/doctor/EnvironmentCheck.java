// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;
import org.sparkrdma.shuffle.pinned.MemlockRemedy;

/** Kind of environment: container, service or shell. */
final class EnvironmentCheck implements Check {
  @Override
  public String name() {
    return "environment";
  }

  @Override
  public List<Finding> run(Facts facts) {
    MemlockRemedy here = MemlockRemedy.current(facts.environment(), facts.files().root());
    String what =
        switch (here) {
          case KUBERNETES -> "a container of Kubernetes";
          case YARN -> "a container of YARN";
          case CONTAINER -> "a container";
          case SYSTEMD -> "a service of systemd";
          case SHELL -> "a shell or another program";
        };
    String text = "This process runs in " + what + ".";
    return List.of(
        here == MemlockRemedy.SHELL
            ? Finding.note(
                text + " Limits and permissions of executors may differ.",
                "run this command as the user and with the limits of Spark's worker, or by"
                    + " spark-submit on the cluster")
            : Finding.ok(text));
  }
}

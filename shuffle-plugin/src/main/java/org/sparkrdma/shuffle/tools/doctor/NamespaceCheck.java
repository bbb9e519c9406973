// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;
import java.util.Optional;

/** Whether devices are shared between network namespaces, see rdma-system(8). */
final class NamespaceCheck implements Check {
  @Override
  public String name() {
    return "rdma namespace";
  }

  @Override
  public List<Finding> run(Facts facts) {
    Optional<String> shared = facts.files().text("sys/module/ib_core/parameters/netns_mode");
    if (shared.isEmpty()) {
      return List.of();
    }
    return List.of(
        shared.get().equals("Y")
            ? Finding.ok("RDMA devices are shared by all network namespaces.")
            : Finding.note(
                "Each RDMA device belongs to one network namespace.",
                "give a container with a network of its own its device: rdma dev set DEVICE netns"
                    + " NAME"));
  }
}

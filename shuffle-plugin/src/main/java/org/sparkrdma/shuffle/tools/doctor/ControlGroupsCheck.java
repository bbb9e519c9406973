// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.sparkrdma.shuffle.pinned.ControlGroups;
import org.sparkrdma.shuffle.pinned.ObjectLimit;

/** Limits of this process's control groups: memory, and objects of RDMA devices. */
final class ControlGroupsCheck implements Check {
  /** An executor has some objects for itself and about three for each connection. */
  private static final long FEW_OBJECTS = 100;

  @Override
  public String name() {
    return "control groups";
  }

  @Override
  public List<Finding> run(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    OptionalLong memory = facts.memory().containerBytes();
    findings.add(
        Finding.ok(
            memory.isPresent()
                ? "The memory limit of the control groups is "
                    + (memory.getAsLong() >> 20)
                    + " MiB; pinned memory counts as part of it."
                : "Control groups do not limit memory."));
    for (String line : new ControlGroups(facts.files()).rdmaLimits()) {
      boolean few = ObjectLimit.parse(line).filter(l -> l.objects() < FEW_OBJECTS).isPresent();
      String words = "The limit of objects of an RDMA device is " + line + ".";
      findings.add(
          few
              ? facts.against(
                  words + " That is too few: an executor has about three for each connection.",
                  "raise it in rdma.max of the group, or remove it (max)")
              : Finding.ok(words));
    }
    return findings;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.tools.engines.Probe;

/** Result of opening a device and registering memory as an executor does. */
final class EngineCheck implements Check {
  @Override
  public String name() {
    return "engine";
  }

  @Override
  public List<Finding> run(Facts facts) {
    Probe probe = facts.probe();
    List<Finding> findings = new ArrayList<>();
    for (String reason : probe.reasons()) {
      findings.add(
          probe.usable()
              ? Finding.note("Not used: " + reason + ".", "nothing, unless you want that engine")
              : Finding.problem(
                  reason + ".", "remove this cause; the findings above have the details"));
    }
    if (probe.usable()) {
      findings.add(Finding.ok("Opened " + probe.inWords() + "."));
    }
    return findings;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;

/** Findings about another host, which were made before. */
final class PeerFindings implements Check {
  @Override
  public String name() {
    return "peer";
  }

  @Override
  public List<Finding> run(Facts facts) {
    return facts.peer();
  }
}

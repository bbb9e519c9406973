// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.List;

/**
 * Result of the start of RDMA in an executor.
 *
 * @param up whether it uses RDMA
 * @param reasons why not; else why it does not use other engines
 */
public record StartOutcome(boolean up, List<String> reasons) {
  /** Keeps a copy. */
  public StartOutcome {
    reasons = List.copyOf(reasons);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.util.Map;

/**
 * Time-outs of the plug-in that a busy machine does not reach, so that only faults cause fallback.
 */
public final class LongTimeouts {
  /** Values by key. */
  public static final Map<String, String> SETTINGS =
      Map.of(
          "spark.shuffle.rdma.connect.timeout", "60s",
          "spark.shuffle.rdma.request.timeout", "100s",
          "spark.shuffle.rdma.waits.factor", "100",
          "spark.shuffle.rdma.soft.handshake.timeout", "60s");

  private LongTimeouts() {}
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Kind of measurement of fetched blocks. */
enum TransferKind {
  /** Throughput and CPU time while requests wait for each other. */
  THROUGHPUT,
  /** Time of one request while there is no other. */
  LATENCY,
  /** CPU time of the plug-in itself, on a device whose READs move no bytes. */
  CEILING;

  /** The name in reports. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

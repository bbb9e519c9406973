// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** Verification of blocks by the plug-in; Spark's own transfer verifies none. */
public enum VerifyMode {
  /** No verification; Spark still writes its checksums. */
  OFF,
  /** Against Spark's default checksum. */
  ADLER32,
  /** Against CRC32C, which processors compute in hardware. */
  CRC32C;

  Map<String, String> conf() {
    return Map.of(
        "spark.shuffle.rdma.verify",
        Boolean.toString(this != OFF),
        "spark.shuffle.checksum.algorithm",
        (this == OFF ? ADLER32 : this).name());
  }

  /** The name in options, progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** How the plug-in checks what it has read; Spark's own transfer never checks. */
enum VerifyMode {
  /** Not at all; Spark writes its checksums all the same. */
  OFF,
  /** Against Spark's default checksum. */
  ADLER32,
  /** Against the checksum that processors compute fastest. */
  CRC32C;

  Map<String, String> conf() {
    return Map.of(
        "spark.shuffle.rdma.verify",
        Boolean.toString(this != OFF),
        "spark.shuffle.checksum.algorithm",
        (this == OFF ? ADLER32 : this).name());
  }

  /** As it stands in options, progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

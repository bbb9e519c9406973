/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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

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
package org.sparkrdma.benchmarks.recovery;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Map;

/** The shuffles that are compared; they differ in these settings and in nothing else. */
enum Contender {
  /** Spark without the plug-in. */
  VANILLA,
  /** The plug-in on the loopback engine. */
  RDMA;

  private static final String MANAGER_KEY = "spark.shuffle.manager";
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaShuffleManager";

  Map<String, String> conf() {
    return switch (this) {
      case VANILLA -> Map.of(MANAGER_KEY, "sort");
      case RDMA -> Map.of(MANAGER_KEY, PLUG_IN, "spark.shuffle.rdma.engine", "soft");
    };
  }

  /** As it stands in progress, table and report. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

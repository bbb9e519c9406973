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
package org.sparkrdma.scenarios;

import java.util.Map;

/** Time-outs of the plug-in that a busy machine does not reach, so that only faults end in TCP. */
public final class PatientTimeouts {
  /** Values by key. */
  public static final Map<String, String> SETTINGS =
      Map.of(
          "spark.shuffle.rdma.connect.timeout", "60s",
          "spark.shuffle.rdma.request.timeout", "100s",
          "spark.shuffle.rdma.peer.timeout", "60s",
          "spark.shuffle.rdma.soft.handshake.timeout", "60s");

  private PatientTimeouts() {}
}

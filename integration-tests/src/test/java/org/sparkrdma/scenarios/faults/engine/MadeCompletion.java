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
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** A completion that the device did not make, or made at another time. */
record MadeCompletion(
    long requestId, WorkStatus status, int queuePairNumber, Opcode opcode, long byteLength)
    implements WorkCompletion {
  /** One that failed. */
  static MadeCompletion failed(long requestId, WorkStatus status, int queuePairNumber) {
    return new MadeCompletion(requestId, status, queuePairNumber, null, 0);
  }

  /** What can be kept of one that came. */
  static MadeCompletion copyOf(WorkCompletion came) {
    return new MadeCompletion(
        came.requestId(), came.status(), came.queuePairNumber(), came.opcode(), came.byteLength());
  }

  @Override
  public int vendorError() {
    return 0;
  }

  @Override
  public boolean hasImmediate() {
    return false;
  }

  @Override
  public int immediate() {
    return 0;
  }
}

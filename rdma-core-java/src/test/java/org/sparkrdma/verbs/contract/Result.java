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
package org.sparkrdma.verbs.contract;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** A completion, kept. Of a failed one the last three are null, 0 and null. */
public record Result(
    long id, WorkStatus status, int queuePairNumber, Opcode opcode, long bytes, Integer immediate) {
  public boolean succeeded() {
    return status == WorkStatus.SUCCESS;
  }

  public static Result of(WorkCompletion completion) {
    boolean good = completion.succeeded();
    return new Result(
        completion.requestId(),
        completion.status(),
        completion.queuePairNumber(),
        good ? completion.opcode() : null,
        good ? completion.byteLength() : 0,
        good && completion.hasImmediate() ? completion.immediate() : null);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** A copy of a completion. The last three fields of a failed one are null, 0 and null. */
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

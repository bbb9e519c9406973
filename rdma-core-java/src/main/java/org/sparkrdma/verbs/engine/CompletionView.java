// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/**
 * A completion as its handler sees it: valid while the handler runs. Reused; confined to the thread
 * that polls.
 */
public final class CompletionView implements WorkCompletion {
  private boolean valid;
  private long id;
  private WorkStatus status;
  private int vendorError;
  private int queuePairNumber;
  private Opcode opcode;
  private long byteLength;
  private boolean hasImmediate;
  private int immediate;

  /** A failed completion; only these fields are known. */
  public void setFailure(long requestId, int ofQueuePair, WorkStatus how, int vendor) {
    valid = true;
    id = requestId;
    queuePairNumber = ofQueuePair;
    if (status != how) {
      // Mostly equal, and storing a reference costs more than comparing it.
      status = how;
    }
    vendorError = vendor;
  }

  /** A successful completion, without immediate data. */
  public void setSuccess(long requestId, int ofQueuePair, Opcode what, long bytes) {
    setFailure(requestId, ofQueuePair, WorkStatus.SUCCESS, 0);
    if (opcode != what) {
      opcode = what;
    }
    byteLength = bytes;
    hasImmediate = false;
    immediate = 0;
  }

  /** Adds immediate data to a successful completion. */
  public void setImmediate(int data) {
    hasImmediate = true;
    immediate = data;
  }

  /** Runs the handler with it. */
  public void hand(CompletionHandler handler) {
    try {
      handler.onCompletion(this);
    } finally {
      valid = false;
    }
  }

  private void check() {
    if (!valid) {
      throw new IllegalStateException("a completion is only valid while its handler runs");
    }
  }

  private void checkSuccess() {
    check();
    if (status != WorkStatus.SUCCESS) {
      throw new IllegalStateException("a failed completion has no such field: status=" + status);
    }
  }

  @Override
  public long requestId() {
    check();
    return id;
  }

  @Override
  public WorkStatus status() {
    check();
    return status;
  }

  @Override
  public int vendorError() {
    check();
    return vendorError;
  }

  @Override
  public int queuePairNumber() {
    check();
    return queuePairNumber;
  }

  @Override
  public Opcode opcode() {
    checkSuccess();
    return opcode;
  }

  @Override
  public long byteLength() {
    checkSuccess();
    return byteLength;
  }

  @Override
  public boolean hasImmediate() {
    checkSuccess();
    return hasImmediate;
  }

  @Override
  public int immediate() {
    checkSuccess();
    return immediate;
  }
}

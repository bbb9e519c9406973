// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/**
 * A completion: as the device reports it, then as its handler sees it while the handler runs.
 * Reused; confined to the thread that polls.
 */
public final class CompletionView implements WorkCompletion {
  private boolean valid;
  private long id;
  private WorkStatus status;
  private int vendorError;

  /** That of the last completion, until there is another. */
  private QueuePairWork queuePair;

  private Opcode opcode;
  private long byteLength;
  private boolean hasImmediate;
  private int immediate;

  /**
   * Sets what the device reports; the parameters after the error are those of receives.
   *
   * @param ofWrite whether a WRITE consumed the receive
   */
  public void set(
      long requestNumber,
      WorkStatus how,
      int vendor,
      boolean ofWrite,
      long bytes,
      boolean withImmediate,
      int data) {
    id = requestNumber;
    setStatus(how, vendor);
    setOperation(ofWrite ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE, bytes);
    hasImmediate = withImmediate;
    immediate = withImmediate ? data : 0;
  }

  // References are mostly equal, and storing one costs more than comparing it.

  void setStatus(WorkStatus how, int vendor) {
    if (status != how) {
      status = how;
    }
    vendorError = vendor;
  }

  private void setOperation(Opcode what, long bytes) {
    if (opcode != what) {
      opcode = what;
    }
    byteLength = bytes;
  }

  /** The operation of a send, which has no immediate data. */
  void setSend(Opcode what, long bytes) {
    setOperation(what, bytes);
    hasImmediate = false;
    immediate = 0;
  }

  /** The request that it completes, as its owner knows it. */
  void setRequest(long requestId, QueuePairWork of) {
    id = requestId;
    if (queuePair != of) {
      queuePair = of;
    }
  }

  /** The number that the device reports, before {@link #setRequest}. */
  long requestNumber() {
    return id;
  }

  /** The result and the error, also outside of a handler. */
  boolean isFailure() {
    return status != WorkStatus.SUCCESS;
  }

  String failure() {
    return "work failed: status=" + status + " vendorError=" + vendorError;
  }

  /** Runs the handler with it. */
  void hand(CompletionHandler handler) {
    valid = true;
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
    if (isFailure()) {
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
    return queuePair.number();
  }

  @Override
  public Object attachment() {
    check();
    return queuePair.attachment();
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

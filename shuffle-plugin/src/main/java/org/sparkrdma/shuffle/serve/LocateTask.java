// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * A LOCATE in progress: what has been written of its answer, and which block is next. Used with the
 * server's lock, by one thread at a time.
 */
final class LocateTask {
  private final LocateCall call;
  private final long arrivedNs;
  private final Located.Encoder answer = new Located.Encoder();
  private long waitingSinceNs;
  private Locate request;
  private Lease lease;
  private Placement placement;
  private BlockWriter writer;
  private ServedOutput output;
  private int block;

  LocateTask(LocateCall call, long arrivedNs) {
    this.call = call;
    this.arrivedNs = arrivedNs;
    this.waitingSinceNs = arrivedNs;
  }

  LocateCall call() {
    return call;
  }

  long ageNs(long nowNs) {
    return nowNs - arrivedNs;
  }

  /** Time for which it has been waiting for a thread. */
  long waitNs(long nowNs) {
    return nowNs - waitingSinceNs;
  }

  void waitSince(long nowNs) {
    waitingSinceNs = nowNs;
  }

  boolean isStarted() {
    return request != null;
  }

  void start(Locate newRequest, Lease newLease, Placement newPlacement, BlockWriter newWriter) {
    request = newRequest;
    lease = newLease;
    placement = newPlacement;
    writer = newWriter;
  }

  /** Begins the answer, again after an error. */
  void beginAnswer(int checksumKind) {
    answer.begin(call.answer(), request.requestId(), checksumKind);
    writer.beginAnswer(answer);
    block = 0;
  }

  Locate request() {
    return request;
  }

  Lease lease() {
    return lease;
  }

  Placement placement() {
    return placement;
  }

  BlockWriter writer() {
    return writer;
  }

  Located.Encoder answer() {
    return answer;
  }

  /** Index of the next block. */
  int block() {
    return block;
  }

  void nextBlock() {
    block++;
  }

  /** Whether the next block is of another map output than the one in use. */
  boolean isNewOutput() {
    return output == null || !output.is(request.shuffleId(block), request.mapId(block));
  }

  /** The map output in use, which stays in the cache meanwhile; null when it cannot be found. */
  ServedOutput output() {
    return output;
  }

  void use(ServedOutput newOutput) {
    endUse();
    output = newOutput;
    if (newOutput != null) {
      newOutput.beginUse();
    }
  }

  void endUse() {
    if (output != null) {
      output.endUse();
      output = null;
    }
  }
}

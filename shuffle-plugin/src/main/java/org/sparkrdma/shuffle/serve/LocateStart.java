// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Starts LOCATEs: decodes the request, releases the leases that it names, and prepares the parts
 * with a lease and what writes their pieces. Used with the server's lock.
 */
final class LocateStart {
  private final Leases leases;
  private final ServingMode mode;
  private final RegisteredFiles files;
  private final CopySlots slots;
  private final int checksumKind;
  private final boolean computeSums;
  private final LocateAnswers answers;
  private final ShuffleCounters counters;
  private final StateLock state;

  /**
   * @param slots null when copying is off
   * @param checksumKind of the answers
   * @param computeSums for blocks without usable recorded checksums
   */
  LocateStart(
      Leases leases,
      ServingMode mode,
      RegisteredFiles files,
      CopySlots slots,
      int checksumKind,
      boolean computeSums,
      LocateAnswers answers,
      ShuffleCounters counters,
      StateLock state) {
    this.leases = leases;
    this.mode = mode;
    this.files = files;
    this.slots = slots;
    this.checksumKind = checksumKind;
    this.computeSums = computeSums;
    this.answers = answers;
    this.counters = counters;
    this.state = state;
  }

  /**
   * Begins the answer, in the part of the blocks that need no disk.
   *
   * @return false when the task has ended: its message is malformed, its connection is closed, or
   *     the peer has all leases that it may have
   */
  boolean start(LocateTask task) {
    LocateCall call = task.call();
    Locate request;
    try {
      request = Locate.decode(call.request());
      releaseLeases(call.peer(), request);
    } catch (MalformedMessageException e) {
      counters.increment(Counter.PROTOCOL_ERRORS);
      call.malformed(e.getMessage());
      task.end();
      return false;
    }
    if (call.isClosed()) {
      counters.increment(Counter.LOCATES_DROPPED);
      call.answered(0);
      task.end();
      return false;
    }
    task.start(request);
    prepare(task.ready(), call.answer());
    if (!task.ready().lease().share().admitLease()) {
      answers.refuseAll(task, Located.Kind.BUSY);
      answers.finish(task);
      return false;
    }
    return true;
  }

  private void releaseLeases(long peer, Locate request) {
    for (int i = 0; i < request.leaseCount(); i++) {
      if (!leases.release(peer, request.leaseId(i))) {
        throw new MalformedMessageException("release of another peer's lease: lease=" + i);
      }
    }
  }

  /** Prepares the part of a disk, with a buffer of its own for its pieces; once. */
  void prepare(LocatePart part) {
    prepare(part, ByteBuffer.allocate(part.task().call().answer().capacity()));
  }

  private void prepare(LocatePart part, ByteBuffer buffer) {
    LocateTask task = part.task();
    Lease lease = leases.draft(task.call().peer());
    boolean prepared = false;
    try {
      PiecePlacer placer = new PiecePlacer(mode, files, slots, lease, task.total(), state);
      ComputedChecksums computed = computeSums ? new ComputedChecksums(checksumKind) : null;
      part.prepare(buffer, checksumKind, lease, placer, new BlockWriter(placer, computed, state));
      prepared = true;
    } finally {
      if (!prepared) {
        leases.discard(lease);
      }
    }
  }
}

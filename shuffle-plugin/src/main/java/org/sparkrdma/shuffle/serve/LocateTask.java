// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A LOCATE in progress: a part of blocks that need no disk, and one for each disk that is needed.
 * Used with the server's lock.
 */
final class LocateTask {
  private final LocateCall call;
  private final long arrivedNs;
  private final LocatePart ready = new LocatePart(this, LocatePart.NO_DISK);
  private final PiecePlacer.Total total = new PiecePlacer.Total();
  private List<LocatePart> parts = List.of();
  private Locate request;
  private boolean overloaded;
  private boolean located;
  private long locatedSinceNs;
  private boolean heldBack;
  private boolean endsEarly;

  /** Time for which threads of disks have worked for it. */
  private long diskNs;

  /** Number of threads of disks that work for it now, and the time since which one does. */
  private int onDisk;

  private long onDiskSinceNs;
  private boolean ended;

  private boolean aborted;
  private boolean awaitsAbort;
  private boolean refused;

  /** Number of attempts to abort it that have failed. */
  private int abortsFailed;

  /** The next one in the list of those to abort again; a list that allocates nothing. */
  private LocateTask nextToAbort;

  LocateTask(LocateCall call, long arrivedNs) {
    this.call = call;
    this.arrivedNs = arrivedNs;
  }

  LocateCall call() {
    return call;
  }

  long ageNs(long nowNs) {
    return nowNs - arrivedNs;
  }

  /**
   * @param newRequest a view of the message, which is lost at the end of the task
   */
  void start(Locate newRequest) {
    request = newRequest;
  }

  Locate request() {
    return request;
  }

  /** Bytes of the whole answer. */
  PiecePlacer.Total total() {
    return total;
  }

  /** Blocks that need no disk; its pieces are in the answer's buffer. */
  LocatePart ready() {
    return ready;
  }

  /** The parts of disks, in the order in which they were needed. */
  List<LocatePart> parts() {
    return parts;
  }

  /** The part of a disk, created when needed. */
  LocatePart part(int disk) {
    for (LocatePart part : parts) {
      if (part.disk() == disk) {
        return part;
      }
    }
    if (parts.isEmpty()) {
      parts = new ArrayList<>();
    }
    LocatePart part = new LocatePart(this, disk);
    parts.add(part);
    return part;
  }

  /** Whether disks work for it. */
  boolean isActive() {
    for (LocatePart part : parts) {
      if (part.isActive()) {
        return true;
      }
    }
    return false;
  }

  /** Notes the time of the first pieces that wait for other blocks. */
  void noteLocated(long nowNs) {
    if (!located && (hasPieces(ready) || parts.stream().anyMatch(LocateTask::hasPieces))) {
      located = true;
      locatedSinceNs = nowNs;
    }
  }

  private static boolean hasPieces(LocatePart part) {
    return part.isIdle() && part.hasPieces();
  }

  /**
   * Whether pieces have been waiting for longer than this for other blocks, and some are in parts
   * that no thread works on: an answer would have those.
   */
  boolean holds(long maxHoldNs, long nowNs) {
    return located
        && nowNs - locatedSinceNs > maxHoldNs
        && (ready.hasPieces() || parts.stream().anyMatch(LocateTask::keepsPieces));
  }

  private static boolean keepsPieces(LocatePart part) {
    return !part.isRunning() && !part.isAbandoned() && part.hasPieces();
  }

  /**
   * Marks it as refused because of overload.
   *
   * @return whether it was not before
   */
  boolean markOverloaded() {
    boolean first = !overloaded;
    overloaded = true;
    return first;
  }

  /** Its answer leaves out blocks that wait for a disk. */
  void markHeldBack() {
    heldBack = true;
  }

  boolean isHeldBack() {
    return heldBack;
  }

  /** The thread of a disk begins to work for it. */
  void beginDisk(long nowNs) {
    if (onDisk == 0) {
      onDiskSinceNs = nowNs;
    }
    onDisk++;
  }

  /** The thread of a disk has worked for it. */
  void endDisk(long nowNs) {
    onDisk--;
    if (onDisk == 0) {
      diskNs += nowNs - onDiskSinceNs;
    }
  }

  /**
   * Time in which at least one thread of a disk has worked for it, and none does any more. The
   * waits for such a thread are not in it, those of the thread itself are.
   */
  long diskNs() {
    return diskNs;
  }

  /** Its answer leaves out blocks, or the rest of one, for which it has no room. */
  void markEndsEarly() {
    endsEarly = true;
  }

  boolean endsEarly() {
    return endsEarly;
  }

  /** It is answered or dropped: its buffers belong to others. */
  void end() {
    ended = true;
  }

  boolean isEnded() {
    return ended;
  }

  /** An Error has ended it: no step of it follows. */
  void markAborted() {
    aborted = true;
  }

  boolean isAborted() {
    return aborted;
  }

  /** Its answer after an Error has no lease, so all that it still holds may be released. */
  void markRefused() {
    refused = true;
  }

  boolean isRefused() {
    return refused;
  }

  /** Waits for another attempt to abort it. */
  void awaitAbort(LocateTask next) {
    awaitsAbort = true;
    abortsFailed++;
    nextToAbort = next;
  }

  boolean awaitsAbort() {
    return awaitsAbort;
  }

  int abortsFailed() {
    return abortsFailed;
  }

  /** The next one that waits; this one is no longer in the list. */
  LocateTask pollNextToAbort() {
    awaitsAbort = false;
    LocateTask next = nextToAbort;
    nextToAbort = null;
    return next;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.HashMap;
import java.util.Map;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Order in which the jobs of peers get the threads of one disk. Peers with jobs that wait take
 * turns, with one job each. The last free thread is kept for a peer that has no job in work, so the
 * first job of a peer does not wait for the jobs of a single other one. The price: while fewer
 * peers than threads have jobs, one thread is mostly idle; a single peer never uses it.
 *
 * <p>Holds nothing of a peer without jobs. Only {@link #add} allocates. Used with the lock of
 * {@link DiskQueue}.
 */
final class DiskTurns {
  private final int maxInWork;
  private final Map<Long, Peer> peers = new HashMap<>();

  /** Peers with jobs that wait, in the order of their turns. */
  private Peer first;

  private Peer last;
  private int inWork;

  /** A job of a peer. */
  abstract static class Turn extends TaskThreads.Task {
    private final long sinceNs;
    private Peer peer;
    private Turn next;

    /**
     * @param sinceNs time of its arrival
     */
    Turn(long sinceNs) {
      this.sinceNs = sinceNs;
    }
  }

  private static final class Peer {
    /** Boxed once: the end of the last job must not allocate. */
    private final Long number;

    private Turn firstJob;
    private Turn lastJob;
    private int inWork;
    private Peer next;

    Peer(Long number) {
      this.number = number;
    }
  }

  /**
   * @param maxInWork maximum number of jobs in work
   */
  DiskTurns(int maxInWork) {
    this.maxInWork = maxInWork;
  }

  /** A job waits behind the others of its peer. */
  void add(long number, Turn job) {
    Peer peer = peers.computeIfAbsent(number, Peer::new);
    job.peer = peer;
    if (peer.firstJob == null) {
      peer.firstJob = job;
      addLast(peer);
    } else {
      peer.lastJob.next = job;
    }
    peer.lastJob = job;
  }

  /** The next job, which is in work from now on; null when none may begin. */
  Turn poll() {
    Peer before = null;
    Peer peer = first;
    while (peer != null && !mayBegin(peer)) {
      before = peer;
      peer = peer.next;
    }
    if (peer == null) {
      return null;
    }
    remove(peer, before);
    Turn job = peer.firstJob;
    peer.firstJob = job.next;
    job.next = null;
    if (peer.firstJob == null) {
      peer.lastJob = null;
    } else {
      addLast(peer);
    }
    peer.inWork++;
    inWork++;
    return job;
  }

  private boolean mayBegin(Peer peer) {
    int free = maxInWork - inWork;
    return free > 1 || (free == 1 && peer.inWork == 0);
  }

  /** A job is not in work any more. */
  void end(Turn job) {
    Peer peer = job.peer;
    peer.inWork--;
    inWork--;
    if (peer.inWork == 0 && peer.firstJob == null) {
      peers.remove(peer.number);
    }
  }

  /** A job that has not begun waits again, before the others of its peer. */
  void undoPoll(Turn job) {
    Peer peer = job.peer;
    peer.inWork--;
    inWork--;
    job.next = peer.firstJob;
    if (peer.firstJob == null) {
      peer.lastJob = job;
      addLast(peer);
    }
    peer.firstJob = job;
  }

  private void addLast(Peer peer) {
    if (first == null) {
      first = peer;
    } else {
      last.next = peer;
    }
    last = peer;
  }

  private void remove(Peer peer, Peer before) {
    if (before == null) {
      first = peer.next;
    } else {
      before.next = peer.next;
    }
    if (last == peer) {
      last = before;
    }
    peer.next = null;
  }

  boolean hasWaiting() {
    return first != null;
  }

  int inWork() {
    return inWork;
  }

  boolean isFull() {
    return inWork == maxInWork;
  }

  /** Number of peers with jobs. */
  int peers() {
    return peers.size();
  }

  /** Time of arrival of the oldest job of a peer that waits, or else the other time. */
  long oldestSinceNs(long number, long otherNs) {
    Peer peer = peers.get(number);
    return peer == null || peer.firstJob == null ? otherNs : peer.firstJob.sinceNs;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Order in which the jobs of peers get the threads of one disk. Peers with jobs that wait take
 * turns, with one job each. The last free thread is kept for a peer that has no job in work, so the
 * first job of a peer does not wait for the jobs of a single other one. The price: while fewer
 * peers than threads have jobs, one thread is mostly idle; a single peer never uses it.
 *
 * <p>Jobs take long while the disk reads what they need. When one waits and another has been in
 * work for long, there are more threads for a while, and each of them is for a peer that has no job
 * in work. The last of those are kept for peers whose jobs do not take long: whose blocks are in
 * the page cache.
 *
 * <p>Holds nothing of a peer without jobs. Only {@link #add} allocates. Used with the lock of
 * {@link DiskQueue}.
 */
final class DiskTurns {
  /** A job that is in work for longer takes long. */
  static final long SLOW_NS = Duration.ofMillis(5).toNanos();

  /** Time for which there are more threads, after jobs have waited for one that takes long. */
  static final long GROWN_NS = Duration.ofSeconds(10).toNanos();

  /** There are so many times more threads then. */
  static final int GROWTH = 4;

  private final int threads;

  /** The jobs in work; null where there is none. */
  private final Turn[] working;

  private final Map<Long, Peer> peers = new HashMap<>();

  /** Peers with jobs that wait, in the order of their turns. */
  private Peer first;

  private Peer last;
  private int inWork;
  private boolean grown;
  private long grownSinceNs;

  /** A job of a peer. */
  abstract static class Turn extends TaskThreads.Task {
    private final long sinceNs;
    private long beginNs;
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

    /** Whether the last job that has ended took long. */
    private boolean slow;

    private Peer next;

    Peer(Long number) {
      this.number = number;
    }
  }

  /**
   * @param threads maximum number of jobs in work, as long as none takes long
   */
  DiskTurns(int threads) {
    this.threads = threads;
    this.working = new Turn[threads * GROWTH];
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
  Turn poll(long nowNs) {
    updateGrowth(nowNs);
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
    begin(job, nowNs);
    return job;
  }

  private void updateGrowth(long nowNs) {
    if (inWork >= threads && first != null && takesLong(nowNs)) {
      grown = true;
      grownSinceNs = nowNs;
    } else if (grown && nowNs - grownSinceNs >= GROWN_NS) {
      grown = false;
    }
  }

  private boolean takesLong(long nowNs) {
    for (Turn job : working) {
      if (job != null && nowNs - job.beginNs > SLOW_NS) {
        return true;
      }
    }
    return false;
  }

  private boolean mayBegin(Peer peer) {
    if (inWork < threads - 1) {
      return true;
    }
    int kept = peer.slow && grown ? threads : 0;
    return peer.inWork == 0 && inWork < maxInWork() - kept;
  }

  private int maxInWork() {
    return grown ? working.length : threads;
  }

  private void begin(Turn job, long nowNs) {
    job.peer.inWork++;
    job.beginNs = nowNs;
    working[indexOf(null)] = job;
    inWork++;
  }

  private int indexOf(Turn job) {
    int index = 0;
    while (working[index] != job) {
      index++;
    }
    return index;
  }

  private void endWork(Turn job) {
    job.peer.inWork--;
    working[indexOf(job)] = null;
    inWork--;
  }

  /** A job is not in work any more. */
  void end(Turn job, long nowNs) {
    Peer peer = job.peer;
    endWork(job);
    peer.slow = nowNs - job.beginNs > SLOW_NS;
    if (peer.inWork == 0 && peer.firstJob == null) {
      peers.remove(peer.number);
    }
  }

  /** A job that has not begun waits again, before the others of its peer. */
  void undoPoll(Turn job) {
    Peer peer = job.peer;
    endWork(job);
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
    return inWork >= maxInWork();
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

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The chunks of each executor, and the choice of its next one and of the source: the driver while
 * no executor has the chunk, else the least busy holder. Data then flows as in a pipeline, load is
 * balanced as in a tree, and a dead source costs one chunk. Safe for any thread.
 */
final class BroadcastTracker {
  /** The source of chunks that no executor has. */
  static final String DRIVER = "driver";

  /** No chunk. */
  static final int NONE = -1;

  /** Chunks that the driver sends at a time. */
  private static final int SEEDS = 2;

  /** Executors that read from one source at a time. */
  private static final int READERS = 2;

  /** Holders of a chunk that are compared for one choice. */
  private static final int COMPARED = 16;

  /** Waiting executors without a source after which the others are not tried. */
  private static final int MAX_MISSES = 32;

  /**
   * A chunk for an executor.
   *
   * @param source id of an executor, or {@link #DRIVER}
   */
  record Assignment(int chunk, String source) {}

  private final Map<Long, Broadcast> broadcasts = new HashMap<>();

  /** A broadcast variable with this number of chunks can be requested from now on. */
  synchronized void add(long id, int chunks) {
    broadcasts.put(id, new Broadcast(chunks));
  }

  /** A broadcast variable is destroyed: executors that wait get no chunk. */
  synchronized void remove(long id) {
    Broadcast removed = broadcasts.remove(id);
    if (removed != null) {
      removed.waiting.forEach(one -> one.answer(null));
    }
  }

  /** An executor is lost. */
  synchronized void removeExecutor(String executor) {
    broadcasts.values().forEach(one -> one.leave(executor, true));
  }

  /** An executor fetches no more chunks; those that it has stay available. */
  synchronized void leave(String executor, long id) {
    Broadcast broadcast = broadcasts.get(id);
    if (broadcast != null) {
      broadcast.leave(executor, false);
    }
  }

  /**
   * An executor asks for its next chunk.
   *
   * @param done the chunk that it has got; {@link #NONE} for none
   * @param failed source that did not deliver; empty for none
   * @param reply called once, now or later, by any thread: null when there is no further chunk
   */
  synchronized void next(
      String executor, long id, int done, String failed, Consumer<Assignment> reply) {
    Broadcast broadcast = broadcasts.get(id);
    if (broadcast == null) {
      reply.accept(null);
      return;
    }
    broadcast.next(executor, done, failed, reply);
  }

  /** An executor that takes part. */
  private static final class Participant {
    private final String executor;
    private final BitSet chunks = new BitSet();

    /** Number of executors that read from it. */
    private int readers;

    /** Null when it fetches none. */
    private Assignment open;

    /** Null when it does not wait. */
    private Consumer<Assignment> reply;

    Participant(String executor) {
      this.executor = executor;
    }

    void answer(Assignment assignment) {
      Consumer<Assignment> to = reply;
      reply = null;
      to.accept(assignment);
    }
  }

  /** One broadcast variable. */
  private static final class Broadcast {
    private final Map<String, Participant> participants = new HashMap<>();
    private final Deque<Participant> waiting = new ArrayDeque<>();

    /** The holders of each chunk. */
    private final List<List<Participant>> holders = new ArrayList<>();

    /** Chunks that the driver sends now. */
    private final BitSet seeded = new BitSet();

    /** Changes with each choice, so that not all executors begin with the same chunk. */
    private int turn;

    Broadcast(int chunks) {
      for (int i = 0; i < chunks; i++) {
        holders.add(new ArrayList<>());
      }
    }

    void next(String executor, int done, String failed, Consumer<Assignment> reply) {
      Participant participant = participants.computeIfAbsent(executor, Participant::new);
      if (participant.reply != null) {
        participant.answer(null);
        waiting.remove(participant);
      }
      Assignment ended = close(participant);
      if (ended != null && ended.chunk() == done) {
        participant.chunks.set(done);
        holders.get(done).add(participant);
      } else if (ended != null && ended.source().equals(failed)) {
        forget(failed);
      }
      participant.reply = reply;
      if (participant.chunks.cardinality() == holders.size()) {
        participant.answer(null);
      } else {
        waiting.add(participant);
      }
      assign();
    }

    void leave(String executor, boolean lost) {
      Participant participant = participants.get(executor);
      if (participant == null) {
        return;
      }
      close(participant);
      if (participant.reply != null) {
        waiting.remove(participant);
        participant.answer(null);
      }
      if (lost) {
        forget(executor);
        participants.remove(executor);
      }
      assign();
    }

    /** Nothing is read from a source any more; what it has counts as missing. */
    private void forget(String source) {
      Participant participant = participants.get(source);
      if (participant != null) {
        holders.forEach(all -> all.remove(participant));
      }
    }

    /** Ends the assignment of a participant; returns it, null for none. */
    private Assignment close(Participant participant) {
      Assignment ended = participant.open;
      participant.open = null;
      if (ended != null && ended.source().equals(DRIVER)) {
        seeded.clear(ended.chunk());
      } else if (ended != null && participants.containsKey(ended.source())) {
        participants.get(ended.source()).readers--;
      }
      return ended;
    }

    /** Gives chunks to those that wait, in their order. */
    private void assign() {
      int misses = 0;
      Iterator<Participant> all = waiting.iterator();
      while (all.hasNext() && misses < MAX_MISSES) {
        Participant participant = all.next();
        Assignment chosen = choose(participant);
        if (chosen == null) {
          misses++;
        } else {
          all.remove();
          participant.open = chosen;
          participant.answer(chosen);
        }
      }
    }

    private Assignment choose(Participant participant) {
      turn++;
      int best = NONE;
      Participant source = null;
      for (int i = 0; i < holders.size(); i++) {
        int chunk = (turn + i) % holders.size();
        if (participant.chunks.get(chunk)) {
          continue;
        }
        if (holders.get(chunk).isEmpty()) {
          if (seeded.cardinality() < SEEDS && !seeded.get(chunk)) {
            seeded.set(chunk);
            return new Assignment(chunk, DRIVER);
          }
          continue;
        }
        Participant candidate = leastBusy(holders.get(chunk));
        if (candidate.readers < READERS && isBetter(candidate, chunk, source, best)) {
          source = candidate;
          best = chunk;
        }
      }
      if (source == null) {
        return null;
      }
      source.readers++;
      return new Assignment(best, source.executor);
    }

    private Participant leastBusy(List<Participant> all) {
      Participant least = all.get(turn % all.size());
      for (int i = 1; i < Math.min(COMPARED, all.size()) && least.readers > 0; i++) {
        Participant other = all.get((turn + i) % all.size());
        least = other.readers < least.readers ? other : least;
      }
      return least;
    }

    /** A less busy source is better, then a chunk that fewer have. */
    private boolean isBetter(Participant source, int chunk, Participant than, int bestChunk) {
      if (than == null || source.readers != than.readers) {
        return than == null || source.readers < than.readers;
      }
      return holders.get(chunk).size() < holders.get(bestChunk).size();
    }
  }

  /** Number of broadcast variables, for tests of leaks. */
  synchronized int size() {
    return broadcasts.size();
  }
}

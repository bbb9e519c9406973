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
package org.sparkrdma.shuffle.connection;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.transport.Connector;

/**
 * Another executor, as far as this one deals with it. Owned by the agent.
 *
 * <p>At most one connection is established; beside it there may be an attempt of ours and
 * connections being accepted, see {@link Connector} for which of them stands.
 */
public final class Peer {
  private final long incarnation;
  private final Consumer<BlockProgress> wantFromAnyThread;
  private final ArrayDeque<BlockProgress> pending = new ArrayDeque<>();
  private Endpoint endpoint;
  private PeerConnection attempt;
  private final Set<PeerConnection> accepting = new HashSet<>();
  private PeerConnection established;
  private int generation;
  private boolean waiting;
  private long waitingSinceNs;
  private long retryAtNs;
  private long quarantineNs;
  private long quarantinedUntilNs;
  private boolean quarantined;
  private int corruptions;
  private long usedNs;

  /**
   * @param wantFromAnyThread hands a block to the agent, to be fetched from its endpoint
   */
  public Peer(long incarnation, Consumer<BlockProgress> wantFromAnyThread) {
    this.incarnation = incarnation;
    this.wantFromAnyThread = wantFromAnyThread;
  }

  public long incarnation() {
    return incarnation;
  }

  void wantFromAnyThread(BlockProgress block) {
    wantFromAnyThread.accept(block);
  }

  /** Blocks that wait for a connection. */
  public ArrayDeque<BlockProgress> pending() {
    return pending;
  }

  /** Where it listens; null when only it has called so far. */
  public Endpoint endpoint() {
    return endpoint;
  }

  public void endpoint(Endpoint told) {
    endpoint = told;
  }

  public PeerConnection attempt() {
    return attempt;
  }

  public void attempt(PeerConnection ours) {
    attempt = ours;
  }

  /** A connection that it asks for is being accepted; until that is forgotten. */
  public void addAccepting(PeerConnection theirs) {
    accepting.add(theirs);
  }

  public PeerConnection established() {
    return established;
  }

  /** A connection is established; generations of both ends are the same from now on. */
  public void established(PeerConnection made, int newGeneration) {
    established = made;
    generation = newGeneration;
    waiting = false;
    quarantineNs = 0;
    quarantined = false;
  }

  /** Connections with it so far, modulo 65536. */
  public int generation() {
    return generation;
  }

  /** Whether a generation told by the peer is before ours. */
  public boolean isBehind(int theirs) {
    return (short) (theirs - generation) < 0;
  }

  /** Notes that it is in use. */
  public void touch(long nowNs) {
    usedNs = nowNs;
  }

  /** Whether nothing is under way with it and it has not been used for so long. */
  public boolean isUnused(long nowNs, long unusedNs) {
    return attempt == null
        && accepting.isEmpty()
        && established == null
        && !waiting
        && pending.isEmpty()
        && !isQuarantined(nowNs)
        && nowNs - usedNs >= unusedNs;
  }

  /** Forgets a connection, whatever it was. */
  public void forget(PeerConnection gone) {
    if (attempt == gone) {
      attempt = null;
    }
    accepting.remove(gone);
    if (established == gone) {
      established = null;
    }
  }

  /** Notes since when blocks wait for a connection. */
  public void startWaiting(long nowNs) {
    if (!waiting) {
      waiting = true;
      waitingSinceNs = nowNs;
      retryAtNs = nowNs;
    }
  }

  public void stopWaiting() {
    waiting = false;
  }

  public boolean hasWaitedTooLong(long nowNs, long timeoutNs) {
    return waiting && nowNs - waitingSinceNs > timeoutNs;
  }

  public void retryAt(long thenNs) {
    retryAtNs = thenNs;
  }

  /** Whether an attempt of ours is due. */
  public boolean shouldAttempt(long nowNs) {
    return waiting
        && attempt == null
        && accepting.isEmpty()
        && established == null
        && nowNs - retryAtNs >= 0;
  }

  /** Counts one more block that came corrupt since the last quarantine. */
  public int countCorruption() {
    return ++corruptions;
  }

  /**
   * Quarantines the peer. The time doubles with each quarantine until a connection is established.
   *
   * @return the time in nanoseconds
   */
  public long quarantine(long nowNs, long firstNs, long maxNs) {
    quarantineNs = quarantineNs == 0 ? firstNs : Math.min(2 * quarantineNs, maxNs);
    quarantinedUntilNs = nowNs + quarantineNs;
    quarantined = true;
    corruptions = 0;
    return quarantineNs;
  }

  /** Whether it was quarantined and no connection has been established since. */
  public boolean needsTest() {
    return quarantined;
  }

  /** Whether a connection to it is wanted. */
  public boolean isWaiting() {
    return waiting;
  }

  public boolean isQuarantined(long nowNs) {
    return quarantined && nowNs - quarantinedUntilNs < 0;
  }

  /** For log lines; without secrets. */
  @Override
  public String toString() {
    return "executor=" + (endpoint == null ? "unknown" : endpoint.executorId());
  }
}

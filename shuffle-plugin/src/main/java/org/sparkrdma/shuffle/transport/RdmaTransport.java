// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.VerbsException;

/**
 * An executor's end of the RDMA shuffle: listens, connects, fetches and serves on one device. When
 * the device is lost, it leaves every open block to TCP at once and reports the loss to the
 * runtime, which closes this and starts another one. While the agent hangs in a call of the device,
 * which may end, blocks use TCP, too.
 *
 * <p>{@link #close} answers every open block, closes every connection and frees all memory. Safe
 * for any thread.
 */
public final class RdmaTransport implements StartedTransport {
  private static final String HANGS = "a call of the device takes seconds";

  private final TransportBuilder built;
  private final Consumer<String> onLost;
  private final AgentResources shared;
  private final FetchPeers peers;

  /** By incarnation. The agent writes it. */
  private final Map<Long, FetchConnection> established;

  /** Requests with blocks that are not settled. */
  private final Set<FetchRequest> open = ConcurrentHashMap.newKeySet();

  /** Reason for which no block is fetched any more; null while RDMA is in use. */
  private volatile String unusable;

  /**
   * Builds and starts a transport.
   *
   * @throws VerbsException when the device or the address refuses; no resource stays open
   */
  public static RdmaTransport open(
      TransportSettings settings, ServeSettings serveSettings, TransportEnvironment environment)
      throws VerbsException {
    return TransportBuilder.open(
        settings, serveSettings, environment, BlockServer::new, ThreadShortageException::start);
  }

  RdmaTransport(TransportBuilder built, Consumer<String> onLost) {
    this.built = built;
    this.onLost = onLost;
    this.shared = built.shared;
    this.peers = built.peers;
    this.established = built.established;
  }

  @Override
  public Endpoint endpoint() {
    return shared.self().endpoint();
  }

  @Override
  public void fetch(FetchRequest request) {
    open.add(request);
    if (unusable() == null) {
      FetchConnection connection = connectionForTasks(request.endpoint().incarnation());
      int asked =
          connection == null
              ? 0
              : connection.tryLocate(request, shared.device().nanoClock().getAsLong());
      if (asked < request.ranges().size()) {
        shared.work().execute(() -> fetch(request, asked));
      }
    }
    String reason = unusable();
    if (reason != null) {
      // Perhaps lost or closed since the request was added.
      request.leaveRestToTcp(FallbackReason.STOPPED, reason);
    }
  }

  /** The agent. */
  private void fetch(FetchRequest request, int from) {
    // While it hung, all blocks may have been left to TCP.
    if (open.contains(request)) {
      peers.fetch(request, from, shared.work().nowNs());
    }
  }

  /** Reason for which no block is fetched now; null without. */
  private String unusable() {
    return unusable == null && built.agent.hangs() ? HANGS : unusable;
  }

  /** An established connection on which the task may post; null where nothing may wait for it. */
  private FetchConnection connectionForTasks(long incarnation) {
    FetchConnection of = shared.fitness().tasksPost() ? established.get(incarnation) : null;
    return of == null || of.limitNs() == 0 || of.wantsProbe() ? null : of;
  }

  @Override
  public void onSettled(FetchRequest request) {
    open.remove(request);
  }

  /** Each block of a request that is open, or comes later, uses TCP. */
  void leaveOpenToTcp(String reason) {
    unusable = reason;
    leaveToTcp(reason);
  }

  private void leaveToTcp(String reason) {
    for (FetchRequest request : open) {
      request.leaveRestToTcp(FallbackReason.STOPPED, reason);
    }
  }

  /** RDMA is lost: every block uses TCP, before queue pairs are destroyed, which takes seconds. */
  void lose(String reason) {
    leaveOpenToTcp(reason);
    onLost.accept(reason);
  }

  @Override
  public void onCorruptData(FetchRequest request) {
    shared.work().execute(() -> peers.onCorruptData(request.endpoint().incarnation()));
  }

  @Override
  public void unregisterShuffle(int shuffleId) {
    built.server.unregisterShuffle(shuffleId);
  }

  @Override
  public void check() {
    String reason = built.watchdog.check();
    if (reason != null && unusable == null) {
      lose(reason);
    } else if (built.agent.hangs()) {
      leaveToTcp(HANGS);
    }
  }

  /**
   * Closes everything; open blocks use TCP, with {@link FallbackReason#STOPPED}. When the agent or
   * a disk does not return in time, this throws, and a later call goes on with that step.
   */
  @Override
  public void close() {
    close(TransportBuilder.STOP_LIMIT);
  }

  /** The same with another limit of the wait for the agent, and of that for the disks. */
  void close(Duration limit) {
    built.close(limit);
  }

  /** What it consists of. Used by tests. */
  TransportBuilder built() {
    return built;
  }

  /** Used by tests. */
  AgentResources shared() {
    return shared;
  }
}

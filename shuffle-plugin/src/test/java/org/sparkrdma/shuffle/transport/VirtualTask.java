// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A task of a simulated reader that fetches from its servers in turn, a request after the other,
 * and works between them. Blocks that are left to TCP take {@link #TCP_NS} from then on, as all do
 * with {@code mode=off}.
 */
final class VirtualTask {
  /** Time of a request by TCP. */
  static final long TCP_NS = VirtualFabric.MS;

  private final VirtualFabric fabric;
  private final VirtualExecutor reader;
  private final List<VirtualExecutor> servers;
  private final int maps;
  private final long workNs;
  private final FetchingTask task = FetchingTask.ofReader(null);
  private final Map<FallbackReason, Integer> failures = new EnumMap<>(FallbackReason.class);
  private final List<Integer> readOf = new ArrayList<>();
  private long tcpNs = TCP_NS;
  private int requests;
  private int read;
  private int answered;
  private long waitedNs;
  private boolean ended;

  /**
   * @param maps blocks of each request
   * @param workNs time between an answer and the next request
   */
  VirtualTask(
      VirtualFabric fabric,
      VirtualExecutor reader,
      List<VirtualExecutor> servers,
      int maps,
      long workNs) {
    this.fabric = fabric;
    this.reader = reader;
    this.servers = servers;
    this.maps = maps;
    this.workNs = workNs;
    servers.forEach(server -> readOf.add(0));
    next();
  }

  private void next() {
    if (ended) {
      return;
    }
    int server = requests++ % servers.size();
    long sinceNs = fabric.nowNs();
    int[] left = {maps};
    VirtualFetch[] fetch = new VirtualFetch[1];
    fetch[0] =
        new VirtualFetch(
            reader,
            servers.get(server).endpoint(),
            0,
            maps,
            () -> {
              if (--left[0] == 0) {
                fabric.after(0, () -> onAnswer(server, sinceNs, fetch[0]));
              }
            },
            task,
            /* keeps= */ false);
    fetch[0].setProbe(to -> fabric.after(tcpNs, () -> to.accept(tcpNs)));
  }

  private void onAnswer(int server, long sinceNs, VirtualFetch fetch) {
    fabric.after(
        fetch.isRead() ? 0 : tcpNs,
        () -> {
          waitedNs += fabric.nowNs() - sinceNs;
          answered++;
          read += fetch.isRead() ? 1 : 0;
          readOf.set(server, readOf.get(server) + (fetch.isRead() ? 1 : 0));
          fetch.failures().forEach((reason, count) -> failures.merge(reason, count, Integer::sum));
          fabric.after(workNs, this::next);
        });
  }

  /** Requests by TCP take so long, from its first one on. */
  void slowTcp(long requestNs) {
    tcpNs = requestNs;
  }

  /** It begins no other request. */
  void end() {
    ended = true;
  }

  /** Time for which it has waited longer than with {@code mode=off}. */
  long lostNs() {
    return waitedNs - answered * tcpNs;
  }

  /** Requests that are answered. */
  int answered() {
    return answered;
  }

  /** Requests whose blocks all came by READ. */
  int read() {
    return read;
  }

  /** The same of one server. */
  int readOf(int server) {
    return readOf.get(server);
  }

  /** Blocks by TCP, by reason. */
  Map<FallbackReason, Integer> failures() {
    return failures;
  }
}

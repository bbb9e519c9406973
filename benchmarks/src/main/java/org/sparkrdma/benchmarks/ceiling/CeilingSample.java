// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.List;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/** Both executors' measurements for one client in a round. */
record CeilingSample(CeilingShare client, CeilingShare server) {
  private static final double US_NS = 1e3;

  static CeilingSample of(List<CeilingShare> shares, TransferEngine engine) {
    return new CeilingSample(only(shares, engine, false), only(shares, engine, true));
  }

  private static CeilingShare only(
      List<CeilingShare> shares, TransferEngine engine, boolean server) {
    return shares.stream()
        .filter(share -> share.engine() == engine && share.server() == server)
        .findFirst()
        .orElseThrow();
  }

  long blocks() {
    return client.blocks();
  }

  double clientUs() {
    return usPerBlock(client.cpuNs());
  }

  double serverUs() {
    return usPerBlock(server.cpuNs());
  }

  double bothUs() {
    return clientUs() + serverUs();
  }

  double jvmUs() {
    return usPerBlock(client.cost().jvmNs() + server.cost().jvmNs());
  }

  double agentUs() {
    return usPerBlock(client.cost().of(ThreadRole.AGENT).cpuNs());
  }

  double serverAgentUs() {
    return usPerBlock(server.cost().of(ThreadRole.AGENT).cpuNs());
  }

  double blockServerUs() {
    return usPerBlock(server.cost().of(ThreadRole.BLOCK_SERVER).cpuNs());
  }

  double roleUs(ThreadRole role) {
    return usPerBlock(client.cost().of(role).cpuNs());
  }

  double clientBytes() {
    return (double) client.cost().allocatedBytes() / blocks();
  }

  double agentBytes() {
    return (double) client.cost().of(ThreadRole.AGENT).allocatedBytes() / blocks();
  }

  double serverBytes() {
    return (double) server.cost().allocatedBytes() / blocks();
  }

  double blocksPerSecond() {
    return blocks() * 1e9 / client.ns();
  }

  private double usPerBlock(long ns) {
    return ns / US_NS / blocks();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import org.sparkrdma.shuffle.tools.peer.PeerCheck;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options of {@code doctor} about another host. Confined to the main thread. */
final class PeerOptions {
  private static final int DEFAULT_PORT = 7474;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--peer",
      paramLabel = "HOST[:PORT]",
      description =
          "Also reach another host, where doctor --listen runs, by TCP and by RDMA, and measure a"
              + " few READs. The default port is "
              + DEFAULT_PORT
              + "; an IPv6 address needs brackets.")
  private String peer;

  @Option(
      names = "--listen",
      paramLabel = "PORT",
      arity = "0..1",
      fallbackValue = "" + DEFAULT_PORT,
      description =
          "Answer doctor --peer of other hosts at this TCP port, "
              + DEFAULT_PORT
              + " by default, until the end of --listen-for. Any host may read test data then.")
  private Integer listen;

  @Option(
      names = "--listen-for",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description = "How long --listen answers; 600 s by default.")
  private int listenSeconds;

  boolean listens() {
    return listen != null;
  }

  int listenPort() {
    if (listen < 0 || listen > HostPort.MAX_PORT) {
      throw Commands.wrongValue(
          spec, "--listen " + listen, "a port from 0 to " + HostPort.MAX_PORT);
    }
    return listen;
  }

  int listenSeconds() {
    if (listenSeconds < 1) {
      throw Commands.wrongValue(spec, "--listen-for " + listenSeconds, "at least 1");
    }
    return listenSeconds;
  }

  /** The check of the peer, or null without one. */
  PeerCheck check() {
    if (peer == null) {
      return null;
    }
    HostPort at =
        HostPort.parse(peer, DEFAULT_PORT)
            .orElseThrow(() -> Commands.wrongValue(spec, "--peer " + peer, HostPort.ALLOWED));
    return new PeerCheck(at.host(), at.port());
  }
}

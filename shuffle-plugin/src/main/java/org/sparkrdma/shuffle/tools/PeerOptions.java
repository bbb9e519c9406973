// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import org.sparkrdma.shuffle.tools.peer.PeerCheck;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of {@code doctor} about another host. Confined to the main thread. */
final class PeerOptions {
  private static final int DEFAULT_PORT = PeerCheck.DEFAULT_PORT;
  private static final int DEFAULT_SECONDS = 600;

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
  private String listen;

  @Option(
      names = "--listen-for",
      paramLabel = "SECONDS",
      description = "How long --listen answers; " + DEFAULT_SECONDS + " s by default.")
  private String listenSeconds;

  boolean listens() {
    return listen != null;
  }

  int listenPort() {
    return HostPort.listenPort(spec, "--listen", listen);
  }

  int listenSeconds() {
    return listenSeconds == null
        ? DEFAULT_SECONDS
        : Commands.numberFromOne(spec, "--listen-for", listenSeconds);
  }

  /** The check of the peer, or null without one. Refuses options that exclude each other. */
  PeerCheck check() {
    if (listenSeconds != null && listen == null) {
      throw new ParameterException(
          spec.commandLine(), "--listen-for has a meaning with --listen only");
    }
    if (peer == null) {
      return null;
    }
    if (listen != null) {
      throw Commands.wrongValue(spec, "--listen with --peer", "one of them");
    }
    HostPort at =
        HostPort.parse(peer, DEFAULT_PORT)
            .orElseThrow(() -> Commands.wrongValue(spec, "--peer " + peer, HostPort.ALLOWED));
    return new PeerCheck(at.host(), at.port());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of 127.0.0.1 without a listener at the time of the call.
 *
 * <p>Linux gives ports from 32768 on to sockets that ask for any (ip_local_port_range in ip(7)), so
 * another process could take one of those before its user listens on it. A free port is therefore
 * chosen below.
 */
final class LoopbackPort {
  static final int ANY = 0;

  private static final int LOWEST_FREE = 12_000;
  private static final int HIGHEST_FREE = 32_767;
  private static final int TRIES = 100;
  private static final byte[] LOOPBACK = {127, 0, 0, 1};
  private static final int LOWEST = 1024;
  private static final int HIGHEST = 65_535;

  private LoopbackPort() {}

  /**
   * The wanted port, or a free one for {@link #ANY}.
   *
   * @param use purpose of the port, for the message about a port in use
   */
  static int claim(int wantedPort, String use) throws ClusterException {
    if (wantedPort != ANY && (wantedPort < LOWEST || wantedPort > HIGHEST)) {
      throw new ClusterException(
          "port %d for %s is out of range: give one between %d and %d, or 0 for any free port"
              .formatted(wantedPort, use, LOWEST, HIGHEST));
    }
    if (wantedPort == ANY) {
      return free();
    }
    try {
      return bind(wantedPort);
    } catch (IOException e) {
      throw new ClusterException(
          "port %d for %s is in use on 127.0.0.1: give another, or 0 for any free port"
              .formatted(wantedPort, use),
          null,
          e);
    }
  }

  /** A free port outside the range from which Linux chooses ports. */
  private static int free() {
    IOException last = null;
    for (int i = 0; i < TRIES; i++) {
      try {
        return bind(ThreadLocalRandom.current().nextInt(LOWEST_FREE, HIGHEST_FREE + 1));
      } catch (IOException e) {
        last = e;
      }
    }
    throw new UncheckedIOException("no free port on 127.0.0.1 in " + TRIES + " tries", last);
  }

  private static int bind(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByAddress(LOOPBACK))) {
      return socket.getLocalPort();
    }
  }
}

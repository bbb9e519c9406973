// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports of 127.0.0.1 without a listener at the time of the call. */
final class LoopbackPort {
  static final int ANY = 0;
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
    try {
      return bind(wantedPort);
    } catch (IOException e) {
      if (wantedPort == ANY) {
        throw new UncheckedIOException("no free port on 127.0.0.1", e);
      }
      throw new ClusterException(
          "port %d for %s is in use on 127.0.0.1: give another, or 0 for any free port"
              .formatted(wantedPort, use),
          null,
          e);
    }
  }

  private static int bind(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByAddress(LOOPBACK))) {
      return socket.getLocalPort();
    }
  }
}

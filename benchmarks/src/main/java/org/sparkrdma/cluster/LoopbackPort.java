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

  private static final int LOWEST_FREE = 12_000;
  private static final int HIGHEST_FREE = 32_767;
  private static final int TRIES = 100;
  private static final byte[] LOOPBACK = {127, 0, 0, 1};

  private LoopbackPort() {}

  /** A free port outside the range from which Linux chooses ports. */
  static int free() {
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

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.net.InetSocketAddress;
import java.util.List;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.TestAddresses;

/** Endpoints for tests, and their addresses. */
public final class Endpoints {
  private Endpoints() {}

  /** An endpoint at an address where nobody listens. */
  public static Endpoint of(String executorId, String host, long incarnation) {
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    return new Endpoint(
        executorId, host, TestAddresses.listener("10.0.0.1", 4_711), "soft", 1, incarnation, token);
  }

  /** The endpoint of the same executor with other addresses, or another token. */
  public static Endpoint with(Endpoint of, List<ListenerAddress> addresses, byte... token) {
    return new Endpoint(
        of.executorId(), of.host(), addresses, of.engine(), of.protocol(), of.incarnation(), token);
  }

  /** Address of the preferred listener. */
  public static InetSocketAddress preferredAddress(Endpoint endpoint) {
    ListenerAddress preferred = endpoint.addresses().get(0);
    return new InetSocketAddress(preferred.network().address(), preferred.port());
  }
}

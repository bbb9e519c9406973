// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.net.InetSocketAddress;
import org.sparkrdma.shuffle.address.ListenerAddress;

/** Accessors of endpoints for tests. */
public final class Endpoints {
  private Endpoints() {}

  /** Address of the preferred listener. */
  public static InetSocketAddress preferredAddress(Endpoint endpoint) {
    ListenerAddress preferred = endpoint.addresses().get(0);
    return new InetSocketAddress(preferred.network().address(), preferred.port());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Set;

/** Facts about the addresses of this host. */
@FunctionalInterface
public interface HostAddresses {
  /** The address with the prefix length of its subnet. */
  NetworkAddress network(InetAddress address);

  /**
   * Whether the system is going to remove the address, or may: executors do not listen on it while
   * there is another one.
   */
  default boolean isShortLived(InetAddress address) {
    return false;
  }

  /** The addresses of this host as they are now. */
  static HostAddresses ofSystem() {
    Set<InetAddress> shortLived = ShortLivedAddresses.of(Path.of("/proc/net/if_inet6"));
    return new HostAddresses() {
      @Override
      public NetworkAddress network(InetAddress address) {
        return NetworkAddress.ofHost(address);
      }

      @Override
      public boolean isShortLived(InetAddress address) {
        return shortLived.contains(address);
      }
    };
  }
}

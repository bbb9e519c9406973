// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.GidSocketAddress;
import org.sparkrdma.verbs.cm.Listener;

/** Whether the addresses of listeners are still those of this host. Any thread. */
final class AddressPresence {
  private static final Logger LOG = LoggerFactory.getLogger(AddressPresence.class);

  private final IbverbsDevice device;

  /**
   * @param device of the listeners
   */
  AddressPresence(IbverbsDevice device) {
    this.device = device;
  }

  /**
   * Whether the address of a listener is present; true where that is not known.
   *
   * @param ports of the device that may have it
   */
  boolean of(Listener listener, Collection<Integer> ports) {
    InetSocketAddress address = listener.address();
    try {
      return address instanceof GidSocketAddress
          ? isGid(address, ports)
          : NetworkInterface.getByInetAddress(address.getAddress()) != null;
    } catch (SocketException | VerbsException e) {
      LOG.debug("Addresses of this host are not known", e);
      return true;
    }
  }

  private boolean isGid(InetSocketAddress address, Collection<Integer> ports)
      throws VerbsException {
    for (int port : ports) {
      if (device.hasGid(port, address.getAddress())) {
        return true;
      }
    }
    return false;
  }
}

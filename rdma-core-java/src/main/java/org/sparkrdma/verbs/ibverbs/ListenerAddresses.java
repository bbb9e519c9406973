// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.GidSocketAddress;
import org.sparkrdma.verbs.cm.Listener;

/**
 * The addresses of a connection manager's listeners: finds those that this host lost, and those
 * that another device of this host has now, as after the failover of a bond. Any thread.
 */
final class ListenerAddresses {
  private static final Logger LOG = LoggerFactory.getLogger(ListenerAddresses.class);

  /** Number of checks in turn that must miss an address before it counts as removed. */
  private static final int CHECKS = 2;

  /**
   * Time from an event until an address that only its port lost counts as removed. A bond inside of
   * one device removes all its GIDs and adds them again when it fails over (NETDEV_BONDING_FAILOVER
   * in roce_gid_mgmt.c), and connections go on.
   */
  private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(1);

  private final IbverbsDevice device;
  private final Supplier<? extends Collection<? extends Listener>> listeners;
  private final Runnable onLost;
  private final Set<Integer> ports = ConcurrentHashMap.newKeySet();

  /** Addresses that a port had when its listener began; others are looked for on the host only. */
  private final Set<InetAddress> ofPorts = ConcurrentHashMap.newKeySet();

  /** Checks in turn that missed an address; confined to the thread that checks. */
  private int missing;

  private volatile long recheckNs = Long.MAX_VALUE;

  /**
   * @param listeners the open ones
   * @param onLost called on any thread
   */
  ListenerAddresses(
      IbverbsDevice device,
      Supplier<? extends Collection<? extends Listener>> listeners,
      Runnable onLost) {
    this.device = device;
    this.listeners = listeners;
    this.onLost = onLost;
  }

  /** A listener begins on this port of the device. */
  void add(InetAddress address, int port) {
    ports.add(port);
    try {
      if (device.addresses(port).contains(address)) {
        ofPorts.add(address);
      }
    } catch (VerbsException e) {
      LOG.debug("Addresses of a port are not known", e);
    }
  }

  boolean hasNoPorts() {
    return ports.isEmpty();
  }

  boolean hasPort(int port) {
    return ports.contains(port);
  }

  /** The addresses of a port changed. */
  void onChange(int port) {
    if (!ports.contains(port)) {
      return;
    }
    if (!areOfThisHost()) {
      onLost.run();
    } else if (!areOfPorts()) {
      recheckNs = System.nanoTime() + GRACE_NS;
    }
  }

  /** Called regularly, since on iWARP and InfiniBand no event reports such a change. */
  void check() {
    missing = areOfThisHost() && areOfPorts() ? 0 : missing + 1;
    if (missing == CHECKS) {
      onLost.run();
    }
  }

  /** Checks again what an event reported. Called by the owner when it polls. */
  void recheckWhenDue() {
    long dueNs = recheckNs;
    if (dueNs != Long.MAX_VALUE && System.nanoTime() - dueNs >= 0) {
      recheckNs = Long.MAX_VALUE;
      if (!areOfPorts()) {
        onLost.run();
      }
    }
  }

  /** The time of the next {@link #recheckWhenDue}; Long.MAX_VALUE when there is none. */
  long recheckNs() {
    return recheckNs;
  }

  private boolean areOfThisHost() {
    return listeners.get().stream().allMatch(listener -> isOfThisHost(listener.address()));
  }

  /** True where that is not known. */
  private boolean isOfThisHost(InetSocketAddress address) {
    try {
      if (!(address instanceof GidSocketAddress)) {
        return NetworkInterface.getByInetAddress(address.getAddress()) != null;
      }
      for (int port : ports) {
        if (device.hasGid(port, address.getAddress())) {
          return true;
        }
      }
      return false;
    } catch (SocketException | VerbsException e) {
      LOG.debug("Addresses of this host are not known", e);
      return true;
    }
  }

  private boolean areOfPorts() {
    try {
      Set<InetAddress> present = new HashSet<>();
      for (int port : ports) {
        present.addAll(device.addresses(port));
      }
      return listeners.get().stream()
          .map(listener -> listener.address().getAddress())
          .allMatch(address -> present.contains(address) || !ofPorts.contains(address));
    } catch (VerbsException e) {
      LOG.debug("Addresses of a port are not known", e);
      return true;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import java.net.InetAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A port of a device, see ibv_query_port(3).
 *
 * @param number counted from 1
 * @param state only {@link PortState#ACTIVE} ports carry data
 * @param activeMtuBytes the path MTU in use; 0 when the engine does not know it
 * @param gids its GID table, without empty entries
 * @param addresses of this host that the connection manager reaches by this port; with RoCE those
 *     in the GID table, with iWARP and InfiniBand those of its network interfaces; link-local ones
 *     last, of IPv6 with the interface as their scope
 * @param reported as {@link DeviceInfo#reported()}
 */
public record PortInfo(
    int number,
    PortState state,
    int activeMtuBytes,
    List<Gid> gids,
    List<InetAddress> addresses,
    Map<String, Object> reported) {
  /**
   * Copies the collections.
   *
   * @param number see {@link #number()}
   * @param state see {@link #state()}
   * @param activeMtuBytes see {@link #activeMtuBytes()}
   * @param gids see {@link #gids()}
   * @param addresses see {@link #addresses()}
   * @param reported see {@link #reported()}
   */
  public PortInfo {
    addresses = List.copyOf(addresses);
    gids = List.copyOf(gids);
    // Keeps the order.
    reported = Collections.unmodifiableMap(new LinkedHashMap<>(reported));
  }

  /**
   * A port that reports no more.
   *
   * @param number counted from 1
   * @param state only {@link PortState#ACTIVE} ports carry data
   * @param activeMtuBytes the path MTU in use; 0 when the engine does not know it
   * @param gids its GID table, without empty entries
   * @param addresses of this host that the connection manager reaches by this port
   */
  public PortInfo(
      int number,
      PortState state,
      int activeMtuBytes,
      List<Gid> gids,
      List<InetAddress> addresses) {
    this(number, state, activeMtuBytes, gids, addresses, Map.of());
  }
}

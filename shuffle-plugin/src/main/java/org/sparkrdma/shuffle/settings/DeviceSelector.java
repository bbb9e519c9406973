// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The selected devices and addresses of an executor.
 *
 * @param devices names of devices that may be used, in any order; empty for all
 * @param gid index in the port's GID table, selects its address; which entry of an address is used,
 *     v1 or v2, is the connection manager's choice; empty for any
 * @param address literal address, interface or network of the address; empty for any
 * @param sparkHost where Spark's own block transfer listens, which peers can reach; not null
 * @param routed whether a router joins the subnets of several devices
 * @param fabricTrusted whether a device may give a peer access before the peer is proven
 * @param spread a number that differs between the executors of a host, to spread them over devices
 */
public record DeviceSelector(
    List<String> devices,
    OptionalInt gid,
    Optional<String> address,
    InetAddress sparkHost,
    boolean routed,
    boolean fabricTrusted,
    int spread) {
  public DeviceSelector {
    devices = List.copyOf(devices);
  }
}

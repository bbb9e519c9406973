// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import java.net.InetAddress;

/**
 * One entry of a port's GID table.
 *
 * @param index its index in the table
 * @param type its kind
 * @param address the 16 bytes as an IP address (an IPv4-mapped one as IPv4); not null
 */
public record Gid(int index, GidType type, InetAddress address) {}

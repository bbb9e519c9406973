// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.tools.peer.PeerListener;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Another host and its TCP port.
 *
 * @param host a name or an address without brackets
 */
record HostPort(String host, int port) {
  static final int MAX_PORT = 65_535;

  /** A name or an IPv4 address, or an IPv6 address in brackets, perhaps with a port. */
  private static final Pattern TEXT =
      Pattern.compile("(\\[[0-9a-fA-F:.%\\w]+]|[^:\\[\\]\\s]+)(?::([0-9]{1,5}))?");

  /** Reads what a user has written; the port is that of a listener by default. */
  static HostPort parse(CommandSpec spec, String text) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches()) {
      String port = matcher.group(2);
      int number = port == null ? PeerListener.DEFAULT_PORT : Integer.parseInt(port);
      if (number >= 1 && number <= MAX_PORT) {
        return new HostPort(matcher.group(1).replaceAll("[\\[\\]]", ""), number);
      }
    }
    throw Commands.wrongValue(
        spec, text, "HOST, HOST:PORT, [IPV6] or [IPV6]:PORT, PORT from 1 to 65535");
  }

  /** The text that a user writes. */
  String text() {
    String name = host.contains(":") ? "[" + host + "]" : host;
    return port == PeerListener.DEFAULT_PORT ? name : name + ":" + port;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A host and a TCP port, as users write them.
 *
 * @param host a name or an address without brackets
 * @param port 1 to 65535
 */
record HostPort(String host, int port) {
  static final String ALLOWED =
      "HOST, HOST:PORT, an IPv6 address or [IPV6]:PORT, PORT from 1 to 65535";
  static final int MAX_PORT = 65_535;

  /** An IPv6 address: eight groups, or fewer with "::", perhaps with an interface. */
  private static final Pattern IPV6 =
      Pattern.compile(
          "(?=[^:]*(:[^:]*){7}$|.*::)[0-9a-fA-F.]*:[0-9a-fA-F.]*:[0-9a-fA-F:.]*(%\\w+)?");

  /** A name or an IPv4 address, or an IPv6 address in brackets, perhaps with a port. */
  private static final Pattern TEXT =
      Pattern.compile("(\\[[0-9a-fA-F:.%\\w]+]|[^:\\[\\]\\s]+)(?::([0-9]{1,5}))?");

  /** The text that users write; without the port where it is the default. */
  String text(int defaultPort) {
    if (port == defaultPort) {
      return host;
    }
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /** The port of an option to listen at. */
  static int listenPort(CommandSpec spec, String option, String text) {
    return Commands.number(spec, option, text, 0, MAX_PORT, "a port from 0 to " + MAX_PORT);
  }

  /** Empty when the text is not {@link #ALLOWED}. */
  static Optional<HostPort> parse(String text, int defaultPort) {
    if (IPV6.matcher(text).matches()) {
      return Optional.of(new HostPort(text, defaultPort));
    }
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    int port = matcher.group(2) == null ? defaultPort : Integer.parseInt(matcher.group(2));
    return port < 1 || port > MAX_PORT
        ? Optional.empty()
        : Optional.of(new HostPort(matcher.group(1).replaceAll("[\\[\\]]", ""), port));
  }
}

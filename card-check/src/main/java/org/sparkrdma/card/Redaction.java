// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Removes the name of this host and its addresses from a text, and all that has the form of an
 * address, GID or GUID. No value of a report should have any: this is the second check. Immutable.
 */
final class Redaction {
  private static final String REMOVED = "(removed)";
  private static final int MIN_NAME_CHARS = 3;

  /** IPv4, IPv6, GUIDs and hardware addresses, but no versions. */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(?<![\\w.+-])(?<!firmware )(?:\\d{1,3}\\.){3}\\d{1,3}(?![\\w.+-])"
              + "|(?<![\\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\\w:])");

  private final List<String> names;

  /** Creates a redaction of these names, the longest first. */
  Redaction(List<String> names) {
    this.names =
        names.stream()
            .filter(name -> name.length() >= MIN_NAME_CHARS)
            .sorted(Comparator.comparingInt(String::length).reversed())
            .toList();
  }

  /** Names and addresses of this host. */
  static Redaction ofThisHost(HostFiles files) {
    List<String> names = new ArrayList<>();
    String host = files.hostName();
    if (!host.startsWith("localhost")) {
      names.add(host);
      names.add(host.split("\\.", 2)[0]);
    }
    try (Stream<InetAddress> addresses =
        NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)) {
      addresses
          .filter(address -> !address.isLoopbackAddress())
          .map(address -> address.getHostAddress().split("%", 2)[0])
          .forEach(names::add);
    } catch (SocketException e) {
      return new Redaction(names);
    }
    return new Redaction(names);
  }

  /** The text without them. */
  String clean(String text) {
    String clean = text;
    for (String name : names) {
      clean = clean.replaceAll("(?<![\\w])" + Pattern.quote(name) + "(?![\\w])", REMOVED);
    }
    return ADDRESS.matcher(clean).replaceAll(REMOVED);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/** Recognises wrong IP addresses and networks in a text, without looking up any name. Stateless. */
final class AddressText {
  private static final Pattern IPV4 =
      Pattern.compile("(\\d{1,10})\\.(\\d{1,10})\\.(\\d{1,10})\\.(\\d{1,10})");
  private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*");
  private static final Pattern PREFIX = Pattern.compile("\\d{1,3}");
  private static final int MAX_OCTET = 255;

  private AddressText() {}

  /**
   * False for a text that has the form of an address and is none, for a network that is not a
   * literal address with the length of its prefix, and for an empty text. Names are allowed.
   */
  static boolean isAllowed(String text) {
    int slash = text.indexOf('/');
    if (slash >= 0) {
      String prefix = text.substring(slash + 1);
      return literal(text.substring(0, slash))
          .filter(address -> PREFIX.matcher(prefix).matches())
          .filter(address -> Integer.parseInt(prefix) <= address.getAddress().length * Byte.SIZE)
          .isPresent();
    }
    // A link-local address may have the scope of an interface.
    String address = text.contains("%") ? text.substring(0, text.indexOf('%')) : text;
    boolean hasForm = IPV4.matcher(address).matches() || IPV6.matcher(address).matches();
    return !text.isEmpty() && (!hasForm || literal(address).isPresent());
  }

  private static Optional<InetAddress> literal(String text) {
    var ipv4 = IPV4.matcher(text);
    boolean octets = ipv4.matches();
    for (int group = 1; octets && group <= ipv4.groupCount(); group++) {
      octets = Long.parseLong(ipv4.group(group)) <= MAX_OCTET;
    }
    if (!octets && !IPV6.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      // Texts of these two forms are not looked up.
      return Optional.of(InetAddress.getByName(octets ? text : "[" + text + "]"));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }
}

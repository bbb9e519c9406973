// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** Recognises wrong IP addresses and networks in a text, without looking up any name. Stateless. */
final class AddressText {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|[01]?\\d?\\d)";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
  private static final Pattern NUMBERS = Pattern.compile("[\\d.]*\\d+\\.[\\d.]*");
  private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*");

  private AddressText() {}

  /**
   * False for a text that has the form of an address and is none, for a network that is not a
   * literal address with the length of its prefix, and for an empty text. Names are allowed.
   */
  static boolean isAllowed(String text) {
    String[] network = text.split("/", -1);
    if (network.length == 1) {
      // A link-local address may have the scope of an interface.
      String address = text.split("%", 2)[0];
      boolean hasForm = NUMBERS.matcher(address).matches() || IPV6.matcher(address).matches();
      return !text.isEmpty() && (!hasForm || bits(address) > 0);
    }
    return network.length == 2
        && network[1].matches("\\d{1,3}")
        && Integer.parseInt(network[1]) <= bits(network[0]);
  }

  /** Length of a literal address; -1 for any other text. */
  private static int bits(String text) {
    if (IPV4.matcher(text).matches()) {
      return Integer.SIZE;
    }
    try {
      // A text in brackets is not looked up.
      return IPV6.matcher(text).matches()
          ? InetAddress.getByName("[" + text + "]").getAddress().length * Byte.SIZE
          : -1;
    } catch (UnknownHostException e) {
      return -1;
    }
  }
}

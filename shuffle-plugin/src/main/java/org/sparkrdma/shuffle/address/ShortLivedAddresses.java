// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * IPv6 addresses of this host that do not last: temporary ones (RFC 4941), which the kernel
 * replaces once a day by default, and deprecated ones, whose preferred lifetime is over or was set
 * to 0, as tools do that move an address between hosts.
 */
final class ShortLivedAddresses {
  private static final Logger LOG = LoggerFactory.getLogger(ShortLivedAddresses.class);
  private static final int ADDRESS_FIELD = 0;
  private static final int FLAGS_FIELD = 4;
  private static final int FIELDS = 6;

  /** IFA_F_TEMPORARY and IFA_F_DEPRECATED of linux/if_addr.h. */
  private static final int TEMPORARY = 0x01;

  private static final int DEPRECATED = 0x20;

  private ShortLivedAddresses() {}

  /**
   * Reads them.
   *
   * @param file with a line for each address: its digits, the index of its interface, prefix
   *     length, scope and flags, all hexadecimal, and the name of the interface
   * @return empty when the file cannot be read, as without IPv6
   */
  static Set<InetAddress> of(Path file) {
    Set<InetAddress> addresses = new HashSet<>();
    try {
      for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
        String[] fields = line.trim().split(" +", -1);
        if (fields.length == FIELDS && isShortLived(Integer.parseInt(fields[FLAGS_FIELD], 16))) {
          addresses.add(address(fields[ADDRESS_FIELD]));
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      LOG.debug("Lifetimes of IPv6 addresses are not known", e);
    }
    return addresses;
  }

  private static boolean isShortLived(int flags) {
    return (flags & (TEMPORARY | DEPRECATED)) != 0;
  }

  private static InetAddress address(String digits) throws UnknownHostException {
    return InetAddress.getByAddress(HexFormat.of().parseHex(digits));
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.collect;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * Replaces IP addresses, GIDs, GUIDs, hardware addresses and the name of this host in texts. Equal
 * addresses get equal names, so that a reader can still compare them. Confined to one thread.
 */
public final class AddressMask {
  private static final String IPV4 = "(?:\\d{1,3}\\.){3}\\d{1,3}";

  /**
   * Neither a version (after a dot, a letter or the name of a version, or before a dot), nor a time
   * of day, nor a PCI address.
   */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(?<![\\w.])(?<!(?:fw_ver|version|firmware|osrelease|Java)[\": =]{1,4})(?:"
              + IPV4
              + "(?!\\w|\\.\\w)"
              + "|(?<!:)(?!\\d\\d:\\d\\d:\\d\\d(?![\\w:]))(?:[0-9A-Fa-f]{0,4}:){2,7}(?:"
              + IPV4
              + "|[0-9A-Fa-f]{0,4})(?!\\w|\\.\\d)|(?<!:)0x[0-9A-Fa-f]{16}(?!\\w))");

  /** Says nothing about the network: an empty entry of a table, or the host itself. */
  private static final Pattern WELL_KNOWN =
      Pattern.compile("[0:]+|(0x)?0+|0\\.0\\.0\\.0|127\\.\\S*|[0:]*:0*1");

  private static final Pattern LINK_LOCAL = Pattern.compile("(?i)fe80:.*");
  private static final Pattern IPV4_MAPPED = Pattern.compile("(?i)[0:]*:ffff:.*");

  private static final int MIN_HOST_CHARS = 3;

  private final Map<String, String> names = new HashMap<>();
  private final Pattern host;

  /** Creates the mask for the machine with these files. */
  public AddressMask(SystemFiles files) {
    String name = files.text("proc/sys/kernel/hostname").orElse("");
    String first = name.split("\\.", 2)[0];
    // Names such as "a" are words of the texts, too.
    String part = first.length() < MIN_HOST_CHARS ? name : first;
    host =
        part.length() < MIN_HOST_CHARS || name.startsWith("localhost")
            ? null
            : Pattern.compile(
                String.format(
                    Locale.ROOT,
                    "(?<!\\w)(?:%s|%s)(?!\\w)",
                    Pattern.quote(name),
                    Pattern.quote(part)));
  }

  /** The text without addresses. */
  public String mask(String text) {
    String masked = ADDRESS.matcher(text).replaceAll(found -> name(found.group()));
    return host == null ? masked : host.matcher(masked).replaceAll("this-host");
  }

  private String name(String address) {
    if (WELL_KNOWN.matcher(address).matches()) {
      return address;
    }
    return names.computeIfAbsent(
        address.toLowerCase(Locale.ROOT), key -> kind(key) + "-" + (names.size() + 1));
  }

  private static String kind(String address) {
    if (LINK_LOCAL.matcher(address).matches()) {
      return "link-local";
    }
    return IPV4_MAPPED.matcher(address).matches() ? "ipv4-mapped" : "address";
  }
}

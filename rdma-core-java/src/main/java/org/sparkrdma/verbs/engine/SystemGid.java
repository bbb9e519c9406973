// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.TransportType;

/**
 * An entry of a port's GID table as the kernel's files show it, see sysfs-class-infiniband in the
 * kernel's ABI documents.
 *
 * @param gid the entry
 * @param link name of the network interface that it belongs to; empty for none
 */
public record SystemGid(Gid gid, String link) {
  private static final byte[] EMPTY = new byte[16];

  /**
   * The kernel fills the first empty entry, so after that many empty ones no other is expected. The
   * tables of most cards are no larger; that of rxe has 1,024, each a file to open.
   */
  private static final int MAX_EMPTY = 256;

  /**
   * The entries that are not empty, by index.
   *
   * @param port its folder in /sys/class/infiniband
   * @param ethernet whether its link layer is Ethernet
   */
  public static List<SystemGid> of(Path port, TransportType transport, boolean ethernet) {
    List<SystemGid> found = new ArrayList<>();
    int size = children(port.resolve("gids")).size();
    int end = MAX_EMPTY;
    for (int index = 0; index < Math.min(size, end); index++) {
      byte[] bytes = bytes(read(port.resolve("gids/" + index)));
      if (bytes.length == EMPTY.length && !Arrays.equals(bytes, EMPTY)) {
        String type = read(port.resolve("gid_attrs/types/" + index));
        Gid gid = new Gid(index, type(transport, ethernet, type), address(bytes));
        found.add(new SystemGid(gid, read(port.resolve("gid_attrs/ndevs/" + index))));
        end = index + MAX_EMPTY;
      }
    }
    return found;
  }

  private static GidType type(TransportType transport, boolean ethernet, String kernelType) {
    if (transport == TransportType.IWARP) {
      return GidType.IWARP;
    }
    if (!ethernet) {
      return GidType.INFINIBAND;
    }
    return kernelType.contains("v2") ? GidType.ROCE_V2 : GidType.ROCE_V1;
  }

  private static byte[] bytes(String gid) {
    try {
      return HexFormat.of().parseHex(gid.replace(":", ""));
    } catch (IllegalArgumentException e) {
      return new byte[0];
    }
  }

  /** An address of 16 bytes; an IPv4 address where they stand for one. */
  private static InetAddress address(byte[] gid) {
    try {
      return InetAddress.getByAddress(gid);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("a GID of a wrong length", e);
    }
  }

  /** Names in a folder, sorted; none when it cannot be read. */
  public static List<String> children(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** The content without the line's end; "" when it cannot be read, as for an empty entry. */
  public static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).trim();
    } catch (IOException e) {
      return "";
    }
  }
}

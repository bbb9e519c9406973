// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

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
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvGidEntry;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/** The GIDs of a device's ports as they are at a call. Keeps nothing; any thread. */
final class GidTable {
  private static final Path SYSTEM = Path.of("/sys/class/infiniband");
  private static final int GID_BYTES = 16;

  /** Maximum number of entries, of all ports, that are queried at once. */
  private static final int MAX_ENTRIES = 1_024;

  private final Libraries libraries;
  private final long context;
  private final NetworkLinks links;
  private final TransportRules rules;

  /**
   * @param links network interfaces of the host, which some entries name
   */
  GidTable(Libraries libraries, long context, NetworkLinks links) {
    this.libraries = libraries;
    this.context = context;
    this.links = links;
    rules = TransportRules.of(Contexts.transportType(context));
  }

  /** A GID, and the number of its network interface; 0 is none. */
  record Entry(Gid gid, int link) {}

  /** The entries of a port that are not empty. */
  List<Entry> entries(int port, boolean ethernet) throws VerbsException {
    if (!libraries.verbs().hasQueryGidTable()) {
      return entriesOfSystem(port, ethernet);
    }
    try (NativeArena arena = new NativeArena()) {
      long entries = arena.allocate((long) MAX_ENTRIES * IbvGidEntry.SIZE);
      long count = libraries.verbs().queryGidTable(context, entries, MAX_ENTRIES);
      if (count < 0) {
        return entriesOfSystem(port, ethernet);
      }
      List<Entry> found = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        long entry = entries + (long) i * IbvGidEntry.SIZE;
        if (Memory.getInt(entry + IbvGidEntry.PORT_NUM) == port) {
          Gid gid =
              new Gid(
                  Memory.getInt(entry + IbvGidEntry.GID_INDEX),
                  rules.gidType(Memory.getInt(entry + IbvGidEntry.GID_TYPE), ethernet),
                  address(Memory.bytes(entry + IbvGidEntry.GID, GID_BYTES)));
          found.add(new Entry(gid, Memory.getInt(entry + IbvGidEntry.NDEV_IFINDEX)));
        }
      }
      return found;
    }
  }

  /** Reads the table entry by entry, for libraries that cannot query it as a whole. */
  private List<Entry> entriesOfSystem(int port, boolean ethernet) throws VerbsException {
    Path directory =
        SYSTEM.resolve(Contexts.name(context)).resolve("ports").resolve(Integer.toString(port));
    List<Entry> found = new ArrayList<>();
    for (int i = 0; Files.exists(directory.resolve("gids/" + i)); i++) {
      byte[] bytes = read(directory.resolve("gids").resolve(Integer.toString(i)));
      if (bytes.length == GID_BYTES && !Arrays.equals(bytes, new byte[GID_BYTES])) {
        Path type = directory.resolve("gid_attrs/types").resolve(Integer.toString(i));
        Gid gid = new Gid(i, rules.gidType(isRoceV2(type) ? 2 : 1, ethernet), address(bytes));
        Path link = directory.resolve("gid_attrs/ndevs").resolve(Integer.toString(i));
        found.add(new Entry(gid, linkOf(link)));
      }
    }
    return found;
  }

  /** The number of the network interface that a file names; 0 when there is none. */
  private int linkOf(Path file) throws VerbsException {
    try {
      String name = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).trim();
      return links.all().stream()
          .filter(link -> link.name().equals(name))
          .mapToInt(NetworkLinks.Link::index)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      // The GID belongs to no interface.
      return 0;
    }
  }

  private static byte[] read(Path gid) {
    try {
      String text = Files.readString(gid, StandardCharsets.ISO_8859_1);
      return HexFormat.of().parseHex(text.trim().replace(":", ""));
    } catch (IOException | IllegalArgumentException e) {
      // An empty entry cannot be read.
      return new byte[0];
    }
  }

  private static boolean isRoceV2(Path type) {
    try {
      return Files.readString(type, StandardCharsets.ISO_8859_1).contains("v2");
    } catch (IOException e) {
      return false;
    }
  }

  private static InetAddress address(byte[] gid) throws VerbsException {
    try {
      return InetAddress.getByAddress(gid);
    } catch (UnknownHostException e) {
      throw new VerbsException("ibv_query_gid", "a GID of a wrong length", e);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.engine.SystemGid;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvGidEntry;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
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
        if (Native.getInt(entry + IbvGidEntry.PORT_NUM) == port) {
          Gid gid =
              new Gid(
                  Native.getInt(entry + IbvGidEntry.GID_INDEX),
                  rules.gidType(Native.getInt(entry + IbvGidEntry.GID_TYPE), ethernet),
                  SystemGid.address(Native.bytes(entry + IbvGidEntry.GID, GID_BYTES)));
          found.add(new Entry(gid, Native.getInt(entry + IbvGidEntry.NDEV_IFINDEX)));
        }
      }
      return found;
    }
  }

  /** Reads the table entry by entry, for libraries that cannot query it as a whole. */
  private List<Entry> entriesOfSystem(int port, boolean ethernet) throws VerbsException {
    Path files = SYSTEM.resolve(Contexts.name(context)).resolve("ports/" + port);
    List<Entry> found = new ArrayList<>();
    for (SystemGid entry : SystemGid.of(files)) {
      GidType type = rules.gidType(entry.isRoceV2() ? 2 : 1, ethernet);
      int link =
          links.all().stream()
              .filter(each -> each.name().equals(entry.link()))
              .mapToInt(NetworkLinks.Link::index)
              .findFirst()
              .orElse(0);
      found.add(new Entry(new Gid(entry.index(), type, entry.address()), link));
    }
    return found;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * A key-value table that clients read by RDMA READ only: the client computes where a key is, reads
 * that slot, and takes the next slot when another key is there. No code of the server runs.
 *
 * <pre>
 *   slot, 64 bytes:  key (16) | value (40) | checksum of both (8); all zero when empty
 * </pre>
 *
 * <p>A reader compares the checksum, since the server may be changing the slot at that moment.
 */
public final class KeyValueGet {
  private static final int SLOTS = 1_024;
  private static final int SLOT_BYTES = 64;
  private static final int KEY_BYTES = 16;
  private static final int SUM_AT = 56;
  private static final int ENTRIES = 700;

  private KeyValueGet() {}

  /** Arguments: {@code server ENGINE HOST:PORT} or {@code client ENGINE HOST:PORT KEY}. */
  public static void main(String[] arguments) throws VerbsException {
    run(arguments, System.out);
  }

  static void run(String[] arguments, PrintStream out) throws VerbsException {
    ExampleArguments parsed = ExampleArguments.parse(arguments, "", "KEY");
    try (ExampleNode node = ExampleNode.open(parsed.engine())) {
      if (parsed.server()) {
        serve(node, parsed, out);
      } else {
        node.connect(parsed.address());
        String key = parsed.own().get(0);
        out.println(key + " = " + get(node, key).orElse("(no such key)"));
      }
    }
  }

  private static void serve(ExampleNode node, ExampleArguments parsed, PrintStream out)
      throws VerbsException {
    Set<AccessFlag> readable = Set.of(AccessFlag.REMOTE_READ);
    int tableBytes = SLOTS * SLOT_BYTES;
    try (HostMemory memory = node.device().allocate(tableBytes);
        MemoryRegion region = node.domain().register(memory, 0, tableBytes, readable)) {
      for (int i = 0; i < ENTRIES; i++) {
        put(memory.slice(0, tableBytes), "key-" + i, "value-" + i);
      }
      node.accept(parsed.address(), readable, out);
      node.receive();
      node.sendRegion(region.remote());
      node.awaitDisconnect();
    }
  }

  private static void put(ByteBuffer table, String key, String value) {
    byte[] slot = new byte[SLOT_BYTES];
    ByteBuffer.wrap(slot).put(key.getBytes(StandardCharsets.UTF_8));
    ByteBuffer.wrap(slot).position(KEY_BYTES).put(value.getBytes(StandardCharsets.UTF_8));
    ByteBuffer.wrap(slot).putLong(SUM_AT, sum(slot));
    int index = firstSlot(key);
    while (table.get(index * SLOT_BYTES) != 0) {
      index = (index + 1) % SLOTS;
    }
    table.position(index * SLOT_BYTES).put(slot);
  }

  private static Optional<String> get(ExampleNode node, String key) throws VerbsException {
    node.send(ByteBuffer.allocate(1));
    RemoteRegion table = node.receiveRegion();
    byte[] slot = new byte[SLOT_BYTES];
    try (HostMemory memory = node.device().allocate(SLOT_BYTES);
        MemoryRegion sink = node.domain().register(memory, 0, SLOT_BYTES, node.sinkAccess())) {
      int index = firstSlot(key);
      do {
        node.read(table, (long) index * SLOT_BYTES, sink, SLOT_BYTES);
        memory.slice(0, SLOT_BYTES).get(slot);
        boolean complete = slot[0] == 0 || ByteBuffer.wrap(slot).getLong(SUM_AT) == sum(slot);
        if (complete && text(slot, 0, KEY_BYTES).equals(key)) {
          return Optional.of(text(slot, KEY_BYTES, SUM_AT));
        }
        index = complete ? (index + 1) % SLOTS : index;
      } while (slot[0] != 0);
      return Optional.empty();
    }
  }

  private static int firstSlot(String key) {
    return Math.floorMod(key.hashCode(), SLOTS);
  }

  private static long sum(byte[] slot) {
    CRC32C sum = new CRC32C();
    sum.update(slot, 0, SUM_AT);
    return sum.getValue();
  }

  private static String text(byte[] slot, int from, int to) {
    return new String(slot, from, to - from, StandardCharsets.UTF_8).replace("\0", "");
  }
}

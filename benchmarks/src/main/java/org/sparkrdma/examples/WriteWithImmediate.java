// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;

/**
 * RDMA WRITE with immediate: the client writes text into the server's memory. The number that comes
 * with it is the length of the text. The server does not notice a WRITE without immediate.
 */
public final class WriteWithImmediate {
  private static final int MAX_BYTES = 4_096;

  private WriteWithImmediate() {}

  /** Arguments: {@code server ENGINE HOST:PORT} or {@code client ENGINE HOST:PORT TEXT}. */
  public static void main(String[] arguments) throws VerbsException {
    run(arguments, System.out);
  }

  static void run(String[] arguments, PrintStream out) throws VerbsException {
    ExampleArguments parsed = ExampleArguments.parse(arguments, "", "TEXT");
    try (ExampleNode node = ExampleNode.open(parsed.engine())) {
      if (!node.device().info().can(Capability.WRITE_WITH_IMMEDIATE)) {
        throw new IllegalStateException("this device has no WRITE with immediate, as all of iWARP");
      }
      if (parsed.server()) {
        out.println("received: " + receiveText(node, parsed, out));
      } else {
        node.connect(parsed.address());
        out.println("wrote bytes: " + writeText(node, parsed.own().get(0)));
      }
    }
  }

  private static String receiveText(ExampleNode node, ExampleArguments parsed, PrintStream out)
      throws VerbsException {
    // A region that peers may write must be writable for its owner, too.
    Set<AccessFlag> writable = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    try (HostMemory memory = node.device().allocate(MAX_BYTES);
        MemoryRegion region = node.domain().register(memory, 0, MAX_BYTES, writable)) {
      node.accept(parsed.address(), Set.of(AccessFlag.REMOTE_WRITE), out);
      node.receive();
      node.sendRegion(region.remote());
      byte[] text = new byte[node.receiveImmediate()];
      memory.slice(0, text.length).get(text);
      node.awaitDisconnect();
      return new String(text, StandardCharsets.UTF_8);
    }
  }

  private static int writeText(ExampleNode node, String text) throws VerbsException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    node.send(ByteBuffer.allocate(1));
    RemoteRegion remote = node.receiveRegion();
    if (bytes.length == 0 || bytes.length > remote.lengthBytes()) {
      throw new IllegalArgumentException("the text must have 1 to " + MAX_BYTES + " bytes");
    }
    try (HostMemory memory = node.device().allocate(bytes.length);
        MemoryRegion source = node.domain().register(memory, 0, bytes.length, Set.of())) {
      memory.slice(0, bytes.length).put(bytes);
      node.writeWithImmediate(remote, source, bytes.length, bytes.length);
      return bytes.length;
    }
  }
}

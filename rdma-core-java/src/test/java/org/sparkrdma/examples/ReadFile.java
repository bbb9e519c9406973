// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;

/**
 * RDMA READ of a file: the server registers a file, and the client reads it out of the server's
 * page cache. No code of the server runs while the client reads.
 */
public final class ReadFile {
  private static final int CHUNK_BYTES = 1 << 20;

  private ReadFile() {}

  /** Arguments: {@code server ENGINE HOST:PORT FILE} or {@code client ENGINE HOST:PORT COPY}. */
  public static void main(String[] arguments) throws VerbsException, IOException {
    run(arguments, System.out);
  }

  static void run(String[] arguments, PrintStream out) throws VerbsException, IOException {
    Arguments parsed = Arguments.parse(arguments, "FILE", "COPY");
    Path file = Path.of(parsed.own().get(0));
    try (ExampleNode node = ExampleNode.open(parsed.engine())) {
      if (parsed.server()) {
        serve(node, parsed, file, out);
      } else {
        node.connect(parsed.address());
        out.println("read bytes: " + readTo(node, file));
      }
    }
  }

  private static void serve(ExampleNode node, Arguments parsed, Path file, PrintStream out)
      throws VerbsException, IOException {
    if (!node.device().info().can(Capability.FILE_REGIONS)) {
      throw new IllegalStateException("this device cannot register files");
    }
    Set<AccessFlag> readable = Set.of(AccessFlag.REMOTE_READ);
    try (MemoryRegion region = node.domain().registerFile(file, 0, Files.size(file), readable)) {
      node.accept(parsed.address(), readable, out);
      // The client sends first: an iWARP server that does breaks the connection.
      node.receive();
      node.sendRegion(region.remote());
      node.awaitDisconnect();
      out.println("served " + region.lengthBytes() + " bytes");
    }
  }

  private static long readTo(ExampleNode node, Path copy) throws VerbsException, IOException {
    node.send(ByteBuffer.allocate(1));
    RemoteRegion remote = node.receiveRegion();
    try (HostMemory memory = node.device().allocate(CHUNK_BYTES);
        MemoryRegion sink = node.domain().register(memory, 0, CHUNK_BYTES, node.sinkAccess());
        FileChannel out =
            FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long offset = 0;
      while (offset < remote.lengthBytes()) {
        int lengthBytes = (int) Math.min(CHUNK_BYTES, remote.lengthBytes() - offset);
        node.read(remote, offset, sink, lengthBytes);
        ByteBuffer bytes = memory.slice(0, lengthBytes);
        while (bytes.hasRemaining()) {
          out.write(bytes);
        }
        offset += lengthBytes;
      }
      return offset;
    }
  }

  /**
   * The arguments that all examples have: {@code server ENGINE HOST:PORT} or {@code client ENGINE
   * HOST:PORT}, then those of the example.
   *
   * @param server whether this end listens
   * @param engine name of the verbs engine, or {@code auto}
   * @param address where the server listens
   * @param own the arguments of the example itself
   */
  private record Arguments(
      boolean server, String engine, InetSocketAddress address, List<String> own) {
    private static final int COMMON = 3;

    /**
     * @param names of the example's own arguments, for each end
     * @throws IllegalArgumentException with the usage
     */
    static Arguments parse(String[] arguments, String serverNames, String clientNames) {
      boolean server = arguments.length > 0 && arguments[0].equals("server");
      boolean client = arguments.length > 0 && arguments[0].equals("client");
      String names = server ? serverNames : clientNames;
      int expected = COMMON + (names.isEmpty() ? 0 : names.split(" ", -1).length);
      int colon = arguments.length < COMMON ? -1 : arguments[2].lastIndexOf(':');
      if (!(server || client) || arguments.length != expected || colon < 0) {
        throw new IllegalArgumentException(
            "arguments: server ENGINE HOST:PORT %s| client ENGINE HOST:PORT %s"
                .formatted(serverNames.isEmpty() ? "" : serverNames + " ", clientNames)
                .strip());
      }
      String host = arguments[2].substring(0, colon);
      int port = Integer.parseInt(arguments[2].substring(colon + 1));
      return new Arguments(
          server,
          arguments[1],
          new InetSocketAddress(host, port),
          List.of(arguments).subList(COMMON, expected));
    }
  }
}

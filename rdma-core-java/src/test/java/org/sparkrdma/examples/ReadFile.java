// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.io.IOException;
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
    if (arguments.length != 4 || !List.of("server", "client").contains(arguments[0])) {
      throw new IllegalArgumentException(
          "arguments: server ENGINE HOST:PORT FILE | client ENGINE HOST:PORT COPY");
    }
    int colon = arguments[2].lastIndexOf(':');
    int port = Integer.parseInt(arguments[2].substring(colon + 1));
    InetSocketAddress address = new InetSocketAddress(arguments[2].substring(0, colon), port);
    Path file = Path.of(arguments[3]);
    try (ExampleNode node = ExampleNode.open(arguments[1])) {
      if (arguments[0].equals("server")) {
        serve(node, address, file);
      } else {
        node.connect(address);
        System.out.println("read bytes: " + readTo(node, file));
      }
    }
  }

  private static void serve(ExampleNode node, InetSocketAddress address, Path file)
      throws VerbsException, IOException {
    if (!node.device().info().can(Capability.FILE_REGIONS)) {
      throw new IllegalStateException("this device cannot register files");
    }
    Set<AccessFlag> readable = Set.of(AccessFlag.REMOTE_READ);
    try (MemoryRegion region = node.domain().registerFile(file, 0, Files.size(file), readable)) {
      node.accept(address, readable);
      // The client may ask twice.
      node.postReceive();
      // The client sends first: an iWARP server that does breaks the connection.
      node.receive();
      node.sendRegion(region.remote());
      node.awaitDisconnect();
      System.out.println("served " + region.lengthBytes() + " bytes");
    }
  }

  private static long readTo(ExampleNode node, Path copy) throws VerbsException, IOException {
    RemoteRegion remote = ExampleNode.region(node.ask(ByteBuffer.allocate(1)));
    try (HostMemory memory = node.device().allocate(CHUNK_BYTES);
        MemoryRegion sink =
            node.domain().register(memory, 0, CHUNK_BYTES, Set.of(AccessFlag.LOCAL_WRITE));
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
}

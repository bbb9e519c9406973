// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The source of {@link LateReads}, in another kernel: one region, and a listener that sends its
 * address and key in the private data of each answer. Runs until it is killed.
 *
 * <pre>
 *   0  address (64 bit) | 8  remote key (32 bit)
 * </pre>
 */
final class LateSource {
  static final int PORT = 7175;
  static final byte FILL = 7;

  private static final int LENGTH = 1 << 20;
  private static final int REGION_BYTES = Long.BYTES + Integer.BYTES;
  private static final long PAUSE_NS = Duration.ofSeconds(1).toNanos();

  private LateSource() {}

  /** Argument: the address to listen on. */
  public static void main(String[] arguments) throws VerbsException, java.io.IOException {
    InetAddress address = InetAddress.getByName(arguments[0]);
    var engine = Verbs.choose("ibverbs", EngineSettings.of(Map.of())).engine();
    try (Node node = Node.open(engine, address)) {
      Node.Block source = node.block(LENGTH, FILL, Node.READABLE);
      byte[] region =
          ByteBuffer.allocate(REGION_BYTES)
              .putLong(source.region().address())
              .putInt(source.region().remote().remoteKey32())
              .array();
      node.manager.listen(new InetSocketAddress(address, PORT), 16);
      System.out.println("listening");
      while (true) {
        node.queue.arm();
        if (!node.poll()) {
          node.channel.await(PAUSE_NS);
        }
        for (ConnectionEvent event = node.events.poll();
            event != null;
            event = node.events.poll()) {
          answer(node, event, region);
        }
      }
    }
  }

  private static void answer(Node node, ConnectionEvent event, byte[] region)
      throws VerbsException {
    Connection connection = event.connection();
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      connection.createQueuePair(node.domain, node.settings());
      connection.accept(ConnectionParameters.of(region));
    } else if (event.type() == ConnectionEvent.Type.DISCONNECTED) {
      connection.close();
    }
  }
}

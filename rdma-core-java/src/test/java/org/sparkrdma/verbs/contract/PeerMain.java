// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * A peer in another process: accepts every connection, echoes every message, and executes commands
 * from standard input. Ends with its input. {@link PeerProcess} starts it.
 *
 * <pre>
 *  listening PORT                         printed at start
 *  memory LENGTH FILL                  →  region ADDRESS LENGTH KEY
 *  file LENGTH OFFSET PATH             →  region ADDRESS LENGTH KEY
 *  close KEY                           →  closed KEY
 *  allocate LENGTH                     →  allocated, or: refused REASON
 * </pre>
 */
public final class PeerMain {
  private static final int MESSAGE_BYTES = 1024;

  private final Node node;
  private final PrintStream out;
  private final Map<Long, MemoryRegion> regions = new HashMap<>();
  private Node.Block messages;

  private PeerMain(Node node, PrintStream out) {
    this.node = node;
    this.out = out;
  }

  /** Arguments: engine, address, then settings as key=value. */
  public static void main(String[] args) throws Exception {
    Map<String, String> settings = new HashMap<>();
    for (int i = 2; i < args.length; i++) {
      int at = args[i].indexOf('=');
      settings.put(args[i].substring(0, at), args[i].substring(at + 1));
    }
    Verbs.Choice choice = Verbs.choose(args[0], EngineSettings.of(settings));
    VerbsEngine engine = choice.engine();
    if (engine == null) {
      throw new IllegalStateException(String.join("; ", choice.reasons()));
    }
    InetAddress address = InetAddress.getByName(args[1]);
    try (Node node = Node.open(engine, address)) {
      PeerMain peer = new PeerMain(node, System.out);
      peer.run(new InetSocketAddress(address, 0));
    }
    engine.close();
  }

  private void run(InetSocketAddress address) throws Exception {
    messages = node.block(Node.DEPTH * MESSAGE_BYTES, 0, Node.SINK);
    Listener listener = node.manager.listen(address, 64);
    print("listening " + listener.address().getPort());
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    boolean[] ended = new boolean[1];
    var commands = new java.util.concurrent.ConcurrentLinkedQueue<String>();
    Thread reader = new Thread(() -> read(input, commands, ended), "commands");
    reader.setDaemon(true);
    reader.start();
    while (!ended[0]) {
      node.queue.arm();
      boolean any = node.poll();
      serve();
      for (String line = commands.poll(); line != null; line = commands.poll()) {
        execute(line.split(" ", 4));
      }
      if (!any) {
        node.channel.await(1_000_000_000L);
      }
    }
  }

  private void read(BufferedReader input, java.util.Queue<String> commands, boolean[] ended) {
    try {
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        commands.add(line);
        node.channel.wakeup();
      }
    } catch (IOException e) {
      System.err.println(e);
    }
    ended[0] = true;
    node.channel.wakeup();
  }

  private void print(String line) {
    out.println(line);
    out.flush();
  }

  private void serve() throws VerbsException {
    for (ConnectionEvent event = node.events.poll(); event != null; event = node.events.poll()) {
      if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
        accept(event.connection());
      } else if (event.type() == ConnectionEvent.Type.DISCONNECTED) {
        event.connection().close();
      }
    }
    node.results.clear();
  }

  private void accept(Connection connection) throws VerbsException {
    connection.createQueuePair(node.domain, node.settings());
    for (int i = 0; i < Node.DEPTH; i++) {
      connection.queuePair().postReceive(messages.receive(i));
    }
    connection.accept(ConnectionParameters.of(new byte[0]));
  }

  private void execute(String[] words) throws VerbsException {
    switch (words[0]) {
      case "memory" ->
          printRegion(
              node.block(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Node.READABLE)
                  .region());
      case "file" ->
          printRegion(
              node.domain.registerFile(
                  Path.of(words[3]),
                  Long.parseLong(words[2]),
                  Long.parseLong(words[1]),
                  Set.of(AccessFlag.REMOTE_READ)));
      case "close" -> {
        regions.remove(Long.parseLong(words[1])).close();
        print("closed " + words[1]);
      }
      case "allocate" -> {
        try {
          node.device.allocate(Long.parseLong(words[1])).close();
          print("allocated");
        } catch (VerbsException e) {
          print("refused " + e.getMessage());
        }
      }
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  private void printRegion(MemoryRegion region) {
    long key = region.remote().remoteKey();
    regions.put(key, region);
    print("region " + region.address() + " " + region.lengthBytes() + " " + key);
  }
}

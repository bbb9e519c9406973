// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;

/**
 * Answers {@code doctor --peer} and {@code perf client} of other hosts: a line by TCP, and READs of
 * a region with test data by RDMA, and the same data by TCP. Confined to the thread that calls
 * {@link #serve}. Closing the device closes what is open on it.
 */
public final class PeerListener implements AutoCloseable {
  /** TCP port where none is given. */
  public static final int DEFAULT_PORT = 7474;

  private static final Logger LOG = LoggerFactory.getLogger(PeerListener.class);
  private static final int MAX_CONNECTIONS = 16;
  private static final int BACKLOG = 8;
  private static final long SERVE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Twice the longest pause of a client between two requests by TCP. */
  private static final long SILENCE_NS = 2 * PerfClient.MAX_NS;

  private final ServerSocketChannel server;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final ProtectionDomain domain;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final ConnectionManager manager;
  private final List<Connection> connections = new ArrayList<>();
  private final Announcement announcement;
  private final TcpSource source = new TcpSource();
  private final long silenceNs;

  /**
   * Listens.
   *
   * @param open closed by the caller, after this
   * @param port TCP port; 0 for any
   */
  public PeerListener(ProbedDevice open, int port) throws IOException, VerbsException {
    this(open, port, SILENCE_NS);
  }

  /**
   * The same.
   *
   * @param silenceNs time after which a TCP connection on which nothing happens is closed
   */
  PeerListener(ProbedDevice open, int port, long silenceNs) throws IOException, VerbsException {
    this.silenceNs = silenceNs;
    Device device = open.device();
    if (device.info().limits().maxPrivateDataBytes() < SharedRegion.PRIVATE_BYTES) {
      throw new VerbsException(
          "listen",
          "engine "
              + device.info().engine()
              + " shows no private data of connections, which this command needs");
    }
    channel = device.createCompletionChannel();
    completions = device.createCompletionQueue(2 * MAX_CONNECTIONS, channel);
    domain = device.allocateProtectionDomain();
    memory = device.allocate(SharedRegion.BYTES);
    ByteBuffer bytes = memory.slice(0, SharedRegion.BYTES);
    for (int i = 0; i < SharedRegion.BYTES; i++) {
      bytes.put(i, SharedRegion.byteAt(i));
    }
    region = domain.register(memory, 0, SharedRegion.BYTES, Set.of(AccessFlag.REMOTE_READ));
    manager = device.createConnectionManager(channel);
    List<ListenerAddress> addresses = new ArrayList<>();
    for (NetworkAddress address : open.choice().addresses()) {
      Listener listener = manager.listen(address.socket(0), BACKLOG);
      addresses.add(new ListenerAddress(address, listener.address().getPort()));
    }
    announcement = new Announcement(device.info().engine(), addresses);
    server = ServerSocketChannel.open().bind(new InetSocketAddress(port));
    server.configureBlocking(false);
  }

  /** Its TCP port. */
  public int port() throws IOException {
    return ((InetSocketAddress) server.getLocalAddress()).getPort();
  }

  /** Its addresses by RDMA with their subnets and ports, in words. */
  public List<String> addresses() {
    return announcement.addresses().stream().map(ListenerAddress::toString).toList();
  }

  /**
   * Serves until this time of {@link System#nanoTime}, and then without new clients until those
   * that are connected have ended or are silent.
   */
  public void serveUntil(long endNs) throws IOException {
    while (System.nanoTime() - endNs < 0) {
      serve(SERVE_NS);
    }
    server.close();
    while (source.hasClients()) {
      serve(SERVE_NS);
    }
  }

  /** Serves what has arrived, after a wait. */
  public void serve(long waitNs) throws IOException {
    channel.await(waitNs);
    source.endSilent(System.nanoTime() - silenceNs);
    acceptClients();
    ConnectionEvent event = manager.pollEvent();
    while (event != null) {
      handle(event);
      event = manager.pollEvent();
    }
  }

  private void acceptClients() throws IOException {
    if (!server.isOpen()) {
      return;
    }
    for (SocketChannel client = server.accept(); client != null; client = server.accept()) {
      serveClient(client);
    }
  }

  /** A client that fails must not end the listener. */
  private void serveClient(SocketChannel client) throws IOException {
    try {
      client.write(ByteBuffer.wrap(announcement.line().getBytes(StandardCharsets.US_ASCII)));
      source.take(client);
    } catch (IOException e) {
      LOG.debug("A client ended its TCP connection at once", e);
      client.close();
    }
  }

  private void handle(ConnectionEvent event) {
    switch (event.type()) {
      case CONNECT_REQUEST -> answer(event.connection());
      case DISCONNECTED, CONNECT_ERROR, DEVICE_REMOVED -> {
        if (event.connection() != null) {
          end(event.connection());
        }
      }
      default -> {
        // ESTABLISHED: from now on the device answers READs by itself.
      }
    }
  }

  private void answer(Connection connection) {
    if (connections.size() >= MAX_CONNECTIONS) {
      // Whether its client still READs is not visible here.
      end(connections.get(0));
    }
    connections.add(connection);
    try {
      connection.createQueuePair(
          domain,
          new QueuePairSettings(completions, completions, 1, 1, 1, Set.of(AccessFlag.REMOTE_READ)));
      SharedRegion shared =
          new SharedRegion(region.remote().address(), region.remote().remoteKey32());
      connection.accept(ConnectionParameters.of(shared.privateData()));
    } catch (VerbsException e) {
      end(connection);
    }
  }

  private void end(Connection connection) {
    connections.remove(connection);
    connection.close();
  }

  @Override
  public void close() throws IOException {
    server.close();
    source.close();
    connections.forEach(Connection::close);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Peers of other hosts and users, and peers that break the protocol. */
class ForeignPeersTest extends VerbsContract {
  private static final int TIMEOUT_MS = 10_000;
  private static final int QUEUE_PAIR = 1;

  @TempDir Path elsewhere;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  private static SoftSettings settings() {
    return SoftSettings.of(EngineSettings.of(SoftUnderTest.ENGINE.settings()));
  }

  /** Connects from a device with another identity; returns the reason for the rejection. */
  private String refusal(UnaryOperator<HostIdentity> change) throws Exception {
    return refusal(open(new SoftEngine(settings(), change.apply(HostIdentity.self()), true)));
  }

  private String refusal(Node stranger) throws Exception {
    try (Listener listener = server.listen(engine())) {
      var connection = stranger.resolve(listener.address());
      event(stranger, ConnectionEvent.Type.RESOLVED);
      connection.createQueuePair(stranger.domain, stranger.settings());
      connection.connect(parameters());
      String reason = event(stranger, ConnectionEvent.Type.REJECTED).reason();
      assertThat(server.manager.pollEvent()).isNull();
      assertThat(connection.queuePair().state()).isEqualTo(QueuePairState.ERROR);
      return reason;
    }
  }

  /**
   * Sends a hello that was changed; returns the reason for the refusal.
   *
   * @param portOffset what is added to the port for which the hello was made
   */
  private String refusal(HostIdentity host, int portOffset, Consumer<ByteBuffer> change)
      throws Exception {
    try (Listener listener = server.listen(engine());
        Socket socket = socket(listener.address());
        Other other = new Other()) {
      ByteBuffer request = other.hello(Frame.REQUEST, socket, host, socket.getPort() + portOffset);
      change.accept(request);
      send(socket, request);
      byte[] answer = socket.getInputStream().readAllBytes();
      assertThat(answer[0]).isEqualTo(Frame.REFUSED);
      return new String(
          Arrays.copyOfRange(answer, Frame.HEADER_BYTES, answer.length), StandardCharsets.UTF_8);
    }
  }

  @Test
  void shouldRefuseAPeerOfAnotherHost() throws Exception {
    UUID other = new UUID(1, 2);
    assertThat(
            refusal(h -> new HostIdentity(other, h.pidNamespace(), h.mountNamespace(), h.userId())))
        .contains("own host", other.toString());
  }

  @Test
  void shouldRefuseAPeerOfAnotherContainer() throws Exception {
    assertThat(refusal(h -> new HostIdentity(h.bootId(), h.pidNamespace(), 5, h.userId())))
        .contains("own host, container");
    assertThat(refusal(h -> new HostIdentity(h.bootId(), 5, h.mountNamespace(), h.userId())))
        .contains("own host, container");
  }

  @Test
  void shouldRefuseAPeerOfAnotherUser() throws Exception {
    // The directory of the present user, with the identity of another one in the message.
    HostIdentity mine = HostIdentity.self();
    var other = new HostIdentity(mine.bootId(), mine.pidNamespace(), mine.mountNamespace(), 4711);
    assertThat(refusal(other, 0, hello -> {})).contains("own host, container and user", "4711");
  }

  @Test
  void shouldRefuseAPeerThatSharesAnotherDirectory() throws Exception {
    assertThat(refusal(open(load(Map.of("soft.directory", elsewhere.toString())))))
        .contains("both ends need the same soft.directory");
  }

  @Test
  void shouldNameBothVersionsToAPeerOfAnotherVersion() throws Exception {
    assertThat(refusal(HostIdentity.self(), 0, hello -> hello.putInt(Frame.HEADER_BYTES + 4, 77)))
        .contains("version=3", "peer=77");
  }

  @Test
  void shouldRefuseAHelloWithAWrongProof() throws Exception {
    int proof = Frame.HEADER_BYTES + 64;
    assertThat(
            refusal(
                HostIdentity.self(), 0, hello -> hello.put(proof, (byte) (hello.get(proof) ^ 1))))
        .contains("proof in the hello is wrong");
    assertThat(refusal(HostIdentity.self(), 1, hello -> {}))
        .as("for other ports")
        .contains("proof in the hello is wrong");
  }

  @Test
  void shouldSurviveGarbageOnItsPort() throws Exception {
    Pair pair = connect();
    var random = new Random(42);
    try (Listener listener = server.listen(engine())) {
      for (int i = 0; i < 100; i++) {
        byte[] garbage = new byte[random.nextInt(2000)];
        random.nextBytes(garbage);
        if (i % 2 == 0 && garbage.length > 8) {
          // A valid header with an invalid body.
          int length = random.nextInt(garbage.length);
          frame(Frame.REQUEST, length).get(garbage, 0, Frame.HEADER_BYTES);
        }
        try (Socket socket = socket(listener.address())) {
          socket.getOutputStream().write(garbage);
        } catch (IOException closedAlready) {
          assertThat(closedAlready).isNotNull();
        }
      }
    }
    assertStillReads(pair);
    assertThat(server.events).isEmpty();
  }

  @Test
  void shouldCloseAConnectionWithoutAHello() throws Exception {
    reopenClient(Map.of("soft.handshake.timeout", "20ms"));
    try (Listener listener = client.listen(engine());
        Socket socket = socket(listener.address())) {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void shouldBoundConnectionsWithoutAHello() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try (Listener listener = client.listen(engine())) {
      for (int i = 0; i <= SoftListener.MAX_HALF_OPEN; i++) {
        sockets.add(socket(listener.address()));
      }
      Socket last = sockets.get(SoftListener.MAX_HALF_OPEN);
      assertThat(last.getInputStream().read()).isEqualTo(-1);
      sockets.get(0).setSoTimeout(1);
      assertThatThrownBy(() -> sockets.get(0).getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  /** One that has reset its connection, or for which there is no memory. */
  @Test
  void shouldNotCountPeersWhoseSocketCannotBeRegistered() throws Exception {
    Node node = open(new SoftEngine(settings(), HostIdentity.self(), true));
    try (Listener listener = node.listen(engine());
        Other other = new Other()) {
      for (int i = 0; i <= SoftListener.MAX_HALF_OPEN; i++) {
        SocketChannel closed = SocketChannel.open();
        closed.close();
        ((SoftListener) listener).awaitHello(closed);
      }
      try (Socket socket = socket(listener.address())) {
        send(socket, other.hello(Frame.REQUEST, socket));
        event(node, ConnectionEvent.Type.CONNECT_REQUEST).connection().close();
      }
    }
  }

  /** Invalid frames of a connected peer. */
  enum InvalidFrame {
    HAS_A_NEGATIVE_LENGTH(Frame.READY, -1),
    SENDS_HELLO_AGAIN(Frame.REQUEST, 0),
    REPLIES_AS_ACCEPTOR(Frame.REPLY, 0),
    IS_READY_AGAIN(Frame.READY, 0),
    HAS_A_LONG_BODY(Frame.REPLY, 1 << 20),
    SAYS_AN_UNKNOWN_WORD(99, 0);

    private final byte type;
    private final int length;

    InvalidFrame(int type, int length) {
      this.type = (byte) type;
      this.length = length;
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldEndOnlyTheConnectionOfAPeerThatSends(InvalidFrame invalid) throws Exception {
    Pair pair = connect();
    try (Listener listener = server.listen(engine());
        Socket socket = socket(listener.address());
        Other other = new Other()) {
      ByteBuffer request = other.hello(Frame.REQUEST, socket);
      send(socket, request);
      var asked = event(server, ConnectionEvent.Type.CONNECT_REQUEST).connection();
      asked.createQueuePair(server.domain, server.settings());
      Node.Block inbox = server.block(100, 0, Node.SINK);
      asked.queuePair().postReceive(inbox.receive(1));
      asked.accept(parameters());
      assertThat(socket.getInputStream().readNBytes(Frame.HEADER_BYTES)[0]).isEqualTo(Frame.REPLY);
      send(socket, frame(Frame.READY, 0));
      event(server, ConnectionEvent.Type.ESTABLISHED);
      send(socket, frame(invalid.type, invalid.length));
      assertThat(event(server, ConnectionEvent.Type.DISCONNECTED).reason())
          .contains("broke the protocol");
      assertThat(result(server).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
      asked.close();
    }
    assertStillReads(pair);
  }

  private void assertStillReads(Pair pair) throws Exception {
    Node.Block source = server.block(100, 7, Node.READABLE);
    read(client, pair.client(), client.block(100, 0, Node.SINK), source.region());
    assertThat(pair.server().state()).isEqualTo(QueuePairState.READY_TO_SEND);
  }

  private static Socket socket(InetSocketAddress address) throws IOException {
    var socket = new Socket();
    socket.connect(address, TIMEOUT_MS);
    socket.setSoTimeout(TIMEOUT_MS);
    return socket;
  }

  private static void send(Socket socket, ByteBuffer whole) throws IOException {
    byte[] bytes = new byte[whole.limit()];
    whole.get(0, bytes);
    socket.getOutputStream().write(bytes);
  }

  private static ByteBuffer frame(byte type, int length) {
    return ByteBuffer.allocate(Frame.HEADER_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(0, type)
        .putInt(4, length);
  }

  /** The files of a device that does not run, for its LinkHello. */
  private static final class Other implements AutoCloseable {
    private final byte[] secret = new byte[SharedTable.SECRET_BYTES];
    private final SharedDirectory directory;

    Other() throws IOException {
      directory =
          SharedDirectory.create(
              settings().directory(), HostIdentity.self(), ProcessIdentity.self());
      Arrays.fill(secret, (byte) 5);
      SharedTable.create(directory.path().resolve(SharedDirectory.TABLE), secret);
      SharedReceives.create(SharedDirectory.receives(directory.path(), QUEUE_PAIR), 4, 1);
      assertThat(Files.exists(directory.path())).isTrue();
    }

    /** A LinkHello with its header. */
    ByteBuffer hello(byte type, Socket socket) throws IOException {
      return hello(type, socket, HostIdentity.self(), socket.getPort());
    }

    ByteBuffer hello(byte type, Socket socket, HostIdentity host, int listenerPort) {
      byte[] nonce = new byte[LinkHello.NONCE_BYTES];
      byte[] proof = LinkHello.proof(secret, nonce, socket.getLocalPort(), listenerPort);
      var hello = new LinkHello(host, QUEUE_PAIR, nonce, proof, directory.name(), new byte[0]);
      ByteBuffer out =
          ByteBuffer.allocate(Frame.HEADER_BYTES + LinkHello.MAX_BYTES)
              .order(ByteOrder.LITTLE_ENDIAN);
      out.position(Frame.HEADER_BYTES);
      hello.encode(out);
      out.flip();
      return out.put(0, type).putInt(4, out.limit() - Frame.HEADER_BYTES);
    }

    @Override
    public void close() {
      directory.close();
    }
  }
}

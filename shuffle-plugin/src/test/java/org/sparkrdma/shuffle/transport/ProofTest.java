// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;

/** Only a peer that proves for each connection that it knows the driver's token is accepted. */
@Timeout(60)
class ProofTest extends TransportFixture {
  private static final List<BlockRange> BLOCKS = List.of(block(1, 0, 1));

  private VerbsEngine engine;
  private Device device;
  private CompletionChannel channel;
  private CompletionQueue queue;
  private ProtectionDomain domain;
  private ConnectionManager manager;
  private BareInitiator initiator;

  @BeforeEach
  void openADeviceOfAStranger() throws VerbsException {
    engine = WatchedEngine.watch(TestEngine.load(Map.of()));
    device = TestEngine.open(engine);
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(64, channel);
    domain = device.allocateProtectionDomain();
    manager = device.createConnectionManager(channel);
    initiator = new BareInitiator(device, channel, queue, domain, manager);
  }

  @AfterEach
  void closeTheDevice() {
    manager.close();
    initiator.close();
    device.close();
    engine.close();
  }

  @Test
  void shouldRefuseARequestThatWasMadeForAnotherQueuePair() throws Exception {
    TestExecutor server = start(2);
    assumeTrue(
        device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR),
        "the request has no queue pair number");
    AtomicReference<byte[]> overheard = new AtomicReference<>();
    ConnectionEvent first =
        connect(
            server,
            binding -> {
              overheard.set(
                  hello(server.endpoint()).encodeRequest(server.endpoint().token(), binding));
              return overheard.get();
            });
    assertThat(first.type()).isEqualTo(ConnectionEvent.Type.ESTABLISHED);

    ConnectionEvent again = connect(server, overheard.get());

    assertThat(again.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(Hello.decodeRefusal(again.privateData())).isEqualTo(Hello.Refusal.PROOF);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }

  @Test
  void shouldRefuseARequestThatWasMadeForAnotherAddress() throws Exception {
    TestExecutor server = start(2);
    InetAddress elsewhere = InetAddress.getByName("192.0.2.1");
    ConnectionEvent event =
        connect(
            server,
            binding ->
                hello(server.endpoint())
                    .encodeRequest(
                        server.endpoint().token(),
                        new ConnectionBinding(
                            binding.queuePairNumber(), elsewhere, binding.destination())));
    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(Hello.decodeRefusal(event.privateData())).isEqualTo(Hello.Refusal.PROOF);
  }

  @Test
  void shouldBoundUnconfirmedConnections() throws Exception {
    TestExecutor server = start(2);
    ConnectionEvent event = null;
    for (int i = 0; event == null || event.type() == ConnectionEvent.Type.ESTABLISHED; i++) {
      assertThat(i).as("connections that are not confirmed").isLessThan(16);
      event =
          connect(
              server,
              binding ->
                  hello(server.endpoint()).encodeRequest(server.endpoint().token(), binding));
    }
    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    // Without private data the device itself rejects, without a reason.
    assertThat(Hello.decodeRefusal(event.privateData()))
        .isEqualTo(initiator.path() == HelloPath.SEND ? null : Hello.Refusal.BUSY);
    assertThat(server.count(Counter.CONNECTIONS_ESTABLISHED)).isZero();
  }

  @Test
  void shouldRefuseItsOwnRequestWhenItIsSentBack() throws Exception {
    TestExecutor server = start(2);
    // Made for another callee, as the server itself makes it.
    ConnectionEvent event =
        connect(
            server,
            binding ->
                Hello.request(0, 9, server.endpoint().incarnation(), new byte[Hello.NONCE_BYTES])
                    .encodeRequest(server.endpoint().token(), binding));

    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(Hello.decodeRefusal(event.privateData())).isEqualTo(Hello.Refusal.INCARNATION);
  }

  @Test
  void shouldRefuseAnInvalidRequest() throws Exception {
    TestExecutor server = start(2);
    byte[] garbage = new byte[Hello.LENGTH_BYTES];
    random.nextBytes(garbage);

    ConnectionEvent event = connect(server, garbage);

    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(Hello.decodeRefusal(event.privateData())).isEqualTo(Hello.Refusal.MALFORMED);
  }

  @Test
  void shouldRefuseAnotherVersionOfTheProtocol() throws Exception {
    TestExecutor server = start(2);
    ConnectionEvent event =
        connect(
            server,
            binding -> {
              byte[] newer =
                  hello(server.endpoint()).encodeRequest(server.endpoint().token(), binding);
              newer[0] = Hello.PROTOCOL + 1;
              return newer;
            });

    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(Hello.decodeRefusal(event.privateData())).isEqualTo(Hello.Refusal.VERSION);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }

  @Test
  void shouldRefuseARequestWithoutPrivateData() throws Exception {
    TestExecutor server = start(2);

    ConnectionEvent event = connect(server, new byte[0]);

    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
    assertThat(Hello.decodeRefusal(event.privateData())).isEqualTo(Hello.Refusal.MALFORMED);
  }

  @Test
  void shouldRefuseAnApplicationWithAnotherSecret() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).secret("one"));
    TestExecutor server = start(new TestExecutor.Options(2).secret("two"));

    assertThat(fetch(reader, server, BLOCKS).reason(0)).isEqualTo(FallbackReason.REFUSED);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }

  @Test
  void shouldAcceptAPeerWithTheSecretOfTheApplication() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).secret("same"));
    TestExecutor server = start(new TestExecutor.Options(2).secret("same"));
    server.outputs().write(1, random, 1_000);

    assertRight(server, BLOCKS, fetch(reader, server, BLOCKS));
  }

  private Hello hello(Endpoint callee) {
    return Hello.request(0, callee.incarnation(), 77, new byte[Hello.NONCE_BYTES]);
  }

  /** The outcome of a request with this private data. */
  private ConnectionEvent connect(TestExecutor server, byte[] privateData) throws VerbsException {
    return connect(server, binding -> privateData);
  }

  /** The outcome of a request whose private data is made for its connection. */
  private ConnectionEvent connect(
      TestExecutor server, Function<ConnectionBinding, byte[]> privateData) throws VerbsException {
    Connection connection = initiator.resolve(server.endpoint(), 4);
    return initiator.request(
        connection, privateData.apply(TestBinding.ofInitiator(device, connection)));
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterContainer;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/**
 * All messages between a reader and a {@link LyingServer}, on one thread and without a device. Each
 * block is answered once, nothing leaks, the number of messages is bounded, and an honest server is
 * not quarantined. Each kind of {@link Lie} is sent. A third of the conversations read to disk:
 * each temporary file is registered with Spark or deleted, once.
 */
class HostileConversationPropertyTest {
  private static final int MESSAGES_PER_TRY = 20;
  private static final int MAX_STEPS = 20_000;
  private static final double[] LIES = {0, 0.02, 0.2, 0.6};

  /** Tries of the everyday build; the fuzz profile names more. */
  private static final int USUAL_TRIES = 1_000;

  /** Time after which blocks use TCP whose disk is busy. */
  private static final byte[] KEY = new byte[Endpoint.TOKEN_BYTES];

  private static final Endpoint SELF =
      new Endpoint("1", TestAddresses.listener("127.0.0.1", 1), "none", 1, 1, KEY);
  private static final Endpoint SERVER =
      new Endpoint("2", TestAddresses.listener("127.0.0.1", 2), "none", 1, 2, KEY);
  private static final Path REPORTS = Path.of("target", "fuzz");
  private static final Map<Lie, Long> SENT = new EnumMap<>(Lie.class);
  private static long tries;
  private static long messages;
  private static long conversations;
  private static long protocolErrors;

  private final DeviceInfo device =
      new DeviceInfo(
          "none",
          "none",
          Transport.LOOPBACK,
          1,
          new DeviceLimits(9, 999, 1, 1, 999, 999, 1L << 40, 1 << 30, 16, 0, 56, 1),
          EnumSet.allOf(Capability.class),
          List.of());
  private final ScriptedConnection.Memory memory =
      new ScriptedConnection.Memory() {
        @Override
        public DeviceInfo info() {
          return device;
        }
      };
  private final ScriptedConnection.Domain domain = new ScriptedConnection.Domain();
  private final PinnedBudget budget = new PinnedBudget(64L << 20, 4096);
  private final RegisteredPool sinks = pool(16 << 10, 64, 2 << 20);
  private final ReceivePool receive = new ReceivePool(sinks, new ShuffleCounters());
  private final RegisteredPool controlPool = pool(16 << 10, 32, 4 << 20);
  private final ControlBuffers control = new ControlBuffers(controlPool, 2 << 20);
  private final TransportSettings settings =
      new TransportSettings(
          16 << 10,
          3,
          16,
          1L << 40,
          16 << 10,
          2 << 20,
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofSeconds(1),
          Duration.ofMinutes(1),
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          16,
          16,
          true,
          Duration.ZERO,
          new PacketSettings(OptionalInt.empty(), 17, 6),
          false);
  private long nowNs;
  private final BlockServer blocks = UnusedBlockServer.of(memory, domain, budget, () -> nowNs);

  /** One conversation, from the connection request to its end. */
  private final class Conversation {
    private final Random random;
    private final LyingServer server;
    private final CountedAnswers answers;
    private final ShuffleCounters counters = new ShuffleCounters();
    private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
    private final ArrayDeque<byte[]> toReader = new ArrayDeque<>();
    private final ScriptedConnection wire = new ScriptedConnection();
    private final ConnectionTable table;
    private final Peers peers;
    private final PeerConnection connection;
    private final FetchRequest fetch;

    /** The step at which every block is answered as if the agent hung. */
    private final int hangsAt;

    private int unanswered;
    private int delivered;

    Conversation(Random random, double lies) throws VerbsException {
      this.random = random;
      int count = 1 + random.nextInt(40);
      server =
          new LyingServer(
              random,
              lies,
              count,
              settings.locatesInFlight() - TransportSettings.CREDITS_WHEN_IDLE,
              SENT);
      answers = new CountedAnswers(count);
      hangsAt = random.nextInt(9) == 0 ? random.nextInt(100) : -1;
      ReadLimit reads = new ReadLimit(1L << 40);
      TransportContext context =
          new TransportContext(
              settings,
              device,
              SELF,
              new byte[0],
              domain,
              new CompletionQueues(memory, null, 0, budget, settings),
              receive,
              new ReadPool(),
              reads,
              control,
              blocks,
              counters,
              commands::add,
              new Owner(),
              reason -> {},
              () -> nowNs,
              new PeerLog(() -> nowNs));
      table = new ConnectionTable(context, 4);
      peers = new Peers(context, table);
      Peer peer = peers.of(SERVER.incarnation());
      peer.endpoint(SERVER);
      connection = table.initiate(peer, wire);
      peer.attempt(connection);
      List<BlockRange> ranges = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        ranges.add(new BlockRange(0, i, 0, 1));
      }
      fetch = FetchHandler.request(SERVER, ranges, answers);
      peers.fetch(fetch);
    }

    void run() throws VerbsException {
      require(connection.prepare(), "control buffers", controlPool.chunksOut());
      Hello request = Hello.request(0, 2, 1, new byte[Hello.NONCE_BYTES]);
      connection.setup().request(request, 16);
      if (server.blockBytes(0) % 50 == 7) {
        // No block may be fetched before the proof.
        toReader.add(server.earlyMessage());
        deliver();
        require(connection.broken() != null, "an early message to be refused", 0);
        require(answers.fetched() == 0, "no block before the proof", answers.fetched());
      } else {
        Hello answer = request.answer(1, new byte[Hello.NONCE_BYTES]);
        ConnectionBinding binding = TestBinding.ofInitiator(memory, wire);
        require(
            connection.setup().takeAnswer(answer.encodeAnswer(KEY, binding, request)),
            "a proven peer",
            0);
        peers.establish(connection);
      }
      for (int i = 0; i < MAX_STEPS && !answers.areComplete(); i++) {
        if (i == hangsAt) {
          fetch.failRest(FallbackReason.STOPPED, "the agent hangs");
        }
        step();
      }
      finish();
    }

    private void step() {
      nowNs += 1_000_000;
      if (connection.isClosed()) {
        runCommands();
        return;
      }
      if (connection.broken() == null) {
        receive.check(nowNs);
        connection.pump(nowNs);
        switch (random.nextInt(3)) {
          case 0 -> completeSends(1 + random.nextInt(20));
          case 1 -> deliver();
          default -> {
            completeSends(100);
            deliver();
          }
        }
      }
      if (connection.broken() == null && random.nextInt(50) == 0) {
        var expired = connection.fetches().expired(nowNs);
        if (expired != null) {
          connection.markBroken(expired);
        }
      }
      runCommands();
      if (connection.broken() != null) {
        peers.end(connection, connection.broken());
      }
    }

    private void runCommands() {
      while (!commands.isEmpty()) {
        commands.poll().run();
      }
    }

    private void completeSends(int count) {
      for (int i = 0; i < count && !wire.sends().isEmpty(); i++) {
        ScriptedConnection.Work work = wire.sends().poll();
        if (work.opcode() == Opcode.SEND) {
          onSent(work.bytes());
        }
        if (work.signalled()) {
          connection.onCompletion(work.completion(work.length()), nowNs);
        }
      }
    }

    private void onSent(ByteBuffer message) {
      switch (message.get(0)) {
        case 1 -> {
          unanswered++;
          toReader.addAll(server.onLocate(message));
        }
        case 3 -> toReader.addAll(server.onRelease(message));
        case 7 -> server.onReturn();
        default -> {}
      }
    }

    private void deliver() {
      while (!toReader.isEmpty() && !wire.receives().isEmpty() && connection.broken() == null) {
        byte[] message = toReader.poll();
        ScriptedConnection.Work receive = wire.receives().poll();
        receive.bytes().put(message);
        connection.onCompletion(receive.completion(message.length), nowNs);
        delivered++;
      }
    }

    /** Open blocks are answered when the transport stops. */
    private void finish() {
      if (!server.hasLied() && connection.broken() == null) {
        require(answers.areComplete(), "an honest server's blocks to come", unanswered);
      }
      ScriptedReader.stop(peers);
      runCommands();
      require(
          server.hasLied() || counters.value(Counter.PROTOCOL_ERRORS) == 0,
          "no accusation of an honest server",
          delivered);
      for (int i = 0; i < answers.blocks(); i++) {
        require(answers.count(i) == 1, "one answer of block " + i, answers.count(i));
        boolean whole = answers.length(i) < 0 || answers.length(i) == server.blockBytes(i);
        require(whole || server.hasLied(), "a whole block " + i, answers.length(i));
      }
      receive.closeOpenChunk();
      require(sinks.chunksOut() == 0, "no receive memory held", sinks.chunksOut());
      control.close();
      require(controlPool.chunksOut() == 0, "no control buffer held", controlPool.chunksOut());
      require(wire.isClosed() && table.size() == 0, "a closed connection", table.size());
      // At most all waits for room and a few answers of each block.
      require(delivered <= 300 * answers.blocks(), "few messages", delivered);
      messages += delivered;
      conversations++;
      protocolErrors += counters.value(Counter.PROTOCOL_ERRORS);
    }
  }

  private RegisteredPool pool(int chunkBytes, int chunks, long bytes) {
    return new RegisteredPool(
        memory, domain, budget, Set.of(AccessFlag.LOCAL_WRITE), chunkBytes, chunks, bytes);
  }

  @Property(seed = "7")
  void shouldAnswerEachBlockOnceForAnyServerMessages(@ForAll long seed) throws VerbsException {
    Random random = new Random(seed);
    tries++;
    long until = messages + MESSAGES_PER_TRY;
    while (messages < until) {
      new Conversation(random, LIES[random.nextInt(LIES.length)]).run();
    }
  }

  /** A kind of lie that is never sent would test nothing. */
  @AfterContainer
  static void requireAllLies() {
    int expected = Integer.getInteger("fuzz.tries", USUAL_TRIES);
    require(tries >= expected, expected + " tries", tries);
    require(
        messages >= (long) expected * MESSAGES_PER_TRY,
        (long) expected * MESSAGES_PER_TRY + " messages",
        messages);
    for (Lie lie : Lie.values()) {
      require(SENT.getOrDefault(lie, 0L) > 0, "lies of the kind " + lie, 0);
    }
  }

  @AfterContainer
  static void report() throws IOException {
    Files.createDirectories(REPORTS);
    Files.writeString(
        REPORTS.resolve("transport.HostileConversation.txt"),
        String.format(
            "%-24s messages=%d conversations=%d protocolErrors=%d lies=%s%n",
            "hostile conversations", messages, conversations, protocolErrors, SENT));
  }
}

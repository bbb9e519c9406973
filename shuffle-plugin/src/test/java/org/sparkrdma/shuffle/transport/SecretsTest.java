// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Hmac;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Tokens, keys, proofs, the application's secret and memory addresses appear in no log line at
 * TRACE, in no toString and in no message.
 */
@Timeout(60)
class SecretsTest extends TransportFixture {
  private static final String SECRET = "the application's own secret";
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  private final Secrets secrets = new Secrets();
  private final List<String> texts = Collections.synchronizedList(new ArrayList<>());
  private int objects;
  private CapturedLog log;

  @BeforeEach
  void listen() {
    log = CapturedLog.fromTrace("org.sparkrdma");
    secrets.add(SECRET.getBytes(StandardCharsets.UTF_8));
  }

  @AfterEach
  void endLog() {
    log.close();
  }

  @Test
  void shouldLogNoSecretOnAnyPath() throws Exception {
    TestExecutor server = start(options(2));
    TestExecutor copying = start(options(3).mode(ServeSettings.Mode.COPY));
    TestExecutor reader = start(options(1).requestTimeout(Duration.ofSeconds(2)));

    // Success, from windows and from copies.
    assertThat(fetch(reader, server.endpoint()).failed(0)).isFalse();
    assertThat(fetch(reader, copying.endpoint()).failed(0)).isFalse();
    look();

    // Refusal: a wrong token, a wrong secret, an address that is taken.
    TestExecutor foreign = start(new TestExecutor.Options(4).secret("that of another application"));
    assertThat(fetch(foreign, server.endpoint()).reason(0)).isEqualTo(FallbackReason.REFUSED);
    TestExecutor stranger = start(options(5));
    assertThat(fetch(stranger, withAnotherToken(server.endpoint())).reason(0))
        .isEqualTo(FallbackReason.REFUSED);
    int taken = Endpoints.preferredAddress(server.endpoint()).getPort();
    VerbsException refused =
        catchThrowableOfType(VerbsException.class, () -> start(options(6).port(taken)));
    texts.add(Throwables.getStackTrace(refused));
    look();

    // Corruption, until the peer is quarantined.
    server.outputs().corrupt(1, 500);
    while (reader.count(Counter.PEERS_QUARANTINED) == 0) {
      fetch(reader, server.endpoint());
    }
    assertThat(fetch(reader, server.endpoint()).reason(0)).isEqualTo(FallbackReason.QUARANTINED);

    // Failure: a bad READ, a lost connection, a hanging READ, a deleted file, a dead peer.
    fetchWithFaults(7, "read-error@1", copying.endpoint());
    fetchWithFaults(8, "drop-connection@1", copying.endpoint());
    fetchWithFaults(9, "hang@1", copying.endpoint());
    look();
    TestExecutor emptied = start(options(10));
    Files.delete(emptied.outputs().open(0, 1).dataFile());
    assertThat(fetch(stranger, emptied.endpoint()).failed(0)).isTrue();
    copying.transport().close();
    assertThat(fetch(stranger, copying.endpoint()).failed(0)).isTrue();
    look();

    executors.forEach(executor -> executor.transport().close());
    texts.addAll(log.warnings());
    assertThat(secrets.count()).isGreaterThan(300);
    assertThat(objects).isGreaterThan(1_000);
    assertThat(log.warnings()).hasSizeGreaterThan(20);
    assertThat(texts).allSatisfy(text -> assertThat(secrets.foundIn(text)).isEmpty());
    System.out.printf(
        "secrets=%d objects=%d texts=%d hits=0%n", secrets.count(), objects, texts.size());
  }

  @Test
  void shouldFindALoggedSecret() throws Exception {
    TestExecutor server = start(options(2));
    TestExecutor reader = start(options(1));
    fetch(reader, server.endpoint());
    // One that is there before and after: others may come and go.
    Set<Object> held = new ObjectWalk().from(server.transport());
    look();
    held.retainAll(new ObjectWalk().from(server.transport()));
    MemoryRegion region =
        held.stream()
            .filter(MemoryRegion.class::isInstance)
            .map(MemoryRegion.class::cast)
            .findFirst()
            .orElseThrow();

    assertThat(secrets.foundIn("key=" + region.remote().remoteKey32())).isNotEmpty();
    assertThat(secrets.foundIn(String.format("at 0x%X", region.address()))).isNotEmpty();
    assertThat(secrets.foundIn("secret=" + SECRET)).isNotEmpty();
  }

  private TestExecutor.Options options(long incarnation) {
    return new TestExecutor.Options(incarnation).secret(SECRET);
  }

  @Override
  TestExecutor start(TestExecutor.Options options) throws Exception {
    TestExecutor executor = super.start(options.unwatched());
    executor.outputs().write(1, random, 1000, 2000);
    return executor;
  }

  private Endpoint withAnotherToken(Endpoint published) {
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    random.nextBytes(token);
    secrets.add(token);
    return Endpoints.with(published, published.addresses(), token);
  }

  private void fetchWithFaults(long incarnation, String faults, Endpoint server) throws Exception {
    TestExecutor unlucky =
        start(options(incarnation).faults(faults).requestTimeout(Duration.ofMillis(300)));
    fetch(unlucky, server);
  }

  private CollectedBlocks fetch(TestExecutor reader, Endpoint server) throws Exception {
    CollectedBlocks collected = new CollectedBlocks(BLOCKS, reader);
    FetchHandler.fetch(reader.transport(), server, BLOCKS, new Listening(collected));
    return collected.await();
  }

  /** Collects all present secrets and the toString of every object. */
  private void look() throws Exception {
    for (TestExecutor executor : executors) {
      byte[] key =
          Hmac.proofKey(executor.endpoint().token(), SECRET.getBytes(StandardCharsets.UTF_8));
      secrets.add(executor.endpoint().token());
      secrets.add(key);
      Collection<Object> all = new ObjectWalk().from(executor.transport());
      for (Object held : all) {
        objects++;
        note(held);
        collect(held);
      }
    }
  }

  private void note(Object object) {
    texts.add(object.toString());
  }

  private void collect(Object held) {
    if (held instanceof MemoryRegion region) {
      secrets.add(region.address());
      secrets.add(region.remote().remoteKey32());
    } else if (held instanceof RegisteredChunk chunk) {
      secrets.add(chunk.address());
    }
  }

  /** Records the transport's failure details. */
  private final class Listening implements FetchHandler {
    private final FetchHandler next;

    Listening(FetchHandler next) {
      this.next = next;
    }

    @Override
    public BlockStoreClient spark() {
      return next.spark();
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      note(buffer);
      next.onFetched(index, buffer);
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      texts.add(reason + " " + detail);
      next.onFailed(index, reason, detail);
    }
  }
}

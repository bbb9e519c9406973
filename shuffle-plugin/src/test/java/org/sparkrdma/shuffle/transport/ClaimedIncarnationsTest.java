// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.verbs.VerbsException;

/**
 * A member of the application sends proven connection requests, each in the name of another
 * executor, and confirms none; in virtual time.
 */
@Timeout(120)
class ClaimedIncarnationsTest {
  private static final int BLOCK_BYTES = 4_096;

  /** Maximum number of unconfirmed connections, where {@code connections.max} is 16. */
  private static final int UNCONFIRMED = 8;

  @TempDir private Path directory;
  private final VirtualFabric fabric = new VirtualFabric();
  private final List<VirtualExecutor> executors = new ArrayList<>();
  private VirtualExecutor executor;
  private VirtualExecutor member;

  @BeforeEach
  void start() throws IOException, VerbsException {
    Path outputs = directory.resolve("outputs.data");
    try (RandomAccessFile file = new RandomAccessFile(outputs.toFile(), "rw")) {
      file.setLength(2L * BLOCK_BYTES);
    }
    for (int i = 0; i < 2; i++) {
      executors.add(new VirtualExecutor(fabric, i, 1L << 30, 16, outputs, 2, BLOCK_BYTES));
    }
    executor = executors.get(0);
    member = executors.get(1);
  }

  @AfterEach
  void close() {
    executors.forEach(VirtualExecutor::close);
    executors.clear();
  }

  private void claim(long incarnation) throws VerbsException {
    Endpoint own = member.endpoint();
    member.requestAs(
        new Endpoint(
            own.executorId(),
            own.addresses(),
            own.engine(),
            own.protocol(),
            incarnation,
            own.token()),
        executor.endpoint());
  }

  private void passUntil(Duration time) {
    fabric.runUntil(() -> fabric.nowNs() >= time.toNanos(), Long.MAX_VALUE);
  }

  private long peers() throws IllegalAccessException {
    return executor.objects().stream().filter(Peer.class::isInstance).count();
  }

  @Test
  void shouldKeepNoStateOfTenThousandRefusedRequests() throws Exception {
    for (int i = 0; i < 10_000; i++) {
      claim(1_000 + i);
    }
    passUntil(Duration.ofSeconds(1));
    assertThat(executor.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(10_000 - UNCONFIRMED);
    assertThat(executor.connections()).isEqualTo(UNCONFIRMED);
    assertThat(peers()).isEqualTo(UNCONFIRMED);
  }

  @Test
  void shouldKeepNoStateOfConnectionsThatAreNotConfirmed() throws Exception {
    for (int i = 0; i < UNCONFIRMED; i++) {
      claim(1_000 + i);
    }
    passUntil(Duration.ofSeconds(1));
    assertThat(peers()).isEqualTo(UNCONFIRMED);
    passUntil(Duration.ofSeconds(6));
    assertThat(executor.connections()).isZero();
    assertThat(peers()).isZero();
  }
}

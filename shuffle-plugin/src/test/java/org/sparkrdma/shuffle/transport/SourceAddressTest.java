// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;

/**
 * An executor connects from the address of its own device, also where the host has several in one
 * network and routing would select another.
 */
@Timeout(60)
class SourceAddressTest {
  private static final int LENGTH = 1_000;
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  @TempDir private Path directory;
  private final AtomicReference<InetAddress> source = new AtomicReference<>();

  @BeforeEach
  void needLoopbackAddresses() {
    assumeTrue(TestEngine.isSoft(), "loopback addresses are the soft engine's");
  }

  /** Serves one block, and records the source of the connection. */
  private final class Noting implements HostileServer.Script {
    @Override
    public void onLocate(HostileServer.Question question) {
      question.answer().piece(0, 0, LENGTH, LENGTH).send(1);
    }

    @Override
    public byte[] answer(Hello request, ConnectionBinding binding, Endpoint self) {
      source.set(binding.source());
      return HostileServer.Script.super.answer(request, binding, self);
    }
  }

  private static InetAddress address(int... bytes) throws UnknownHostException {
    byte[] address = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      address[i] = (byte) bytes[i];
    }
    return InetAddress.getByAddress(address);
  }

  private void fetchFrom(InetAddress own) throws Exception {
    TestExecutor.Options options = new TestExecutor.Options(1).address(own);
    try (TestExecutor reader = new TestExecutor(directory, options);
        HostileServer server = new HostileServer(2, new Noting())) {
      CollectedBlocks collected = new CollectedBlocks(BLOCKS);
      FetchHandler.fetch(reader.transport(), server.endpoint(), BLOCKS, collected);
      assertThat(collected.await().bytes(0)).hasSize(LENGTH);
    }
  }

  @Test
  void shouldConnectFromTheAddressOfItsDevice() throws Exception {
    InetAddress own = address(127, 0, 0, 2);
    fetchFrom(own);
    assertThat(source.get()).isEqualTo(own);
  }

  @Test
  void shouldLeaveTheSourceToRoutingForAnotherAddressFamily() throws Exception {
    fetchFrom(address(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    assertThat(source.get()).isEqualTo(address(127, 0, 0, 1));
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.IdleThreads;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The device of two runtimes with real transports is lost, and comes back. */
class DeviceReturnTest extends TwoRuntimesFixture {
  @Test
  @DisplayName("the device is removed with READs in flight, and is there again later")
  void shouldReadBlocksAgainWhenARemovedDeviceHasReturned() throws Exception {
    assertThat(fetch().join()).isEqualTo(content);
    long before = library.hits();
    library.limit("held_reads", 1);
    CompletableFuture<Object> open = fetch();
    while (library.hits() == before) {
      Thread.onSpinWait();
    }

    library.limit("removed", 1);
    library.killDescriptors();
    library.raiseOnConnections(ScriptedLibrary.DEVICE_REMOVAL);
    library.raiseOnListeners(ScriptedLibrary.DEVICE_REMOVAL);
    while (!reader.isLost() || !server.isLost()) {
      Thread.onSpinWait();
    }

    // After the loss of its connection it is requested once more.
    assertThat(open.join())
        .isIn(FallbackReason.LOST_PEER, FallbackReason.STOPPED, FallbackReason.CONNECT_FAILED);
    assertThat(reader.runtime.mayFetch()).isFalse();
    while (library.outstanding() > 0) {
      Thread.onSpinWait();
    }
    IdleThreads.assertIdle();

    library.reset();
    reader.awaitReturn();
    server.awaitReturn();

    assertThat(fetch().join()).isEqualTo(content);
    IdleThreads.assertIdle();
  }

  /** The address may not be there yet, or the port may be used by another process. */
  @ParameterizedTest(name = "the device fails, and {0} fails 3 times with errno {1} at the restart")
  @CsvSource({"rdma_bind_addr, 99", "rdma_bind_addr, 19", "rdma_listen, 98"})
  void shouldReadBlocksAgainWhenAnExecutorListensAgain(String call, int errno) throws Exception {
    assertThat(fetch().join()).isEqualTo(content);
    long before = library.calls(call);
    library.fail(call, errno, 1, 3);

    library.raise(ScriptedLibrary.DEVICE_FATAL, 0);
    while (library.calls(call) < before + 3) {
      Thread.onSpinWait();
    }
    reader.awaitReturn();
    server.awaitReturn();

    assertThat(fetch().join()).isEqualTo(content);
    IdleThreads.assertIdle();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;

@Timeout(60)
class PerfClientTest {
  private static OpenDevice device() throws Exception {
    return OpenDevice.open(
        ShuffleSettings.of(Map.of("spark.shuffle.rdma.engine", "soft")),
        InetAddress.getLoopbackAddress());
  }

  @Test
  void shouldNotNameRdmaAsTheCauseWhenTheServerHasEnded() throws Exception {
    try (OpenDevice own = device();
        PerfClient client = connectToServerThatEnds(own)) {
      assertThatThrownBy(() -> client.run(List.of(8), 10_000_000))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("has ended");
    }
  }

  private static PerfClient connectToServerThatEnds(OpenDevice own) throws Exception {
    try (OpenDevice theirs = device();
        PeerListener listener = new PeerListener(theirs, 0)) {
      int port = listener.port();
      FutureTask<PerfClient> connecting =
          new FutureTask<>(() -> new PerfClient(own, "127.0.0.1", port));
      new Thread(connecting, "perf-client").start();
      while (!connecting.isDone()) {
        listener.serve(1_000_000);
      }
      return connecting.get();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;

/** A listener on the loopback engine that serves on a thread of its own until it is closed. */
public final class RunningListener implements AutoCloseable {
  private static final long WAIT_NS = 1_000_000;

  private final AtomicBoolean over = new AtomicBoolean();
  private final ProbedDevice device = device();
  private final PeerListener listener = new PeerListener(device, 0);
  private final Thread server = new Thread(this::serve, "peer-listener");

  public RunningListener() throws Exception {
    server.start();
  }

  /** A device of the loopback engine, which the caller closes. */
  static ProbedDevice device() throws Exception {
    return ProbedDevice.open(
        ShuffleSettings.of(Map.of("spark.shuffle.rdma.engine", "soft")),
        InetAddress.getLoopbackAddress());
  }

  public int port() throws IOException {
    return listener.port();
  }

  private void serve() {
    try {
      while (!over.get()) {
        listener.serve(WAIT_NS);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    over.set(true);
    try {
      server.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    listener.close();
    device.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.sparkrdma.verbs.VerbsException;

/** A connection manager whose events come from the test. */
final class FakeManager extends EngineConnectionManager {
  private final FakeDevice device;

  FakeManager(FakeDevice device, EngineChannel channel) {
    super(device, channel);
    this.device = device;
  }

  @Override
  protected EngineListener newListener(InetSocketAddress address, int backlog) {
    var listener = new EngineListener(this, "listener", address);
    add(listener);
    return listener;
  }

  @Override
  public FakeConnection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException {
    return (FakeConnection) super.resolve(remote, local, timeout);
  }

  @Override
  protected EngineConnection newConnection(InetSocketAddress remote, Duration timeout) {
    return new FakeConnection(device, this, timeout);
  }

  /** A connection request of a peer. */
  FakeConnection request() {
    var connection = new FakeConnection(device, this, null);
    offerRequest(connection, listener("listener"), new byte[] {1});
    return connection;
  }

  @Override
  protected void destroyListener(Object id) {
    device.calls.add("destroy " + id);
  }

  @Override
  protected void stopEvents() {
    device.calls.add("stop events");
  }

  @Override
  protected void destroyChannel() {
    device.calls.add("destroy manager");
  }
}

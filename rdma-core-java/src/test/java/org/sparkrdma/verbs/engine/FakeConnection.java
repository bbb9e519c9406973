// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/** A connection whose events come from the test. */
final class FakeConnection extends EngineConnection {
  private final FakeDevice device;

  FakeConnection(FakeDevice device, FakeManager manager, Duration timeout) {
    super(manager, FakeDevice.ADDRESS, timeout);
    this.device = device;
  }

  FakeQueuePair pair() {
    return (FakeQueuePair) queuePair();
  }

  /** Resolves the connection, as the kernel does. */
  FakeConnection resolved() {
    onAddressResolved();
    onRouteResolved();
    return this;
  }

  void established() {
    onEstablished(new byte[0]);
  }

  void failed(ConnectionEvent.Type type) {
    onFailed(type, new byte[0], "refused by the test");
  }

  void removed() {
    onDeviceRemoved();
  }

  @Override
  protected FakeQueuePair newQueuePair(EngineProtectionDomain domain, QueuePairSettings settings) {
    device.duringCreation.run();
    return new FakeQueuePair(device, domain, this, settings);
  }

  @Override
  protected void resolveAddress(InetSocketAddress local, int timeoutMs) {}

  @Override
  protected String otherDevice() {
    return null;
  }

  @Override
  protected void resolveRoute(int timeoutMs) {}

  @Override
  protected InetSocketAddress sourceAddress() {
    return FakeDevice.ADDRESS;
  }

  @Override
  protected void sendRequest(ConnectionParameters parameters) {}

  @Override
  protected void sendReply(ConnectionParameters parameters) {}

  @Override
  protected void sendRejection(byte[] privateData) {}

  @Override
  protected void disconnectIdentifier() {
    device.calls.add("disconnect");
  }

  @Override
  protected Object id() {
    return this;
  }

  @Override
  protected void destroyQueuePair() {
    device.calls.add("destroy queue pair");
  }

  @Override
  protected void destroyIdentifier() {
    device.duringIdentifierDestruction.run();
    device.calls.add("destroy connection");
  }
}

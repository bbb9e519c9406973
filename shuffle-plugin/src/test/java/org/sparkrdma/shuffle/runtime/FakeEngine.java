// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

/** An engine whose devices only open and close, and a transport that does nothing. */
final class FakeEngine implements VerbsEngine {
  private final List<String> closed = new ArrayList<>();
  private final List<DeviceInfo> devices = new ArrayList<>();

  FakeEngine(PortState state) {
    add(
        TransportType.LOOPBACK,
        new PortInfo(1, state, 4_096, List.of(), List.of(InetAddress.getLoopbackAddress())));
  }

  private void add(TransportType transport, PortInfo port) {
    String name = "fake" + devices.size();
    devices.add(new DeviceInfo(name, "fake", transport, 1, null, Set.of(), List.of(port)));
  }

  /** Adds a device like the first, in the same subnet. */
  FakeEngine withASecondDevice() {
    add(devices.get(0).transport(), devices.get(0).ports().get(0));
    return this;
  }

  /** Waits until a part is closed; the test's time limit bounds it. */
  synchronized void awaitClosed(String part) {
    try {
      while (!closed.contains(part)) {
        wait();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Closed parts, in order. */
  synchronized List<String> closed() {
    return List.copyOf(closed);
  }

  synchronized void close(String part) {
    closed.add(part);
    notifyAll();
  }

  Verbs.Choice choice() {
    return new Verbs.Choice(this, List.of());
  }

  @Override
  public String name() {
    return "fake";
  }

  @Override
  public List<DeviceInfo> devices() {
    return List.copyOf(devices);
  }

  @Override
  public Device open(String deviceName) {
    return (Device)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Device.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                close("device");
                return null;
              }
              return devices.stream()
                  .filter(device -> device.name().equals(deviceName))
                  .findFirst()
                  .orElseThrow();
            });
  }

  @Override
  public void close() {
    close("engine");
  }

  StartedTransport transport() {
    return transport(() -> close("transport"));
  }

  StartedTransport transport(Runnable close) {
    return transport(() -> {}, close);
  }

  StartedTransport transport(Runnable check, Runnable close) {
    return new IdleTransport(check, close);
  }

  /** Does nothing but what it is given. */
  class IdleTransport implements StartedTransport {
    private final Runnable check;
    private final Runnable close;

    IdleTransport(Runnable check, Runnable close) {
      this.check = check;
      this.close = close;
    }

    @Override
    public void fetch(FetchRequest request) {}

    @Override
    public Endpoint endpoint() {
      return Endpoints.of("driver", "host", 1);
    }

    @Override
    public void unregisterShuffle(int shuffleId) {
      FakeEngine.this.close("shuffle " + shuffleId);
    }

    @Override
    public void check() {
      check.run();
    }

    @Override
    public void close() {
      close.run();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.sparkrdma.scenarios.faults.plan.Faults;
import org.sparkrdma.scenarios.faults.plan.Rule;
import org.sparkrdma.scenarios.faults.plan.Step;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/**
 * Drops, changes and injects events, and runs delayed work. Confined to the polling thread, but for
 * {@link #after}.
 */
final class FaultyConnectionManager implements ConnectionManager {
  private static final byte[] NOTHING = {};

  private final ConnectionManager real;
  private final CompletionChannel channel;
  private final Faults faults;
  private final Sinks sinks = new Sinks();
  private final IdentityHashMap<Connection, FaultyConnection> connections = new IdentityHashMap<>();
  private final ArrayDeque<ConnectionEvent> made = new ArrayDeque<>();
  private final List<Held> held = new CopyOnWriteArrayList<>();

  private record Held(BooleanSupplier due, Runnable work) {}

  FaultyConnectionManager(ConnectionManager real, CompletionChannel channel, Faults faults) {
    this.real = real;
    this.channel = channel;
    this.faults = faults;
  }

  Faults faults() {
    return faults;
  }

  Sinks sinks() {
    return sinks;
  }

  /** Runs work on the polling thread after a delay. */
  void after(long delayMs, Runnable work) {
    long dueNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    when(() -> System.nanoTime() - dueNs >= 0, work);
    CompletableFuture.delayedExecutor(delayMs + 1, TimeUnit.MILLISECONDS).execute(channel::wakeup);
  }

  /** Runs work when it is due, which each poll checks. */
  void when(BooleanSupplier due, Runnable work) {
    held.add(new Held(due, work));
  }

  /** Delivers this event at the next poll. */
  void inject(ConnectionEvent.Type type, Connection connection, String reason) {
    made.add(new ConnectionEvent(type, connection, null, NOTHING, reason));
    channel.wakeup();
  }

  void disconnectAll() {
    List.copyOf(connections.values()).forEach(FaultyConnection::disconnect);
  }

  void removeDevice() {
    inject(ConnectionEvent.Type.DEVICE_REMOVED, null, "");
    disconnectAll();
  }

  void onClosed(Connection realConnection) {
    FaultyConnection closed = connections.remove(realConnection);
    made.removeIf(event -> event.connection() == closed);
  }

  @Override
  public void setTrafficClass(int trafficClass) {
    real.setTrafficClass(trafficClass);
  }

  @Override
  public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
    return real.listen(address, backlog);
  }

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException {
    return wrap(real.resolve(remote, local, timeout));
  }

  private FaultyConnection wrap(Connection connection) {
    FaultyConnection wrapped = new FaultyConnection(connection, this);
    connections.put(connection, wrapped);
    return wrapped;
  }

  @Override
  public ConnectionEvent pollEvent() {
    runDueWork();
    if (!made.isEmpty()) {
      return made.poll();
    }
    for (ConnectionEvent event = real.pollEvent(); event != null; event = real.pollEvent()) {
      ConnectionEvent seen = see(event);
      if (seen != null) {
        return seen;
      }
    }
    return null;
  }

  private void runDueWork() {
    for (Held one : held) {
      if (one.due.getAsBoolean()) {
        held.remove(one);
        one.work.run();
      }
    }
  }

  /** The event to deliver now; null when there is none. */
  private ConnectionEvent see(ConnectionEvent event) {
    boolean request = event.type() == ConnectionEvent.Type.CONNECT_REQUEST;
    FaultyConnection connection =
        request ? wrap(event.connection()) : connections.get(event.connection());
    if (!request && event.type() != ConnectionEvent.Type.RESOLVED) {
      connection.settled();
    }
    ConnectionEvent seen =
        new ConnectionEvent(
            event.type(), connection, event.listener(), event.privateData(), event.reason());
    Rule rule =
        switch (event.type()) {
          case CONNECT_REQUEST -> faults.fire(Step.CONNECT_REQUEST);
          case RESOLVED -> faults.fire(Step.RESOLVED);
          default -> null;
        };
    if (rule == null) {
      return seen;
    }
    return switch (rule.act()) {
      case LOSE -> {
        connection.settled();
        yield null;
      }
      case HOLD -> {
        after(Long.parseLong(rule.argument()), () -> made.add(seen));
        yield null;
      }
      case FAIL ->
          new ConnectionEvent(
              ConnectionEvent.Type.RESOLVE_FAILED, connection, null, NOTHING, "no route");
      default -> throw new IllegalArgumentException("not there: rule=" + rule);
    };
  }

  @Override
  public void close() {
    real.close();
  }
}

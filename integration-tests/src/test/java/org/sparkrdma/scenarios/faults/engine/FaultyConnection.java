// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.scenarios.faults.plan.Act;
import org.sparkrdma.scenarios.faults.plan.Rule;
import org.sparkrdma.scenarios.faults.plan.Step;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/** Drops and changes messages of connection set-up. Confined to the polling thread. */
final class FaultyConnection implements Connection {
  private final Connection real;
  private final FaultyConnectionManager manager;
  private FaultyQueuePair queuePair;
  private Object attachment;
  private boolean settled;
  private boolean closed;

  FaultyConnection(Connection real, FaultyConnectionManager manager) {
    this.real = real;
    this.manager = manager;
    manager.faults().addInFlight(1);
  }

  FaultyConnectionManager manager() {
    return manager;
  }

  /** The connection attempt is over. */
  void settled() {
    if (!settled) {
      settled = true;
      manager.faults().addInFlight(-1);
    }
  }

  @Override
  public InetSocketAddress localAddress() {
    return real.localAddress();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return real.remoteAddress();
  }

  @Override
  public int requestQueuePairNumber() {
    return real.requestQueuePairNumber();
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    FaultyDomain ours = (FaultyDomain) domain;
    FaultyCompletionQueue completions = (FaultyCompletionQueue) settings.sendQueue();
    QueuePairSettings plain =
        new QueuePairSettings(
            completions.real(),
            ((FaultyCompletionQueue) settings.receiveQueue()).real(),
            settings.sendDepth(),
            settings.receiveDepth(),
            settings.maxSge(),
            settings.maxInlineBytes(),
            settings.remoteAccess());
    queuePair =
        new FaultyQueuePair(
            real.createQueuePair(ours.real(), plain),
            ours,
            completions,
            this,
            manager.sinks(),
            manager.faults());
    completions.add(queuePair);
    return queuePair;
  }

  @Override
  public QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public void connect(ConnectionParameters parameters) throws VerbsException {
    Rule rule = manager.faults().fire(Step.CONNECT);
    if (rule == null) {
      real.connect(parameters);
      return;
    }
    switch (rule.act()) {
      case LOSE -> {}
      case REFUSE -> manager.inject(ConnectionEvent.Type.REJECTED, this, "connection refused");
      case GARBLE -> real.connect(garble(parameters, Integer.parseInt(rule.argument())));
      case AWAIT_PEER -> awaitPeer(rule.argument(), parameters);
      default -> throw new IllegalArgumentException("not there: rule=" + rule);
    }
  }

  private void awaitPeer(String files, ConnectionParameters parameters) {
    List<Path> both = List.of(files.split(":", -1)).stream().map(Path::of).toList();
    try {
      Files.createFile(both.get(0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    manager.when(
        () -> closed || Files.exists(both.get(1)),
        () -> {
          if (!closed) {
            connectLater(parameters);
          }
        });
  }

  private void connectLater(ConnectionParameters parameters) {
    try {
      real.connect(parameters);
    } catch (VerbsException e) {
      manager.inject(ConnectionEvent.Type.CONNECT_ERROR, this, e.getMessage());
    }
  }

  @Override
  public void accept(ConnectionParameters parameters) throws VerbsException {
    Rule rule = manager.faults().fire(Step.ACCEPT);
    if (rule == null) {
      real.accept(parameters);
    } else if (rule.act() == Act.GARBLE) {
      real.accept(garble(parameters, Integer.parseInt(rule.argument())));
    } else if (rule.act() != Act.LOSE) {
      throw new IllegalArgumentException("not there: rule=" + rule);
    }
  }

  private static ConnectionParameters garble(ConnectionParameters parameters, int at) {
    byte[] privateData = parameters.privateData();
    privateData[at] ^= 1;
    return new ConnectionParameters(
        privateData,
        parameters.readsInFlight(),
        parameters.retryCount(),
        parameters.receiverNotReadyRetryCount(),
        parameters.ackTimeout(),
        parameters.timeout());
  }

  @Override
  public void reject(byte[] privateData) {
    real.reject(privateData);
  }

  @Override
  public void disconnect() {
    real.disconnect();
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    settled();
    if (queuePair != null) {
      queuePair.closing();
    }
    real.close();
    if (queuePair != null) {
      queuePair.closed();
    }
    manager.onClosed(real);
  }
}

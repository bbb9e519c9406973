// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.net.InetSocketAddress;
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

/**
 * Drops and changes messages of connection set-up. Confined to the polling thread, but for {@link
 * #createQueuePair}.
 */
final class FaultyConnection implements Connection {
  private final Connection real;
  private final FaultyConnectionManager manager;
  private FaultyQueuePair queuePair;
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
      default -> throw new IllegalArgumentException("not there: rule=" + rule);
    }
  }

  @Override
  public void accept(ConnectionParameters parameters) throws VerbsException {
    Rule rule = manager.faults().fire(Step.ACCEPT);
    if (rule == null) {
      real.accept(parameters);
    } else if (rule.act() != Act.LOSE) {
      throw new IllegalArgumentException("not there: rule=" + rule);
    }
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
    return real.attachment();
  }

  @Override
  public void attach(Object newAttachment) {
    real.attach(newAttachment);
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

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.WorkCompletion;

/**
 * Lets queue pairs inspect, drop and inject completions. Confined to the polling thread, but for
 * {@link #add}.
 */
final class FaultyCompletionQueue implements CompletionQueue {
  private final CompletionQueue real;
  private final CompletionChannel channel;
  private final Map<Integer, FaultyQueuePair> queuePairs = new ConcurrentHashMap<>();
  private final ArrayDeque<InjectedCompletion> made = new ArrayDeque<>();
  private boolean overrun;

  FaultyCompletionQueue(CompletionQueue real, CompletionChannel channel) {
    this.real = real;
    this.channel = channel;
  }

  CompletionQueue real() {
    return real;
  }

  void add(FaultyQueuePair queuePair) {
    queuePairs.put(queuePair.number(), queuePair);
  }

  void remove(FaultyQueuePair queuePair) {
    queuePairs.remove(queuePair.number());
    made.removeIf(completion -> completion.queuePairNumber() == queuePair.number());
  }

  /** Delivers this completion at the next poll. */
  void inject(InjectedCompletion completion) {
    if (queuePairs.containsKey(completion.queuePairNumber())) {
      made.add(completion);
      channel.wakeup();
    }
  }

  void overrun() {
    overrun = true;
    channel.wakeup();
  }

  @Override
  public int capacity() {
    return real.capacity();
  }

  @Override
  public int poll(int limit, CompletionHandler handler) {
    if (overrun) {
      throw new IllegalStateException("completion queue overrun: capacity=" + real.capacity());
    }
    queuePairs.values().forEach(FaultyQueuePair::clearAnsweredLocates);
    int count = 0;
    while (!made.isEmpty() && count < limit - 1) {
      handler.onCompletion(made.poll());
      count++;
    }
    return count + real.poll(limit - count, completion -> pass(completion, handler));
  }

  private void pass(WorkCompletion completion, CompletionHandler handler) {
    FaultyQueuePair queuePair = queuePairs.get(completion.queuePairNumber());
    if (queuePair != null && queuePair.hasFailedSilently()) {
      return;
    }
    if (queuePair == null || !completion.succeeded() || queuePair.deliversSend(completion)) {
      handler.onCompletion(completion);
    }
  }

  @Override
  public void arm() {
    real.arm();
  }

  @Override
  public void close() {
    real.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A completion queue whose completions the test adds: request numbers, and ibv_wc_status. */
final class FakeQueue extends EngineCompletionQueue {
  private final FakeDevice device;
  final Deque<long[]> onDevice = new ArrayDeque<>();
  private final List<long[]> taken = new ArrayList<>();

  /** Number of calls that took completions. */
  int takes;

  /** Whether each call takes as many completions as an engine may, however few are wanted. */
  boolean takesBatches;

  FakeQueue(FakeDevice device, int capacity, EngineChannel channel) {
    super(device, capacity, channel, () -> device.clock.getAsLong());
    this.device = device;
  }

  @Override
  protected int take(int count) {
    takes++;
    taken.clear();
    while (taken.size() < (takesBatches ? BATCH : count) && !onDevice.isEmpty()) {
      taken.add(onDevice.remove());
    }
    return taken.size();
  }

  @Override
  protected void read(int index, CompletionView into) {
    long[] completion = taken.get(index);
    into.set(completion[0], StatusCodes.of((int) completion[1]), 9, false, 0, false, 0);
  }

  void overrun() {
    markOverrun();
  }

  @Override
  protected void requestNotification() {}

  @Override
  protected void destroyQueue() {
    device.calls.add("destroy queue");
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.ParkingChannel;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair.Outcome;

/** A completion queue whose completions the test adds: request numbers, and ibv_wc_status. */
final class FakeQueue extends DeviceCompletionQueue {
  private final FakeDevice device;
  final Deque<long[]> onDevice = new ArrayDeque<>();
  private final List<long[]> taken = new ArrayList<>();

  /** Number of calls that took completions. */
  int takes;

  /** Whether each call takes as many completions as an engine may, however few are wanted. */
  boolean takesBatches;

  FakeQueue(FakeDevice device, int capacity, ParkingChannel channel) {
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
  protected Outcome show(int index, CompletionView view) {
    long[] completion = taken.get(index);
    FakeQueuePair queuePair = device.queuePairs().find(completion[0]);
    return queuePair == null
        ? Outcome.SUPPRESSED
        : queuePair.onCompletion((int) completion[0], (int) completion[1], view);
  }

  void overrun() {
    markOverrun();
  }

  @Override
  protected void requestNotification() {
    device.calls.add("request notification");
  }

  @Override
  protected void destroy() {
    super.destroy();
    device.calls.add("destroy queue");
  }
}

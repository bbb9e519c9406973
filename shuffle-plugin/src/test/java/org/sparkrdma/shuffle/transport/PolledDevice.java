// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/** The device of a {@link ScriptedReader}, whose agent polls the completion queues. */
final class PolledDevice extends ScriptedConnection.Memory {
  private final DeviceInfo info;
  private final List<PolledQueue> queues = new ArrayList<>();
  private Runnable costOfPoll = () -> {};

  PolledDevice(Transport transport) {
    info =
        new DeviceInfo(
            "none",
            "none",
            transport,
            1,
            new DeviceLimits(9, 999, 1, 1, 1 << 22, 999, 1L << 40, 1 << 30, 16, 0, 56, 1),
            EnumSet.allOf(Capability.class),
            List.of());
  }

  @Override
  public DeviceInfo info() {
    return info;
  }

  @Override
  public CompletionQueue createCompletionQueue(
      int capacity, CompletionChannel channel, int vector) {
    PolledQueue created = new PolledQueue(() -> costOfPoll.run());
    queues.add(created);
    return created;
  }

  /** Sets what runs at each poll of a completion queue. */
  void setCostOfPoll(Runnable cost) {
    costOfPoll = cost;
  }

  /** The completion queues, oldest first. */
  List<PolledQueue> queues() {
    return queues;
  }
}

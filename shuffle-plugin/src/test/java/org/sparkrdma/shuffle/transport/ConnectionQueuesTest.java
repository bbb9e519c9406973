// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/** Whether the pools learn of regions that are closed, so that they call a full device again. */
class ConnectionQueuesTest {
  private final DeviceInfo info =
      new DeviceInfo(
          "none",
          "none",
          Transport.IWARP,
          1,
          new DeviceLimits(9, 999, 1, 1, 1 << 22, 999, 1L << 40, 1 << 30, 16, 0, 56, 1),
          Set.of(),
          List.of());
  private final ScriptedConnection.Memory device =
      new ScriptedConnection.Memory() {
        @Override
        public DeviceInfo info() {
          return info;
        }
      };
  private final ProtectionDomain domain = new ScriptedConnection.Domain();
  private final PinnedBudget budget = new PinnedBudget(64L << 20, 4_096);
  private final TransportSettings settings =
      ShuffleSettings.defaults().transport(budget.limitBytes());

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldCountAClosedRegionOnlyWhenTheQueuePairWasCreated(boolean created)
      throws VerbsException {
    try (RegisteredPool pool =
            new RegisteredPool(
                device,
                domain,
                budget,
                Set.of(AccessFlag.LOCAL_WRITE),
                settings.messageBytes(),
                1,
                1 << 20);
        CompletionQueues completions = new CompletionQueues(device, null, 0, budget, settings)) {
      ControlBuffers control = new ControlBuffers(pool, 1 << 20);
      ConnectionBuffers buffers = new ConnectionBuffers(control);
      long before = budget.closedRegions();
      if (created) {
        open(context(completions, control), buffers, new ScriptedConnection()).close();
      } else {
        assertThatThrownBy(
                () -> open(context(completions, control), buffers, new WithoutQueuePair()))
            .isInstanceOf(VerbsException.class);
      }
      assertThat(budget.closedRegions() - before).isEqualTo(created ? 1 : 0);
      buffers.close();
      control.close();
    }
    budget.close();
  }

  private static ConnectionQueues open(
      TransportContext context, ConnectionBuffers buffers, ScriptedConnection connection)
      throws VerbsException {
    return ConnectionQueues.open(context, connection, buffers, 0, true, () -> {}).orElseThrow();
  }

  /** A context without the parts of an executor that the queues of a connection do not use. */
  private TransportContext context(CompletionQueues completions, ControlBuffers control) {
    return new TransportContext(
        settings,
        info,
        null,
        null,
        domain,
        completions,
        null,
        null,
        null,
        control,
        null,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  /** Its device has no room for another queue pair. */
  private static final class WithoutQueuePair extends ScriptedConnection {
    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
        throws VerbsException {
      throw new VerbsException(
          "rdma_create_qp", VerbsException.ENOMEM, "refused by the test", null);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A peer asks and a shuffle is forgotten while the server closes: both come to their end, once, on
 * the server's side or on the caller's.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "each ended once")
@Outcome(expect = Expect.FORBIDDEN, desc = "ended twice, or never")
@State
public class BlockServerCloseStress {
  private static final ServeSettings SETTINGS =
      new ServeSettings(
          ServeSettings.Mode.COPY,
          ServerFixture.WINDOW,
          ServerFixture.SLOT,
          0,
          Duration.ofMinutes(1),
          1,
          1,
          100,
          Duration.ofMinutes(1),
          false,
          false);
  private static final FakeDevice DEVICE = new FakeDevice(1, Set.of());
  private static final FakeMapOutputs NO_OUTPUTS = new FakeMapOutputs(Path.of("none"));
  private static final ShuffleCounters COUNTERS = new ShuffleCounters();
  private static final byte[] REQUEST = request();

  private final BlockServer server =
      new BlockServer(
          new ServerParameters(
              SETTINGS,
              NO_OUTPUTS,
              DEVICE,
              new FakeDomain(),
              new PinnedBudget(1 << 20, FakeDomain.PAGE),
              COUNTERS,
              peer -> {},
              Duration.ofSeconds(30),
              () -> 0));
  private final Call call = new Call();
  private int forgotten;

  /** Hands both in. */
  @Actor
  public void ask() {
    server.locate(call);
    server.unregisterShuffle(1, () -> forgotten++);
  }

  /** Its thread was never started, so the end is this thread's work. */
  @Actor
  public void close() {
    server.close();
  }

  /** Number of ends of each. */
  @Arbiter
  public void ends(II_Result result) {
    result.r1 = call.ends;
    result.r2 = forgotten;
  }

  private static byte[] request() {
    ByteBuffer out = ByteBuffer.allocate(200);
    Locate.Encoder encoder = new Locate.Encoder().begin(out, 7);
    encoder.block(1, 0, 0, 1, 0, false);
    byte[] message = new byte[encoder.finish()];
    out.get(0, message);
    return message;
  }

  private static final class Call extends TestLocateCall {
    private int ends;

    Call() {
      super(1, ByteBuffer.wrap(REQUEST), ByteBuffer.allocate(BlockServer.MIN_ANSWER_BYTES));
    }

    @Override
    public void answered(int lengthBytes) {
      ends++;
    }

    @Override
    public void malformed(String reason) {
      ends++;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/** LOCATEs that the thread which received them answers itself; the server has no thread here. */
@Timeout(60)
class SmallLocateTest {
  private static final int PARTITIONS = 20;

  @TempDir Path folder;
  private ServerFixture on;

  @BeforeEach
  void start() throws Exception {
    on = ServerFixture.of(folder, ServeSettings.Mode.AUTO, 4, 1 << 20);
    on.outputs.write(1, 0, new Random(5), true, lengths());
    on.ask(9, ServerFixture.Wanted.of(1, 0, 0, PARTITIONS));
  }

  private static int[] lengths() {
    int[] lengths = new int[PARTITIONS];
    Arrays.fill(lengths, 100);
    return lengths;
  }

  @AfterEach
  void close() {
    on.close();
  }

  @Test
  void shouldBeAnsweredBeforeTheCallReturns() {
    Call call = locateSoon(8, 0);
    assertThat(call.kind()).isEqualTo(Located.Kind.LOCATED);
    assertThat(on.server.hasWork()).isFalse();
  }

  @Test
  void shouldBeLeftToTheServersThreadWithMoreBlocks() {
    Call call = locateSoon(9, 0);
    assertThat(call.ends).isZero();
    on.server.doWork();
    assertThat(call.kind()).isEqualTo(Located.Kind.LOCATED);
  }

  @Test
  void shouldBeLeftToTheServersThreadBehindOtherWork() {
    on.server.release(8, new long[0], () -> {});
    Call call = locateSoon(1, 0);
    assertThat(call.ends).isZero();
    on.server.doWork();
    assertThat(call.kind()).isEqualTo(Located.Kind.LOCATED);
  }

  @Test
  void shouldNotWaitForAnotherThreadThatUsesTheState() throws Exception {
    List<Call> waiting = new ArrayList<>();
    ServerLock.whileAnotherThreadHasIt(
        on.server,
        () -> {
          Call call = locateSoon(1, 0);
          assertThat(call.ends).isZero();
          waiting.add(call);
        });
    on.server.doWork();
    assertThat(waiting.get(0).kind()).isEqualTo(Located.Kind.LOCATED);
  }

  @Test
  void shouldReleaseTheLockAfterAMalformedRequest() throws Exception {
    Call call = new Call(8, ByteBuffer.allocate(3));
    on.server.locateSoon(call, on.nowNs());
    assertThat(call.reason).isNotNull();
    assertThat(ServerLock.of(on.server).tryLock()).isTrue();
    ServerLock.of(on.server).unlock();
    assertThat(locateSoon(1, 0).kind()).isEqualTo(Located.Kind.LOCATED);
  }

  @Test
  void shouldReleaseLeasesOfItsPeer() {
    Call first = locateSoon(1, 0);
    long lease = first.decoder().leaseId();
    on.sleep(Duration.ofSeconds(1));
    Call second = locateSoon(1, lease);
    assertThat(second.kind()).isEqualTo(Located.Kind.LOCATED);
    on.onPeerGone(9);
    assertThat(on.server.untilNextDeadlineNs())
        .as("the first lease does not expire")
        .isEqualTo(ServerFixture.LEASE.toNanos());
  }

  @Test
  void shouldBeRefusedAsOverloadWhenItHasWaitedTooLong() {
    long receivedNs = on.nowNs();
    on.sleep(Duration.ofNanos(on.server.maxWaitNs() + 1));
    Call call = call(1, 0);
    on.server.locateSoon(call, receivedNs);
    assertThat(call.kind()).isEqualTo(Located.Kind.OVERLOADED);
  }

  private Call locateSoon(int blocks, long lease) {
    Call call = call(blocks, lease);
    on.server.locateSoon(call, on.nowNs());
    return call;
  }

  private static Call call(int blocks, long lease) {
    ByteBuffer request = ByteBuffer.allocate(1_000);
    Locate.Encoder encoder = new Locate.Encoder().begin(request, 77);
    // As many leases as blocks, so that only the number of blocks makes a request large.
    for (int i = 0; i < blocks; i++) {
      encoder.lease(i == 0 ? lease : 1);
    }
    for (int i = 0; i < blocks; i++) {
      encoder.block(1, 0, i, i + 1, 0, false);
    }
    return new Call(8, request.slice(0, encoder.finish()));
  }

  private static final class Call extends TestLocateCall {
    private int ends;
    private String reason;
    private Located.Decoder answer;

    Call(long peer, ByteBuffer request) {
      super(peer, request, ByteBuffer.allocate(1_000));
    }

    @Override
    public void answered(int lengthBytes) {
      ends++;
      answer = new Located.Decoder().begin(answer().slice(0, lengthBytes));
    }

    @Override
    public void malformed(String why) {
      ends++;
      reason = why;
    }

    Located.Decoder decoder() {
      return answer;
    }

    Located.Kind kind() {
      assertThat(ends).as("answers").isEqualTo(1);
      assertThat(answer.nextPiece()).isTrue();
      return answer.kind();
    }
  }
}

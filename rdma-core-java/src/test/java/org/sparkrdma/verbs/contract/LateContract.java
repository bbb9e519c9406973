// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkStatus;

/** READs that are still in flight after their requester's deadline. */
@Tag("slow")
public abstract class LateContract extends VerbsContract {
  private static final Duration DEADLINE = Duration.ofMillis(50);
  private static final Duration SLOW = Duration.ofSeconds(2);

  private Pair pair;
  private Node.Block source;
  private Node.Block sink;

  @BeforeEach
  void postASlowRead() throws Exception {
    assumeFalse(engine().slowReads().isEmpty(), "the engine cannot be made slow");
    reopenClient(engine().slowReads());
    pair = connect();
    source = server.block(1000, 7, Node.READABLE);
    sink = client.block(1000, 0, Node.SINK);
    pair.client().postSend(sink.readFrom(1, source.region()));
    pollFor(DEADLINE);
    assertThat(client.results).isEmpty();
    assertThat(sink.bytes()).containsOnly(0);
  }

  @AfterEach
  void closePair() {
    pair = null;
    source = null;
    sink = null;
  }

  @Test
  void shouldWriteTheSinkWhenTheReadCompletesAfterItsDeadline() {
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(sink.bytes()).containsOnly(7);
  }

  @Test
  void shouldNotTouchTheSinkOnceTheQueuePairIsDestroyed() {
    pair.client().close();
    pollFor(SLOW);
    assertThat(client.results).isEmpty();
    assertThat(sink.bytes()).containsOnly(0);
    sink.region().close();
    sink.memory().close();
  }

  @Test
  void shouldNotTouchTheSinkOnceTheReadIsFlushed() {
    pair.clientEnd().disconnect();
    assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    pollFor(SLOW);
    assertThat(sink.bytes()).containsOnly(0);
  }

  @Test
  void shouldReadNothingFromAPeersRegionClosedInTheMeantime() {
    source.region().close();
    source.memory().slice(0, 1000).put(new byte[1000]);
    assertThat(result(client).status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
    assertThat(sink.bytes()).containsOnly(0);
  }

  @Test
  void shouldReadNothingFromAPeersQueuePairDestroyedInTheMeantime() throws Exception {
    pair.server().close();
    assertThat(result(client).succeeded()).isFalse();
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    pollFor(SLOW);
    assertThat(sink.bytes()).containsOnly(0);
  }
}

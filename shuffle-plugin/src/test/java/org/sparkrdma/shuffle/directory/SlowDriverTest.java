// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No look-up may make a job slower than Spark alone. */
@Timeout(60)
class SlowDriverTest {
  private static final int PEERS = 100;
  private static final Duration WORK = Duration.ofMillis(100);
  private final ScriptedDriver peers = new ScriptedDriver();
  private final SlowDriver driver = new SlowDriver(peers);
  private long lostNs;
  private int found;
  private int started;

  /** Another executor starts; a task looks it up, and works before the next one. */
  private void readFromAnother() {
    String peer = Integer.toString(started);
    peers.publish(Endpoints.of(peer, "host" + peer, started));
    started++;
    long sinceNs = driver.nowNs();
    var unused =
        driver
            .endpoints()
            .find(peer)
            .thenAccept(
                endpoint -> {
                  lostNs += driver.nowNs() - sinceNs;
                  found += endpoint.isPresent() ? 1 : 0;
                  if (started % PEERS > 0) {
                    driver.after(WORK, this::readFromAnother);
                  }
                });
  }

  private void readFromAll() {
    lostNs = 0;
    found = 0;
    readFromAnother();
    driver.pass(Duration.ofHours(1));
    assertThat(started % PEERS).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {4_900, 450})
  void shouldNotWaitForEachPeerThatIsUnknown(int answerMs) {
    Duration slow = Duration.ofMillis(answerMs);
    driver.setAnswerTime(slow);
    readFromAll();
    assertThat(Duration.ofNanos(lostNs)).isLessThanOrEqualTo(Duration.ofSeconds(1));
    driver.endpoints().queries().recheck();
    driver.pass(slow);
    assertThat(driver.endpoints().size()).as("late answers count").isEqualTo(PEERS);
    driver.setAnswerTime(Duration.ofMillis(10));
    driver.pass(Duration.ofSeconds(5));
    readFromAll();
    assertThat(found).as("the first finds that it is quick again").isEqualTo(PEERS - 1);
  }

  /** As after a pause of either process. */
  @Test
  void shouldWaitForOtherAnswersAfterALateOne() {
    driver.setAnswerTime(Duration.ofSeconds(2));
    driver.endpoints().queries().recheck();
    driver.pass(Duration.ofSeconds(2));
    driver.setAnswerTime(Duration.ofMillis(10));
    readFromAll();
    assertThat(found).isEqualTo(PEERS);
    assertThat(peers.queries()).isEqualTo(1 + PEERS);
  }
}

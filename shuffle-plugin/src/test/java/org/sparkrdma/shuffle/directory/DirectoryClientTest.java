/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DirectoryClientTest {
  private final DirectoryService service = new DirectoryService();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicLong nowNs = new AtomicLong();
  private final DirectoryClient client = client(this::answer, Duration.ofSeconds(20));

  private Object answer(Object message) {
    asked.incrementAndGet();
    return service.answer(message);
  }

  private DirectoryClient client(DriverCall driver, Duration timeout) {
    return new DirectoryClient(driver, timeout, nowNs::get);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void shouldFindWhatOthersPublishedAndRememberIt() {
    client.publish(DirectoryServiceTest.endpoint("1", 10)).join();
    client.publish(DirectoryServiceTest.endpoint("2", 20)).join();
    assertThat(client.find("1").join().orElseThrow().incarnation()).isEqualTo(10);
    assertThat(asked).hasValue(3);
    CompletableFuture<Optional<Endpoint>> known = client.find("2");
    assertThat(known).isDone();
    assertThat(known.join().orElseThrow().incarnation()).isEqualTo(20);
    assertThat(asked).hasValue(3);
  }

  @Test
  void shouldRememberAMissForASecond() {
    assertThat(client.find("1").join()).isEmpty();
    client.publish(DirectoryServiceTest.endpoint("1", 10)).join();
    assertThat(client.find("1").join()).isEmpty();
    nowNs.addAndGet(1_000_000_000L);
    assertThat(client.find("1").join()).isPresent();
  }

  @Test
  void shouldDropExecutorsThatAreGone() {
    service.answer(
        List.of("publish", EndpointCodec.encode(DirectoryServiceTest.endpoint("1", 10))));
    assertThat(client.find("1").join()).isPresent();
    service.remove("1");
    assertThat(client.find("2").join()).isEmpty();
    assertThat(client.find("1").join()).isEmpty();
  }

  @Test
  void shouldTryAgainUntilTheDriverTakesTheEndpoint() {
    AtomicInteger tries = new AtomicInteger();
    try (DirectoryClient stubborn =
        client(
            message -> {
              if (tries.incrementAndGet() < 3) {
                throw new IOException("no driver");
              }
              return service.answer(message);
            },
            Duration.ofSeconds(20))) {
      assertThat(stubborn.publish(DirectoryServiceTest.endpoint("1", 10)).join()).isTrue();
      assertThat(tries).hasValue(3);
    }
  }

  @Test
  void shouldFindNothingWhenTheDriverDoesNotAnswerInTime() {
    CountDownLatch never = new CountDownLatch(1);
    try (DirectoryClient impatient =
        client(
            message -> {
              never.await();
              return null;
            },
            Duration.ofMillis(20))) {
      assertThat(impatient.find("1").join()).isEmpty();
    }
  }

  @Test
  void shouldFindNothingWhenTheAnswerIsNonsense() {
    try (DirectoryClient confused = client(message -> List.of(1), Duration.ofSeconds(20))) {
      assertThat(confused.find("1").join()).isEmpty();
    }
  }

  @Test
  void shouldAnswerEverybodyWhenClosed() {
    CountDownLatch asking = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    DirectoryClient closing =
        client(
            message -> {
              asking.countDown();
              never.await();
              return null;
            },
            Duration.ofSeconds(20));
    CompletableFuture<Optional<Endpoint>> first = closing.find("1");
    await(asking);
    CompletableFuture<Optional<Endpoint>> second = closing.find("2");
    closing.close();
    assertThat(first.join()).isEmpty();
    assertThat(second.join()).isEmpty();
    assertThat(closing.find("3")).isCompletedWithValue(Optional.empty());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}

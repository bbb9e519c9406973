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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DirectoryServiceTest {
  private final DirectoryService service = new DirectoryService();

  static Endpoint endpoint(String executorId, long incarnation) {
    return new Endpoint(executorId, "10.0.0.1", 4_711, "soft", 1, incarnation, new byte[32]);
  }

  @Test
  void shouldBringEverythingThatIsNewer() {
    assertThat(publish(endpoint("1", 10))).isTrue();
    assertThat(publish(endpoint("2", 20))).isTrue();
    List<?> all = changes(0);
    assertThat(all.get(0)).isEqualTo(2L);
    assertThat(executorIds(all)).containsExactly("1", "2");
    assertThat(executorIds(changes(1))).containsExactly("2");
    assertThat(executorIds(changes(2))).isEmpty();
  }

  @Test
  void shouldTakeTheSameStartTwiceAndNoOther() {
    publish(endpoint("1", 10));
    assertThat(publish(endpoint("1", 10))).isTrue();
    assertThat(publish(endpoint("1", 11))).isFalse();
    assertThat(changes(0).get(0)).isEqualTo(1L);
  }

  @Test
  void shouldTellThatAnExecutorIsGoneAndNotBelieveInItsReturn() {
    publish(endpoint("1", 10));
    service.remove("1");
    service.remove("1");
    assertThat(changes(0).get(0)).isEqualTo(2L);
    assertThat(changes(0).get(2)).isEqualTo(List.of("1"));
    assertThat(executorIds(changes(0))).isEmpty();
    assertThat(publish(endpoint("1", 10))).isFalse();
  }

  @Test
  void shouldForgetTheOldestOfThoseThatAreGone() {
    EndpointTable table = new EndpointTable(2);
    for (String executorId : List.of("1", "2", "3")) {
      table.publish(endpoint(executorId, 1));
      table.remove(executorId);
    }
    assertThat(table.changesAfter(0).values())
        .extracting(EndpointTable.Entry::executorId)
        .containsExactly("2", "3");
  }

  @Test
  void shouldSendTypesOfTheJdkOnly() {
    publish(endpoint("1", 10));
    assertOnlyJdkTypes(changes(0));
  }

  private static void assertOnlyJdkTypes(Object value) {
    assertThat(value.getClass().getClassLoader()).isNull();
    if (value instanceof List<?> list) {
      list.forEach(DirectoryServiceTest::assertOnlyJdkTypes);
    }
  }

  @Test
  void shouldKeepEveryFieldOnTheWay() {
    Endpoint sent = endpoint("1", Long.MIN_VALUE);
    Endpoint come = EndpointCodec.decode(EndpointCodec.encode(sent));
    assertThat(come).usingRecursiveComparison().isEqualTo(sent);
  }

  static List<Object> brokenMessages() {
    return List.of(
        "publish",
        List.of(),
        List.of("publish"),
        List.of("changes", "0"),
        List.of("other", 0L),
        List.of(1, 0L),
        withField(0, ""),
        withField(1, "x".repeat(256)),
        withField(2, 0),
        withField(2, 65_536),
        withField(2, 80L),
        withField(4, -1),
        withField(6, new byte[31]));
  }

  private static Object withField(int index, Object value) {
    List<Object> fields = EndpointCodec.encode(endpoint("1", 10));
    fields.set(index, value);
    return Arrays.asList("publish", fields);
  }

  @ParameterizedTest
  @MethodSource("brokenMessages")
  void shouldRefuseWhatIsNoMessage(Object message) {
    assertThatThrownBy(() -> service.answer(message))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(bad|no such) .*");
  }

  private boolean publish(Endpoint endpoint) {
    return (Boolean)
        service.answer(new ArrayList<>(List.of("publish", EndpointCodec.encode(endpoint))));
  }

  private List<?> changes(long since) {
    return (List<?>) service.answer(new ArrayList<>(List.of("changes", since)));
  }

  private static List<String> executorIds(List<?> changes) {
    return ((List<?>) changes.get(1))
        .stream().map(EndpointCodec::decode).map(Endpoint::executorId).toList();
  }
}

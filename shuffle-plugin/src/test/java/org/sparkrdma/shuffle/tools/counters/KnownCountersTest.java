// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.tools.counters.KnownCounters.Known;

/** Classes of counters, and the meanings of single counters. */
class KnownCountersTest {
  @Test
  void shouldHaveCountersOfEveryClass() {
    Set<CounterClass> classes =
        known().map(entry -> entry.getValue().type()).collect(Collectors.toSet());
    assertThat(classes).isEqualTo(EnumSet.allOf(CounterClass.class));
  }

  @Test
  void shouldHaveOneSentenceAndASourceForEachCounter() {
    assertThat(known())
        .hasSizeGreaterThan(90)
        .allSatisfy(
            entry -> {
              assertThat(entry.getKey()).isNotBlank();
              assertThat(entry.getValue().meaning())
                  .hasSizeBetween(15, 110)
                  .doesNotContain(". ", "|")
                  .doesNotEndWith(".");
              assertThat(entry.getValue().source()).hasSizeGreaterThan(20);
            });
  }

  private static Stream<Map.Entry<String, Known>> known() {
    return Stream.concat(
        KnownCounters.all().files().entrySet().stream(),
        KnownCounters.all().statistics().entrySet().stream());
  }
}

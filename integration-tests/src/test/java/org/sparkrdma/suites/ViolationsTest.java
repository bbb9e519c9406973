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
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ViolationsTest {
  @Test
  void shouldFindOurOwnAssertionsAndNoOthers() {
    List<String> log =
        List.of(
            "10:00:00.000 1 ERROR TransportAgent [rdma-agent] failed",
            "java.lang.AssertionError: not the owner",
            "\tat org.sparkrdma.shuffle.thread.Owner.check(Owner.java:1)",
            "java.lang.AssertionError: of a test of Spark",
            "\tat org.apache.spark.ShuffleSuite.test(ShuffleSuite.scala:1)",
            "java.lang.RuntimeException: wrapped",
            "Caused by: java.lang.AssertionError",
            "\tat org.sparkrdma.memory.Pool.take(Pool.java:2)");

    assertThat(Violations.in(log))
        .containsExactly(
            "java.lang.AssertionError: not the owner"
                + "\tat org.sparkrdma.shuffle.thread.Owner.check(Owner.java:1)",
            "Caused by: java.lang.AssertionError"
                + "\tat org.sparkrdma.memory.Pool.take(Pool.java:2)");
  }
}

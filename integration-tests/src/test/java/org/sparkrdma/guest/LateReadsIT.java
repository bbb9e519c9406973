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
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** READs that come back long after their deadline, because the wire between two kernels is slow. */
@Isolated("It takes both processors.")
@Timeout(300)
final class LateReadsIT {
  private static final String ENGINE = "org.sparkrdma.verbs.ibverbs.";

  /** There and back it takes twice that; a test's deadline is a small part of it. */
  private static final String SLOW = "delay 400ms";

  @TempDir private Path shared;

  @ParameterizedTest
  @CsvSource({"rocev2, LateReadsOnRoceV2", "iwarp, LateReadsOnIwarp"})
  void shouldLeaveASinkAloneFromTheEndOfItsReadOn(String transport, String tests) throws Exception {
    JsonNode summary =
        GuestTests.runBeside(
            ENGINE + "LateSource $GUEST_ADDRESS",
            Guest.nodes(2)
                .memory("1G")
                .timeout(Duration.ofSeconds(250))
                .with("--transport", transport)
                .with("--netem", SLOW),
            shared,
            ENGINE + tests);

    assertThat(summary.path("passed").asInt()).as("%s", summary).isEqualTo(3);
  }
}

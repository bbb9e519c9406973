// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of docs/troubleshooting.md to which the tab points. */
class FallbackReasonsDocumentationTest {
  private static final Path PAGE = Path.of("..", "docs", "troubleshooting.md");

  @ParameterizedTest
  @EnumSource
  void shouldHaveAMeaningAndARemedyForEveryReason(FallbackReason reason) throws IOException {
    assertThat(Files.readString(PAGE))
        .containsPattern("\\| " + reason.label() + " \\| \\S[^|\n]+\\. \\| \\S[^|\n]+\\. \\|\n");
  }
}
